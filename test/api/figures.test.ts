import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { expectedArrivalOf } from '../../src/resources/payout/arrival.js';
import type { PayoutRow } from '../../src/resources/payout/table.js';
import { purposeCodes } from '../../src/resources/receivable/purpose-codes.js';
import { cents, pdf, receivableBody } from '../support/bodies.js';
import { advanceClock, noon, runAllJobs, runJobs } from '../support/jobs.js';
import { assemble, complete } from '../support/onboarding-profile.js';
import { seedsOf } from '../support/scale.js';
import { givenIn, must, payoutAddress, type Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

const day = 86_400;
const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '');
const epoch = (time: string) => Date.parse(time) / 1000;

async function data(speaker: Speaker, query: string, variables: object = {}): Promise<any> {
  const reply = await speaker.graph(query, variables);
  expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
  return reply.body.data;
}

async function made(speaker: Speaker, path: string, body?: object): Promise<any> {
  const reply = await speaker.post(path, body);
  expect([path, reply.fieldNames, reply.status]).toEqual([path, [], 200]);
  return reply.body;
}

const depositTo = (speaker: Speaker, amount: string, more: object = {}) =>
  made(speaker, '/v1/deposits', {
    ...{ amount, currency: speaker.edition === 1 ? 'USD' : 'INR' },
    ...(speaker.edition === 2 && { to: { account_id: speaker.id }, payment_method: 'upi' }),
    ...more,
  });

const receivableOf = (speaker: Speaker, amount: string, dueDate: string, currency = 'USD') =>
  made(
    speaker,
    '/v1/receivables',
    receivableBody({ amount, currency, creation_date: '2020-01-01', due_date: dueDate }),
  );

describe('viewer.now', () => {
  it('is the time by the clock of the tenant and mode, which a test clock moves', async () => {
    const [user, other] = [await given.directUser(1), await given.directUser(1)];
    const read = async (speaker: Speaker) => epoch((await data(speaker, '{ viewer { now } }')).viewer.now);
    const before = await read(user);
    const moved = await advanceClock(user, 100 * day);
    const [after, ofOther] = [await read(user), await read(other)];
    expect(moved - before).toBeGreaterThanOrEqual(100 * day);
    expect(after - moved).toBeGreaterThanOrEqual(0);
    expect(after - moved).toBeLessThan(60);
    expect(ofOther - before).toBeLessThan(60);
    const live = await given.directUser(1, { live: true });
    expect(Math.abs((await read(live)) - before)).toBeLessThan(60);
  });
});

/** The date of a time in a time zone, by the tables of this process and not by those of PostgreSQL. */
const dateIn = (timeZone: string, seconds: number) =>
  new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(seconds * 1000);
const daysBetween = (one: string, other: string) => (epoch(`${other}T00:00:00Z`) - epoch(`${one}T00:00:00Z`)) / day;
const decimal = (amount: bigint) => `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`;

