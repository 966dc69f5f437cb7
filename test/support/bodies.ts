import { camel } from '../../src/errors/problems.js';
import { details, nickname } from './world.js';

type Json = any;

/** The smallest thing that is a PDF by its content. */
export const pdf = Buffer.from('%PDF-1.4\n%%EOF\n');
/** A PDF with this text. */
export const pdfOf = (text: string) => Buffer.from(`%PDF-1.4\n%${text}\n%%EOF\n`);

/** The smallest thing that is a PNG by its content: one pixel. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** An id that no object has. */
export const unknownId = (prefix: string) => `${prefix}_${'0'.repeat(32)}`;

/** The currency in which accounts of an edition receive money. */
export const currencyOf = { 1: 'USD', 2: 'INR' } as const;

/** An amount with two decimals, in its minor unit. */
export const cents = (amount: string) => BigInt(amount.replace('.', ''));

/** The members of a balance. */
export const compartments = ['available', 'pending', 'processing', 'payout_processing', 'fee_advance'] as const;

/** The body of a partner that passes every edition's creation rules. */
export const partnerBody = (more: object = {}) => ({
  type: 'partner',
  nickname: nickname(),
  business_details: details(),
  ...more,
});

/** The same partner as the input of a mutation. */
export const partnerInput = (more: object = {}) => inputOf(partnerBody(more));

/** The body of a person who passes both editions, of the acting account unless another is named. */
export const personBody = (accountId?: string, roles: readonly string[] = ['director']) => ({
  ...(accountId && { account_id: accountId }),
  full_name: 'Meera Rao',
  relationship: Object.fromEntries(roles.map((role) => [role, true])),
  identification: { tax_card_number: 'ABCPE1234F' },
});

/** The body of a receivable of 100.00, with other members of its invoice and of itself; both have one currency. */
export const receivableBody = (
  invoice: { currency?: string | null; [name: string]: unknown } = {},
  more: object = {},
) => {
  const currency = invoice.currency ?? 'USD';
  return {
    ...{ currency, purpose_code: 'P0802', transaction_type: 'services' },
    invoice: {
      ...{ amount: '100.00', currency, reference_number: nickname() },
      ...{ creation_date: '2026-10-01', due_date: '2026-12-01' },
      ...invoice,
    },
    ...more,
  };
};

/** The body of a checkout of Edition 2, with other members if given. */
export const checkoutBody = (partner: string, receivables: readonly string[], more: object = {}) => ({
  ...{ amount: '60.00', currency: 'INR', from: { account_id: partner }, payment_methods: ['cards', 'upi'] },
  receivables: receivables.map((id) => ({ id })),
  redirect_url: 'https://shop.example/thanks?order=7#done',
  ...more,
});

/** The parameters of /v1 whose values are enum values in the graph. */
const enums = new Set([
  ...['category', 'interval', 'linked_object', 'outcome', 'payment_method', 'payment_methods', 'permission'],
  ...['reason_code', 'transaction_type', 'type'],
]);

/** A body of /v1 as the input of the mutation: names in camel case, enum values in upper case. */
export function inputOf(value: Json, key = ''): Json {
  if (typeof value === 'string') return enums.has(key) ? value.toUpperCase() : value;
  if (Array.isArray(value)) return value.map((member) => inputOf(member, key));
  if (typeof value !== 'object' || value === null || key === 'metadata') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [camel(name), inputOf(member, name)]));
}
