import { registerEnumType, Field, ID, ObjectType } from 'type-graphql';
import { GraphQLJSONObject } from 'graphql-scalars';
import { type DepositRow, DepositStatus, DepositPaymentMethod, DepositReasonCode } from './table.js';
import { methodDescriptions, methodTexts } from '../payment/method.js';
import { Node } from '../../types/relay-node.js';
import { CountryCode, DateTime, Amount, Currency, Metadata } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';
import { Problem } from '../../types/problem.js';
import type { idempotency } from '../../operation/table.js';

registerEnumType(DepositStatus, {
  name: 'DepositStatus',
  description: 'How far a deposit has come. Its money is in balances once it is COMPLETED.',
  valuesConfig: {
    INITIALIZED: { description: 'Announced; its money has not moved yet.' },
    PROCESSING: { description: 'On its way.' },
    COMPLETED: { description: 'Arrived. Its money is in balances.' },
    CANCELLED: { description: 'Withdrawn before it was processed.' },
    FAILED: { description: 'Declined, as the reason code says. It moved no money.' },
    REVERSED: { description: 'Taken back after it had arrived.' },
  },
});

registerEnumType(DepositPaymentMethod, {
  name: 'DepositPaymentMethod',
  description: 'How a deposit was paid.',
  valuesConfig: methodDescriptions,
});

registerEnumType(DepositReasonCode, {
  name: 'DepositReasonCode',
  description: 'Why a deposit was declined or disputed.',
  valuesConfig: {
    CANCELLED: { description: 'It was cancelled.' },
    DUPLICATE: { description: 'It was paid twice.' },
    GENERAL: { description: 'Another reason.' },
    HIGH_RISK: { description: 'It was refused as a high risk.' },
    INCORRECT_AMOUNT: { description: 'The amount is wrong.' },
    POOR_IMAGE_QUALITY: { description: 'The image, such as that of a check, cannot be read.' },
    UNMATCHED_DETAILS: { description: 'The details do not match.' },
  },
});

@ObjectType({ simpleResolvers: true, description: 'One side of a deposit.' })
export class DepositParty {
  @Field(() => ID, { nullable: true, description: 'The id of the account; null if it is not known.' })
  accountId: string | null;
  @Field(() => ID, { nullable: true, description: 'The id of the address; null if it is not known.' })
  addressId: string | null;
}

/** The payer of a transfer. Silent: all fields. */
@ObjectType({ simpleResolvers: true, description: 'The payer of a transfer, as its bank names it.' })
class BankPayer {
  @Field(() => String, { nullable: true, description: 'The name of the payer. Null if the bank has not said it.' })
  name: string | null;
  @Field(() => [String], { description: "The lines of the payer's address, as the bank has them." })
  addressLines: string[];
  @Field(() => CountryCode, { nullable: true, description: 'The country. Null if the bank has not said it.' })
  country: string | null;
}

/** What a bank says of a transfer. Silent: all fields. */
@ObjectType({ simpleResolvers: true, description: 'What a bank says of a transfer, beside its amount.' })
export class BankDetails {
  @Field(() => String, {
    description: "The bank's own reference, such as a UTR: of the transfer, or of the recall of a part of it.",
  })
  reference: string;
  @Field(() => BankPayer, { nullable: true, description: 'The payer. Null if the bank has said nothing of it.' })
  payer: BankPayer | null;
  @Field(() => String, {
    nullable: true,
    description: 'The remittance text: what the payer wrote. Null if the bank has not said it.',
  })
  text: string | null;
}

/** What the bank says of a deposit, as it is shown; null if nothing was recorded. */
export function bankDetailsOf({ bankDetails }: Pick<DepositRow, 'bankDetails'>): BankDetails | null {
  if (!bankDetails) return null;
  const { reference, payerName: name = null, payerLines, payerCountry: country = null, text = null } = bankDetails;
  const known = name !== null || payerLines !== undefined || country !== null;
  return { reference, payer: known ? { name, addressLines: payerLines ?? [], country } : null, text };
}

