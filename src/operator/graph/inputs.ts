import { ArgsType, Field, ID, InputType, Int, registerEnumType } from 'type-graphql';
import { AccountStatus } from '../../resources/account/table.js';
import { BankAccountInput } from '../../resources/address/inputs.js';
import { ReconciledReceivableInput } from '../../resources/deposit/inputs.js';
import { PayoutReasonCode, PayoutStatus } from '../../resources/payout/table.js';
import { DomainError, type Problem, problem } from '../../errors/problems.js';
import { Currency } from '../../types/scalars.js';
import { Mode } from '../../types/mode.js';

export const pageSizeMax = 200;
export const pageSizeDefault = 50;

/** The size of a page of a list, from its argument. Refuses one that is out of bounds. */
export function pageSizeOf(object: string, first: number | null | undefined): number {
  const size = first ?? pageSizeDefault;
  if (size < 1 || size > pageSizeMax)
    throw new DomainError({
      ...problem('parameter_invalid', `${object}.limit`, `must be from 1 to ${pageSizeMax}`),
      path: ['first'],
    });
  return size;
}

const VerificationOutcome = { ACTIVATED: 'activated', HOLD: 'hold' } as const;
registerEnumType(VerificationOutcome, {
  name: 'VerificationOutcome',
  description: 'The outcome of a verification.',
  valuesConfig: {
    ACTIVATED: { description: 'The account is activated; also lifts a hold.' },
    HOLD: { description: 'The account is put on hold.' },
  },
});

const IssuedAddressCategory = {
  SERVICE_RECEIVE: 'service_receive',
  SERVICE_FEE_ADVANCE: 'service_fee_advance',
} as const;
registerEnumType(IssuedAddressCategory, {
  name: 'IssuedAddressCategory',
  description: 'The purpose of an address that a bank issues.',
  valuesConfig: {
    SERVICE_RECEIVE: { description: 'An address at which an account accepts funds.' },
    SERVICE_FEE_ADVANCE: { description: 'An address at which a platform pays fees in advance.' },
  },
});

export const modeOfAccount = 'The mode; by default the mode of the account, and live mode for a root.';

/** Which page of a list to read. */
@ArgsType()
export class PageArgs {
  @Field(() => Int, {
    nullable: true,
    defaultValue: pageSizeDefault,
    description: `How many objects: 1 to ${pageSizeMax}.`,
  })
  first?: number | null;
  @Field(() => String, { nullable: true, description: 'The `next` of the page before.' })
  after?: string | null;
}

@ArgsType()
export class ListFilterArgs extends PageArgs {
  @Field(() => Mode, { nullable: true, description: 'Only of this mode.' })
  mode?: Mode | null;
  @Field(() => ID, {
    nullable: true,
    description: 'Only of this tenant: the id of its root account, with or without `account_`.',
  })
  tenantId?: string | null;
}

@ArgsType()
export class AccountsArgs extends ListFilterArgs {
  @Field(() => AccountStatus, {
    nullable: true,
    description: 'Only in this status; VERIFYING is the verification queue.',
  })
  status?: AccountStatus | null;
  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: 'Whether the newest come first, instead of the oldest.',
  })
  newestFirst?: boolean | null;
  @Field(() => String, {
    nullable: true,
    description:
      'Only accounts with these words, one after the other, in the nickname, the legal name or the e-mail address, ' +
      'or at the beginning of a value of their metadata. The last word may be incomplete. The accounts are in the ' +
      'order of the text that was found, and then the newest first. It goes with `mode` alone.',
  })
  search?: string | null;
}

@ArgsType()
export class PayoutsArgs extends ListFilterArgs {
  @Field(() => PayoutStatus, { nullable: true, description: 'Only in this status; PROCESSING payouts are under way.' })
  status?: PayoutStatus | null;
}

@ArgsType()
export class AccountArgs {
  @Field(() => ID, { description: 'The id, which is the same as on /v1.' })
  id: string;
  @Field(() => Mode, { nullable: true, description: modeOfAccount })
  mode?: Mode | null;
}

/** How long a reason may be: as long as the audit log keeps texts. */
export const reasonLengthMax = 200;
export const reasonOfAction = `Why, for the audit log: at most ${reasonLengthMax} characters.`;

/** The problem of a reason that the audit log could not keep whole. */
export function reasonProblems(input: unknown, object: string): Problem[] {
  const given = typeof input === 'object' && input !== null && 'reason' in input ? input.reason : undefined;
  if (typeof given !== 'string' || given.length <= reasonLengthMax) return [];
  return [problem('parameter_invalid', `${object}.reason`, `must have at most ${reasonLengthMax} characters`)];
}

