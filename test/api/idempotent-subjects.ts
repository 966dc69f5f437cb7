import { checkoutBody, receivableBody } from '../support/bodies.js';
import { endBulk } from '../support/jobs.js';
import { inputTypeOf, must, payoutAddressBody, type Reply, type Speaker } from '../support/world.js';
import { passTime } from '../../src/operator/job/test-clock.js';

export const keyed = (key: string) => ({ 'idempotency-key': key });
export const replayed = (reply: Reply) => reply.headers.get('idempotent-replayed');
/** The status of a response of either API; in a GraphQL response it is the status of the error. */
export const statusOf = (reply: Reply): number => reply.body?.errors?.[0]?.extensions?.httpStatus ?? reply.status;

export const mutate = (
  me: Speaker,
  name: string,
  input: object,
  select: string,
  headers: Record<string, string> = {},
) => {
  return me.graph(
    `mutation ($input: ${inputTypeOf(name)}!) { ${name}(input: $input) { ${select} } }`,
    { input },
    headers,
  );
};

export const partnerId = async (me: Speaker) => (await me.partner()).id as string;
export const verifyingId = async (me: Speaker) => {
  const id = await partnerId(me);
  await must(me.post(`/v1/accounts/${id}/activate`));
  return id;
};
export const userId = async (me: Speaker) => (await me.connectedUser()).id;
export const addressId = async (me: Speaker) =>
  (await must(me.post('/v1/addresses', payoutAddressBody(await userId(me))))).id as string;
export const keyId = async (me: Speaker) =>
  (await mutate(me, 'createApiKey', { permission: 'FULL' }, 'apiKey { id }')).body.data.createApiKey.apiKey
    .id as string;
export const sessionId = async (me: Speaker) => (await must(me.post('/v1/sessions', { role: 'read' }))).id as string;
/** The text of an answer without a new token or secret, which only the first answer has. */
export const withoutToken = (text: string) =>
  text.replace(/"token":("ses_\w+"|null)/, '"token"').replace(/,"secret":"whsec_[^"]+"/, '');
export const hook = { url: 'https://hooks.invalid/', event_types: ['file.*'] };
/** Ends what no worker does here: a tenant has at most three exports and three imports under way. */
export async function withoutBulk(me: Speaker): Promise<string> {
  await endBulk(me);
  return me.id;
}
export const webhookId = async (me: Speaker) =>
  (await (await me.connectedUser()).post('/v1/webhook_endpoints', hook)).body.id as string;
export const settingId = async (me: Speaker) => {
  const reply = await me.graph('query ($id: ID!) { account(id: $id) { setting { id } } }', { id: await partnerId(me) });
  return reply.body.data.account.setting.id as string;
};

/** Advances the test clock by a day and runs the due work of the tenant's test mode; this file starts no worker. */
const lapse = (me: Speaker, seconds: number) =>
  passTime(me.world.operator, { tenantId: me.id.replace('account_', '') }, seconds);
export const money = { amount: '100.00', currency: 'USD' };
/** A deposit to the platform's own receiving address. */
export const depositId = async (me: Speaker) => {
  const second = me.edition === 2 && { currency: 'INR', to: { account_id: me.id }, payment_method: 'upi' };
  return (await must(me.post('/v1/deposits', { ...money, ...second }))).id as string;
};
export const completedId = async (me: Speaker) => {
  const id = await depositId(me);
  await must(me.post(`/v1/test_helpers/deposits/${id}/complete`));
  return id;
};
export const receivableId = async (me: Speaker) =>
  (await must(me.post('/v1/receivables', receivableBody({ reference_number: 'INV-1' })))).id as string;
/** A deposit and a receivable with a given id length; the subject contains both ids. */
export const reconcilable = async (me: Speaker) => [await completedId(me), await receivableId(me)].join(' ');
/** A pending refund of a deposit that is not reconciled. */
export const refundId = async (me: Speaker) =>
  (await must(me.post('/v1/refunds', { deposit_id: await completedId(me), amount: '40.00' }))).id as string;
/** The dispute of a deposit that is not reconciled. */
const disputeId = async (me: Speaker) => {
  const id = await completedId(me);
  await must(me.post(`/v1/test_helpers/deposits/${id}/dispute`, { amount: '40.00' }));
  return (await must(me.get('/v1/disputes?limit=1'))).data[0].id as string;
};
/** An open request to change a new partner. */
const changeRequestId = async (me: Speaker) => {
  const asked = { account_id: (await me.partner()).id, business_details: { dba: 'Harbour' } };
  return (await must(me.post('/v1/change_requests', asked))).id as string;
};
export const ofChangeRequest = {
  ...{ subject: changeRequestId, member: 'changeRequest', fields: ['id', 'status', 'answer'] },
};
export const ofDispute = { subject: disputeId, member: 'dispute', fields: ['id', 'status', 'amount'] };
export const person = {
  full_name: 'Asha Rao',
  relationship: { director: true },
  identification: { tax_card_number: 'ABCDE1234F' },
};
/** A payout of a new user, so that it takes no locks of other payouts. */
export const payoutId = async (me: Speaker) => {
  const user = await me.connectedUser({ businessDetails: { type: 'INDIVIDUAL', ids: { taxGst: '27ABCDE1234F1Z5' } } });
  await must(me.post('/v1/addresses', payoutAddressBody(user.id)));
  await must(user.post('/v1/persons', { ...person, relationship: { owner: true } }));
  await must(me.post(`/v1/accounts/${user.id}/activate`));
  await must(me.post(`/v1/test_helpers/accounts/${user.id}/verify`));
  await lapse(me, 5);
  await lapse(me, 5);
  const { id } = (await user.post('/v1/deposits', money)).body;
  await must(user.post(`/v1/test_helpers/deposits/${id}/complete`));
  const receivable = await user.post('/v1/receivables', receivableBody({ reference_number: 'INV-1' }));
  await must(
    user.post(`/v1/deposits/${id}/reconcile`, { receivables: [{ id: receivable.body.id, amount: '100.00' }] }),
  );
  // Payouts are daily, and settle a minute later.
  await lapse(me, 90_000);
  return (await user.get('/v1/payouts')).body.data[0].id as string;
};
/** A payout that has arrived. */
export const settledPayoutId = async (me: Speaker) => {
  const id = await payoutId(me);
  await must(me.post(`/v1/test_helpers/payouts/${id}/settle`));
  return id;
};

/** A partner of a new user, and a receivable of that user; the subject contains both ids. */
export const payable = async (me: Speaker) => {
  const user = me.actingFor(await userId(me));
  const receivable = await user.post('/v1/receivables', {
    ...receivableBody({ reference_number: 'INV-1' }),
    currency: 'INR',
    invoice: { ...receivableBody({ reference_number: 'INV-1' }).invoice, currency: 'INR' },
  });
  return [await partnerId(user), receivable.body.id as string].join(' ');
};
export const checkoutOf = (both: string) => {
  const [partner = '', ...receivables] = both.split(' ');
  return checkoutBody(partner, receivables, {
    amount: '60',
    redirect_url: 'https://shop.example/',
    metadata: { a: '1' },
  });
};
export const checkoutId = async (me: Speaker) =>
  (await must(me.post('/v1/checkouts', checkoutOf(await payable(me))))).id as string;
