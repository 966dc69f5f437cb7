import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Model } from './model.js';
import {
  type Act,
  actOf,
  audit,
  type Draw,
  drawMax,
  enter,
  fundsHeld,
  fundsWanted,
  type Harness,
  tenantKinds,
  kinds,
  outcome,
  send,
  newHarness,
  shown,
} from './harness.js';
import { type Done, replay, type StoredEvent, textOf } from './replay.js';
import { figures, patience, random, scale, secondsSince, seedsOf } from '../support/scale.js';
import { runDueJobs } from '../support/jobs.js';
import { completeDeposit, eventually, type Reply, Speaker, useWorld } from '../support/world.js';
import { passTime } from '../../src/operator/job/test-clock.js';

vi.setConfig(patience);

const payoutCurrencies = [['INR'], ['USD'], ['INR', 'USD'], ['JPY'], ['USD', 'JPY'], []];

/** The payouts that the model does not know yet. */
async function newPayouts({ world, tenant, model }: Harness): Promise<Record<string, string>[]> {
  const rows = await world.sql`
    select id, account_id, source_currency, amount, currency from payout where tenant_id = ${tenant} and not livemode
    order by id`;
  return rows.filter(({ id }) => !model.payouts.has(id));
}

/** Advances the clock and runs the due work, with one call of the worker's own function. */
async function pass(harness: Harness, seconds: number): Promise<void> {
  const { world, tenant, model } = harness;
  const processing = [...model.deposits.values()].filter(({ status, sandbox }) => status === 'processing' && sandbox);
  const paying = [...model.payouts.values()].filter(({ status }) => status === 'processing');
  const refunding = [...model.refunds.values()].filter(({ status }) => status === 'pending');
  await runDueJobs(world, tenant, false, 1_000);
  for (const { id, status } of model.deposits.values())
    if (status === 'initialized') model.sandboxProcesses(id);
    else model.sandboxTakesOn(id);
  for (const { id } of processing) model.sandboxCompletes(id);
  for (const { id } of paying) model.endPayout(id, 'settle');
  for (const { id } of refunding) model.endRefund(id, 'succeed');

  const made = await newPayouts(harness);
  const wanted: string[] = [];
  for (const account of seconds >= 86_400 ? model.holders.keys() : []) {
    for (const source of ['INR', 'JPY', 'USD']) {
      const payout = model.payable(account, source);
      if (!payout) continue;
      const row = made.find((x) => x.account_id === account && x.source_currency === source);
      wanted.push(`${account} ${source} ${payout.amount} ${payout.currency}`);
      if (row) model.pay(account, source, row.id!);
    }
  }
  const actual = made.map((x) => `${x.account_id} ${x.source_currency} ${x.amount} ${x.currency}`);
  expect(actual.toSorted()).toEqual(wanted.toSorted());
}

/**
 * The locks that the end of a payout or a dispute left to jobs are settled, freed and shrunk, a limited number per
 * call.
 */
async function workOnLocks({ world, tenant }: Harness): Promise<void> {
  const kinds = ['settle_locks', 'free_locks', 'shrink_locks', 'lock_again'];
  for (let left = 1; left > 0; ) {
    const jobs = await world.sql`
      select id, job::text as job from job where tenant_id = ${tenant} and kind in ${world.sql(kinds)} order by id`;
    for (const { id, job } of jobs) {
      await world.database.call('run_job', [tenant, false, job as string]);
      await world.sql`delete from job where tenant_id = ${tenant} and not livemode and id = ${id as string}`;
    }
    left = jobs.length;
  }
}

const lanes = 4;
const perWorld = scale.whole ? 8 : 4;
const batches = Math.ceil(scale.histories.runs / perWorld);

