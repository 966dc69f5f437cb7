import { InputType, Field, ID } from 'type-graphql';
import { VerificationOutcome } from './type.js';
import { WalletProvider } from '../address/table.js';
import { idInputOf } from '../../types/input.js';

@InputType({ description: 'Names an account, and the outcome of its verification.' })
export class VerifyTestAccountInput {
  @Field(() => ID, { description: 'The id of the account.' })
  id: string;
  @Field(() => VerificationOutcome, {
    nullable: true,
    defaultValue: 'activated',
    description: 'The outcome of the verification.',
  })
  outcome?: VerificationOutcome | null;
}

@InputType({ description: 'Names a partner, and the wallet that it pays from.' })
export class CreateTestWalletInput {
  @Field(() => ID, { description: 'The id of the partner.' })
  id: string;
  @Field(() => WalletProvider, {
    nullable: true,
    defaultValue: 'paypal_external',
    description: 'The company that keeps the wallet.',
  })
  provider?: WalletProvider | null;
}

export const ActivateAccountInput = idInputOf('ActivateAccount', 'account');
export const DeactivateAccountInput = idInputOf('DeactivateAccount', 'account');
export const HoldTestAccountInput = idInputOf('HoldTestAccount', 'account');
export const DeactivateTestAccountInput = idInputOf('DeactivateTestAccount', 'account');
export const ExpireTestAddressInput = idInputOf('ExpireTestAddress', 'address');
export const DeactivateTestAddressInput = idInputOf('DeactivateTestAddress', 'address');
