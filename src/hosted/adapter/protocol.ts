import { z } from 'zod';
import { amountProblems } from '../../operation/amount-problems.js';
import { DepositReasonCode } from '../../resources/deposit/table.js';
import { TransactionReasonCode } from '../../resources/transaction/table.js';
import { Amount, isCurrency } from '../../types/scalars.js';

/*
 * The protocol between the gateway and an adapter of an acquirer: what both sides send, declared once. The gateway
 * reads with these schemas, and `schema/acquirer.json` is made from them. An object may have further members, which are
 * ignored, so that either side can add some. Silent: all of it.
 */

/** The most bytes of an answer of an adapter, and of a report to the gateway. */
export const bodyBytesMax = 65_536;
/** How long an adapter may take for an answer. */
export const answerMilliseconds = 8_000;
/** How far the time of a report may be from that of the gateway, as Standard Webhooks have it. */
export const toleranceSeconds = 300;

const named = <T extends z.ZodType>(id: string, description: string, schema: T): T => schema.meta({ id, description });
/** A text without characters that no text of a bank has, and that the database may refuse. */
const plain = (lengthMax: number) =>
  z
    .string()
    .max(lengthMax)
    .refine((text) => !/[\p{Cc}\p{Cs}]/u.test(text), 'must have no control characters');
const shortText = plain(255).min(1);
const id = (what: string) =>
  z
    .string()
    .regex(/^\w{1,100}$/)
    .meta({ description: `The id of ${what}.` });
/** How an amount is written. */
const amountForm = /^(0|[1-9]\d{0,12})\.\d{2}$/;
const amount = z
  .string()
  .regex(amountForm)
  .refine((text) => Number(text) > 0, 'must be greater than zero')
  .meta({ description: 'A decimal with two places, greater than zero.', examples: ['1250.00'] });
const currency = z
  .string()
  .regex(/^[A-Z]{3}$/)
  .refine(isCurrency, 'must be an ISO 4217 code')
  .meta({ description: 'An ISO 4217 code.', examples: ['INR'] });

/** An amount and its currency. */
const money = { amount, currency };

/** Whether an amount is one that its currency can have: half a yen is none. One of another form has its own problem. */
const fits = (given: { amount: string; currency: string }) =>
  !amountForm.test(given.amount) ||
  amountProblems({ ...given, amount: Amount.parseValue(given.amount) }, 'data').length === 0;

const wholeUnits = 'must end in .00, since its currency has no minor unit';

const card = named(
  'Card',
  'What is known of a card. It never has the number.',
  z.object({
    brand: plain(50).nullable(),
    last4: z.string().regex(/^\d{4}$/),
    expiry_month: z.int().min(1).max(12),
    expiry_year: z.int().min(2000).max(2200),
  }),
);

/** How the payer has paid, where that is known. */
const paidWith = z
  .union([z.object({ card }), z.object({ upi: z.object({ vpa: shortText }) })])
  .optional()
  .meta({ description: 'How the payer paid. Left out where it is not known.' });

const succeeded = z
  .object({ status: z.literal('succeeded'), ...money, details: paidWith })
  .refine(fits, { path: ['amount'], message: wholeUnits });
const failed = z.object({
  status: z.literal('failed'),
  reason_code: z.enum([TransactionReasonCode.DECLINED, TransactionReasonCode.INSUFFICIENT_FUNDS]),
  details: paidWith,
});

/** What an adapter says of an attempt. */
const attemptState = named(
  'Attempt',
  'What has become of an attempt. A success has the amount that was really taken, whatever was asked for.',
  z.discriminatedUnion('status', [z.object({ status: z.literal('processing'), details: paidWith }), succeeded, failed]),
);
export type AttemptState = z.infer<typeof attemptState>;

/** What the gateway sends of an attempt. */
export const newAttempt = named(
  'NewAttempt',
  'An attempt to take money from a payer, with the token of a card from the card fields.',
  z.object({ ...money, token: z.string().min(8).max(255) }),
);

/** What the gateway sends of an account that is to be paid by UPI codes. */
const newPayee = named(
  'NewPayee',
  'An account that is to be paid by UPI codes.',
  z.object({ name: z.string().meta({ description: 'The name of the account, which UPI apps may show.' }) }),
);

/** Where payers pay an account by UPI. */
const payee = named(
  'Payee',
  'Where payers pay an account by UPI.',
  z.object({
    vpa: z
      .string()
      .max(255)
      .regex(/^[\w.-]{2,}@[A-Za-z][A-Za-z0-9.-]+$/)
      .meta({
        description: 'A UPI address of the acquirer. Several may be the same: each code has the id of its attempt.',
        examples: ['tidegate.8321@acquirer'],
      }),
  }),
);

const refundSucceeded = z.object({ status: z.literal('succeeded'), reference: shortText.optional() });
const refundFailed = z.object({ status: z.literal('failed'), failure_reason: shortText.optional() });

/** What an adapter says of a refund. */
const refundState = named(
  'Refund',
  "What has become of a refund. `reference` is the acquirer's own, such as an ARN.",
  z.discriminatedUnion('status', [z.object({ status: z.literal('pending') }), refundSucceeded, refundFailed]),
);
export type RefundState = z.infer<typeof refundState>;

