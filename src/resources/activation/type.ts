import { registerEnumType, Field, ObjectType } from 'type-graphql';
import { ErrorCode } from '../../types/problem.js';
import type { ProblemCode } from '../../errors/catalogue.js';
import { payloadOf } from '../../types/payload.js';
import { Address } from '../address/type.js';
import { Account } from '../account/type.js';

/** How the verification of an account may end. */
export const VerificationOutcome = { ACTIVATED: 'activated', HOLD: 'hold' } as const;
export type VerificationOutcome = (typeof VerificationOutcome)[keyof typeof VerificationOutcome];

registerEnumType(VerificationOutcome, {
  name: 'VerificationOutcome',
  description: 'The outcome of a verification.',
  valuesConfig: {
    ACTIVATED: { description: 'The account is activated.' },
    HOLD: { description: 'The account is put on hold.' },
  },
});

@ObjectType({ simpleResolvers: true, description: 'A requirement for activation that is not met yet.' })
export class ActivationRequirement {
  @Field(() => String, { description: 'The name that `activate` reports as `field_name`.' })
  fieldName: string;
  @Field(() => ErrorCode, { description: 'The code that `activate` reports.' })
  code: ProblemCode;
  @Field(() => [String], {
    description: 'The place of what is missing, in the names of the graph, such as `["businessDetails", "website"]`.',
  })
  path: string[];
  @Field(() => String, { description: 'What is missing, as a sentence.' })
  message: string;
  @Field(() => [String], { description: 'Other parameters that also meet the requirement.' })
  alternatives: string[];
}

export const CreateTestWalletPayload = payloadOf('CreateTestWallet', 'address', Address);
export const ActivateAccountPayload = payloadOf('ActivateAccount', 'account', Account);
export const DeactivateAccountPayload = payloadOf('DeactivateAccount', 'account', Account);
export const VerifyTestAccountPayload = payloadOf('VerifyTestAccount', 'account', Account);
export const HoldTestAccountPayload = payloadOf('HoldTestAccount', 'account', Account);
export const DeactivateTestAccountPayload = payloadOf('DeactivateTestAccount', 'account', Account);
export const ExpireTestAddressPayload = payloadOf('ExpireTestAddress', 'address', Address);
export const DeactivateTestAddressPayload = payloadOf('DeactivateTestAddress', 'address', Address);
