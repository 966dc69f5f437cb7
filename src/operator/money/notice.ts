import { depositProblems } from '../../resources/deposit/rules.js';
import type { DepositReasonCode } from '../../resources/deposit/table.js';
import { type Problem, problem, snake } from '../../errors/problems.js';
import { whiteSpace } from '../table.js';
import { type BankDetails, bankDetailsProblems } from './bank-details.js';

export type NoticeEvent = 'received' | 'reversed' | 'recalled';

/** A bank's report about a transfer, under the bank's own reference. */
export interface BankNotice extends BankDetails {
  reference: string;
  event: NoticeEvent;
  addressId: string;
  amount: bigint;
  currency: string;
  /** Of a recall: the reference of the received transfer, of which the amount was taken back, and why. */
  originalReference?: string | undefined;
  reasonCode?: DepositReasonCode | undefined;
  fromAccountId?: string | undefined;
  paymentMethod?: string | undefined;
  statementDescriptor?: string | undefined;
  /** Whether the transfer may have another currency than its address. */
  allowCurrency?: boolean | undefined;
}

/** The events whose notices may have a member that others may not. */
const eventsOf: readonly [member: keyof BankNotice, events: readonly NoticeEvent[]][] = [
  ['originalReference', ['recalled']],
  ['reasonCode', ['recalled']],
  ['payer', ['received']],
  ['text', ['received']],
  ['fromAccountId', ['received', 'reversed']],
  ['paymentMethod', ['received', 'reversed']],
  ['statementDescriptor', ['received', 'reversed']],
];

/** The reference is part of an index key, whose length PostgreSQL limits. */
export const referenceLengthMax = 255;

/** The problems of a notice that no bank can have sent. */
export function noticeProblems(given: BankNotice): Problem[] {
  const { reference, amount, event, originalReference } = given;
  const field = 'deposit.original_reference';
  return [
    ...depositProblems({ amount }),
    ...referenceProblems(reference, 'deposit.reference'),
    ...(event !== 'recalled'
      ? []
      : originalReference === undefined
        ? [problem('parameter_missing', field)]
        : referenceProblems(originalReference, field)),
    ...eventsOf
      .filter(([member, events]) => given[member] != null && !events.includes(event))
      .map(([member, events]) =>
        problem('parameter_invalid', `deposit.${snake(member)}`, {
          v1: `goes with the event ${events.join(' or ')} alone`,
          graph: `goes with the event ${events.join(' or ').toUpperCase().replace(' OR ', ' or ')} alone`,
        }),
      ),
    ...bankDetailsProblems(given),
  ];
}

/** The problems of a reference: that it is empty or too long. */
export function referenceProblems(reference: string, field: string): Problem[] {
  const bare = withoutSpaceAround(reference);
  if (bare === '') return [problem('parameter_invalid_empty', field)];
  return [...bare].length > referenceLengthMax
    ? [problem('parameter_invalid', field, `must have at most ${referenceLengthMax} characters`)]
    : [];
}

/** A reference as it is compared and stored; the functions of the database leave out the same. */
export function withoutSpaceAround(reference: string): string {
  const first = [...reference].findIndex((character) => !spaces.has(character));
  const last = [...reference].findLastIndex((character) => !spaces.has(character));
  return first < 0 ? '' : [...reference].slice(first, last + 1).join('');
}

/** The characters of white space; the constant has them as escapes, as SQL and JSON write them. */
const spaces = new Set(JSON.parse(`"${whiteSpace}"`) as string);
