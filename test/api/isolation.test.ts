import { GraphQLInputObjectType, type GraphQLInputType, GraphQLObjectType, getNamedType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { covering } from '../support/scale.js';
import {
  details,
  type Edition,
  givenIn,
  inTurns,
  nickname,
  type Reply,
  Speaker,
  useWorld,
  withLiveAcquirer,
} from '../support/world.js';
import { holdings } from './isolation-holdings.js';
import { draftProbes, probes } from './isolation-probes.js';
import type { Holdings } from './isolation-requests.js';
import { verifyAccount } from '../../src/operator/account/accounts.js';

const world = useWorld({ worker: false, acquirers: withLiveAcquirer });
const given = givenIn(world);

const invented = (id: string) => {
  const prefix = id.slice(0, id.lastIndexOf('_') + 1);
  return prefix + '0123456789abcdef'.repeat(2).slice(0, id.length - prefix.length);
};

/** A response without the parts that always differ: its request id, the time, and the connection. */
function comparable({ status, headers, text }: Reply) {
  const own = headers.get('request-id')!;
  const varying = ['request-id', 'date', 'keep-alive', 'connection', 'content-length', 'ratelimit'];
  const kept = [...headers].filter(([name]) => !varying.includes(name));
  // What is left of the allowance depends on the time. What the request cost must not depend on the object.
  const fixed = text.replace(/"remaining":\d+,"restoreRate":(\d+),"resetSeconds":\d+/g, '"restoreRate":$1');
  return { status, headers: kept, text: fixed.replaceAll(own, '(request)') };
}

/** The code of a response, or that it shows nothing: no object, or an empty list. */
function answerOf({ status, codes, body }: Reply): string {
  const results: { problems: { code: string }[] }[] = Object.values<any>(body.data ?? {})[0]?.results ?? [];
  const refused = [...codes, ...results.flatMap(({ problems }) => problems.map(({ code }) => code.toLowerCase()))];
  if (refused.length > 0) return [...new Set(refused)].join(' ');
  const shown = body.data?.data ?? body.data;
  const empty = (value: unknown): boolean =>
    value === null ||
    (Array.isArray(value) && value.every(empty)) ||
    (typeof value === 'object' && Object.values(value as object).every((member) => member === 0 || empty(member)));
  return status === 200 && shown !== undefined && empty(shown) ? 'nothing' : `${status} ${JSON.stringify(body)}`;
}

/**
 * Every row of every table, as text, for a comparison of before and after. The time of a key's last use is ignored, and
 * what is left of an allowance, and the stored responses of `reconcileDeposits`, which has a refusal as its result.
 */
async function everyRow(): Promise<Record<string, string[]>> {
  const tables = await world.sql`select table_name as name from information_schema.tables where table_schema = 'public'
      and table_type = 'BASE TABLE' and table_name <> 'allowance'`;
  const out: Record<string, string[]> = {};
  for (const { name } of tables) {
    const rows = await world.sql.unsafe(
      `select (to_jsonb(t) - 'last_used_at' - 'content')::text as row from "${name}" t
        where to_jsonb(t) ->> 'operation' is distinct from 'reconcileDeposits' order by 1`,
    );
    out[name as string] = rows.map(({ row }) => row as string);
  }
  return out;
}

/** The caller, which determines the domain errors that are returned before any id is read. */
interface Asker {
  kind: 'platform' | 'direct_user' | 'connected_user';
  live?: boolean;
  /** Whether the caller acts for a connected user: it may act for the siblings as well, and has no connected users. */
  acting?: boolean;
  /** Creates the caller's own objects when the caller's headers do not allow it. */
  own?: Speaker;
}

/**
 * Sends probes with the foreign ids and with invented ones. The responses must be equal, and nothing may change. Where
 * not everything is tried, each probe is sent about the objects of one of the outsiders.
 */
async function askAll(
  me: Speaker,
  { kind, live = false, acting = false, own: owner = me }: Asker,
  whose: [what: (outsider: Speaker) => Promise<Holdings>, of: Speaker][],
) {
  const own = await holdings(owner);
  const outsiders: Holdings[] = [];
  for (const [what, outsider] of whose) outsiders.push(await what(outsider));
  const before = await everyRow();
  const drafts = kind === 'connected_user' || acting ? draftProbes : {};
  // Edition 2 runs the same code: of its further foreign objects, the account is sufficient.
  const every = outsiders.map((outsider, i) =>
    (Object.keys(outsider) as (keyof Holdings)[])
      .filter((object) => me.edition === 1 || i === 0 || object.startsWith('account'))
      .flatMap((object) =>
        Object.entries({ ...probes[object], ...(object === 'file' ? drafts : {}) })
          .filter(([name]) => own.checkout !== undefined || !/^checkout\.(transactions|payments|refunds)/.test(name))
          .filter(([name]) => own.receivable !== undefined || !/^receivable\.(allocations|checkouts)/.test(name))
          .filter(([name]) => own.payout !== undefined || !name.startsWith('payout.allocations'))
          .filter(([name]) => !(acting && /on behalf of$|^createConnectedUser/.test(name)))
          .map(([name, probe]) => ({ object, name, probe, id: outsider[object]! })),
      ),
  );
  const table = every.flatMap((probesOf, i) => probesOf.map((row) => ({ ...row, outsider: i })));
  const asked = covering(table, ({ object, name, outsider }) => [`${object} ${name}`, outsider], 1);
  const wrong: object[] = [];
  await inTurns(asked, 24, async ({ object, name, probe, id }) => {
    const fake = invented(id);
    expect([fake.length, fake === id]).toEqual([id.length, false]);
    const [real, none] = await Promise.all([probe.call(me, id, own), probe.call(me, fake, own)]);
    // The settings of connected users are for a platform that acts as itself.
    const asItself = acting && /^(GET connected |connectedAccountSettings)/.test(name);
    const denied = asItself || (probe.platformOnly && kind !== 'platform') || (probe.testOnly && live);
    const withheld = probe.edition !== undefined && probe.edition !== me.edition;
    const draft = probe.activatedWhenLive && live && kind === 'connected_user';
    const answer =
      probe.second && me.edition === 1
        ? 'route_missing'
        : denied
          ? 'permission_denied'
          : withheld
            ? 'parameter_unknown'
            : draft
              ? 'status_invalid'
              : probe.answer;
    const same = JSON.stringify(comparable(real)) === JSON.stringify(comparable(none));
    if (!same || answerOf(real) !== answer || answerOf(none) !== answer)
      wrong.push({
        object,
        name,
        answer,
        real: answerOf(real),
        none: answerOf(none),
        responses: [comparable(real), comparable(none)],
      });
  });
  expect(wrong).toEqual([]);
  expect(asked.length).toBeGreaterThan(200);
  expect(await everyRow()).toEqual(before);
}

/** The root or connected user itself, with the other objects that it owns. */
async function itself(owner: Speaker): Promise<Holdings> {
  const [rest, setting] = await Promise.all([
    holdings(owner),
    owner.graph('{ viewer { account { setting { id } } } }'),
  ]);
  return { ...rest, account: owner.id, account_setting: setting.body.data.viewer.account.setting.id };
}

const probed = `
  acceptDispute.id acceptTestChangeRequest.id account.changeRequests.after account.changeRequests.before
  changeRequest.id changeRequests.accountId changeRequests.after changeRequests.before declineTestChangeRequest.id
  requestAccountChange.accountId requestAccountChange.supportingDocumentation.idDocument
  requestAccountChange.supportingDocumentation.ownershipStructureDocument
  requestAccountChange.supportingDocumentation.physicalAddressDocument withdrawChangeRequest.id
  account.addresses.after account.addresses.before account.apiKeys.after account.apiKeys.before
  account.balanceTransactions.after account.balanceTransactions.before account.balanceTransactions.paymentId
  account.billedReceivables.after account.billedReceivables.before account.checkoutsIn.after account.checkoutsIn.before
  balanceStatement.movements.after
  account.checkoutsOut.after account.checkoutsOut.before account.connectedUsers.after account.connectedUsers.before
  account.depositsIn.after account.depositsIn.before account.depositsOut.after account.depositsOut.before
  account.disputes.after account.disputes.before account.events.after account.events.before account.exports.after
  account.exports.before account.files.after account.files.before account.id account.imports.after
  account.imports.before account.partners.after account.partners.before account.payments.after account.payments.before
  account.payouts.after account.payouts.before account.persons.after account.persons.before account.receivables.after
  account.receivables.before account.refunds.after account.refunds.before account.sessions.after
  account.sessions.before account.webhookEndpoints.after account.webhookEndpoints.before accountSetting.id
  accountSettings.accountId accountSettings.after accountSettings.before accounts.after accounts.before
  activateAccount.id address.deposits.after address.deposits.before address.id address.payouts.after
  address.payouts.before addresses.after addresses.before addresses.linkedId adjustment.id apiKey.id
  apiKey.sessions.after apiKey.sessions.before apiKeys.accountId apiKeys.after apiKeys.before balance.accountId
  balanceAggregate.accountId balanceTransaction.id balanceTransactions.accountId balanceTransactions.after
  balanceTransactions.before balanceTransactions.paymentId bankDetails.id cancelCheckout.id cancelTestDeposit.id
  checkout.id checkout.payments.after checkout.payments.before checkout.refunds.after checkout.refunds.before
  checkout.transactions.after checkout.transactions.before checkouts.accountId checkouts.after checkouts.before
  completeTestDeposit.id connectedAccountSettings.accountId connectedAccountSettings.after
  connectedAccountSettings.before createAddress.linkedId createAddress.supportingDocumentation.idDocument
  createApiKey.accountId createCheckout.from.accountId createCheckout.receivables.id createConnectedUser.logoId
  createConnectedUser.supportingDocumentation.idDocument
  createConnectedUser.supportingDocumentation.ownershipStructureDocument
  createConnectedUser.supportingDocumentation.physicalAddressDocument createDeposit.from.accountId
  createDeposit.from.addressId createDeposit.to.accountId createDeposit.to.addressId
  createExport.source.partners.accountId createImport.fileId createPerson.accountId
  createPerson.identification.passportImage createPerson.identification.taxCardImage createReceivable.accountId
  createReceivable.customerId createReceivable.invoice.document createRefund.checkoutId createRefund.depositId
  createSession.accountId createTestAdjustment.accountId createTestWallet.id createWebhookEndpoint.accountId
  deactivateAccount.id deactivateTestAccount.id deactivateTestAddress.id declineTestCheckout.id
  deposit.allocations.after deposit.allocations.before deposit.disputedBy.after deposit.disputedBy.before deposit.id
  deposit.openedDisputes.after deposit.openedDisputes.before deposit.refunds.after deposit.refunds.before
  deposits.accountId deposits.addressId deposits.after deposits.before dispute.id disputeTestDeposit.id
  disputes.accountId disputes.after disputes.before event.deliveries.after event.deliveries.before event.id
  events.accountId events.after events.before events.objectId expireTestAddress.id expireTestCheckout.id export.id
  exports.accountId exports.after exports.before failTestDeposit.id failTestPayout.id failTestRefund.id file.id
  file.imports.after file.imports.before file.usedByAccounts.after file.usedByAccounts.before
  file.usedByAddresses.after file.usedByAddresses.before file.usedByPersons.after file.usedByPersons.before
  file.usedByReceivables.after file.usedByReceivables.before files.accountId files.after files.before
  holdTestAccount.id import.id import.results.after import.results.before importRow.id importRows.after
  importRows.before importRows.importId imports.accountId imports.after imports.before loseTestDispute.id node.id
  nodes.ids partners.accountId partners.after partners.before payTestCheckout.id payment.balanceTransactions.after
  payment.balanceTransactions.before payment.id payments.accountId payments.after payments.before
  payout.allocations.after payout.allocations.before payout.id payouts.accountId payouts.after payouts.before person.id
  persons.accountId persons.after persons.before processTestDeposit.id receivable.allocations.after
  receivable.allocations.before receivable.checkouts.after receivable.checkouts.before receivable.id
  receivables.accountId receivables.after receivables.before reconcileDeposit.id reconcileDeposit.receivables.id
  reconcileDeposits.deposits.id reconcileDeposits.deposits.receivables.id
  redeliverWebhooks.deliveryId redeliverWebhooks.id refund.id refunds.accountId refunds.after refunds.before
  removePerson.id requestLog.id requestLogs.after requestLogs.before respondToDispute.fileIds respondToDispute.id
  recallTestDeposit.id
  returnTestPayout.id reverseTestDeposit.id revokeApiKey.id revokeSession.id rotateApiKey.id rotateWebhookSecret.id
  session.id sessions.accountId sessions.after sessions.before settleTestPayout.id succeedTestRefund.id
  testWebhookEndpoint.id transaction.id updateAccount.id updateAccount.logoId
  updateAccount.supportingDocumentation.idDocument updateAccount.supportingDocumentation.ownershipStructureDocument
  updateAccount.supportingDocumentation.physicalAddressDocument updateAccountSetting.id updateAddress.id
  updatePerson.id updatePerson.identification.passportImage updatePerson.identification.taxCardImage
  updateReceivable.customerId updateReceivable.id updateWebhookEndpoint.id verifyTestAccount.id voidReceivable.id
  webhookDeliveries.after webhookDeliveries.before webhookDeliveries.endpointId webhookDelivery.id
  webhookEndpoint.deliveries.after webhookEndpoint.deliveries.before webhookEndpoint.id webhookEndpoints.accountId
  webhookEndpoints.after webhookEndpoints.before winTestDispute.id
`
  .trim()
  .split(/\s+/);

describe('the probes', () => {
  // An argument of type ID can name a foreign object: a new one must be probed above before it is listed here.
  it('cover every argument that takes an id, on every type', () => {
    const of = (type: GraphQLInputType, at: string): string[] => {
      const named = getNamedType(type);
      if (named instanceof GraphQLInputObjectType)
        return Object.values(named.getFields()).flatMap((field) => of(field.type, `${at}.${field.name}`));
      return named.name === 'ID' ? [at] : [];
    };
    const ownerOf = ({ name }: { name: string }) =>
      /^(Query|Mutation)$/.test(name) ? '' : `${name[0]!.toLowerCase()}${name.slice(1)}.`;
    const taken = Object.values(buildGraph().getTypeMap())
      // Subscriptions have tests of their own: test/api/subscription.test.ts.
      .filter((type) => type instanceof GraphQLObjectType && !/^(__|Subscription$)/.test(type.name))
      .flatMap((type) =>
        Object.values((type as GraphQLObjectType).getFields()).flatMap((field) =>
          field.args.flatMap((arg) => of(arg.type, `${ownerOf(type)}${field.name}.${arg.name}`)),
        ),
      )
      // The members of a filter are arguments, too, which are deprecated.
      .map((path) => path.replace(/\.(input|filter)\./, '.'))
      // A source has the arguments of the query of its name, which are probed there: test/api/export.test.ts.
      .filter((path) => !path.startsWith('createExport.source.') || path === 'createExport.source.partners.accountId');
    const cursors = pagesBehind.flatMap((name) => [`${name}.after`, `${name}.before`]);
    const where = 'probe it in test/api/isolation-probes.ts, and then write it in `probed` above';
    expect([...new Set(taken)].toSorted(), where).toEqual([...probed, ...cursors].toSorted());
  });
});

/** The pages behind figures and the events of objects, by the object that their cursors name. */
const range = 'from: "2020-01-01T00:00:00Z", to: "2021-01-01T00:00:00Z"';
const behind: Record<string, [object: keyof Holdings, of: (page: string) => string]> = {
  'ageingOfBucket.receivables': ['receivable', (page) => `receivableAgeing { currencies { buckets { ${page} } } }`],
  'checkoutStatusCount.checkouts': ['checkout', (page) => `statusCounts { checkouts { statuses { ${page} } } }`],
  'depositChartStep.deposits': [
    'deposit',
    (page) => `depositChart(${range}, interval: MONTH, currency: [INR]) { currencies { steps { ${page} } } }`,
  ],
  'depositStatusCount.deposits': ['deposit', (page) => `statusCounts { deposits { statuses { ${page} } } }`],
  'payoutStatusCount.payouts': ['payout', (page) => `statusCounts { payouts { statuses { ${page} } } }`],
  'receivableStatusCount.receivables': [
    'receivable',
    (page) => `statusCounts { receivables { statuses { ${page} } } }`,
  ],
  'userTotal.deposits': ['deposit', (page) => `topUsers(${range}) { currencies { users { ${page} } } }`],
};
const withEvents = ['checkout', 'deposit', 'dispute', 'payout', 'receivable', 'refund'] as const;
const pagesBehind = [...Object.keys(behind), ...withEvents.map((object) => `${object}.events`)];

describe('a cursor behind a figure or of the events of an object', () => {
  it('is that of no object, wherever the object is', async () => {
    const [me, outsider] = await Promise.all([given.directUser(2), given.directUser(2)]);
    const [own, foreign] = [await itself(me), await itself(outsider)];
    const ask = (select: string, id: string) => me.graph(`query ($id: ID!) { ${select} }`, { id });
    for (const cursor of ['after', 'before']) {
      for (const [name, [object, of]] of Object.entries(behind)) {
        const page = `${name.split('.')[1]}(${cursor}: $id) { nodes { id } }`;
        const answers = [foreign[object]!, invented(foreign[object]!)].map((id) =>
          ask(`viewer { account { ${of(page)} } }`, id),
        );
        const [real, none] = await Promise.all(answers);
        expect([name, comparable(real!)]).toEqual([name, comparable(none!)]);
        expect(real!.codes.every((code) => code === 'parameter_invalid')).toBe(true);
      }
      for (const object of withEvents) {
        const page = `${object}(id: "${own[object]}") { events(${cursor}: $id) { nodes { id } } }`;
        const answers = [foreign.event, invented(foreign.event)].map((id) => ask(page, id));
        const [real, none] = await Promise.all(answers);
        expect([object, comparable(real!)]).toEqual([object, comparable(none!)]);
        expect([object, real!.codes]).toEqual([object, ['parameter_invalid']]);
      }
    }
  });
});

describe('an object outside the visibility', () => {
  for (const edition of [1, 2] as const) {
    it(`does not exist for another platform: its root, its users, its partners, Edition ${edition}`, async () => {
      const [me, outsider] = await Promise.all([given.platform(edition), given.platform(edition)]);
      const user = await outsider.connectedUser();
      await askAll(me, { kind: 'platform' }, [
        [itself, outsider],
        [itself, user],
        [holdings, user],
      ]);
    });

    it(`does not exist for a direct user, of a platform or another direct user, Edition ${edition}`, async () => {
      const [me, platform, outsider] = await Promise.all([
        given.directUser(edition),
        given.platform(edition),
        given.directUser(edition),
      ]);
      await askAll(me, { kind: 'direct_user' }, [
        [itself, platform],
        [holdings, outsider],
      ]);
    });

    it(`does not exist for a connected user: platform, siblings and their partners, Edition ${edition}`, async () => {
      const platform = await given.platform(edition);
      const [me, sibling] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
      await askAll(me, { kind: 'connected_user' }, [
        [itself, platform],
        [itself, sibling],
      ]);
    });

    it(`does not exist for a platform while it acts for another of its users, Edition ${edition}`, async () => {
      const platform = await given.platform(edition);
      const [user, sibling] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
      const me = new Speaker(world, user.id, platform.key, edition, { 'on-behalf-of': user.id });
      await askAll(me, { kind: 'platform', acting: true, own: user }, [
        [holdings, platform],
        [itself, sibling],
        [holdings, sibling],
      ]);
    });

    it(`does not exist in the other mode of the same platform, Edition ${edition}`, async () => {
      const { test, live } = await given.platformBoth(edition);
      const [tested, lived] = await Promise.all([test.connectedUser(), live.connectedUser()]);
      await askAll(test, { kind: 'platform' }, [
        [holdings, live],
        [itself, lived],
      ]);
      await askAll(live, { kind: 'platform', live: true }, [
        [holdings, test],
        [itself, tested],
      ]);
    });
  }

  it('does not exist in the other mode of the same direct user and connected user', async () => {
    const [direct, platform] = await Promise.all([given.directUserBoth(1), given.platformBoth(1)]);
    const [tested, lived] = await Promise.all([platform.test.connectedUser(), platform.live.connectedUser()]);
    await askAll(direct.test, { kind: 'direct_user' }, [[holdings, direct.live]]);
    await askAll(direct.live, { kind: 'direct_user', live: true }, [[holdings, direct.test]]);
    await askAll(tested, { kind: 'connected_user' }, [[itself, lived]]);
    await askAll(lived, { kind: 'connected_user', live: true }, [[itself, tested]]);
  });

  it('does not exist across the editions', async () => {
    const [first, second] = await Promise.all([given.platform(1), given.platform(2)]);
    await askAll(first, { kind: 'platform' }, [[itself, second]]);
  });

  // The same calls find the caller's own objects, which proves that the errors above are about visibility.
  it('exists for its owner, with the same calls', async () => {
    const me = await given.platform(1);
    const mine = await itself(me);
    const partner = await holdings(me);
    const gets = [
      `/v1/accounts/${partner.account}`,
      `/v1/account_settings/${partner.account_setting}`,
      `/v1/account_settings?account_id=${partner.account}`,
      `/v1/addresses/${mine.address}`,
      `/v1/addresses?linked_id=${mine.account}`,
      `/v1/persons/${mine.person}`,
      `/v1/persons?account_id=${mine.account}`,
      `/v1/files/${mine.file}`,
      `/v1/files/${mine.file}/content`,
      `/v1/files?starting_after=${mine.file}`,
      `/v1/balance?account_id=${partner.account}`,
      `/v1/balance/aggregate?account_id=${mine.account}`,
      `/v1/accounts/${partner.account}/balance_transactions`,
      `/v1/balance_transactions/${mine.bt}`,
      `/v1/deposits/${mine.deposit}`,
      `/v1/deposits?account_id=${partner.account}`,
      `/v1/receivables/${mine.receivable}`,
      `/v1/payments/${mine.payment}`,
      `/v1/payouts/${mine.payout}`,
      `/v1/events/${mine.event}`,
      `/v1/webhook_endpoints/${mine.webhook}/deliveries`,
      `/v1/webhook_deliveries/${mine.delivery}`,
      `/v1/request_logs/${mine.req}`,
      `/v1/exports/${mine.export}`,
      `/v1/imports/${mine.import}/rows`,
      `/v1/import_rows/${mine.import_row}`,
      `/v1/events?object_id=${mine.file}`,
    ];
    // One after the other: some are slow questions, of which a tenant has two at a time.
    const statuses: number[] = [];
    for (const path of gets) statuses.push((await me.get(path)).status);
    expect(statuses).toEqual(gets.map(() => 200));
    const ids = Object.values({ ...mine, allocation: undefined }).filter((id) => id !== undefined);
    const nodes = await me.graph('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
    expect(nodes.body.data.nodes.map(({ id }: { id: string }) => id)).toEqual(ids);
  });

  it('is not revealed by the owner field of visible accounts', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const partner = await user.partner();
    const owners = 'query ($id: ID!) { viewer { account { id owner { id } } } account(id: $id) { owner { id } } }';
    expect((await user.graph(owners, { id: partner.id })).body.data).toEqual({
      viewer: { account: { id: user.id, owner: null } },
      account: { owner: { id: user.id } },
    });
    expect((await platform.graph(owners, { id: user.id })).body.data).toEqual({
      viewer: { account: { id: platform.id, owner: null } },
      account: { owner: { id: platform.id } },
    });
  });
});

describe('lists', () => {
  /** The lists of an acting account, computed from the ownership of the rows: its accounts, and what these own. */
  async function owned(speaker: Speaker, live: boolean, accounts: string[]): Promise<Record<string, string[]>> {
    const of = async (table: string, column: string) =>
      (
        await world.sql.unsafe(`select id from ${table} where livemode = $1 and ${column} = any($2)`, [live, accounts])
      ).map(({ id }) => id as string);
    return {
      accounts,
      accountSettings: await of('account_setting', 'account_id'),
      addresses: await of('address', 'linked_id'),
      persons: await of('person', 'account_id'),
      files: await of('file', 'account_id'),
      apiKeys: await of('api_key', 'account_id'),
      sessions: await of('session', 'account_id'),
      webhookEndpoints: await of('webhook_endpoint', 'account_id'),
      webhookDeliveries: await of('webhook_delivery', 'context_id'),
      requestLogs: await of('request_log', 'context_id'),
      exports: await of('data_export', 'account_id'),
      imports: await of('data_import', 'account_id'),
      importRows: await of('import_row', 'context_id'),
      deposits: [...new Set([...(await of('deposit', 'to_account_id')), ...(await of('deposit', 'from_account_id'))])],
      receivables: await of('receivable', 'account_id'),
      payments: await of('payment', 'account_id'),
      payouts: await of('payout', 'account_id'),
      ...(speaker.edition === 2 && {
        checkouts: [
          ...new Set([...(await of('checkout', 'to_account_id')), ...(await of('checkout', 'from_account_id'))]),
        ],
      }),
      // These rows have no account, so they belong to the acting account.
      balanceTransactions: (
        await world.sql`select id from entry where livemode = ${live} and account_id = ${speaker.id}`
      ).map(({ id }) => id as string),
    };
  }

  async function walk(speaker: Speaker, path: string): Promise<string[]> {
    const ids: string[] = [];
    for (let after = ''; ; after = `&starting_after=${ids.at(-1)}`) {
      const { body } = await speaker.get(`${path}?limit=3${after}`);
      ids.push(...body.data.map(({ id }: { id: string }) => id));
      if (!body.has_next) return ids;
    }
  }

  const rest: Record<string, string> = {
    accounts: '/v1/accounts',
    accountSettings: '/v1/account_settings',
    addresses: '/v1/addresses',
    persons: '/v1/persons',
    files: '/v1/files',
    checkouts: '/v1/checkouts',
    deposits: '/v1/deposits',
    receivables: '/v1/receivables',
    payments: '/v1/payments',
    payouts: '/v1/payouts',
    requestLogs: '/v1/request_logs',
    balanceTransactions: '/v1/balance_transactions',
  };

  async function check(speaker: Speaker, expected: Record<string, string[]>): Promise<void> {
    for (const [list, ids] of Object.entries(expected)) {
      const page = await speaker.graph(`{ ${list}(first: 100) { nodes { id } totalCount } }`);
      const { nodes, totalCount } = page.body.data[list];
      expect([list, nodes.map(({ id }: { id: string }) => id).sort(), totalCount]).toEqual([
        list,
        [...ids].sort(),
        ids.length,
      ]);
      if (rest[list]) expect([list, (await walk(speaker, rest[list])).sort()]).toEqual([list, [...ids].sort()]);
    }
  }

  for (const edition of [1, 2] as const)
    it(`show what the accounts of the acting one own, and nothing else, in each mode, Edition ${edition}`, async () => {
      const [platform, direct, outsider] = await Promise.all([
        given.platformBoth(edition),
        given.directUserBoth(edition),
        given.platform(edition),
      ]);
      for (const owner of [outsider, await outsider.connectedUser()]) await holdings(owner);
      for (const mode of ['test', 'live'] as const) {
        const live = mode === 'live';
        const root = platform[mode];
        const [one, other] = await Promise.all([root.connectedUser(), root.connectedUser()]);
        for (const owner of [root, one, other, direct[mode]]) await holdings(owner);
        const partnerOf = async (owner: Speaker) =>
          (
            await world.sql`select id from account where livemode = ${live} and owner_id = ${owner.id}
              and kind = 'partner'`
          ).map(({ id }) => id as string);
        const context = async (speaker: Speaker) => owned(speaker, live, [speaker.id, ...(await partnerOf(speaker))]);

        await check(root, await owned(root, live, [root.id, one.id, other.id]));
        await check(one, await context(one));
        await check(other, await context(other));
        await check(direct[mode], await context(direct[mode]));
        await check(root.actingFor(one.id), await context(one));

        const connected = await walk(root, '/v1/account_settings/connected');
        const settings = await owned(root, live, [root.id, one.id, other.id]);
        expect(connected).toHaveLength(2);
        expect(settings.accountSettings).toEqual(expect.arrayContaining(connected));

        // Events are about objects in the visibility, for every caller.
        for (const speaker of [root, one, direct[mode], root.actingFor(one.id)]) {
          const reply = await speaker.graph('{ events(first: 100) { nodes { objectId } } }');
          const about = [...new Set(reply.body.data.events.nodes.map((e: { objectId: string }) => e.objectId))];
          expect(about.length).toBeGreaterThan(5);
          const reached = await speaker.graph('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: about });
          expect(reached.body.data.nodes.map((node: { id: string } | null) => node?.id)).toEqual(about);
        }
      }
    });

  it('that belong to an account show what it owns, at every depth', async () => {
    const platform = await given.platform(1);
    const users = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
    const all: Holdings[] = [];
    for (const owner of [platform, ...users]) all.push(await holdings(owner));
    const [mine, ...theirs] = all;
    const edges =
      'addresses { nodes { id account { id } } } persons { nodes { id account { id } } } files(purpose: ' +
      '[IDENTITY_DOCUMENT]) { nodes { id account { id } } } setting { account { id } } owner { id }';
    const reply = await platform.graph(
      `{ viewer { account { id partners { nodes { id owner { id } } }
           connectedUsers { nodes { id ${edges} partners { nodes { id owner { id } setting { id account { id } } } } } }
           } } }`,
    );
    const { account } = reply.body.data.viewer;
    expect(account.partners.nodes).toEqual([{ id: mine!.account, owner: { id: platform.id } }]);
    const shown = users.map((user, i) => {
      const of = { account: { id: user.id } };
      return {
        id: user.id,
        addresses: { nodes: [{ id: theirs[i]!.address, ...of }] },
        persons: { nodes: [{ id: theirs[i]!.person, ...of }] },
        files: { nodes: [{ id: theirs[i]!.file, ...of }] },
        setting: of,
        owner: { id: platform.id },
        partners: {
          nodes: [
            {
              id: theirs[i]!.account,
              owner: { id: user.id },
              setting: { id: theirs[i]!.account_setting, account: { id: theirs[i]!.account } },
            },
          ],
        },
      };
    });
    expect(account.connectedUsers.nodes).toHaveLength(2);
    expect(account.connectedUsers.nodes).toEqual(expect.arrayContaining(shown));
  });
});

describe('a root account', () => {
  const roots: [kind: 'platform' | 'direct user', edition: Edition, tested: string, capability: object[]][] = [
    ['platform', 1, 'activated', [{ multicurrency_exports_v1: 'activated' }, { multicurrency_exports_v1: 'pending' }]],
    [
      'direct user',
      1,
      'activated',
      [{ multicurrency_exports_v1: 'activated' }, { multicurrency_exports_v1: 'pending' }],
    ],
    ['platform', 2, 'deactivated', [{}, {}]],
    ['direct user', 2, 'activated', [{}, {}]],
  ];
  for (const [kind, edition, tested, capability] of roots)
    it(`is one account in both modes, with a separate status in each: ${kind}, Edition ${edition}`, async () => {
      const { test, live, account } = await (kind === 'platform'
        ? given.platformBoth(edition)
        : given.directUserBoth(edition));
      const [one, other] = await Promise.all([
        test.get(`/v1/accounts/${test.id}`),
        live.get(`/v1/accounts/${live.id}`),
      ]);
      expect([one.body.status, one.body.address, one.body.capability]).toEqual(['activated', tested, capability[0]]);
      expect([other.body.status, other.body.address, other.body.capability]).toEqual([
        'draft',
        'deactivated',
        capability[1],
      ]);
      const same = ({ status: _, address: __, capability: ___, ...rest }: Record<string, unknown>) => rest;
      expect(same(one.body)).toEqual(same(other.body));
      expect([one.body.id, one.body.livemode]).toEqual([account.id, null]);

      const settings = await Promise.all([test, live].map((speaker) => speaker.get('/v1/account_settings')));
      const [tests, lives] = settings.map(({ body }) => body.data[0]);
      expect([tests.account_id, tests.livemode, lives.account_id, lives.livemode]).toEqual([
        account.id,
        false,
        account.id,
        true,
      ]);
      expect(tests.id).not.toBe(lives.id);

      // A change in one mode does not affect the other.
      await verifyAccount(world.operator, await world.operator.account(account.id, true), 'activated');
      expect((await test.post(`/v1/test_helpers/accounts/${test.id}/hold`)).body.status).toBe('hold');
      expect((await live.get(`/v1/accounts/${live.id}`)).body.status).toBe('activated');
      expect((await test.get(`/v1/accounts/${test.id}`)).body.status).toBe('hold');
    });
});

describe('a nickname', () => {
  it('is unique in its tenant and mode, and free in every other', async () => {
    const name = nickname();
    const [platform, direct, outsider] = await Promise.all([
      given.platformBoth(1),
      given.directUserBoth(2),
      given.platformBoth(1),
    ]);
    const owners = [platform.test, platform.live, direct.test, direct.live, outsider.test, outsider.live];
    const made = await Promise.all(owners.map((owner) => owner.partner({ nickname: name })));
    expect(made.map((partner) => partner.nickname)).toEqual(owners.map(() => name));
    const user = await platform.test.connectedUser();
    const again = await user.post('/v1/accounts', { type: 'partner', nickname: name, business_details: details() });
    expect([again.status, again.codes]).toEqual([409, ['nickname_taken']]);
  });

  it('of a root is taken in both of its modes', async () => {
    const { test, live, account } = await given.platformBoth(1);
    for (const speaker of [test, live]) {
      const reply = await speaker.post('/v1/accounts', {
        type: 'partner',
        nickname: account.nickname!.toUpperCase(),
        business_details: details(),
      });
      expect([reply.status, reply.codes]).toEqual([409, ['nickname_taken']]);
    }
  });
});