describe.each(seedsOf('faults/model'))('histories of one client, seed %i', (seed) => {
  describe.each(Array.from({ length: batches }, (_, n) => n))('%i', (batch) => {
    // No worker runs: its work is done when the test advances the clock, so that the model knows when.
    const world = useWorld({ worker: false });
    const runs = Math.min(perWorld, scale.histories.runs - batch * perWorld);
    // Every second world changes one lock per call, as if each payout and deposit had more locks than a call may
    // change.
    const locksPerCall = batch % 2 === 0 ? undefined : 1;
    const setLocksPerCall = (count: number) =>
      world.sql.unsafe(
        `create or replace function locks_per_call() returns int language plpgsql immutable as
          'begin return ${count}; end'`,
      );
    beforeAll(async () => {
      if (locksPerCall !== undefined) await setLocksPerCall(locksPerCall);
    });
    // A distributed database is not this file's own.
    afterAll(async () => {
      if (locksPerCall !== undefined) await setLocksPerCall(500);
    });

    it(`end in the state of the model, ${runs} times`, async () => {
      let [commands, refused, histories] = [0, 0, 0];
      const began = Date.now();
      const kind = fc.constantFrom(...kinds);
      const n = fc.nat(drawMax);
      const history = fc.asyncProperty(
        fc.constantFrom(...tenantKinds),
        fc.constantFrom(...payoutCurrencies),
        fc.noBias(
          fc.array(fc.record({ kind, a: n, b: n, c: n, d: n }), { maxLength: scale.histories.commands, size: 'max' }),
        ),
        async (tenantKind, currencies, draws) => {
          const harness = await newHarness(world, tenantKind, currencies);
          const done: string[] = [];
          try {
            for (const draw of draws) {
              const act = actOf(harness, harness.model, draw);
              if (!act) continue;
              const reply = await send(harness, act);
              commands++;
              if (reply.status !== 200) refused++;
              done.push(`${textOf(act)} → ${reply.status === 200 ? (reply.body.id ?? 200) : reply.text}`);
              expect(outcome(reply)).toEqual(enter(harness.model, act, reply.body.id));
              if (reply.status === 200) expect(reply.body).toMatchObject(shown(harness.model, act, reply.body.id));
              if (act.do === 'pass') await pass(harness, act.seconds);
              if (locksPerCall !== undefined) await workOnLocks(harness);
              expect(await fundsHeld(harness)).toEqual(fundsWanted(harness.model));
            }
            await audit(harness);
            histories++;
          } catch (error) {
            (error as Error).message += `\n${done.join('\n')}`;
            throw error;
          }
        },
      );
      const checks = Array.from({ length: Math.min(lanes, runs) }, (_, lane) =>
        fc.assert(history, {
          seed: seed + batch * lanes + lane,
          numRuns: Math.floor(runs / lanes) + (lane < runs % lanes ? 1 : 0),
          interruptAfterTimeLimit: patience.testTimeout * 0.8,
          markInterruptAsFailure: true,
        }),
      );
      // Wait for all lanes, because an operation that still runs would use a deleted world.
      const failed = (await Promise.allSettled(checks)).find((check) => check.status === 'rejected');
      if (failed) throw failed.reason;
      figures('histories', { seed, batch, histories, commands, refused, took: secondsSince(began) });
    });
  });
});

/**
 * Sends an operation until it is answered, with one key, as clients do: on a busy machine or a cluster, an operation
 * may have waited too long for the balances that all the others change, too.
 */
async function answerOf(harness: Harness, act: Act, me: Speaker): Promise<Reply> {
  const keyed = me.with({ 'idempotency-key': randomUUID() });
  for (;;) {
    const reply = await send(harness, act, keyed);
    if (reply.status !== 503 && reply.codes[0] !== 'idempotency_key_in_use') return reply;
  }
}

/**
 * Many clients at the same time, and the worker. Nothing outside the database knows which of two operations came
 * first. But a statement writes its events while it holds all of its locks, so the order of events is a possible
 * order of the operations. In that order the model must accept every acknowledged operation with its response.
 */
async function crowd(harness: Harness, seed: number): Promise<{ done: Done[]; refused: Record<string, number> }> {
  const { clients, operations } = scale.crowds;
  const sight: Model = new (harness.model.constructor as new () => Model)();
  for (const [id, holder] of harness.model.holders) sight.holders.set(id, holder);
  for (const [id, deposit] of harness.model.deposits) sight.deposits.set(id, { ...deposit });
  const origins = [harness.world.origin, await harness.world.another()];
  const done: Done[] = [];
  const refused: Record<string, number> = {};
  const common = kinds.filter((kind) => kind !== 'stop' && kind !== 'pass');

  const client = async (n: number) => {
    const roll = random(seed * 1_000 + n);
    const number = () => Math.floor(roll() * (drawMax + 1));
    const { root } = harness;
    const me = new Speaker({ ...harness.world, origin: origins[n % 2]! }, root.id, root.key, root.edition);
    for (let sent = 0; sent < operations; ) {
      const chance = roll();
      const kind = chance < 1 / 150 ? 'pass' : common[Math.floor(roll() * common.length)]!;
      const draw: Draw = { kind, a: number(), b: number(), c: number(), d: number() };
      if (chance > 0.97) await look(me);
      const act = actOf(harness, sight, draw);
      if (!act) continue;
      const reply = await answerOf(harness, act, me);
      sent++;
      done.push({ act, reply, request: reply.headers.get('request-id')! });
      if (reply.status === 200) enter(sight, act, reply.body.id);
      else {
        const { status, code } = outcome(reply)!;
        refused[`${status} ${code}`] = (refused[`${status} ${code}`] ?? 0) + 1;
        if (act.do === 'move') await lookAt(me, act.id);
        if (act.do === 'payout') sight.payouts.get(act.id)!.status = 'completed';
        if (act.do === 'end dispute') sight.deposits.get(act.id)!.dispute = 'lost';
        if (act.do === 'end refund') sight.refunds.get(act.id)!.status = 'succeeded';
      }
    }
  };
  /** Does the work of the sandbox, so that the clients have objects to use. */
  const look = async (me: Speaker) => {
    for (const payout of (await me.get('/v1/payouts?status=processing')).body.data) {
      const { id, account_id: account, currency, status } = payout;
      if (!sight.payouts.has(id))
        sight.payouts.set(id, { id, account, currency, source: currency, amount: 0n, status });
    }
  };
  const lookAt = async (me: Speaker, id: string) => {
    const { status } = (await me.get(`/v1/deposits/${id}`)).body;
    const seen = sight.deposits.get(id)!;
    if (status === 'completed' && seen.status !== 'completed') sight.moveDeposit(id, 'complete');
    else seen.status = status;
  };
  await Promise.all(Array.from({ length: clients }, (_, n) => client(n)));
  return { done, refused };
}

