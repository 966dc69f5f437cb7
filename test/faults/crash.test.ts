import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { behind, type Gateway, postmaster, until, useChildren } from '../support/child.js';
import { text } from './harness.js';
import { Receiver } from './receiver.js';
import { evidence, figures, patience, random, scale, secondsSince, seedsOf } from '../support/scale.js';
import { details, must, payoutAddressBody, type Reply, Speaker, type World } from '../support/world.js';

vi.setConfig(patience);

const children = useChildren();
let DATA_DIR: string;
const { gateways: gatewayKills, databases: databaseKills, clients, writes } = scale.crash;
let roll: () => number;
const tenants = scale.whole ? 4 : 2;

type Kind = 'partner' | 'deposit' | 'receivable' | 'reconcile' | 'dispute' | 'note' | 'tick';
/** Operations that create money and claw it back, and sometimes a pause of a second. */
const kinds: Kind[] = [
  'partner',
  'deposit',
  'deposit',
  'receivable',
  'reconcile',
  'reconcile',
  'reconcile',
  'dispute',
  'note',
];

/** An acknowledged write: its key identifies the object that must exist exactly once. */
interface Written {
  kind: Kind;
  key: string;
  /** The created or changed object. */
  id: string;
  amount: bigint;
  body: object;
  path: string;
}

interface Root {
  id: string;
  key: string;
  tenant: string;
  /** A completed deposit that is reconciled and disputed in parts. */
  source: string;
  written: Written[];
  /** Its webhook endpoint, which gets all events from a number on. */
  endpoint: string;
}

const roots: Root[] = [];
/** Two gateways over one PostgreSQL; one that is down gets no requests. */
const serving: (Gateway | undefined)[] = [undefined, undefined];
/** The results of the attempts: `unanswered` ones may or may not have been executed, and `replayed` ones had been. */
const counts = { acknowledged: 0, replayed: 0, unanswered: 0, away: 0, unavailable: 0, inUse: 0 };
/** Responses that must not occur. */
const wrong: string[] = [];
let over = false;
let receiver: Receiver;

const start = async (n: number) => {
  serving[n] = await children.gateway({ DATA_DIR, LOG_LEVEL: 'error' });
};

/** Two gateways and their clients, as each seed begins with them. */
async function prepare(seed: number) {
  [roll, receiver, over] = [random(seed), new Receiver(), false];
  roots.length = 0;
  wrong.length = 0;
  Object.assign(counts, { acknowledged: 0, replayed: 0, unanswered: 0, away: 0, unavailable: 0, inUse: 0 });
  DATA_DIR = await children.preparedFolder('migrated');
  const args = ['--type=user', '--edition=1', '--legal-name=Root Traders', '--json'];
  const create = () => children.command({ DATA_DIR }, 'account', 'create', ...args);
  for (const made of await Promise.all(Array.from({ length: tenants }, create))) {
    const { account, keys } = JSON.parse(made.out);
    const tenant = account.id.replace('account_', '');
    roots.push({ id: account.id, key: keys.test, tenant, source: '', written: [], endpoint: '' });
  }
  await Promise.all([start(0), start(1)]);
  for (const root of roots) {
    const me = speaker(serving[0]!, root);
    root.source = (await must(me.post('/v1/deposits', { amount: '99999999999.99', currency: 'USD' }))).id;
    await until(async () => (await must(me.get(`/v1/deposits/${root.source}`))).status === 'completed');
  }
  const sql = behind(DATA_DIR);
  await until(async () => (await sql`select 1 from event where number is null limit 1`).length === 0);
  await sql.end();
  const url = await receiver.listen();
  for (const root of roots) {
    const body = { url: `${url}/${root.tenant}`, event_types: ['*'] };
    root.endpoint = (await must(speaker(serving[0]!, root).post('/v1/webhook_endpoints', body))).id;
  }
}
async function close() {
  over = true;
  for (const gateway of serving) await gateway?.stop();
  await receiver.close();
}

