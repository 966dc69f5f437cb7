import fc from 'fast-check';
import { parse } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeAccount, moneyOf, type Row, useFunctions } from '../functions/fixture.js';
import { NodeCounter } from '../../src/api/graphql/query-cost.js';
import { buildGraph, publicSizes } from '../../src/api/graphql/server.js';
import { weights } from '../../src/types/weights.js';
import { scale, seedsOf } from '../support/scale.js';
import { cents, receivableBody } from '../support/bodies.js';
import { givenIn, must, type Speaker, tenantOf } from '../support/world.js';
import { seedTrade } from './trade.js';

const fixture = useFunctions();
const { world, write } = fixture;
const given = givenIn(world);

const day = 86_400;
const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '');
const epoch = (time: string) => Date.parse(time) / 1000;
type Json = any;

const sumOf = (nodes: { amount: string }[]) => nodes.reduce((sum, { amount }) => sum + cents(amount), 0n);

async function data(speaker: Speaker, query: string, variables: object = {}): Promise<Json> {
  const reply = await speaker.graph(query, variables);
  expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
  return reply.body.data;
}

/** The kinds of objects whose statuses are counted. */
const counted = ['checkouts', 'deposits', 'payouts', 'receivables'] as const;

const rows = 'totalCount nodes { id amount currency status created }';
const figures = `query ($id: ID!, $from: DateTime!, $to: DateTime!, $interval: ChartStep!, $scope: AccountScope!,
    $timeZone: String!, $currency: [Currency!]) { account(id: $id) {
  depositChart(from: $from, to: $to, interval: $interval, scope: $scope, timeZone: $timeZone, currency: $currency) {
    asOf from to interval timeZone currencies { currency count total { amount currency } steps { start end count
      total { amount currency } deposits(first: 20) { ${rows} } } } }
  depositTotals(from: $from, to: $to, interval: $interval, scope: $scope, timeZone: $timeZone) {
    currency count amount }
} }`;
const others = `query ($id: ID!, $from: DateTime!, $to: DateTime!, $scope: AccountScope!, $timeZone: String!) {
  account(id: $id) { type
    receivableAgeing(scope: $scope, timeZone: $timeZone) { ...Ageing currencies { byCustomer(limit: 5) { customers {
      customer { type } buckets { count amount { amount } receivables(first: 10) { totalCount nodes {
        status amount: amountReconcilable currency } } } } } } } billedAgeing(timeZone: $timeZone) { ...Ageing }
    statusCounts(scope: $scope) {
      checkouts { total statuses { status count checkouts(first: 50) { totalCount nodes { status } } } }
      deposits { total statuses { status count deposits(first: 50) { totalCount nodes { status } } } }
      payouts { total statuses { status count payouts(first: 50) { totalCount nodes { status } } } }
      receivables { total statuses { status count receivables(first: 50) { totalCount nodes { status } } } } }
    topUsers(from: $from, to: $to, limit: 5) { currencies { currency users { account { id } count amount { amount }
      deposits(first: 50) { ${rows} } } } }
  } }
  fragment Ageing on ReceivableAgeing { asOf currencies { currency count buckets { count amount { amount }
    receivables(first: 50) { totalCount nodes { status amount: amountReconcilable currency invoice { dueDate }
      customer { id } } } dueFrom dueTo } } }`;

/** The time by the clock of a tenant and mode. */
const clockOf = async (speaker: Speaker) => epoch((await data(speaker, '{ viewer { now } }')).viewer.now);

/** Whether a time is the first moment of a day of a time zone, which need not be midnight. */
function beginsDay(time: string, timeZone: string): boolean {
  const { format } = new Intl.DateTimeFormat('en-CA', { timeZone });
  return format(epoch(time) * 1000) !== format(epoch(time) * 1000 - 1);
}