/** What the inputs of actions on an account have in common. */
@InputType()
class ActionOnAccount {
  @Field(() => ID, { description: 'The account.' })
  id: string;
  @Field(() => Mode, { nullable: true, description: modeOfAccount })
  mode?: Mode | null;
  @Field(() => String, { nullable: true, description: reasonOfAction })
  reason?: string | null;
}

@InputType({ description: 'Names an account, and the outcome of its verification.' })
export class VerifyAccountInput extends ActionOnAccount {
  @Field(() => VerificationOutcome, { description: 'The outcome of the verification.' })
  outcome: 'activated' | 'hold';
}

@InputType({ description: 'Names the account that is put on hold.' })
export class HoldAccountInput extends ActionOnAccount {}

@InputType({ description: 'Names the account that is deactivated.' })
export class DeactivateAccountInput extends ActionOnAccount {}

/** What the inputs of service holds have in common. */
@InputType()
class ServiceHold {
  @Field(() => ID, { description: 'The account.' })
  accountId: string;
  @Field(() => Mode, { nullable: true, description: modeOfAccount })
  mode?: Mode | null;
  @Field(() => String, { nullable: true, description: reasonOfAction })
  reason?: string | null;
}

@InputType({ description: 'Names the account that gets a service hold on its payouts.' })
export class PlaceServiceHoldInput extends ServiceHold {}

@InputType({ description: 'Names the account whose service hold on payouts is lifted.' })
export class LiftServiceHoldInput extends ServiceHold {}

@InputType({ description: 'A receiving address that a bank has issued in live mode.' })
export class IssueAddressInput {
  @Field(() => ID, { description: 'The account that receives money at the address.' })
  accountId: string;
  @Field(() => IssuedAddressCategory, {
    nullable: true,
    defaultValue: 'service_receive',
    description: 'What the address is for.',
  })
  category?: 'service_receive' | 'service_fee_advance' | null;
  @Field(() => Currency, { description: 'The currency that it accepts.' })
  currency: string;
  @Field(() => BankAccountInput, { description: 'The bank account; a number or an IBAN is required.' })
  bankAccount: BankAccountInput;
}

export const tenantOfDeposit =
  'The tenant: the id of its root account, with or without `account_`. Without it, all tenants are searched.';

@ArgsType()
export class DepositArgs {
  @Field(() => ID, { description: 'The id, which is the same as on /v1.' })
  id: string;
  @Field(() => ID, { nullable: true, description: tenantOfDeposit })
  tenantId?: string | null;
}

@InputType('ReconcileDepositInput', {
  description: 'Counts a completed deposit towards receivables; partial amounts are fine.',
})
export class ReconcileDepositInput {
  @Field(() => ID, { description: 'The deposit.' })
  id: string;
  @Field(() => ID, { nullable: true, description: tenantOfDeposit })
  tenantId?: string | null;
  @Field(() => [ReconciledReceivableInput], {
    description: 'The receivables, with the amount that counts towards each.',
  })
  receivables: ReconciledReceivableInput[];
}

/** What the inputs of the ends of a payout have in common. */
@InputType()
class EndOfPayout {
  @Field(() => ID, { description: 'The payout.' })
  id: string;
  @Field(() => String, { nullable: true, description: reasonOfAction })
  reason?: string | null;
  @Field(() => String, {
    nullable: true,
    description: "The bank's own reference of the transfer, such as a UTR, at most 255 characters.",
  })
  bankReference?: string | null;
}

/** What the inputs have in common that say why a payout did not arrive. */
@InputType()
class PayoutWithReason extends EndOfPayout {
  @Field(() => PayoutReasonCode, { nullable: true, description: 'Why, for the account; GENERAL by default.' })
  reasonCode?: PayoutReasonCode | null;
}

@InputType({ description: 'Names the payout that has arrived.' })
export class SettlePayoutInput extends EndOfPayout {}

@InputType({ description: 'Names the payout that has failed.' })
export class FailPayoutInput extends PayoutWithReason {}

@InputType({ description: 'Names the completed payout that the bank has sent back.' })
export class ReturnPayoutInput extends PayoutWithReason {}

@InputType({ description: 'A rate for the live payouts of a tenant.' })
export class SetRateInput {
  @Field(() => ID, { description: 'Any account of the tenant, such as its root.' })
  accountId: string;
  @Field(() => Currency, { description: 'The currency that is sold.' })
  source: string;
  @Field(() => Currency, { description: 'The currency that is bought.' })
  target: string;
  @Field(() => String, {
    description: 'What one unit of `source` buys of `target`: a positive decimal, such as `83.25`.',
  })
  rate: string;
}
