import {
  buildClientSchema,
  getIntrospectionQuery,
  getNullableType,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { snake } from '../../src/errors/problems.js';
import { operationOf, routes } from '../../src/resources/registry.js';
import { checkoutBody, personBody, receivableBody } from '../support/bodies.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { runJobs } from '../support/jobs.js';
import {
  details,
  givenIn,
  must,
  nickname,
  payoutAddress,
  type Reply,
  type Speaker,
  useWorld,
} from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

type Json = any;

/** A request that is refused: the caller, the id in its path, and its body, or its query, as /v1 has them. */
interface Refused {
  speaker: Speaker;
  id?: string;
  body?: Json;
  query?: Record<string, string>;
}

let schema: GraphQLSchema;
let user: Speaker;
let platform: Speaker;
/** A user of Edition 2 with a partner that pays. */
let payee: PayeeFixture;

beforeAll(async () => {
  user = await given.directUser(1);
  platform = await given.platform(1);
  payee = await PayeeFixture.open(world);
  schema = buildClientSchema((await user.graph(getIntrospectionQuery({ inputValueDeprecation: true }))).body.data);
});

const help = (speaker: Speaker, path: string, body: object = {}) =>
  must(speaker.post(`/v1/test_helpers/${path}`, body));
const dollars = (amount: string) => ({ amount, currency: 'USD' });
const receivableOf = (speaker: Speaker) => must(speaker.post('/v1/receivables', receivableBody()));
async function voided(speaker: Speaker) {
  const { id } = await receivableOf(speaker);
  return must(speaker.post(`/v1/receivables/${id}/void`));
}
const depositOf = (speaker: Speaker, amount = '100.00') => must(speaker.post('/v1/deposits', dollars(amount)));
async function completed(speaker: Speaker) {
  const { id } = await depositOf(speaker);
  return help(speaker, `deposits/${id}/complete`);
}
/** A refund of a deposit that is not reconciled, which has ended. */
async function ended(verb: 'succeed' | 'fail') {
  const { id } = await must(user.post('/v1/refunds', { deposit_id: (await completed(user)).id }));
  await help(user, `refunds/${id}/${verb}`);
  return id as string;
}
/** The dispute of a deposit that is not reconciled, which was lost. */
async function lost() {
  await help(user, `deposits/${(await completed(user)).id}/dispute`);
  const [{ id }] = (await must(user.get('/v1/disputes?limit=1'))).data;
  await help(user, `disputes/${id}/lose`);
  return id as string;
}
/** A request to change a new partner, which is open, or was withdrawn. */
async function changeOf(end: '' | 'withdraw') {
  const { id: account_id } = await user.partner();
  const asked = { account_id, business_details: { dba: 'Harbour' } };
  const made = await must(user.post('/v1/change_requests', asked));
  return end === '' ? { asked, made } : { asked, made: await must(user.post(`/v1/change_requests/${made.id}/${end}`)) };
}
async function failed(speaker: Speaker) {
  const { id } = await depositOf(speaker);
  return help(speaker, `deposits/${id}/fail`);
}
/** A partner that was sent to verification, so its details stay as they are. */
async function submitted() {
  const { id } = await user.partner();
  return must(user.post(`/v1/accounts/${id}/activate`));
}
async function deactivated() {
  const { id } = await submitted();
  await help(user, `accounts/${id}/verify`);
  return must(user.post(`/v1/accounts/${id}/deactivate`));
}
/** A connected user with a person, which is verified. */
async function personOfVerified() {
  const businessDetails = { type: 'INDIVIDUAL', ids: { taxGst: '27ABCDE1234F1Z5' } };
  const owner = await platform.connectedUser({ businessDetails });
  const { id } = await must(owner.post('/v1/persons', personBody(owner.id, ['owner'])));
  await payoutAddress(platform, 'INR', owner.id);
  await must(platform.post(`/v1/accounts/${owner.id}/activate`));
  return { owner, id };
}
async function cancelled() {
  const { id } = await payee.checkoutFixture();
  return must(payee.user.post(`/v1/checkouts/${id}/cancel`));
}
async function expired() {
  const { id } = await payee.checkoutFixture();
  return help(payee.user, `checkouts/${id}/expire`);
}
/** A payout that is completed. */
async function paidOut() {
  const owner = await given.directUser(1);
  await payoutAddress(owner);
  const [deposit, receivable] = [await completed(owner), await receivableOf(owner)];
  const receivables = [{ id: receivable.id, amount: '100.00' }];
  await must(owner.post(`/v1/deposits/${deposit.id}/reconcile`, { receivables }));
  await help(owner, 'clock', { advance_seconds: 86_400 });
  await runJobs(owner);
  const [payout] = (await must(owner.get('/v1/payouts'))).data;
  return { owner, deposit, payout: await help(owner, `payouts/${payout.id}/settle`) };
}
const endpointOf = async (body: object = {}) =>
  must(user.post('/v1/webhook_endpoints', { url: 'https://hooks.example/a', event_types: ['*'], ...body }));
async function disabledEndpoint() {
  const { id } = await endpointOf();
  return must(user.post(`/v1/webhook_endpoints/${id}`, { enabled: false }));
}
const testOf = (path: string, object: () => Promise<Json>, speaker = () => user) =>
  async function helper(): Promise<Refused> {
    const { id } = await object();
    return { speaker: speaker(), id, ...(path === '' ? {} : { body: JSON.parse(path) }) };
  };

/** How each declared refusal comes about, by the operation and the code. */
const refusals: Record<string, () => Promise<Refused>> = {
  'accounts parameter_missing': async () => ({ speaker: user, query: { 'metadata.value': 'x' } }),
  'partners parameter_missing': async () => ({ speaker: user, id: user.id, query: { 'metadata.value': 'x' } }),
  'deposits parameter_missing': async () => ({ speaker: user, query: { 'metadata.value': 'x' } }),
  'receivables parameter_missing': async () => ({ speaker: user, query: { 'metadata.value': 'x' } }),

  'createAccount nickname_taken': async () => {
    const { nickname: taken } = await user.partner();
    return { speaker: user, body: { type: 'partner', nickname: taken, business_details: details() } };
  },
  'createConnectedUser nickname_taken': async () => {
    const taken = nickname();
    await platform.connectedUser({ nickname: taken });
    return { speaker: platform, body: { nickname: taken } };
  },
  'updateAccount nickname_taken': async () => {
    const [{ id }, taken] = [await platform.connectedUser(), nickname()];
    await platform.connectedUser({ nickname: taken });
    return { speaker: platform, id, body: { nickname: taken } };
  },
  'updateAccount account_not_updatable': testOf('{"nickname":"another"}', submitted),
  'activateAccount account_requirements_missing': async () => {
    const { id } = await platform.connectedUser();
    return { speaker: platform, id };
  },
  'activateAccount status_invalid': testOf('', submitted),
  'deactivateAccount account_type_invalid': async () => ({ speaker: user, id: user.id }),
  'deactivateAccount status_invalid': testOf('', deactivated),
  'verifyTestAccount status_invalid': testOf('', () => user.partner()),
  'holdTestAccount status_invalid': testOf('', () => user.partner()),
  'deactivateTestAccount status_invalid': testOf('', deactivated),

  'expireTestAddress status_invalid': async () => {
    const { id } = await payoutAddress(user);
    await help(user, `addresses/${id}/expire`);
    return { speaker: user, id };
  },
  'deactivateTestAddress status_invalid': async () => {
    const { id } = await payoutAddress(user);
    await help(user, `addresses/${id}/deactivate`);
    return { speaker: user, id };
  },
  'createTestWallet account_type_invalid': async () => ({ speaker: user, id: user.id, body: {} }),

  'createCheckout account_type_invalid': async () => {
    const owner = await given.platform(2);
    const [partner, receivable] = [await owner.partner(), await payee.receivable('1000.00', undefined, owner)];
    return { speaker: owner, body: checkoutBody(partner.id, [receivable], { amount: '1000.00' }) };
  },
  'createCheckout status_invalid': async () => {
    const receivable = await payee.receivable();
    await must(payee.user.post(`/v1/receivables/${receivable}/void`));
    return { speaker: payee.user, body: checkoutBody(payee.partnerId, [receivable], { amount: '1000.00' }) };
  },
  'createCheckout acquirer_unavailable': async () => {
    const partner = await payee.goLive();
    const receivable = await payee.receivable('1000.00', undefined, payee.live);
    return { speaker: payee.live, body: checkoutBody(partner, [receivable], { amount: '1000.00' }) };
  },
  'createCheckout amount_exceeds_reconcilable': async () => ({
    speaker: payee.user,
    body: checkoutBody(payee.partnerId, [await payee.receivable()], { amount: '1000.01' }),
  }),
  'cancelCheckout status_invalid': testOf('', cancelled, () => payee.user),
  'declineTestCheckout status_invalid': testOf('{}', expired, () => payee.user),
  'expireTestCheckout status_invalid': testOf('', cancelled, () => payee.user),

  'createDeposit address_unusable': async () => {
    const { id } = await platform.connectedUser();
    return { speaker: platform, body: { ...dollars('1.00'), to: { account_id: id } } };
  },
  'reconcileDeposit status_invalid': async () => {
    const [{ id }, receivable] = [await depositOf(user), await receivableOf(user)];
    return { speaker: user, id, body: { receivables: [{ id: receivable.id, amount: '1.00' }] } };
  },
  'reconcileDeposit amount_exceeds_reconcilable': async () => {
    const [{ id }, receivable] = [await completed(user), await receivableOf(user)];
    return { speaker: user, id, body: { receivables: [{ id: receivable.id, amount: '100.01' }] } };
  },
  'processTestDeposit status_invalid': testOf('', () => failed(user)),
  'completeTestDeposit status_invalid': testOf('', () => failed(user)),
  'failTestDeposit status_invalid': testOf('{}', () => completed(user)),
  'cancelTestDeposit status_invalid': testOf('', () => completed(user)),
  'reverseTestDeposit status_invalid': testOf('', () => failed(user)),
  'disputeTestDeposit status_invalid': testOf('{}', () => failed(user)),
  'disputeTestDeposit amount_exceeds_deposit': testOf('{"amount":"100.01"}', () => completed(user)),
  'recallTestDeposit status_invalid': testOf('{}', () => failed(user)),
  'recallTestDeposit amount_exceeds_deposit': testOf('{"amount":"100.01"}', () => completed(user)),

  'createPerson account_type_invalid': async () => {
    const { id } = await user.partner();
    return { speaker: user, body: personBody(id, ['director']) };
  },
  'createPerson status_invalid': async () => {
    const { id } = await platform.connectedUser();
    await must(platform.post(`/v1/accounts/${id}`, { business_details: { type: 'sole_proprietor' } }));
    await must(platform.post('/v1/persons', personBody(id, ['owner'])));
    return { speaker: platform, body: personBody(id, ['owner']) };
  },
  'updatePerson account_not_updatable': async () => {
    const { owner, id } = await personOfVerified();
    return { speaker: owner, id, body: { full_name: 'Meera R Rao' } };
  },
  'removePerson account_not_updatable': async () => {
    const { owner, id } = await personOfVerified();
    return { speaker: owner, id };
  },

  'createReceivable account_type_invalid': async () => {
    const { id } = await user.partner();
    return { speaker: user, body: receivableBody({}, { account_id: id }) };
  },
  'createReceivable status_invalid': async () => {
    const { live } = await given.directUserBoth(1);
    return { speaker: live, body: receivableBody() };
  },
  'createReceivable amount_exceeds_reconcilable': async () => ({
    speaker: user,
    body: receivableBody({}, { amount_maximum_reconcilable: '100.01' }),
  }),
  'updateReceivable account_type_invalid': async () => {
    const { id } = await receivableOf(user);
    return { speaker: user, id, body: { customer_id: user.id } };
  },
  'updateReceivable amount_exceeds_reconcilable': async () => {
    const { id } = await receivableOf(user);
    return { speaker: user, id, body: { amount_maximum_reconcilable: '100.01' } };
  },
  'updateReceivable status_invalid': testOf('{"amount_maximum_reconcilable":"1.00"}', () => voided(user)),
  'voidReceivable status_invalid': testOf('', () => voided(user)),

  'settleTestPayout status_invalid': async () => {
    const { owner, payout } = await paidOut();
    return { speaker: owner, id: payout.id };
  },
  'failTestPayout status_invalid': async () => {
    const { owner, payout } = await paidOut();
    return { speaker: owner, id: payout.id };
  },
  'returnTestPayout status_invalid': async () => {
    const { owner, payout } = await paidOut();
    await must(owner.post(`/v1/test_helpers/payouts/${payout.id}/return`));
    return { speaker: owner, id: payout.id };
  },

  'createTestAdjustment balance_insufficient': async () => {
    const debit = { amount: '9000000.00', currency: 'USD' };
    return { speaker: user, body: { account_id: user.id, debit, reason: 'A fee' } };
  },
  'createRefund status_invalid': async () => {
    const { id } = await depositOf(user);
    return { speaker: user, body: { deposit_id: id } };
  },
  'createRefund amount_exceeds_deposit': async () => {
    const { id } = await completed(user);
    return { speaker: user, body: { deposit_id: id, amount: '100.01' } };
  },
  'createRefund balance_insufficient': async () => {
    const { owner, deposit } = await paidOut();
    return { speaker: owner, body: { deposit_id: deposit.id } };
  },
  'succeedTestRefund status_invalid': async () => ({ speaker: user, id: await ended('succeed') }),
  'failTestRefund status_invalid': async () => ({ speaker: user, id: await ended('fail') }),
  'respondToDispute status_invalid': async () => ({ speaker: user, id: await lost(), body: { text: 'Delivered' } }),
  'acceptDispute status_invalid': async () => ({ speaker: user, id: await lost() }),
  'requestAccountChange status_invalid': async () => ({
    speaker: user,
    body: { account_id: (await deactivated()).id, business_details: { dba: 'Harbour' } },
  }),
  'requestAccountChange state_conflict': async () => ({ speaker: user, body: (await changeOf('')).asked }),
  'withdrawChangeRequest status_invalid': async () => ({ speaker: user, id: (await changeOf('withdraw')).made.id }),
  'acceptTestChangeRequest status_invalid': async () => ({ speaker: user, id: (await changeOf('withdraw')).made.id }),
  'declineTestChangeRequest status_invalid': testOf('{}', async () => (await changeOf('withdraw')).made),
  'winTestDispute status_invalid': async () => ({ speaker: user, id: await lost() }),
  'loseTestDispute status_invalid': async () => ({ speaker: user, id: await lost() }),

  'createSession account_type_invalid': async () => {
    const { id } = await user.partner();
    return { speaker: user, body: { account_id: id, role: 'read' } };
  },
  'createWebhookEndpoint account_type_invalid': async () => {
    const { id } = await user.partner();
    return { speaker: user, body: { account_id: id, url: 'https://hooks.example/a', event_types: ['*'] } };
  },
  'testWebhookEndpoint status_invalid': testOf('', disabledEndpoint),
  'redeliverWebhooks status_invalid': testOf('{"after_number":0}', disabledEndpoint),
};

const declared = routes.flatMap(({ field }) => (operationOf(field).refusals ?? []).map((code) => `${field} ${code}`));

/** A value of /v1 as the graph takes it. */
function inGraph(type: GraphQLInputType, value: Json): Json {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return value.map((each: Json) => inGraph(nullable.ofType, each));
  if (isEnumType(nullable)) return String(value).toUpperCase();
  if (!isInputObjectType(nullable)) return value;
  const fields = Object.values(nullable.getFields());
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const field = fields.find((each) => snake(each.name) === name)!;
      return [field.name, inGraph(field.type, member)];
    }),
  );
}

