/** A program of a client of Edition 2, whose types are made from the contract of its own key. */
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/own.js';

declare const process: { env: Record<string, string | undefined> };
declare const console: { log(text: string): void };

const api = createClient<paths>({
  baseUrl: process.env.ORIGIN ?? '',
  headers: { Authorization: `Bearer ${process.env.KEY}` },
});
type Deposit = components['schemas']['Deposit'];
type Account = components['schemas']['Account'];

const deposits = await api.GET('/v1/deposits', { params: { query: { payment_method: ['upi', 'card'] } } });
const checkouts = await api.GET('/v1/checkouts');
const account = await api.GET('/v1/accounts/{id}', { params: { path: { id: process.env.ID ?? '' } } });

// The types have nothing of Edition 1.
// @ts-expect-error It has no such payment method.
const method: Deposit['payment_method'] = 'klarna';
// @ts-expect-error No value of an account is such an amount.
const volume = (of: Account) => of.business_details.estimated_monthly_volume;
// @ts-expect-error A deposit requires how it is paid, and to whom.
void (() => api.POST('/v1/deposits', { body: { amount: '1.00', currency: 'INR', from: {} } }));

console.log(
  JSON.stringify({
    deposits: deposits.data?.data.length,
    checkouts: checkouts.data?.has_next,
    account: account.data?.supporting_documentation.physical_address_document,
    unused: [method, typeof volume],
  }),
);
