/** A program of a client: it creates a partner, a receivable and a deposit, lists, and reads an error. */
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/v1.js';

declare const process: { env: Record<string, string | undefined> };
declare const console: { log(text: string): void };

const api = createClient<paths>({
  baseUrl: process.env.ORIGIN ?? '',
  headers: { Authorization: `Bearer ${process.env.KEY}` },
});

function required<T>({ data, error }: { data?: T; error?: components['schemas']['Error'] }): T {
  if (data === undefined) throw new Error(error?.errors.map(({ message }) => message).join(' '));
  return data;
}

const partner = required(
  await api.POST('/v1/accounts', {
    params: { header: { 'Idempotency-Key': `partner ${process.env.KEY}` } },
    body: {
      type: 'partner',
      nickname: 'Nordwind Imports',
      business_details: {
        legal_name: 'Nordwind Imports GmbH',
        email: 'ap@nordwind.example',
        type: 'company',
        physical_address: { country: 'DE' },
      },
    },
  }),
);
const receivable = required(
  await api.POST('/v1/receivables', {
    body: {
      currency: 'USD',
      invoice: {
        amount: '80.00',
        currency: 'USD',
        creation_date: '2026-01-31',
        due_date: '2026-03-02',
        reference_number: 'INV-7',
      },
      purpose_code: 'P0802',
      transaction_type: 'services',
    },
  }),
);
const deposit = required(
  await api.POST('/v1/deposits', { body: { amount: '80.00', currency: 'USD', from: { account_id: partner.id } } }),
);
const completed = required(
  await api.POST('/v1/test_helpers/deposits/{id}/complete', { params: { path: { id: deposit.id } }, body: {} }),
);
const page = required(
  await api.GET('/v1/deposits', { params: { query: { limit: 1, status: ['completed', 'reversed'] } } }),
);
const refused = await api.POST('/v1/deposits', { body: { amount: '0.00', currency: 'USD' } });

// The types refuse what the contract does not have.
// @ts-expect-error An amount is a string.
const wrongAmount: components['schemas']['Deposit']['amount'] = 80;
// @ts-expect-error There is no such status.
const wrongStatus: components['schemas']['Deposit']['status'] = 'lost';
// @ts-expect-error There is no such path.
void (() => api.GET('/v1/unknown'));

console.log(
  JSON.stringify({
    partner: [partner.type, partner.business_details.physical_address.country, partner.sub_type],
    receivable: [receivable.status, receivable.amount_reconcilable],
    deposit: [deposit.status, completed.status, completed.from.account_id === partner.id],
    page: [page.data.map(({ id }) => id === deposit.id), page.has_next],
    refused: [refused.response.status, refused.error?.errors.map(({ code, metadata }) => [code, metadata.field_name])],
    unused: [wrongAmount, wrongStatus],
  }),
);