/** The same request through the graph. */
function asked(name: string, { speaker, id, body, query }: Refused): Promise<Reply> {
  const { method, path, params } = routes.find(({ field }) => field === name)!;
  const [, inPath = ''] = /:(\w+)/.exec(path) ?? [];
  const own = id === undefined ? {} : { [params?.[inPath] ?? inPath]: id };
  const root = (method === 'GET' ? schema.getQueryType() : schema.getMutationType())!.getFields()[name]!;
  if (method === 'POST') {
    const { type } = root.args[0]!;
    const input = { ...inGraph(type, body ?? {}), ...own };
    return speaker.graph(`mutation ($input: ${type}) { ${name}(input: $input) { __typename } }`, { input });
  }
  const nested: Json = {};
  for (const [key, value] of Object.entries(query ?? {})) {
    const [first = '', last] = key.split('.');
    nested[first] = last === undefined ? value : { [last]: value };
  }
  const given = Object.entries(nested).map(([key, value]) => {
    const arg = root.args.find((each) => snake(each.name) === key)!;
    return [arg.name, inGraph(arg.type, value), arg.type] as const;
  });
  const variables = { ...Object.fromEntries(given.map(([key, value]) => [key, value])), ...own };
  const types = root.args.filter((arg) => arg.name in variables);
  const document = `query (${types.map((arg) => `$${arg.name}: ${arg.type}`).join(', ')}) {
    ${name}(${types.map((arg) => `${arg.name}: $${arg.name}`).join(', ')}) { __typename } }`;
  return speaker.graph(document, variables);
}

describe('a refusal that depends on states and amounts', () => {
  it('has a request for each operation and code that is declared', () => {
    expect(Object.keys(refusals).toSorted()).toEqual([...new Set(declared)].toSorted());
  });

  it.each(Object.keys(refusals))('%s: is the same through both APIs', async (title) => {
    const [name = '', code] = title.split(' ');
    const refused = await refusals[title]!();
    const { speaker, id = '', body, query } = refused;
    const { method, path } = routes.find(({ field }) => field === name)!;
    const address = path.replace(/:\w+/, id);
    const rest =
      method === 'POST'
        ? await speaker.post(address, body)
        : await speaker.get(`${address}?${new URLSearchParams(query).toString()}`);
    expect(rest.codes).toContain(code);
    const graph = await asked(name, refused);
    const items = (graph.body.errors ?? []).map(({ extensions }: Json) => extensions.error ?? extensions);
    expect(items).toEqual(rest.body.errors);
    expect([...new Set(graph.body.errors.map(({ extensions }: Json) => extensions.httpStatus))]).toEqual([rest.status]);
  });
});
