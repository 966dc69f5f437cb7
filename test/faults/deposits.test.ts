import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { until } from '../support/child.js';
import { completeDeposit, eventually, type Reply, Speaker, useWorld } from '../support/world.js';
import {
  type Act,
  actOf,
  audit,
  type Draw,
  drawMax,
  enter,
  type Harness,
  kinds,
  outcome,
  send,
  newHarness,
} from './harness.js';
import { Model } from './model.js';
import { type Done, replay, type StoredEvent } from './replay.js';
import { figures, patience, random, scale, secondsSince, seedsOf } from '../support/scale.js';
import { passTime } from '../../src/operator/job/test-clock.js';

vi.setConfig(patience);

const { clients, requests, rounds } = scale.deposits;

/** A request that was sent with a key: the same key may be sent again. */
interface Keyed {
  key: string;
  act: Act;
  path: string;
  body: object | undefined;
  actingFor: string | undefined;
  answer: Reply;
}

/** A tenant, what its clients know of its objects, and what they did. */
interface Trading {
  harness: Harness;
  sight: Model;
  done: Done[];
  used: Keyed[];
}

/** The request of an operation, as the harness sends it. */
async function requestOf(harness: Harness, act: Act): Promise<Pick<Keyed, 'path' | 'body' | 'actingFor'>> {
  let request: Pick<Keyed, 'path' | 'body' | 'actingFor'> | undefined;
  const recorder = (actingFor?: string) => ({
    post: (path: string, body?: object) => (request = { path, body, actingFor }),
    actingFor: (id: string) => recorder(id),
  });
  await send(harness, act, recorder() as unknown as Speaker);
  return request!;
}

