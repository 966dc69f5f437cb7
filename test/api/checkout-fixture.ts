import { expect } from 'vitest';
import { checkoutBody, compartments, inputOf, receivableBody } from '../support/bodies.js';
import { givenIn, type Reply, Speaker, tenantOf, type Transport, type World } from '../support/world.js';

const operations = {
  create: ['/v1/checkouts', 'createCheckout', 'CreateCheckoutInput'],
  cancel: ['/v1/checkouts/:id/cancel', 'cancelCheckout', 'CancelCheckoutInput'],
  pay: ['/v1/test_helpers/checkouts/:id/pay', 'payTestCheckout', 'PayTestCheckoutInput'],
  decline: ['/v1/test_helpers/checkouts/:id/decline', 'declineTestCheckout', 'DeclineTestCheckoutInput'],
  expire: ['/v1/test_helpers/checkouts/:id/expire', 'expireTestCheckout', 'ExpireTestCheckoutInput'],
} as const;
export type Operation = keyof typeof operations;
export type Json = any;

export const day = 86_400;

const whole = `id object: __typename type created expiresAt livemode amount grossAmount currency
  from { accountId } to { accountId } paymentMethods receivables { id }
  redirectUrl status effectiveTransaction { id status } metadata url`;

const seconds = (text: string) => Date.parse(text) / 1000;
/** A checkout of GraphQL in the format of /v1. */
const asV1 = (c: Json) => ({
  id: c.id,
  object: c.object.toLowerCase(),
  type: c.type.toLowerCase(),
  created: seconds(c.created),
  expires_at: seconds(c.expiresAt),
  livemode: c.livemode,
  amount: c.amount,
  gross_amount: c.grossAmount,
  currency: c.currency,
  from: { account_id: c.from.accountId },
  to: { account_id: c.to.accountId },
  payment_methods: c.paymentMethods.map((method: string) => method.toLowerCase()),
  receivables: c.receivables,
  redirect_url: c.redirectUrl,
  status: c.status.toLowerCase(),
  effective_transaction: c.effectiveTransaction && {
    id: c.effectiveTransaction.id,
    status: c.effectiveTransaction.status.toLowerCase(),
  },
  metadata: c.metadata,
});

export interface Answer extends Reply {
  /** The checkout of a response, in the format of /v1. */
  checkout: Json;
  /** The address of its page. */
  url: string | undefined;
}

export const linkOf = (reply: Reply) => /^<([^<>]+)>; rel="payment"$/.exec(reply.headers.get('link') ?? '')?.[1];

/** One operation through one API, with a result that can be compared between the APIs. */
export async function act(
  speaker: Speaker,
  transport: Transport,
  operation: Operation,
  body: object,
  id?: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const [path, mutation, type] = operations[operation];
  if (transport === 'REST') {
    const reply = await speaker.post(path.replace(':id', id ?? ''), body, headers);
    return { ...reply, checkout: reply.status === 200 ? reply.body : undefined, url: linkOf(reply) };
  }
  const reply = await speaker.graph(
    `mutation ($input: ${type}!) { ${mutation}(input: $input) { checkout { ${whole} } } }`,
    { input: { ...inputOf(body), ...(id && { id }) } },
    headers,
  );
  const made = reply.body.data?.[mutation]?.checkout;
  const status = reply.body.errors?.[0]?.extensions.httpStatus ?? reply.status;
  return { ...reply, status, checkout: made && asV1(made), url: made?.url };
}

export const refusalOf = ({ status, codes, fieldNames }: Reply) => [status, codes, fieldNames];
export const one = (status: number, code: string, field: string) => [status, [code], [field]];

/** The result of an operation, which must have succeeded. */
export function done(reply: Answer): Json {
  expect([reply.fieldNames, reply.codes, reply.status]).toEqual([[], [], 200]);
  return reply.checkout;
}
export const pay = async (speaker: Speaker, id: string, body: object = {}) =>
  done(await act(speaker, 'REST', 'pay', body, id));
export const look = async (speaker: Speaker, id: string): Promise<Json> =>
  (await speaker.get(`/v1/checkouts/${id}`)).body;

export async function receivableOf(speaker: Speaker, amount = '100.00', more: object = {}): Promise<string> {
  const currency = (more as { currency?: string }).currency ?? 'INR';
  const reply = await speaker.post('/v1/receivables', receivableBody({ amount, currency }, more));
  expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
  return reply.body.id;
}

export interface Shop {
  user: Speaker;
  partner: string;
  receivable: string;
}

/** Funds that are not zero, by compartment. */
export async function funds(speaker: Speaker, id = speaker.id): Promise<Record<string, string>> {
  const { body } = await speaker.get(`/v1/balance?account_id=${id}`);
  return Object.fromEntries(
    compartments.flatMap((name) =>
      (body[name] as Json[]).flatMap(({ amount, currency }) =>
        amount === '0.00' ? [] : [[`${name} ${currency}`, amount]],
      ),
    ),
  );
}

/** The locked amount, the amount that can still be reconciled, and the deposits that have locked it. */
export async function locksOf(speaker: Speaker, id: string) {
  const r = (await speaker.get(`/v1/receivables/${id}`)).body;
  return [r.amount_locked, r.amount_reconcilable, r.deposit_ids_amount_locked];
}

/** The deposits that came through a checkout, oldest first. */
export async function depositsOf(speaker: Speaker, id: string): Promise<Json[]> {
  const rows = await speaker.world.sql`select deposit_id from payment where checkout_id = ${id} order by id`;
  return Promise.all(rows.map(async (row) => (await speaker.get(`/v1/deposits/${row.deposit_id}`)).body));
}

export const transactionsOf = async (speaker: Speaker, id: string): Promise<Json[]> =>
  (
    await speaker.graph(
      'query ($id: ID!) { checkout(id: $id) { transactions(first: 100) { nodes { id status reasonCode amount ' +
        'paymentMethod deposit { id } } } } }',
      { id },
    )
  ).body.data.checkout.transactions.nodes;

/** The types of the events of a tenant, or of one object, in the order of their creation. */
export const eventsOf = async (root: Speaker, object?: string): Promise<string[]> =>
  (
    await root.world.sql`select type from event where tenant_id = ${tenantOf(root)} and not livemode
      and (${object ?? null}::text is null or object_id = ${object ?? null}) order by id`
  ).map(({ type }) => type);

/** Checkouts of new users and partners. */
export function checkoutsIn(world: World) {
  const given = givenIn(world);
  /** A direct user with a partner and a receivable of 100.00. */
  async function shop(in_ = given): Promise<Shop> {
    const user = await in_.directUser(2);
    const [partner, receivable] = await Promise.all([user.partner(), receivableOf(user)]);
    return { user, partner: partner.id, receivable };
  }

  /** A shop with a checkout of 60.00 for its receivable. */
  async function opened(more: object = {}, in_ = given): Promise<Shop & { checkout: Json; id: string }> {
    const s = await shop(in_);
    const checkout = done(await act(s.user, 'REST', 'create', checkoutBody(s.partner, [s.receivable], more)));
    return { ...s, checkout, id: checkout.id };
  }
  return { shop, opened };
}