const speaker = ({ origin }: Gateway, { id, key }: Root) => new Speaker({ origin } as World, id, key, 1);

/** Repeats a write with the same key until it gets a response, for any result of an attempt. */
async function acknowledged(root: Root, key: string, place: string, body: object, first: number): Promise<Reply> {
  for (let attempt = 0; ; attempt++) {
    const gateway = serving[(first + attempt) % 2] ?? serving[(first + attempt + 1) % 2];
    const reply =
      gateway &&
      (await speaker(gateway, root)
        .post(place, body, { 'idempotency-key': key })
        .catch(() => undefined));
    if (reply?.status === 200) {
      if (reply.headers.get('idempotent-replayed') !== null) counts.replayed++;
      return reply;
    }
    if (!gateway) counts.away++;
    else if (!reply) counts.unanswered++;
    else if (reply.status === 503) counts.unavailable++;
    else if (reply.codes[0] === 'idempotency_key_in_use') counts.inUse++;
    else {
      wrong.push(`${place}: ${reply.text}`);
      throw new Error(wrong.at(-1));
    }
    await sleep(20 + roll() * 60);
  }
}

async function client(n: number, seed: number): Promise<void> {
  const root = roots[n % tenants]!;
  const mine = random(seed + n + 1);
  let receivable: { id: string; rest: bigint } | undefined;
  for (let nth = 0; !over; nth++) {
    const key = `client ${n} write ${nth}`;
    const kind: Kind = mine() < 0.01 ? 'tick' : kinds[Math.floor(mine() * kinds.length)]!;
    let amount = BigInt(1 + Math.floor(mine() * 1_000));
    let place = '';
    let body: object = {};
    let of = '';
    if (kind === 'partner') {
      place = '/v1/accounts';
      body = { type: 'partner', nickname: `${key} ${randomUUID().slice(0, 8)}`, business_details: details() };
    } else if (kind === 'deposit') {
      place = '/v1/deposits';
      body = { amount: text(amount), currency: 'USD', metadata: { key } };
    } else if (kind === 'tick') {
      place = '/v1/test_helpers/clock';
      body = { advance_seconds: 1 };
    } else if (kind === 'dispute') {
      place = `/v1/test_helpers/deposits/${root.source}/dispute`;
      body = { amount: text(amount), reason_code: 'general' };
    } else if (kind === 'receivable' || !receivable || receivable.rest < 1_000n) {
      place = '/v1/receivables';
      const dates = { creation_date: '2026-10-01', due_date: '2026-12-01' };
      body = {
        ...{ currency: 'USD', purpose_code: 'P0802', transaction_type: 'services' },
        invoice: { amount: '100.00', currency: 'USD', reference_number: key, ...dates },
      };
    } else if (kind === 'note') {
      of = receivable.id;
      place = `/v1/receivables/${of}`;
      body = { metadata: { [`note${nth % 3}`]: key } };
    } else {
      of = receivable.id;
      place = `/v1/deposits/${root.source}/reconcile`;
      body = { receivables: [{ id: of, amount: text(amount) }] };
    }
    const actual: Kind = place === '/v1/receivables' ? 'receivable' : kind;
    if (!['reconcile', 'deposit', 'dispute'].includes(actual)) amount = 0n;
    const reply = await acknowledged(root, key, place, body, n + nth);
    root.written.push({ kind: actual, key, id: of || reply.body.id, amount, body, path: place });
    counts.acknowledged++;
    if (actual === 'receivable') receivable = { id: reply.body.id, rest: 10_000n };
    if (actual === 'reconcile') receivable!.rest -= amount;
  }
}

/** Kills one gateway at a random moment, or sometimes both, which also stops their PostgreSQL. */
async function killGateway(both: boolean): Promise<number> {
  const first = Math.floor(roll() * 2);
  const victims = both ? [0, 1] : [first];
  await Promise.all(
    victims.map(async (n) => {
      const gateway = serving[n]!;
      serving[n] = undefined;
      gateway.signal('SIGKILL');
      await gateway.ended;
    }),
  );
  await Promise.all(victims.map(start));
  return victims.length;
}