describe.each(seedsOf('api/figures'))('figures of dashboards, seed %i', (seed) => {
  let platform: Speaker;
  let user: Speaker;
  let other: Speaker;
  let outsider: Speaker;

  const due = fc.oneof(fc.integer({ min: -3, max: 130 }), fc.constantFrom(-1, 0, 1, 30, 31, 60, 61, 90, 91));
  /** The receivables of the platform and its users. Amounts are few, so that equal sums have an order, too. */
  const story = fc.sample(
    fc.tuple(due, fc.integer({ min: 1, max: 900 }), fc.constantFrom('USD', 'EUR'), fc.nat(2), fc.nat(5), fc.nat(3)),
    { numRuns: 40, seed },
  );
  /** The three customers of each owner. */
  const customers = new Map<Speaker, string[]>();
  /** The customers of the receivables, by their ids. */
  const billed = new Map<string, string | null>();

  beforeAll(async () => {
    [platform, outsider] = [await given.platform(1), await given.platform(1)];
    [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const now = await advanceClock(platform, 300 * day + 7);
    for (const owner of [platform, user, other])
      customers.set(owner, [(await owner.partner()).id, (await owner.partner()).id, (await owner.partner()).id]);
    const today = dateIn('UTC', now);
    for (const [days, amount, currency, whose, fate, whom] of story) {
      const owner = [platform, user, other][whose]!;
      const customer = customers.get(owner)![whom] ?? null;
      const dueDate = iso(epoch(`${today}T00:00:00Z`) - days * day).slice(0, 10);
      const { id } = await receivableOf(owner, decimal(BigInt(amount)), dueDate, currency);
      billed.set(id, customer);
      if (customer) await made(owner, `/v1/receivables/${id}`, { customer_id: customer });
      if (fate === 0) await made(owner, `/v1/receivables/${id}/void`);
      if (whose === 0 && fate < 4 && fate > 0 && amount > 1 && currency === 'USD') {
        const deposit = await depositTo(owner, decimal(BigInt(amount)), { payment_method: 'domestic_wire' });
        await made(owner, `/v1/test_helpers/deposits/${deposit.id}/complete`);
        const part = decimal(BigInt(amount) - 1n);
        await made(owner, `/v1/deposits/${deposit.id}/reconcile`, { receivables: [{ id, amount: part }] });
      }
    }
  });

  it('age open receivables by bucket and currency, by the date of the test clock in a time zone', async () => {
    const ageing = `asOf currencies { currency count total { amount currency }
      byCustomer(limit: 100) { customerCount customers { customer { id } count total { amount } overdue { amount }
        buckets { bucket count amount { amount } } } }
      buckets { bucket dueFrom dueTo count amount { amount currency } } }`;
    const of = async (speaker: Speaker, id: string, descendants: boolean, timeZone: string) => {
      const query = `query ($id: ID!, $scope: AccountScope!, $timeZone: String!) { node(id: $id) { ... on Account {
        receivableAgeing(scope: $scope, timeZone: $timeZone) { ${ageing} } } } viewer { now } }`;
      const { node, viewer } = await data(speaker, query, {
        id,
        scope: descendants ? 'DESCENDANTS' : 'SELF',
        timeZone,
      });
      return { found: node?.receivableAgeing, date: dateIn(timeZone, epoch(viewer.now)) };
    };
    // Read from the lists, and added here.
    const all: any[] = [];
    for (const owner of [platform, user, other])
      for (let after = ''; ; after = `&starting_after=${all.at(-1).id}`) {
        const { body } = await platform.get(`/v1/receivables?account_id=${owner.id}&limit=10${after}`);
        all.push(...body.data);
        if (!body.has_next) break;
      }
    expect(all.length).toBe(story.length);
    const names = ['NOT_DUE', 'DAYS_1_TO_30', 'DAYS_31_TO_60', 'DAYS_61_TO_90', 'OVER_90_DAYS'];
    const bucketOf = (days: number) => names[[1, 31, 61, 91].filter((first) => days >= first).length]!;
    type Sums = Map<string, { count: number; amount: bigint }>;
    const none = { count: 0, amount: 0n };
    /** The customers of some receivables of a currency, as they are ranked. */
    const ofCustomers = (rows: any[], date: string) => {
      const whom = ({ id }: any) => billed.get(id) ?? null;
      const each = [...new Set(rows.map(whom))].map((id) => [id, rows.filter((row) => whom(row) === id)] as const);
      const sumOf = (some: any[]) => some.reduce((sum, row) => sum + cents(row.amount_reconcilable), 0n);
      const found = each.map(([id, some]) => {
        const late = some.filter((row) => daysBetween(row.invoice.due_date, date) > 0);
        return { id, some, overdue: sumOf(late) as bigint, total: sumOf(some) as bigint };
      });
      const ranked = found.toSorted(
        (one, two) =>
          Number(two.overdue - one.overdue) ||
          Number(two.total - one.total) ||
          Number(one.id === null) - Number(two.id === null) ||
          (one.id! < two.id! ? -1 : 1),
      );
      return {
        customerCount: ranked.length,
        customers: ranked.map(({ id, some, overdue, total }) => ({
          customer: id === null ? null : { id },
          ...{ count: some.length, total: { amount: decimal(total) }, overdue: { amount: decimal(overdue) } },
          buckets: names.map((bucket) => {
            const inIt = some.filter((row) => bucketOf(daysBetween(row.invoice.due_date, date)) === bucket);
            return { bucket, count: inIt.length, amount: { amount: decimal(sumOf(inIt)) } };
          }),
        })),
      };
    };
    const expected = (isCounted: (row: any) => boolean, date: string) => {
      const sums: Sums = new Map();
      const open = all.filter((row) => row.status === 'open' && isCounted(row));
      for (const row of open) {
        const key = `${bucketOf(daysBetween(row.invoice.due_date, date))} ${row.currency}`;
        const sum = sums.get(key) ?? none;
        sums.set(key, { count: sum.count + 1, amount: sum.amount + cents(row.amount_reconcilable) });
      }
      const before = (days: number) => new Date(Date.parse(date) - days * 86_400_000).toISOString().slice(0, 10);
      const bounds = [
        [before(0), null],
        [before(30), before(1)],
        [before(60), before(31)],
        [before(90), before(61)],
        [null, before(91)],
      ];
      const currencies = [...new Set([...sums.keys()].map((key) => key.split(' ')[1]!))].toSorted();
      return {
        asOf: date,
        currencies: currencies.map((currency) => {
          const found = names.map((bucket) => sums.get(`${bucket} ${currency}`) ?? none);
          const money = (amount: bigint) => ({ amount: decimal(amount), currency });
          return {
            currency,
            count: found.reduce((all, { count }) => all + count, 0),
            total: money(found.reduce((all, { amount }) => all + amount, 0n)),
            byCustomer: ofCustomers(
              open.filter((row) => row.currency === currency),
              date,
            ),
            buckets: found.map(({ count, amount }, i) => {
              const [dueFrom, dueTo] = bounds[i]!;
              return { bucket: names[i], dueFrom, dueTo, count, amount: money(amount) };
            }),
          };
        }),
      };
    };
    const everybody = [platform.id, user.id, other.id];
    const zones = ['UTC', 'Asia/Kolkata', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Kathmandu'];
    for (const timeZone of zones)
      for (const [speaker, id, ids] of [
        [platform, platform.id, everybody],
        [platform, user.id, [user.id]],
        [platform.actingFor(user.id), user.id, [user.id]],
        [user, user.id, [user.id]],
      ] as const)
        for (const descendants of [false, true]) {
          const { found, date } = await of(speaker, id, descendants, timeZone);
          const counted = descendants ? [...ids] : [id];
          const isCounted = ({ account_id }: any) => counted.includes(account_id);
          expect([timeZone, id, found]).toEqual([timeZone, id, expected(isCounted, date)]);
        }
    // What bills a customer, as its owner and the platform see it.
    for (const timeZone of zones)
      for (const [speaker, owner] of [
        [user, user],
        [platform, user],
        [platform, platform],
      ] as const)
        for (const customer of customers.get(owner)!) {
          const query = `query ($id: ID!, $timeZone: String!) { account(id: $id) {
            billedAgeing(timeZone: $timeZone) { ${ageing} } } viewer { now } }`;
          const { account, viewer } = await data(speaker, query, { id: customer, timeZone });
          const date = dateIn(timeZone, epoch(viewer.now));
          expect(account.billedAgeing).toEqual(expected(({ id }) => billed.get(id) === customer, date));
        }
    for (const [speaker, id] of [
      [user, other.id],
      [user, platform.id],
      [outsider, platform.id],
    ] as const)
      expect((await of(speaker, id, true, 'UTC')).found).toBeUndefined();
    expect((await of(outsider, outsider.id, true, 'UTC')).found.currencies).toEqual([]);
    const session = await made(platform, '/v1/sessions', { role: 'read', account_id: user.id });
    const read = await of(platform.using(session.token), user.id, true, 'UTC');
    expect(read.found).toEqual(expected(({ account_id }) => account_id === user.id, read.date));
  });

  it('say what each customer owes by its open invoices, and nothing of those of others', async () => {
    const owner = await given.directUser(1);
    const [one, two, none] = [await owner.partner(), await owner.partner(), await owner.partner()];
    const bill = async (customer: any, amount: string, currency: string) => {
      const { id } = await receivableOf(owner, amount, '2030-01-01', currency);
      await made(owner, `/v1/receivables/${id}`, { customer_id: customer.id });
      return id as string;
    };
    const [part] = [await bill(one, '100.10', 'USD'), await bill(one, '0.02', 'USD'), await bill(one, '7.00', 'EUR')];
    const voided = await bill(two, '50.00', 'USD');
    await bill(two, '9223372036.93', 'USD');
    await receivableOf(owner, '3.00', '2030-01-01');
    await made(owner, `/v1/receivables/${voided}/void`);
    const deposit = await depositTo(owner, '40.05', { payment_method: 'domestic_wire' });
    await made(owner, `/v1/test_helpers/deposits/${deposit.id}/complete`);
    await made(owner, `/v1/deposits/${deposit.id}/reconcile`, { receivables: [{ id: part, amount: '40.05' }] });
    const query =
      'query ($id: ID!) { partners(accountId: $id) { nodes { id owes { ...O } } } account(id: $id) { owes { ...O } } ' +
      '} fragment O on Owed { receivables { value precision } ' +
      'currencies { currency count total { amount currency } } }';
    const { partners, account } = await data(owner, query, { id: owner.id });
    const owed = (value: number, ...sums: [currency: string, count: number, amount: string][]) => ({
      receivables: { value, precision: 'EXACT' },
      currencies: sums.map(([currency, count, amount]) => ({ currency, count, total: { amount, currency } })),
    });
    expect(Object.fromEntries(partners.nodes.map(({ id, owes }: any) => [id, owes]))).toEqual({
      [one.id]: owed(3, ['EUR', 1, '7.00'], ['USD', 2, '60.07']),
      [two.id]: owed(1, ['USD', 1, '9223372036.93']),
      [none.id]: owed(0),
    });
    expect(account.owes).toEqual(owed(0));
  });

  it('say as of when they are, by the clock of the tenant', async () => {
    const owner = await given.platform(1);
    await advanceClock(owner, 100 * day);
    for (const speaker of [owner, await owner.connectedUser()]) {
      const now = async () => (await data(speaker, '{ viewer { now } }')).viewer.now as string;
      const before = await now();
      const { account } = (
        await data(
          speaker,
          '{ viewer { account { statusCounts { asOf } receivableTotals { asOf } owes { asOf } ' +
            'ageing: receivableAgeing { asOf } ' +
            'topUsers(from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z") { ' +
            'asOf from to currencies { currency } } } } }',
        )
      ).viewer;
      const after = await now();
      for (const { asOf } of [account.statusCounts, account.receivableTotals, account.owes, account.topUsers])
        expect([before <= asOf, asOf <= after]).toEqual([true, true]);
      expect([before.slice(0, 10), after.slice(0, 10)]).toContain(account.ageing.asOf);
      expect(account.topUsers).toMatchObject({
        ...{ from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z', currencies: [] },
      });
    }
  });

  it('refuse time zones that are no names of the IANA database', async () => {
    const query = 'query ($z: String!) { viewer { account { receivableAgeing(timeZone: $z) { asOf } } } }';
    for (const z of ['IST', '+05:30', 'asia/kolkata', 'Asia/Nowhere', '', 'posix/UTC', 'localtime', "UTC'; select 1"]) {
      const reply = await outsider.graph(query, { z });
      expect([z, reply.codes]).toEqual([z, ['parameter_invalid']]);
      expect(reply.body.errors[0].message).toContain('IANA');
    }
    for (const z of ['UTC', 'Asia/Kolkata', 'Asia/Calcutta', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])
      expect([z, (await outsider.graph(query, { z })).codes]).toEqual([z, []]);
  });

  it.each([0, 101, -1])('refuse %i customers of an ageing', async (limit) => {
    const query = `query ($limit: Int!) { viewer { account { receivableAgeing { currencies { currency
      byCustomer(limit: $limit) { customerCount } } } } } }`;
    const reply = await platform.graph(query, { limit });
    expect([...new Set(reply.codes), ...new Set(reply.fieldNames)]).toEqual([
      ...['parameter_invalid', 'ageing_of_currency.limit'],
    ]);
    const [found] = reply.body.data.viewer.account.receivableAgeing.currencies;
    expect(found).toMatchObject({ currency: 'EUR', byCustomer: null });
  });

  it('count checkouts, deposits, payouts and receivables by status like their lists', async () => {
    const kinds = { receivables: 'receivable', deposits: 'deposit', payouts: 'payout' };
    const partner = await user.partner();
    await made(platform, `/v1/accounts/${partner.id}/activate`);
    // The sandbox issues the partner's address in steps of some seconds.
    do await advanceClock(platform, 5);
    while ((await runAllJobs(platform)) > 0);
    for (const [owner, to, fate] of [
      [user, partner.id, 'complete'],
      [user, partner.id, 'fail'],
      [platform, platform.id, 'complete'],
      [platform, platform.id, 'cancel'],
      [platform, platform.id, 'fail'],
      [platform, platform.id, undefined],
    ] as const) {
      const { id } = await depositTo(owner, '7.00', { to: { account_id: to }, payment_method: 'domestic_wire' });
      if (fate) await made(owner, `/v1/test_helpers/deposits/${id}/${fate}`);
    }
    const all: Record<string, any[]> = {};
    for (const kind of Object.keys(kinds))
      all[kind] = await world.sql.unsafe(
        `select *, ${kind === 'deposits' ? 'to_account_id' : 'account_id'} as owner
          from ${kinds[kind as keyof typeof kinds]}
         where tenant_id = '${tenantOf(platform)}' and not livemode`,
      );
    const fields = Object.keys({ ...kinds, checkouts: '' }).map(
      (kind) => `${kind} { total statuses { status count } }`,
    );
    const countsOf = async (speaker: Speaker, id: string, descendants: boolean) =>
      (
        await data(
          speaker,
          `{ node(id: "${id}") { ... on Account { statusCounts(scope: ${descendants ? 'DESCENDANTS' : 'SELF'}) { ` +
            `${fields.join(' ')} } } } }`,
        )
      ).node?.statusCounts;
    const below: Record<string, string[]> = {
      [platform.id]: [platform.id, user.id, other.id, partner.id],
      [user.id]: [user.id, partner.id],
      [partner.id]: [partner.id],
    };
    for (const [speaker, id] of [
      [platform, platform.id],
      [platform, user.id],
      [platform, partner.id],
      [user, user.id],
      [user, partner.id],
    ] as const)
      for (const descendants of [false, true]) {
        const counts = await countsOf(speaker, id, descendants);
        expect(counts.checkouts.statuses.map(({ count }: any) => count)).toEqual([0, 0, 0, 0]);
        for (const kind of Object.keys(kinds)) {
          const rows = all[kind]!.filter(({ owner }) => (descendants ? below[id]! : [id]).includes(owner));
          expect([kind, id, descendants, counts[kind].total]).toEqual([kind, id, descendants, rows.length]);
          for (const { status, count } of counts[kind].statuses)
            expect([kind, status, count]).toEqual([
              ...[kind, status, rows.filter((row) => row.status.toUpperCase() === status).length],
            ]);
        }
      }
    expect(all.deposits!.length).toBeGreaterThan(4);
    expect(await countsOf(user, other.id, true)).toBeUndefined();
    expect(await countsOf(outsider, platform.id, true)).toBeUndefined();
    const payee = await given.directUser(2);
    expect((await countsOf(payee, payee.id, true)).checkouts.statuses.map(({ status }: any) => status)).toEqual([
      'INITIALIZED',
      'COMPLETED',
      'EXPIRED',
      'CANCELLED',
    ]);
  });

  it('name the purpose codes with their meanings, in both APIs', async () => {
    const codes = Object.entries(purposeCodes).map(([code, description]) => ({ code, description }));
    expect((await data(user, '{ purposeCodes { code description } }')).purposeCodes).toEqual(codes);
    const { status, body } = await user.get('/v1/purpose_codes');
    expect([status, body]).toEqual([
      200,
      { object: 'list', data: codes.map((each) => ({ object: 'purpose_code', ...each })), has_next: false },
    ]);
  });

  it("list an account's files by purpose", async () => {
    const [invoice, tax] = [
      (await user.upload('invoice', pdf)).body.id,
      (await user.upload('tax_document', pdf)).body.id,
    ];
    const files = async (purpose: string) =>
      (await data(user, `{ viewer { account { files(purpose: [${purpose}]) { nodes { id } totalCount } } } }`)).viewer
        .account.files;
    expect(await files('INVOICE')).toEqual({ nodes: [{ id: invoice }], totalCount: 1 });
    expect(await files('INVOICE, TAX_DOCUMENT')).toEqual({ nodes: [{ id: tax }, { id: invoice }], totalCount: 2 });
  });
});

describe('the next payout of an account', () => {
  const plan = `{ viewer { now account { nextPayoutAt payoutsBlockedBy { reasonCode currency }
    nextPayouts { sourceAmount { amount currency } amount { amount currency } rate rateSetAt } } } }`;
  const planOf = async (speaker: Speaker) => {
    const { viewer } = await data(speaker, plan);
    const blocked = viewer.account.payoutsBlockedBy.map(({ reasonCode, currency }: any) =>
      [reasonCode, currency].filter(Boolean).join(' '),
    );
    const at = viewer.account.nextPayoutAt && epoch(viewer.account.nextPayoutAt);
    const next = viewer.account.nextPayouts.map(({ sourceAmount: from, amount: to, rate, rateSetAt }: any) => {
      expect(rateSetAt).toBeNull();
      return `${from.amount} ${from.currency} at ${rate} is ${to.amount} ${to.currency}`;
    });
    return { now: epoch(viewer.now), at, blocked, next };
  };
  const available = async (speaker: Speaker, amount: string, currency = 'USD') => {
    const deposit = await depositTo(speaker, amount, {
      currency,
      payment_method: speaker.edition === 1 ? 'domestic_wire' : 'upi',
    });
    await made(speaker, `/v1/test_helpers/deposits/${deposit.id}/complete`);
    const { id } = await receivableOf(speaker, amount, '2030-01-01', currency);
    await made(speaker, `/v1/deposits/${deposit.id}/reconcile`, { receivables: [{ id, amount }] });
    return deposit;
  };
  const payouts = async (speaker: Speaker) => (await speaker.get('/v1/payouts')).body.data;

  it('is when it then takes place, and says what prevents it', async () => {
    const user = await given.directUser(1);
    expect((await planOf(user)).blocked).toContain('ADDRESS_MISSING');
    expect((await planOf(user)).at).toBeNull();
    await payoutAddress(user);
    await advanceClock(user, 5);
    await runAllJobs(user);
    const idle = await planOf(user);
    expect(idle).toEqual({ now: idle.now, at: idle.now - (idle.now % day) + day, blocked: [], next: [] });
    // So that an hour before the payout is still to come at any time of the day.
    await noon(user);
    await available(user, '100.00');
    const waiting = await planOf(user);
    expect([waiting.at! % day, waiting.at! > waiting.now, waiting.blocked]).toEqual([0, true, []]);
    expect(waiting.next).toEqual(['100.00 USD at 83 is 8300.00 INR']);
    await advanceClock(user, waiting.at! - waiting.now - 3_600);
    await runAllJobs(user);
    expect(await payouts(user)).toEqual([]);
    await advanceClock(user, 3_601);
    await runAllJobs(user);
    const [payout] = await payouts(user);
    expect(payout.created).toBeGreaterThanOrEqual(waiting.at!);
    expect(payout.created).toBeLessThanOrEqual(await advanceClock(user, 1));
    // What was converted, at which rate, and when it is expected; the same in both APIs.
    expect(payout).toMatchObject({ source_amount: '100.00', source_currency: 'USD', currency: 'INR', rate: '83' });
    expect(payout.expected_arrival).toBe(payout.created + 60);
    const { node } = await data(
      user,
      `{ node(id: "${payout.id}") { ... on Payout { sourceAmount sourceCurrency rate expectedArrivalAt } } }`,
    );
    expect(node).toEqual({
      ...{ sourceAmount: '100.00', sourceCurrency: 'USD', rate: '83', expectedArrivalAt: iso(payout.created + 60) },
    });
    await advanceClock(user, 61);
    await runAllJobs(user);
    const disputed = await available(user, '40.00');
    await advanceClock(user, day);
    await runAllJobs(user);
    expect((await payouts(user)).length).toBe(2);
    await made(user, `/v1/test_helpers/deposits/${disputed.id}/dispute`, { amount: '40.00' });
    expect(await planOf(user)).toMatchObject({ at: null, blocked: ['BALANCE_NEGATIVE'], next: [] });
  });

  it('is prevented for money in a currency that cannot be converted, or that is too little', async () => {
    const user = await given.directUser(2);
    await payoutAddress(user, 'CHF');
    await advanceClock(user, 5);
    await runAllJobs(user);
    expect(await planOf(user)).toMatchObject({ at: expect.any(Number), blocked: [] });
    await available(user, '0.50', 'INR');
    expect(await planOf(user)).toMatchObject({ at: null, blocked: ['RATE_MISSING INR'], next: [] });
    await payoutAddress(user, 'JPY');
    await advanceClock(user, 5);
    await runAllJobs(user);
    expect(await planOf(user)).toMatchObject({ at: null, blocked: ['AMOUNT_TOO_SMALL INR'] });
    await available(user, '1.00', 'USD');
    expect(await planOf(user)).toMatchObject({
      ...{ at: expect.any(Number), blocked: ['AMOUNT_TOO_SMALL INR'], next: ['1.00 USD at 150 is 150.00 JPY'] },
    });
    await advanceClock(user, day);
    await runAllJobs(user);
    expect((await payouts(user)).map(({ source_currency }: any) => source_currency)).toEqual(['USD']);
  });

  it('does not exist for a partner, and not where the platform or the service holds payouts', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const partner = await user.partner();
    const of = (id: string) =>
      data(platform, `{ account(id: "${id}") { nextPayoutAt payoutsBlockedBy { reasonCode currency } } }`);
    const missing = { reasonCode: 'ADDRESS_MISSING', currency: null };
    expect(await of(partner.id)).toEqual({
      account: { nextPayoutAt: null, payoutsBlockedBy: [{ reasonCode: 'NOT_APPLICABLE', currency: null }] },
    });
    expect(await of(user.id)).toEqual({
      account: {
        nextPayoutAt: null,
        payoutsBlockedBy: [{ reasonCode: 'ACCOUNT_NOT_ACTIVATED', currency: null }, missing],
      },
    });
    const aggregator = await given.platform(2, { subType: 'aggregator' });
    const below = await aggregator.connectedUser();
    const { account } = await data(aggregator, `{ account(id: "${below.id}") { payoutsBlockedBy { reasonCode } } }`);
    expect(account.payoutsBlockedBy).toEqual([{ reasonCode: 'NOT_APPLICABLE' }]);
    const outsider = await given.directUser(1);
    const reply = await outsider.graph(`{ account(id: "${user.id}") { nextPayoutAt } }`);
    expect(reply.codes).toEqual(['resource_missing']);
  });

  it('of live mode is expected to arrive at the end of the next working day', () => {
    const at = (time: string, status = 'processing') =>
      expectedArrivalOf({ created: epoch(time), livemode: true, status } as PayoutRow);
    for (const [created, arrives] of [
      ['2026-11-23T00:00:00Z', '2026-11-25T00:00:00Z'], // Monday
      ['2026-11-26T23:59:59Z', '2026-11-28T00:00:00Z'], // Thursday
      ['2026-11-27T12:00:00Z', '2026-12-01T00:00:00Z'], // Friday
      ['2026-11-28T12:00:00Z', '2026-12-01T00:00:00Z'],
      ['2026-11-29T12:00:00Z', '2026-12-01T00:00:00Z'],
    ])
      expect(iso(at(created!)!)).toBe(iso(epoch(arrives!)));
    expect(at('2026-11-23T00:00:00Z', 'failed')).toBeNull();
  });
});

/** The statuses with a number, of the deposits of an account. */
async function depositsOf(speaker: Speaker, id: string, descendants: boolean): Promise<Record<string, number>> {
  const { account } = (
    await must(
      speaker.graph(
        'query ($id: ID!, $scope: AccountScope!) { account(id: $id) { statusCounts(scope: $scope) { ' +
          'deposits { total statuses { status count } } } } }',
        { id, scope: descendants ? 'DESCENDANTS' : 'SELF' },
      ),
    )
  ).data;
  const counts: { status: string; count: number }[] = account.statusCounts.deposits.statuses;
  expect(account.statusCounts.deposits.total).toBe(counts.reduce((sum, { count }) => sum + count, 0));
  expect(counts.map(({ status }) => status)).toContain('FAILED');
  return Object.fromEntries(counts.flatMap(({ status, count }) => (count > 0 ? [[status, count]] : [])));
}

describe('the numbers by status', () => {
  it('follow the deposits of an account, and include those of its users only when they are requested', async () => {
    const platform = await given.platform(1);
    const id = await assemble(platform, complete(1));
    await must(platform.post(`/v1/accounts/${id}/activate`));
    await must(platform.post(`/v1/test_helpers/accounts/${id}/verify`));
    // The jobs that give the user its receiving addresses.
    for (let round = 0; round < 3; round++) {
      await must(platform.post('/v1/test_helpers/clock', { advance_seconds: 61 }));
      await runJobs(platform);
    }
    const user = platform.actingFor(id);
    const made = async (speaker: Speaker) =>
      (await must(speaker.post('/v1/deposits', { amount: '1.00', currency: 'USD' }))).id as string;
    const own = await made(platform);
    await made(platform);
    expect(await depositsOf(platform, platform.id, false)).toEqual({ INITIALIZED: 2 });
    await must(platform.post(`/v1/test_helpers/deposits/${own}/complete`));
    expect(await depositsOf(platform, platform.id, false)).toEqual({ INITIALIZED: 1, COMPLETED: 1 });

    const other = await given.platform(1);
    await made(other);
    await made(user);
    expect(await depositsOf(platform, id, false)).toEqual({ INITIALIZED: 1 });
    expect(await depositsOf(platform, platform.id, false)).toEqual({ INITIALIZED: 1, COMPLETED: 1 });
    expect(await depositsOf(platform, platform.id, true)).toEqual({ INITIALIZED: 2, COMPLETED: 1 });
  });
});