/** Compares each figure of an account with the list behind it, in one request each. Returns how many it compared. */
async function compare(speaker: Speaker, id: string, range: Record<string, unknown>): Promise<number> {
  const variables = { id, ...range };
  const began = await clockOf(speaker);
  const { account } = await data(speaker, figures, variables);
  let compared = 0;
  const chart = account.depositChart;
  expect([chart.from, chart.to, chart.interval, chart.timeZone]).toEqual([
    ...[range.from, range.to, range.interval, range.timeZone],
  ]);
  expect(epoch(chart.asOf)).toBeGreaterThanOrEqual(began);
  expect(epoch(chart.asOf)).toBeLessThanOrEqual(await clockOf(speaker));
  for (const { currency, count, total, steps } of chart.currencies) {
    expect(steps[0].start).toBe(chart.from);
    expect(steps.at(-1).end).toBe(chart.to);
    for (const [i, step] of steps.entries()) {
      if (i > 0) {
        expect(step.start).toBe(steps[i - 1].end);
        expect([step.start, beginsDay(step.start, chart.timeZone)]).toEqual([step.start, true]);
      }
      const { totalCount, nodes } = step.deposits;
      expect({ step, found: totalCount }).toEqual({ step, found: step.count });
      for (const node of nodes) {
        expect([node.currency, node.status]).toEqual([currency, 'COMPLETED']);
        expect(node.created >= step.start && node.created < step.end).toBe(true);
      }
      if (nodes.length === totalCount)
        expect({ step, sum: sumOf(nodes) }).toEqual({ step, sum: cents(step.total.amount) });
      compared += step.count > 0 ? 1 : 0;
    }
    expect(steps.reduce((sum: number, step: Json) => sum + step.count, 0)).toBe(count);
    expect(sumOf(steps.map((step: Json) => step.total))).toBe(cents(total.amount));
    const same = account.depositTotals.filter((row: Json) => row.currency === currency);
    expect([sumOf(same), same.reduce((sum: number, row: Json) => sum + row.count, 0)]).toEqual([
      cents(total.amount),
      count,
    ]);
  }
  const { account: more } = await data(speaker, others, variables);
  // Invoices bill partners alone; the seeded ones bill others, too.
  const billed = more.type === 'PARTNER' ? more.billedAgeing.currencies : [];
  for (const { currency, buckets } of [...more.receivableAgeing.currencies, ...billed])
    for (const { count, amount, dueFrom, dueTo, receivables } of buckets) {
      const { totalCount, nodes } = receivables;
      expect(totalCount).toBe(count);
      if (nodes.length === totalCount) expect(sumOf(nodes)).toBe(cents(amount.amount));
      const dates = nodes.map(({ invoice }: Json) => invoice.dueDate);
      expect(dates).toEqual(dates.toSorted());
      for (const node of nodes) {
        expect([node.status, node.currency]).toEqual(['OPEN', currency]);
        if (dueFrom) expect(node.invoice.dueDate >= dueFrom).toBe(true);
        if (dueTo) expect(node.invoice.dueDate <= dueTo).toBe(true);
      }
      compared += count > 0 ? 1 : 0;
    }
  for (const { currency, byCustomer } of more.receivableAgeing.currencies)
    for (const { customer, buckets } of byCustomer.customers)
      for (const { count, amount, receivables } of buckets) {
        // Invoices bill partners alone; the seeded ones bill others, too, and some bill no known customer.
        if (!receivables) expect(customer).toBe(null);
        if (customer?.type !== 'PARTNER') continue;
        expect(receivables.totalCount).toBe(count);
        for (const node of receivables.nodes) expect([node.currency, node.status]).toEqual([currency, 'OPEN']);
        if (receivables.nodes.length === count) expect(sumOf(receivables.nodes)).toBe(cents(amount.amount));
        compared += count > 0 ? 1 : 0;
      }
  for (const [kind, { total, statuses }] of Object.entries<Json>(more.statusCounts)) {
    expect(statuses.reduce((sum: number, { count }: Json) => sum + count, 0)).toBe(total);
    for (const { status, count, ...edge } of statuses) {
      const { totalCount, nodes } = edge[kind];
      expect({ kind, status, found: totalCount }).toEqual({ kind, status, found: count });
      expect(new Set(nodes.map((node: Json) => node.status))).toEqual(new Set(count > 0 ? [status] : []));
      compared += count > 0 ? 1 : 0;
    }
  }
  for (const { currency, users } of more.topUsers.currencies)
    for (const { count, amount, deposits } of users) {
      expect(deposits.totalCount).toBe(count);
      for (const node of deposits.nodes) expect([node.currency, node.status]).toEqual([currency, 'COMPLETED']);
      if (deposits.nodes.length === count) expect(sumOf(deposits.nodes)).toBe(cents(amount.amount));
      compared++;
    }
  return compared;
}