describe.each(seedsOf('faults/deposits'))(`writes of ${clients} clients that trade at once, seed %i`, (seed) => {
  // With the usual number of slots few writes would wait behind those that run.
  const world = useWorld({ environment: { REQUEST_SLOTS: '64' } });

  const tenants: Trading[] = [];
  /** The addresses of the gateways that serve. */
  const serving: string[] = [];
  const counts = { done: 0, replayed: 0, reused: 0, refused: 0, inUse: 0, conflicts: 0, unavailable: 0, unanswered: 0 };
  const wrong: string[] = [];
  const chance = random(seed);
  let over = false;
  const refusals =
    /^(400 (status_invalid|parameter_invalid)|402 (amount_exceeds_(reconcilable|deposit)|balance_insufficient))$/;

  /** Sends a request with its key until it has an outcome, which nothing but the request itself decides. */
  async function settled({ harness }: Trading, { key, path, body, actingFor }: Omit<Keyed, 'answer' | 'act'>) {
    const { root } = harness;
    // Most go to the first gateway, where writes then wait for each other.
    for (let attempt = chance() < 0.8 ? 0 : 1; ; attempt++) {
      const origin = serving[attempt % serving.length]!;
      const me = new Speaker({ ...world, origin }, root.id, root.key, root.edition);
      const headers = { 'idempotency-key': key, ...(actingFor && { 'on-behalf-of': actingFor }) };
      const reply = await me.post(path, body, headers).catch(() => undefined);
      if (!reply) counts.unanswered++;
      else if (reply.status === 503) counts.unavailable++;
      else if (reply.codes[0] === 'idempotency_key_in_use') counts.inUse++;
      else if (reply.codes[0] === 'state_conflict') counts.conflicts++;
      else return reply;
      await sleep(5 + chance() * 30);
    }
  }

  /** Sends an earlier request again, with the same body or with another one. */
  async function again(trading: Trading, roll: () => number): Promise<void> {
    const before = trading.used[Math.floor(roll() * trading.used.length)];
    if (!before) return;
    const same = roll() < 0.7;
    const body = same ? before.body : { ...before.body, metadata: { other: 'yes' } };
    const reply = await settled(trading, { ...before, body });
    if (same) {
      counts.replayed++;
      const first = JSON.stringify(before.answer.body);
      if (reply.status !== 200 || JSON.stringify(reply.body) !== first)
        wrong.push(`${before.path} again: ${reply.text}, and before ${first}`);
    } else {
      counts.reused++;
      if (reply.codes[0] !== 'idempotency_key_reused' && reply.status !== 400)
        wrong.push(`${before.path} with another body: ${reply.text}`);
    }
  }

  async function client(n: number): Promise<void> {
    const trading = tenants[n % tenants.length]!;
    const { harness, sight } = trading;
    const roll = random(seed + n);
    const number = () => Math.floor(roll() * (drawMax + 1));
    // Writes of deposits are half of all: their clients wait for each other's balances.
    const mixed = [
      ...kinds.filter((kind) => kind !== 'stop' && kind !== 'pass'),
      'deposit',
      'move',
      'deposit',
    ] as const;
    for (let nth = 0; !over && wrong.length === 0; nth++) {
      if (roll() < 0.12) await again(trading, roll);
      const kind = roll() < 0.005 ? 'pass' : mixed[Math.floor(roll() * mixed.length)]!;
      const draw = { kind, a: number(), b: number(), c: number(), d: number() } as Draw;
      const act = actOf(harness, sight, draw);
      if (!act) continue;
      const key = `client ${n} write ${nth}`;
      const request = await requestOf(harness, act);
      const reply = await settled(trading, { key, ...request });
      trading.done.push({ act, reply, request: key });
      if (reply.status === 200) {
        counts.done++;
        enter(sight, act, reply.body.id);
        trading.used.push({ key, act, ...request, answer: reply });
        continue;
      }
      counts.refused++;
      const { status, code } = outcome(reply)!;
      if (!refusals.test(`${status} ${code}`)) wrong.push(`${request.path}: ${reply.text}`);
      if (act.do === 'payout') sight.payouts.get(act.id)!.status = 'completed';
      if (act.do === 'move') {
        const [row] = await world.sql`select status from deposit where id = ${act.id} and not livemode`;
        const seen = sight.deposits.get(act.id)!;
        if (row!.status === 'completed' && seen.status !== 'completed') sight.moveDeposit(act.id, 'complete');
        else seen.status = row!.status;
      }
    }
  }

  /** Lets the clients know payouts that the worker has made. */
  async function findPayouts(): Promise<void> {
    for (const { harness, sight } of tenants)
      for (const { id, account_id: account, currency, source_currency: source, status } of await world.sql`
        select id, account_id, currency, source_currency, status from payout where tenant_id = ${harness.tenant}
        and not livemode`)
        if (!sight.payouts.has(id)) sight.payouts.set(id, { id, account, currency, source, amount: 0n, status });
  }

  const faults: Record<string, () => Promise<unknown>> = {
    'connections end': () => world.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'tidegate write'`,
    'a gateway is closed': async () => {
      const closing = world.apps.length - 1;
      const opened = await world.another();
      serving[1] = opened;
      if (closing > 0) await world.apps[closing]!.close();
    },
    'the server becomes read-only': async () => {
      // A session that began before may still write.
      const session = await world.sql.reserve();
      const [row] = await session`select current_database() as name`;
      const setting = `alter database ${row!.name}`;
      await session.unsafe(`${setting} set default_transaction_read_only = on`);
      await faults['connections end']!();
      const refused = counts.unavailable + counts.unanswered;
      await until(() => counts.unavailable + counts.unanswered > refused || wrong.length > 0);
      await session.unsafe(`${setting} reset default_transaction_read_only`);
      session.release();
    },
  };

  it(`each get one outcome, and money is as in the model, through ${rounds} rounds of faults`, async () => {
    const began = Date.now();
    serving.push(world.origin, await world.another());
    for (const kind of scale.whole
      ? (['user of Edition 1', 'aggregator', 'platform of Edition 2'] as const)
      : (['aggregator'] as const)) {
      const harness = await newHarness(world, kind, ['INR', 'USD']);
      for (const to of harness.destinations)
        for (const currency of harness.currencies) {
          const act: Act = { do: 'deposit', to, currency, amount: 1_000_000n, payer: undefined };
          const { id } = (await send(harness, act)).body;
          enter(harness.model, act, id);
          await completeDeposit(harness.root, id);
          harness.model.moveDeposit(id, 'complete');
        }
      const sight = new Model();
      for (const [id, holder] of harness.model.holders) sight.holders.set(id, { ...holder });
      for (const [id, made] of harness.model.deposits) sight.deposits.set(id, { ...made });
      tenants.push({ harness, sight, done: [], used: [] });
    }
    const [start] = await world.sql`select max(id) as id from event`;

    const running = Promise.all(Array.from({ length: clients }, (_, n) => client(n)));
    running.catch(() => (over = true));
    const reached = async (wanted: number) => {
      while (counts.done + counts.refused < wanted && wrong.length === 0 && !over) {
        await findPayouts();
        await sleep(50);
      }
    };
    const names = Object.keys(faults);
    const steps = rounds * names.length;
    for (let step = 0; step < steps && wrong.length === 0; step++) {
      await reached((requests * (step + 1)) / (steps + 1));
      await faults[names[step % names.length]!]!();
    }
    await reached(requests);
    over = true;
    await running;
    expect(wrong).toEqual([]);
    if (scale.whole) expect([counts.replayed, counts.reused].every((n) => n > 0)).toBe(true);

    for (const { harness, done } of tenants) {
      const { tenant } = harness;
      for (const seconds of [61, 61, 86_400, 61, 61]) await passTime(world.operator, { tenantId: tenant }, seconds);
      await eventually(
        () => world.sql`select kind, error from job where tenant_id = ${tenant} and kind <> 'pay_out'`,
        (jobs) => jobs.length === 0,
        scale.whole ? 600 : 60,
      );
      // The attempt that had the effect of a key, and no key without an acknowledged effect.
      const stored = await world.sql`
        select key, request_id from idempotency where tenant_id = ${tenant} and not livemode and key like 'client %'`;
      const acknowledged = done.filter(({ reply }) => reply.status === 200);
      expect(stored.map(({ key }) => key).toSorted()).toEqual(acknowledged.map(({ request }) => request).toSorted());
      const requests = new Map(stored.map(({ key, request_id }) => [key, request_id as string]));
      const events = await world.sql<StoredEvent[]>`
        select id, type, object_id, data, request_id from event
        where tenant_id = ${tenant} and not livemode and id > ${start!.id} order by id`;
      const effective = done.map((each) => ({ ...each, request: requests.get(each.request) ?? each.request }));
      replay(harness, [...events], effective);
      await audit(harness);
    }
    const [row] = await world.sql`select deadlocks::int as n from pg_stat_database where datname = current_database()`;
    figures('deposits', {
      seed,
      ...counts,
      deadlocks: row!.n,
      took: secondsSince(began),
    });
    expect(row!.n).toBe(0);
  });
});