describe.each(seedsOf('faults/model'))(`histories of ${scale.crowds.clients} clients at once, seed %i`, (seed) => {
  describe.each(Array.from({ length: scale.crowds.runs }, (_, n) => n))('%i', (run) => {
    const world = useWorld();

    it(`end in the state of the model, after ${scale.crowds.operations} operations each`, async () => {
      const began = Date.now();
      const roll = random(seed + run);
      const kind = tenantKinds[Math.floor(roll() * tenantKinds.length)]!;
      const harness = await newHarness(world, kind, payoutCurrencies[Math.floor(roll() * 5)]);
      const { tenant, root, model } = harness;
      // Every user has money in every currency before the clients start.
      for (const to of harness.destinations) {
        for (const currency of harness.currencies) {
          const act: Act = { do: 'deposit', to, currency, amount: 1_000_000n, payer: undefined };
          const { id } = (await send(harness, act)).body;
          expect(enter(model, act, id)).toBe(undefined);
          await completeDeposit(root, id);
          expect(model.moveDeposit(id, 'complete')).toBe(undefined);
        }
      }
      const [before] = await world.sql`select max(id) as id from event where tenant_id = ${tenant} and not livemode`;

      const { done, refused } = await crowd(harness, seed + run);
      const sent = secondsSince(began);
      const expected =
        /^(400 (status_invalid|parameter_invalid)|402 (amount_exceeds_(reconcilable|deposit)|balance_insufficient))$/;
      expect(Object.keys(refused).filter((answer) => !expected.test(answer))).toEqual([]);

      // Midnights pass until everything that can be paid out is paid out.
      for (let night = 0; night < 2; night++)
        for (const seconds of [61, 61, 86_400, 61, 61]) {
          await passTime(world.operator, { tenantId: tenant }, seconds);
        }
      await eventually(
        () => world.sql`select kind, error from job where tenant_id = ${tenant} and kind <> 'pay_out'`,
        (jobs) => jobs.length === 0,
      );
      const events = await world.sql<StoredEvent[]>`
        select id, type, object_id, data, request_id from event where tenant_id = ${tenant} and not livemode
        and id > ${before!.id} order by id`;
      replay(harness, [...events], done);
      const owed = [...model.holders.keys()].flatMap((id) => ['INR', 'JPY', 'USD'].map((c) => model.payable(id, c)));
      expect(owed.filter(Boolean)).toEqual([]);
      await audit(harness);

      // Events are numbered without a gap, and none is missing.
      await eventually(
        () => world.sql`select 1 from event where tenant_id = ${tenant} and number is null limit 1`,
        (rows) => rows.length === 0,
      );
      const [numbers] = await world.sql`
        select count(*)::int as n, max(number)::int as last from event where tenant_id = ${tenant} and not livemode`;
      expect(numbers!.n).toBe(numbers!.last);
      const [{ deadlocks }] = (await world.sql`
        select deadlocks::int from pg_stat_database where datname = current_database()`) as unknown as [
        { deadlocks: number },
      ];
      figures('crowds', {
        ...{
          seed,
          run,
          kind,
          operations: done.length,
          refused: JSON.stringify(refused),
          events: events.length,
        },
        ...{ payouts: model.payouts.size, sent, deadlocks, took: secondsSince(began) },
      });
      expect(deadlocks).toBe(0);
    });
  });
});