describe.each(seedsOf('faults/crash'))(`${clients} clients write, seed %i`, (seed) => {
  beforeAll(() => prepare(seed));
  afterAll(close);

  const recoveries: Record<'gateway' | 'PostgreSQL', number[]> = { gateway: [], PostgreSQL: [] };

  it(`while gateways are killed ${gatewayKills} times and PostgreSQL ${databaseKills} times`, async () => {
    const began = Date.now();
    const running = Promise.all(Array.from({ length: clients }, (_, n) => client(n, seed)));
    running.catch(() => {
      over = true;
    });
    const kills = gatewayKills + databaseKills;
    let [gateways, databases] = [0, 0];
    while (gateways + databases < kills && wrong.length === 0) {
      // The same number of writes between two kills, and then a random time.
      const enough = (writes * (gateways + databases + 1)) / (kills + 1);
      await until(() => counts.acknowledged >= enough || wrong.length > 0);
      await sleep(roll() * 100);
      const ofDatabase = roll() < (databaseKills - databases) / (kills - gateways - databases);
      const [before, at] = [counts.acknowledged, Date.now()];
      if (ofDatabase) {
        process.kill(postmaster(DATA_DIR)!.pid, 'SIGKILL');
        databases++;
      } else gateways += await killGateway(gatewayKills - gateways >= 2 && roll() < 0.1);
      // Each client has one write in flight, so at most that many can have been executed without a response.
      await until(() => counts.acknowledged > before + clients || wrong.length > 0);
      recoveries[ofDatabase ? 'PostgreSQL' : 'gateway'].push(Date.now() - at);
    }
    await until(() => counts.acknowledged >= writes || wrong.length > 0);
    over = true;
    await running;
    expect(wrong).toEqual([]);
    expect([gateways, databases]).toEqual([gatewayKills, databaseKills]);
    expect(counts.acknowledged).toBeGreaterThanOrEqual(writes);
    const worst = (list: number[]) => `${(Math.max(0, ...list) / 1000).toFixed(1)} s`;
    figures('crash', {
      ...{ gateways, databases, clients, ...counts, seed, took: secondsSince(began) },
      ...{ 'longest after a gateway': worst(recoveries.gateway), 'after PostgreSQL': worst(recoveries.PostgreSQL) },
    });
  });

  it('and every acknowledged write exists once, and nothing else', async () => {
    const sql = behind(DATA_DIR);
    const byId = (rows: (readonly [string, unknown])[]) => Object.fromEntries(rows.toSorted());
    // The sandbox has finished every deposit.
    await until(async () => (await sql`select 1 from deposit where status <> 'completed' limit 1`).length === 0);

    for (const root of roots) {
      const { tenant, written } = root;
      const of = (kind: Kind) => written.filter((each) => each.kind === kind);
      const keys = await sql`select key from idempotency where tenant_id = ${tenant} and key like 'client %'`;
      expect(keys.map(({ key }) => key).toSorted()).toEqual(written.map(({ key }) => key).toSorted());

      const partners = await sql`select id, nickname from account where tenant_id = ${tenant} and kind = 'partner'`;
      expect(byId(partners.map(({ id, nickname }) => [id, nickname]))).toEqual(
        byId(of('partner').map(({ id, body }) => [id, (body as { nickname: string }).nickname])),
      );
      const deposits = await sql`
        select id, metadata ->> 'key' as key, amount from deposit where tenant_id = ${tenant} and id <> ${root.source}
        and disputes_id is null`;
      expect(byId(deposits.map(({ id, key, amount }) => [id, `${key} ${amount}`]))).toEqual(
        byId(of('deposit').map(({ id, key, amount }) => [id, `${key} ${amount}`])),
      );

      const disputes = await sql`
        select id, amount from deposit where tenant_id = ${tenant} and disputes_id = ${root.source}
        and reason_code = 'general'`;
      expect(byId(disputes.map(({ id, amount }) => [id, amount]))).toEqual(
        byId(of('dispute').map(({ id, amount }) => [id, `${-amount}`])),
      );

      // The amounts and the metadata of each receivable; the writes of one client are in order.
      const wanted = new Map(of('receivable').map(({ id, key }) => [id, { key, locked: 0n, notes: {} }]));
      for (const { kind, id, amount, body } of written) {
        const receivable = wanted.get(id);
        if (kind === 'reconcile') receivable!.locked += amount;
        if (kind === 'note') Object.assign(receivable!.notes, (body as { metadata: object }).metadata);
      }
      const receivables = await sql`
        select id, invoice ->> 'referenceNumber' as key, amount_locked, coalesce(metadata, '{}') as notes
        from receivable where tenant_id = ${tenant}`;
      expect(
        byId(receivables.map((r) => [r.id, { key: r.key, locked: BigInt(r.amount_locked), notes: r.notes }])),
      ).toEqual(byId([...wanted]));
      const [posted] = await sql`
        select count(*)::int as n from posting where tenant_id = ${tenant} and kind = 'reconciliation'`;
      expect(posted!.n).toBe(of('reconcile').length);

      const [clock] = await sql`select offset_seconds from test_clock where tenant_id = ${tenant}`;
      expect(Number(clock?.offset_seconds ?? 0)).toBe(of('tick').length);

      const sum = (list: Written[]) => list.reduce((total, { amount }) => total + amount, 0n);
      const reconciled = sum(of('reconcile'));
      const [balance] = await sql`
        select available, pending, processing, payout_processing from balance where tenant_id = ${tenant}
        and currency = 'USD'`;
      expect(balance).toEqual({
        available: `${reconciled}`,
        pending: `${9_999_999_999_999n + sum(of('deposit')) - reconciled - sum(of('dispute'))}`,
        processing: '0',
        payout_processing: '0',
      });
    }
    await sql.end();
  });

  it('and has its events once and without a gap', async () => {
    const sql = behind(DATA_DIR);
    await until(async () => (await sql`select 1 from event where number is null limit 1`).length === 0);
    for (const { tenant, written } of roots) {
      const of = (kind: Kind) => written.filter((each) => each.kind === kind).length;
      const [numbers] = await sql`
        select count(*)::int as n, count(distinct number)::int as numbers, min(number)::int as first, max(number)::int
        as last
        from event where tenant_id = ${tenant} and not livemode`;
      expect(numbers).toEqual({ n: numbers!.n, numbers: numbers!.n, first: 1, last: numbers!.n });
      const types = [
        ...['initialized', 'processing', 'completed', 'disputed', 'reconciled'].map((verb) => `deposit.${verb}`),
        ...['receivable.created', 'receivable.updated'],
      ];
      const rows = await sql`
        select type, count(*)::int as n, count(distinct object_id)::int as objects from event
        where tenant_id = ${tenant} and not livemode and type = any(${types}) group by 1 order by 1`;
      const counted = Object.fromEntries(rows.map(({ type, n, objects }) => [type, [n, objects]]));
      const deposits = of('deposit') + 1;
      expect(counted).toMatchObject({
        'deposit.initialized': [deposits, deposits],
        'deposit.processing': [deposits, deposits],
        'deposit.completed': [deposits + of('dispute'), deposits + of('dispute')],
        'deposit.disputed': [of('dispute'), Math.min(1, of('dispute'))],
        'deposit.reconciled': [of('reconcile'), Math.min(1, of('reconcile'))],
        'receivable.created': [of('receivable'), of('receivable')],
      });
      expect(counted['receivable.updated']?.[0] ?? 0).toBe(of('reconcile') + of('note'));
    }
    await sql.end();
  });

  it('and each committed event has reached the webhook endpoint, in order, from one gateway at a time', async () => {
    const sql = behind(DATA_DIR);
    const claims = new Map<string, { until: string; since: number }>();
    const arrived = ({ endpoint }: Root) =>
      until(async () => {
        const [left] = await sql`
          select claimed_until::text as until from webhook_endpoint w
          where id = ${endpoint} and exists (
            select from webhook_delivery d where d.endpoint_id = w.id and d.status = 'pending')`;
        if (!left) return true;
        // A turn takes much less than these seconds here, so an older claim is that of a gateway that was killed. It
        // ends after 25 seconds; only the long form waits for that.
        if (scale.whole) return false;
        const known = claims.get(endpoint);
        if (known?.until !== left.until) claims.set(endpoint, { until: left.until, since: Date.now() });
        else if (Date.now() - known!.since > 3_000)
          await sql`update webhook_endpoint set claimed_until = 0 where id = ${endpoint}
            and claimed_until = ${left.until}`;
        return false;
      });
    await Promise.all(roots.map(arrived));
    for (const { tenant } of roots) {
      const events = await sql<{ id: string; number: number }[]>`
        select id, number::int as number from event
        where tenant_id = ${tenant} and not livemode and number >= (
          select e.number from event e
          where e.tenant_id = ${tenant} and not e.livemode and e.type = 'webhook_endpoint.created')
        order by number`;
      const received = receiver.eventsOf(tenant);
      // An event may arrive again after a kill; its first arrival is in order.
      expect([...received.keys()].toSorted()).toEqual(events.map(({ id }) => id).toSorted());
      expect([...received.values()]).toEqual(events.map(({ number }) => number));
    }
    expect(receiver.overlaps).toBe(0);
    figures('webhooks', { received: receiver.requests, events: receiver.size });
    await sql.end();
  });

  it('and a repeated key gets its first response', async () => {
    for (const root of roots) {
      for (const { key, path: place, body, id, kind } of root.written.filter(() => roll() < 50 / root.written.length)) {
        const reply = await acknowledged(root, key, place, body, 0);
        expect([key, reply.headers.get('idempotent-replayed')]).toEqual([key, 'true']);
        if (kind !== 'reconcile' && kind !== 'tick') expect(reply.body.id).toBe(id);
      }
    }
  });

  it('and the money leaves to the cent', async () => {
    const sql = behind(DATA_DIR);
    for (const root of roots) {
      const me = speaker(serving[0]!, root);
      const available = root.written.reduce((sum, { kind, amount }) => sum + (kind === 'reconcile' ? amount : 0n), 0n);
      await must(me.post('/v1/addresses', payoutAddressBody(root.id)));
      await must(me.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
      await until(async () => (await must(me.get('/v1/payouts?status=processing'))).data.length === 1);
      await must(me.post('/v1/test_helpers/clock', { advance_seconds: 60 }));
      await until(async () => (await must(me.get('/v1/payouts?status=completed'))).data.length === 1);
      const { data } = await must(me.get('/v1/payouts'));
      expect(data.map(({ amount, currency }: any) => [amount, currency])).toEqual([[text(available * 83n), 'INR']]);
      // A completed payout settles 500 locks at once, and jobs settle the rest.
      const amounts = async () =>
        (
          await sql`
          select sum(amount_settled_payouts)::text as settled, sum(amount_locked)::text as locked
          from receivable where tenant_id = ${root.tenant}`
        )[0]!;
      await until(async () => (await amounts()).locked === '0');
      expect(await amounts()).toEqual({ settled: `${available}`, locked: '0' });
    }
    expect([...(await sql`select rule, what from violations`)]).toEqual([]);
    evidence({ audits: 1, writes: counts.acknowledged, kills: gatewayKills + databaseKills });
    await until(async () => (await sql`select 1 from unsealed limit 1`).length === 0);
    for (const { tenant } of roots) {
      const [block] = await sql`select first_broken_block(${tenant}, false) as number`;
      expect(block!.number).toBe(null);
    }
    await sql.end();
    expect(serving.map((gateway) => gateway?.errors)).toEqual(['', '']);
  });
});