/** The SQL of the same by the stored details. */
export const bankDetailsJson = (stored: string): string =>
  `case when ${stored} is not null then jsonb_build_object('reference', ${stored} -> 'reference',
    'text', ${stored} -> 'text',
    'payer', case when coalesce(${stored} ->> 'payerName', ${stored} ->> 'payerLines', ${stored} ->> 'payerCountry')
      is not null then jsonb_build_object('name', ${stored} -> 'payerName',
        'addressLines', coalesce(${stored} -> 'payerLines', '[]'), 'country', ${stored} -> 'payerCountry') end) end`;

/** Funds that came in. Spec: Deposit. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'Funds that came into an account. Its money is in balances once it is COMPLETED.',
})
export class Deposit extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => Amount, { description: 'The amount that came in. Negative for a dispute.' })
  amount: bigint;
  @Field(() => Currency, { description: texts.currency })
  currency: string;
  @Field(() => DepositPaymentMethod, {
    description: 'How the deposit was paid.',
    deprecationReason: methodTexts.deprecated,
  })
  paymentMethod: DepositPaymentMethod;
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description:
      'An object with one member that has the name of the method: `card` (`brand`, `last4`, `expiry_month`, ' +
      '`expiry_year`) or `upi` (`vpa`). Null for other methods.',
    deprecationReason: methodTexts.deprecatedDetails,
  })
  paymentMethodDetails: Record<string, unknown> | null;
  @Field(() => DepositReasonCode, {
    nullable: true,
    description: 'Why the deposit was declined, disputed or reversed.',
  })
  reasonCode: DepositReasonCode | null;
  @Field(() => String, { description: 'The narration on the incoming deposit.' })
  statementDescriptor: string;
  @Field(() => DepositStatus, { description: 'How far the deposit has come.' })
  status: DepositStatus;
  @Field(() => Metadata, { nullable: true, description: texts.metadata })
  metadata: Record<string, string> | null;
  @Field(() => Amount, { description: 'The part of the amount that is not reconciled yet.' })
  pendingRest: bigint;
  @Field(() => Amount, { description: 'The part of the amount that has been disputed.' })
  disputed: bigint;
}

export const DepositConnection = connectionOf('Deposit', () => Deposit, {
  AMOUNT_DESC: 'The greatest amount first, in one currency.',
  AMOUNT_ASC: 'The smallest amount first, in one currency.',
});

export const CreateDepositPayload = payloadOf('CreateDeposit', 'deposit', Deposit);
export const ReconcileDepositPayload = payloadOf('ReconcileDeposit', 'deposit', Deposit);

/** What became of one of several deposits. Silent: all fields. */
@ObjectType({ simpleResolvers: true, description: 'What became of a deposit of the mutation `reconcileDeposits`.' })
export class DepositReconciliation {
  @Field(() => Deposit, {
    nullable: true,
    description: 'The deposit after the mutation: unchanged if it was refused. Null if the caller does not see it.',
  })
  deposit: DepositRow | null;
  @Field(() => [Problem], {
    description: 'Why it was refused, with the codes of `reconcileDeposit`. Empty if it was reconciled.',
  })
  problems: Problem[];
}

/** The result of several reconciliations, from the stored row that has them as its answer. */
@ObjectType({ simpleResolvers: true, description: 'The result of the mutation `reconcileDeposits`.' })
export class ReconcileDepositsPayload {
  deposit: Pick<typeof idempotency.$inferSelect, 'answer'>;
}

export const ProcessTestDepositPayload = payloadOf('ProcessTestDeposit', 'deposit', Deposit);
export const CompleteTestDepositPayload = payloadOf('CompleteTestDeposit', 'deposit', Deposit);
export const FailTestDepositPayload = payloadOf('FailTestDeposit', 'deposit', Deposit);
export const CancelTestDepositPayload = payloadOf('CancelTestDeposit', 'deposit', Deposit);
export const ReverseTestDepositPayload = payloadOf('ReverseTestDeposit', 'deposit', Deposit);
export const DisputeTestDepositPayload = payloadOf('DisputeTestDeposit', 'deposit', Deposit);
export const RecallTestDepositPayload = payloadOf('RecallTestDeposit', 'deposit', Deposit);