const zones = ['UTC', 'Asia/Kolkata', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/Havana'];

describe.each(seedsOf('api/figure-lists'))('every figure equals the list behind it, seed %i', (seed) => {
  it('after deposits, disputes, reversals and moves of the clock', async () => {
    const platform = await given.platform(1);
    const root = { id: platform.id, tenantId: tenantOf(platform.id), live: false };
    const [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const partner = await makeAccount(fixture, root, 'partner', { ownerId: user.id, actingAccountId: user.id });
    const own = await makeAccount(fixture, root, 'partner');
    const accounts = [platform.id, user.id, other.id, partner.id, own.id] as string[];
    const money = moneyOf(fixture, root);
    const any = async (which: number, where: string): Promise<Row | undefined> => {
      const found = await world.sql.unsafe<Row[]>(
        `select * from deposit where tenant_id = '${root.tenantId}' and ${where} order by id`,
      );
      return found[which % found.length];
    };
    const steps = fc.sample(fc.tuple(fc.constantFrom(...'ccccdrraasv'), fc.nat(999)), { numRuns: 60, seed });
    const begin = await clockOf(platform);
    for (const [does, which] of steps) {
      if (does === 'c')
        await money.deposit(BigInt(which + 1) * 100n, {
          ...{ toAccountId: accounts[which % 5]!, paymentMethod: which % 3 === 0 ? 'check' : 'domestic_wire' },
          currency: which % 4 === 0 ? 'INR' : 'USD',
        });
      if (does === 'd') {
        const found = await any(which, "status = 'completed' and amount > 0 and disputed < amount");
        if (found) await write(root, 'dispute_deposit', { id: found.id, amount: 100n });
      }
      if (does === 'r') {
        const disputed = which % 2 ? await any(which, "status = 'completed' and disputed > 0") : undefined;
        const found = disputed ?? (await any(which, "status = 'completed' and amount > 0"));
        if (found) await write(root, 'move_deposit', { id: found.id, from: ['completed'], to: 'reversed' });
      }
      if (does === 'a') await write(root, 'advance_clock', { advanceSeconds: which * 200 + 1 });
      if (does === 's') await world.database.call('sum_deposits', [root.tenantId, false, 5]);
      if (does === 'v')
        await must(
          [platform, user, other][which % 3]!.post(
            '/v1/receivables',
            receivableBody(
              {
                ...{ amount: '7.50', currency: which % 2 ? 'USD' : 'INR', creation_date: '2020-01-01' },
                due_date: iso(begin + (which - 700) * (day / 5)).slice(0, 10),
              },
              which % 3 === 1 && which % 5 > 0 ? { customer_id: partner.id } : {},
            ),
          ),
        );
    }
    const now = await clockOf(platform);
    let compared = 0;
    for (const [i, timeZone] of zones.entries())
      for (const [speaker, id] of [
        [platform, platform.id],
        [platform, user.id],
        [platform, partner.id],
        [user, user.id],
        [platform.actingFor(user.id), user.id],
      ] as [Speaker, string][])
        for (const scope of ['SELF', 'DESCENDANTS']) {
          const [from, to] = [begin - 3_000 * i - 1, now + 7_000 * i + 1];
          const interval = ['DAY', 'WEEK', 'MONTH'][i % 3];
          const range = { from: iso(from), to: iso(to), interval, scope, timeZone, currency: ['INR', 'USD'] };
          compared += await compare(speaker, id, range);
        }
    expect(compared).toBeGreaterThan(100);
    const { account } = await data(platform, others, {
      ...{ id: partner.id, from: iso(begin), to: iso(now), scope: 'SELF', timeZone: 'UTC' },
    });
    const billing = account.billedAgeing.currencies.flatMap(({ buckets }: Json) =>
      buckets.flatMap(({ receivables }: Json) => receivables.nodes.map(({ customer }: Json) => customer.id)),
    );
    expect(billing.length).toBeGreaterThan(1);
    expect(new Set(billing)).toEqual(new Set([partner.id]));
    // What a platform counts is what its list has, of each status.
    const { token } = await must(platform.post('/v1/sessions', { role: 'read' }));
    for (const speaker of [platform, platform.using(token), user, platform.actingFor(user.id)]) {
      const { viewer } = await data(
        speaker,
        `{ viewer { account { statusCounts(scope: DESCENDANTS) {
          ${counted.map((kind) => `${kind} { total statuses { status count } }`).join(' ')} } } } }`,
      );
      for (const kind of counted) {
        const { total, statuses } = viewer.account.statusCounts[kind];
        if (kind === 'deposits' || kind === 'receivables') expect(total).toBeGreaterThan(0);
        for (const { status, count } of statuses) {
          const { list } = await data(
            speaker,
            `{ list: ${kind}(scope: DESCENDANTS, filter: { status: [${status}] }) { totalCount } }`,
          );
          expect([kind, status, list.totalCount]).toEqual([kind, status, count]);
        }
      }
    }
  });
});

describe.each([1, 2] as const)('the pages behind figures of seeded trade, in edition %i', (edition) => {
  let platform: Speaker;
  const seeded = 'account_user_00000001';
  beforeAll(async () => {
    platform = await given.platform(edition);
    const outsider = await given.platform(edition);
    for (const { id } of [platform, outsider])
      await seedTrade(world.sql, { platform: id, edition, livemode: false, users: 3, trades: 20, others: 1 });
  });

  it('equal the figures, for a platform, for its user, and for the platform that acts for it', async () => {
    const now = Math.floor(Date.now() / 1000);
    const range = { from: iso(now - 20 * day), to: iso(now + day), interval: 'WEEK', timeZone: 'Asia/Kolkata' };
    let compared = 0;
    for (const [speaker, id] of [
      [platform, platform.id],
      [platform, seeded],
      [platform.actingFor(seeded), seeded],
    ] as [Speaker, string][])
      for (const scope of ['SELF', 'DESCENDANTS'])
        compared += await compare(speaker, id, { ...range, scope, currency: ['USD', 'EUR'] });
    expect(compared).toBeGreaterThan(60);
  });

  it('have cursors and both ends, step by step', async () => {
    const now = Math.floor(Date.now() / 1000);
    const ask = async (page: string) => {
      const { viewer } = await data(
        platform,
        `{ viewer { account { depositChart(from: "${iso(now - 20 * day)}", to: "${iso(now + day)}", interval: MONTH,
          scope: DESCENDANTS, currency: ["USD"]) { currencies { steps { count deposits(${page}) { nodes { id }
            pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } } } } } }`,
      );
      return viewer.account.depositChart.currencies[0].steps.find(({ count }: Json) => count > 10);
    };
    const idsOf = (nodes: { id: string }[]) => nodes.map(({ id }) => id);
    const { count, deposits } = await ask('first: 100');
    const all = idsOf(deposits.nodes);
    expect(all.length).toBe(count);
    const walked: string[] = [];
    for (let page = (await ask('first: 7')).deposits; ; ) {
      walked.push(...idsOf(page.nodes));
      if (!page.pageInfo.hasNextPage) break;
      page = (await ask(`first: 7, after: "${page.pageInfo.endCursor}"`)).deposits;
    }
    expect(walked).toEqual(all);
    const last = (await ask('last: 5')).deposits;
    expect(idsOf(last.nodes)).toEqual(all.slice(-5));
    expect(last.pageInfo.hasPreviousPage).toBe(true);
  });

  it('show nothing that an id would not: the account itself is refused to others', async () => {
    const user = await platform.connectedUser();
    const { body } = await user.graph(figures, {
      ...{ id: seeded, from: iso(0), to: iso(day), interval: 'DAY', scope: 'DESCENDANTS', timeZone: 'UTC' },
    });
    expect(body.data.account).toBeNull();
  });
});

describe('a chart', () => {
  it('refuses more currencies than it has, and ranges and zones as other figures do', async () => {
    const user = await given.directUser(1);
    const ask = (args: string, field = 'depositChart') =>
      user.graph(
        `{ viewer { account { ${field}(
          from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z", interval: DAY, ${args}) {
          asOf currencies { currency } } } } }`,
      );
    const many = ['USD', 'EUR', 'INR', 'GBP', 'JPY', 'CHF', 'SEK', 'NOK', 'DKK', 'PLN', 'CZK'];
    for (const field of ['depositChart', 'balanceChart']) {
      for (const [args, name] of [
        [`currency: ${JSON.stringify(many)}`, 'account.currency'],
        ['timeZone: "Mars/Base"', 'account.time_zone'],
      ] as const)
        expect((await ask(args, field)).fieldNames).toEqual([name.replace('account.', 'account.')]);
      const { body } = await ask(`currency: ${JSON.stringify(many.slice(1))}`, field);
      expect(body.errors).toBeUndefined();
    }
  });

  it('of balances has the days of a time zone, and the funds of the ledger at the end of each', async () => {
    const platform = await given.platform(1);
    const root = { id: platform.id, tenantId: tenantOf(platform.id), live: false };
    const user = await platform.connectedUser();
    const money = moneyOf(fixture, root);
    const clock = () => clockOf(platform);
    const begin = await clock();
    for (let i = 0; i < 12; i++) {
      if (i === 6) await money.reconciled(500n);
      const toAccountId = i % 4 === 1 ? user.id : platform.id;
      await money.deposit(1_000n * BigInt(i + 1), { toAccountId, currency: i % 3 === 0 ? 'EUR' : 'USD' });
      await write(root, 'advance_clock', { advanceSeconds: 17_000 });
    }
    const now = await clock();
    const last: Record<string, string> = {};
    for (const scope of ['SELF', 'DESCENDANTS'])
      for (const timeZone of zones) {
        const { viewer } = await data(
          platform,
          `query ($from: DateTime!, $to: DateTime!, $timeZone: String!) { viewer { account { balanceChart(
            from: $from, to: $to, interval: DAY, timeZone: $timeZone, scope: ${scope}) { asOf currencies { currency
            steps { start end total { amount } pending { amount currency } available { amount } } } } } } }`,
          { from: iso(begin - 100), to: iso(now + 5), timeZone },
        );
        const chart = viewer.account.balanceChart;
        expect(epoch(chart.asOf)).toBeGreaterThanOrEqual(now);
        expect(epoch(chart.asOf)).toBeLessThanOrEqual(await clock());
        expect(chart.currencies.map(({ currency }: Json) => currency)).toEqual(['EUR', 'USD']);
        for (const { currency, steps } of chart.currencies) {
          for (const { start, end, total, pending, available } of steps) {
            const { viewer: then } = await data(
              platform,
              `{ viewer { account { balance(asOf: "${iso(epoch(end) - 1)}", scope: ${scope}) {
                pending { amount currency } available { amount currency } } } } }`,
            );
            const at = (funds: Json[]) => funds.find((each) => each.currency === currency)?.amount ?? '0.00';
            const { balance } = then.account;
            expect([scope, timeZone, start, pending.amount, available.amount]).toEqual([
              ...[scope, timeZone, start, at(balance.pending), at(balance.available)],
            ]);
            expect(cents(total.amount)).toBe(cents(pending.amount) + cents(available.amount));
            if (start !== steps[0].start) expect([start, beginsDay(start, timeZone)]).toEqual([start, true]);
          }
          last[`${scope} ${currency}`] = steps.at(-1).total.amount;
        }
      }
    // The user has 100.00 EUR and 80.00 USD.
    expect(last).toEqual({
      ...{ 'SELF EUR': '120.00', 'SELF USD': '485.00' },
      ...{ 'DESCENDANTS EUR': '220.00', 'DESCENDANTS USD': '565.00' },
    });
  });
});

describe('the cost of a random document of figures', () => {
  const currencies = ['USD', 'EUR', 'GBP', 'INR', 'AUD', 'CAD', 'SGD', 'AED', 'JPY', 'CHF'];
  const methods = ['domestic_credit', 'domestic_wire', 'global_wire', 'check', 'card', 'affirm'] as const;
  const counter = new NodeCounter(buildGraph(), publicSizes);

  /** The members of the lists of an answer, of which each is an object. */
  const sizeOf = (answer: Json): number => {
    if (typeof answer !== 'object' || answer === null) return 0;
    const own = Array.isArray(answer) ? answer.length : 0;
    return Object.values(answer).reduce<number>((sum, each) => sum + sizeOf(each), own);
  };

  it('is never below the size of its answer, and is foreseen where the size has a bound', async () => {
    const platform = await given.platform(1);
    const root = { id: platform.id, tenantId: tenantOf(platform.id), live: false };
    const user = await platform.connectedUser();
    const money = moneyOf(fixture, root);
    const partner = await makeAccount(fixture, root, 'partner', { ownerId: user.id, actingAccountId: user.id });
    const begin = await clockOf(platform);
    for (const [i, currency] of currencies.entries()) {
      for (const paymentMethod of methods.slice(0, 2 + (i % 5)))
        await money.deposit(500n, { toAccountId: i % 2 ? user.id : platform.id, paymentMethod, currency });
      if (currency === 'JPY') continue;
      const dates = { creation_date: '2020-01-01', due_date: iso(begin + (i - 6) * 20 * day).slice(0, 10) };
      const of = { customer_id: partner.id };
      await must(user.post('/v1/receivables', receivableBody({ amount: '7.50', currency, ...dates }, of)));
      await write(root, 'advance_clock', { advanceSeconds: (day * (i % 3)) / 2 + 1 });
    }
    const end = (await clockOf(platform)) + 1;

    const range = fc.tuple(fc.integer({ min: 1, max: 90 }), fc.constantFrom('DAY', 'WEEK', 'MONTH'));
    const scope = fc.constantFrom('SELF', 'DESCENDANTS');
    const some = fc.option(fc.uniqueArray(fc.constantFrom(...currencies), { minLength: 1, maxLength: 10 }));
    const page = fc.option(fc.integer({ min: 1, max: 20 }));
    const ranged = ([days, interval]: [number, string]) =>
      `from: "${iso(end - days * day)}", to: "${iso(end)}", interval: ${interval}`;
    const inside = (list: string, first: number | null) =>
      first === null ? '' : `${list}(first: ${first}) { nodes { id } }`;
    const chosen = (of: string[] | null) => (of ? `, currency: [${of.map((each) => `"${each}"`).join(', ')}]` : '');
    const figure = fc.oneof(
      fc.tuple(range, scope).map(([of, who]) => `depositTotals(${ranged(of)}, scope: ${who}) { count }`),
      fc.tuple(range).map(([of]) => `balanceHistory(${ranged(of)}) { start }`),
      fc.tuple(range, scope, some, page).map(
        ([of, who, only, first]) =>
          `depositChart(${ranged(of)}, scope: ${who}${chosen(only)}) {
            currencies { count steps { count ${inside('deposits', first)} } } }`,
      ),
      fc
        .tuple(range, scope, some)
        .map(
          ([of, who, only]) =>
            `balanceChart(${ranged(of)}, scope: ${who}${chosen(only)}) { currencies { steps { start } } }`,
        ),
      fc.tuple(scope, page, page).map(
        ([who, first, limit]) => `receivableAgeing(scope: ${who}) { currencies { count
          buckets { count ${inside('receivables', first)} }
          ${limit ? `byCustomer(limit: ${limit}) { customers { count buckets { count } } }` : ''} } }`,
      ),
      fc.tuple(scope).map(([who]) => `receivableTotals(scope: ${who}) { currencies { statuses { count } } }`),
      fc.tuple(range, page, fc.option(fc.constantFrom(...currencies))).map(
        ([[days], first, only]) =>
          `topUsers(from: "${iso(end - days * day)}", to: "${iso(end)}", limit: 3${only ? `, currency: ${only}` : ''})
              { currencies { users { count ${inside('deposits', first)} } } }`,
      ),
      fc.tuple(scope, page).map(
        ([who, first]) =>
          `statusCounts(scope: ${who}) { deposits { statuses { count ${inside('deposits', first)} } }
              receivables { statuses { count ${inside('receivables', first)} } } payouts { statuses { count } } }`,
      ),
    );
    const whose = fc.constantFrom(
      [platform, platform.id] as const,
      [platform, user.id] as const,
      [user, user.id] as const,
    );
    // Up to ten currencies are foreseen, and more of these with their methods.
    const usual = /depositTotals/;
    let beyond = 0;
    await fc.assert(
      fc.asyncProperty(whose, fc.array(figure, { minLength: 1, maxLength: 4 }), async ([speaker, id], figures) => {
        const document = `{ account(id: "${id}") { ${figures.map((each, i) => `f${i}: ${each}`).join(' ')} } }`;
        const { body, cost } = await speaker.graph(document);
        if (!body.data) return;
        const { requested, actual } = cost!;
        const foreseen = weights.request + counter.of(parse(document), undefined)!({}).points;
        const least = weights.request + sizeOf(body.data);
        const told = { document, least, requested, actual };
        expect({ ...told, enough: actual >= least }).toEqual({ ...told, enough: true });
        expect({ ...told, requested }).toEqual({ ...told, requested: Math.max(foreseen, actual) });
        if (!usual.test(document)) expect(told).toMatchObject({ requested: foreseen });
        beyond += actual > foreseen ? 1 : 0;
      }),
      {
        numRuns: Math.max(60, scale.documents),
        examples: [[[platform, platform.id], [`depositTotals(${ranged([7, 'MONTH'])}, scope: DESCENDANTS) { count }`]]],
      },
    );
    // Otherwise nothing would show what is beyond the estimate.
    expect(beyond).toBeGreaterThan(0);
  });
});