/** The end of a refund, as it is recorded. */
export function endOfRefund(id: string, state: Exclude<RefundState, { status: 'pending' }>) {
  const { status: to } = state;
  const failureReason = to === 'failed' ? state.failure_reason : undefined;
  const bankReference = to === 'succeeded' ? state.reference?.trim() : undefined;
  return { id, to, ...(failureReason && { failureReason }), ...(bankReference && { bankReference }) };
}

/** What the gateway sends of a refund. */
export const newRefund = named(
  'NewRefund',
  'Money of a successful attempt that goes back to its payer: all of it, or a part. Several may be of one attempt.',
  z.object({ ...money, attempt: id('the attempt that is refunded') }),
);

/** A dispute is known by the reference of the acquirer and the attempt that it is of. */
const disputeOfAttempt = {
  id: shortText.meta({ description: "The acquirer's own reference of the dispute." }),
  attempt: id('the attempt that is disputed'),
};

const disputeOpened = z.object({
  ...disputeOfAttempt,
  ...money,
  reason_code: z.enum(DepositReasonCode).meta({ description: "The reason that is nearest to the acquirer's." }),
  reason: shortText.optional().meta({ description: "The reason in the acquirer's words." }),
  respond_by: z.iso
    .datetime({ offset: true })
    .max(40)
    .refine((text) => /^2[01]/.test(text), 'must be a time of this or the next century')
    .optional()
    .meta({ description: 'The last moment at which evidence is taken. Left out where there is none.' }),
});

/** The reports of an adapter, each by its type. Another type of report is another member. */
export const report = named(
  'Report',
  'What the acquirer has decided. The same report may come any number of times, in any order with others.',
  z.discriminatedUnion('type', [
    z.object({
      type: z.literal('attempt.decided'),
      data: z.intersection(z.object({ id: id('the attempt') }), z.discriminatedUnion('status', [succeeded, failed])),
    }),
    z.object({
      type: z.literal('refund.decided'),
      data: z.intersection(
        z.object({ id: id('the refund') }),
        z.discriminatedUnion('status', [refundSucceeded, refundFailed]),
      ),
    }),
    z.object({
      type: z.literal('dispute.opened'),
      data: disputeOpened.refine(fits, { path: ['amount'], message: wholeUnits }).meta({
        description: 'The payer contests an attempt, and the acquirer has taken the amount back.',
      }),
    }),
    z.object({
      type: z.literal('dispute.decided'),
      data: z.object({ ...disputeOfAttempt, status: z.enum(['won', 'lost']) }).meta({
        description:
          'A dispute was decided for the account (won: the acquirer gives the money back) or the payer (lost).',
      }),
    }),
  ]),
);
export type Report = z.infer<typeof report>;

/** A request of the gateway to an adapter. */
export interface AdapterCall {
  method: 'GET' | 'PUT';
  path: string;
  summary: string;
  /** What the parameter of the path is. */
  parameter: string;
  body?: z.ZodType;
  answer: z.ZodType;
  /** What a 404 says; without it, none is expected. */
  missing?: string;
}

/** The requests of the gateway to an adapter, below its address. */
export const adapterCalls = {
  submitAttempt: {
    method: 'PUT',
    path: '/attempts/{id}',
    summary: 'Submit an attempt. The same attempt submitted again is still one attempt: the payer is charged once.',
    parameter: 'The id of the attempt, which is its id at the adapter, too.',
    body: newAttempt,
    answer: attemptState,
  },
  attempt: {
    method: 'GET',
    path: '/attempts/{id}',
    summary: 'Ask what has become of an attempt, any number of times. The reference of a UPI code is an id as well.',
    parameter: 'The id of the attempt.',
    answer: attemptState,
    missing: 'The adapter has not received it, such as a UPI code that no payer has paid.',
  },
  card: {
    method: 'GET',
    path: '/tokens/{token}',
    summary: 'Ask for the card behind a token of the card fields.',
    parameter: 'The token.',
    answer: card,
    missing: 'There is no such token.',
  },
  payee: {
    method: 'PUT',
    path: '/payees/{id}',
    summary:
      'Ask for the UPI address in the codes of a customer of an account, before the first of them. The same id has ' +
      'the same answer each time, and the gateway keeps the first one.',
    parameter: "The id of the address on the gateway that takes the money of the customer's checkouts.",
    body: newPayee,
    answer: payee,
    missing: 'The account cannot be paid by UPI codes. Its pages say so, and begin no attempt.',
  },
  submitRefund: {
    method: 'PUT',
    path: '/refunds/{id}',
    summary: 'Submit a refund. The same refund submitted again is still one refund: the payer gets the money once.',
    parameter: 'The id of the refund, which is its id at the adapter, too.',
    body: newRefund,
    answer: refundState,
  },
  refund: {
    method: 'GET',
    path: '/refunds/{id}',
    summary: 'Ask what has become of a refund, any number of times.',
    parameter: 'The id of the refund.',
    answer: refundState,
    missing: 'The adapter has not received it.',
  },
} satisfies Record<string, AdapterCall>;

/** The route of the reports to the gateway. */
export const reportsPath = (mode: string) => `/acquirer/${mode}/reports`;
