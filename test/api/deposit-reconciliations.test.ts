import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { pathInGraph } from '../../src/types/problem.js';
import { auditLedger } from '../support/audit.js';
import { unknownId } from '../support/bodies.js';
import { activatedUser } from '../support/onboarding-profile.js';
import { patience, scale, seedsOf } from '../support/scale.js';
import { givenIn, must, type Reply, type Speaker, tenantOf, useWorld } from '../support/world.js';
import {
  completed,
  deposited,
  funds,
  money,
  move,
  receivableOf,
  reconcileAll,
  reconciledFields,
} from './deposit-fixture.js';

vi.setConfig(patience);

const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

interface Row {
  id: string;
  receivables: { id: string; amount: string }[];
}
const row = (id: string, ...shares: [receivable: string, amount: string][]): Row => ({
  id,
  receivables: shares.map(([receivable, amount]) => ({ id: receivable, amount })),
});

const reconcileOne = (me: Speaker, input: Row): Promise<Reply> =>
  me.graph(`mutation ($input: ReconcileDepositInput!) { reconcileDeposit(input: $input) { ${reconciledFields} } }`, {
    input,
  });
const resultsOf = (reply: Reply): any[] => {
  expect([reply.status, reply.codes]).toEqual([200, []]);
  return reply.body.data.reconcileDeposits.results;
};
const refused = ({ problems }: any) => problems.map(({ code, path }: any) => [code, path?.join('.') ?? null]);
const locked = async (me: Speaker, id: string) => (await must(me.get(`/v1/receivables/${id}`))).amount_locked;

describe('several reconciliations in one call', () => {
  it('are done or refused one by one, in the order of the input', async () => {
    const user = await given.directUser(1);
    const [first, second, early] = [
      await completed(user, '40.00'),
      await completed(user, '30.00'),
      await deposited(user),
    ];
    const [one, two] = [await receivableOf(user, '50.00'), await receivableOf(user, '20.00')];
    const reply = await reconcileAll(user, [
      row(second.id, [one.id, '30.00']),
      row(early.id, [one.id, '1.00']),
      // The earlier entry has taken the most of it.
      row(first.id, [two.id, '10.00'], [one.id, '20.01']),
      row(unknownId('deposit'), [one.id, '1.00']),
    ]);
    const [done, ...others] = resultsOf(reply);
    expect(done).toMatchObject({ deposit: { id: second.id, pendingRest: '0.00' }, problems: [] });
    expect(done.deposit.receivables).toEqual([{ id: one.id }]);
    expect(others.map(refused)).toEqual([
      [['STATUS_INVALID', 'deposits.1.status']],
      [['AMOUNT_EXCEEDS_RECONCILABLE', 'deposits.2.receivables.1.amount']],
      [['RESOURCE_MISSING', 'deposits.3.id']],
    ]);
    expect(others.map(({ deposit }) => deposit?.pendingRest)).toEqual(['0.00', '40.00', undefined]);
    expect(others[1].problems[0].message).toBe('amount must be at most what the receivable can still take.');
    expect([await locked(user, one.id), await locked(user, two.id)]).toEqual(['30.00', '0.00']);
    expect(await funds(user)).toMatchObject({ available: money('30.00'), pending: money('40.00') });
  });

  it('have the same results for a repeated key, and are done once', async () => {
    const user = await given.directUser(1);
    const [paid, small, open] = [
      await completed(user),
      await completed(user, '5.00'),
      await receivableOf(user, '10.00'),
    ];
    const input = [
      row(paid.id, [open.id, '8.00']),
      row(small.id, [open.id, '3.00']),
      row(unknownId('deposit'), [open.id, '1.00']),
    ];
    const key = randomUUID();
    const first = await reconcileAll(user, input, key);
    expect(resultsOf(first).map(({ problems }) => problems.length)).toEqual([0, 1, 1]);
    // Later changes are not in the answer to the same request.
    await must(reconcileOne(user, row(paid.id, [open.id, '2.00'])));
    const again = await reconcileAll(user, input, key);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const withoutLinks = (reply: Reply) =>
      resultsOf(reply).map(({ deposit, problems }) => [deposit && { ...deposit, receivables: 0 }, problems]);
    expect(withoutLinks(again)).toEqual(withoutLinks(first));
    expect(await locked(user, open.id)).toBe('10.00');
    const other = await reconcileAll(user, [row(paid.id, [open.id, '8.01']), ...input.slice(1)], key);
    expect([other.codes, other.fieldNames]).toEqual([['idempotency_key_reused'], ['deposit.deposits']]);
  });

  it('refuse a receivable of another owner or currency, and what another tenant has, in its row alone', async () => {
    const [user, outsider] = [await given.directUser(1), await given.directUser(1)];
    const partner = await user.partner();
    const paid = await Promise.all([0, 1, 2, 3].map(() => completed(user)));
    const good = await receivableOf(user, '100.00');
    const [theirs, foreign] = [await completed(outsider), await receivableOf(outsider, '100.00')];
    const euros = await receivableOf(user, '100.00', {
      currency: 'EUR',
      invoice: { ...good.invoice, currency: 'EUR' },
    });
    const results = resultsOf(
      await reconcileAll(user, [
        row(paid[0].id, [good.id, '1.00'], [foreign.id, '1.00']),
        row(paid[1].id, [euros.id, '1.00']),
        row(theirs.id, [good.id, '1.00']),
        row(partner.id, [good.id, '1.00']),
        row(paid[2].id, [good.id, '10.00']),
      ]),
    );
    expect(results.map(refused)).toEqual([
      [['RESOURCE_MISSING', 'deposits.0.receivables.1.id']],
      [['PARAMETER_INVALID', 'deposits.1.receivables.0.id']],
      [['RESOURCE_MISSING', 'deposits.2.id']],
      [['RESOURCE_MISSING', 'deposits.3.id']],
      [],
    ]);
    expect(results.map(({ deposit }) => deposit?.id)).toEqual([
      paid[0].id,
      paid[1].id,
      undefined,
      undefined,
      paid[2].id,
    ]);
    expect(await locked(user, good.id)).toBe('10.00');
    expect(await funds(outsider)).toMatchObject({ available: money('0.00'), pending: money('10.00') });
  });

  it('are those of all users for their platform, and of one user for that user and on its behalf', async () => {
    const platform = await given.platform(1);
    const users = [await activatedUser(platform), await activatedUser(platform)];
    const [mine, theirs] = await Promise.all(
      users.map(async (user) => ({ paid: await completed(user, '30.00'), open: await receivableOf(user, '30.00') })),
    );
    const rows = [mine!, theirs!].map(({ paid, open }) => row(paid.id, [open.id, '10.00']));
    const codes = async (me: Speaker) => resultsOf(await reconcileAll(me, rows)).map((result) => refused(result));
    const missing = [['RESOURCE_MISSING', 'deposits.1.id']];
    expect(await codes(users[0]!)).toEqual([[], missing]);
    expect(await codes(platform.actingFor(users[0]!.id))).toEqual([[], missing]);
    expect(await codes(platform)).toEqual([[], []]);
    expect([await locked(platform, mine!.open.id), await locked(platform, theirs!.open.id)]).toEqual([
      '30.00',
      '10.00',
    ]);
  });

  it('are refused as a whole beyond the limits, for a deposit named twice, and to a key that only reads', async () => {
    const user = await given.directUser(1);
    const [paid, open] = [await completed(user), await receivableOf(user, '10.00')];
    const good = row(paid.id, [open.id, '1.00']);
    const many = (n: number, shares = 1) =>
      Array.from({ length: n }, (_, i) =>
        row(`deposit_${i}`, ...Array.from({ length: shares }, (): [string, string] => [open.id, '1.00'])),
      );
    for (const [input, code, field] of [
      [[], 'parameter_invalid_empty', 'deposit.deposits'],
      [many(101), 'parameter_invalid', 'deposit.deposits'],
      [many(6, 84), 'parameter_invalid', 'deposit.deposits'],
      [many(1, 101), 'parameter_invalid', 'deposit.deposits[0].receivables'],
      [[good, good], 'parameter_invalid', 'deposit.deposits[1].id'],
      [[good, row('deposit_0')], 'parameter_invalid_empty', 'deposit.deposits[1].receivables'],
      [[good, row('deposit_0', [open.id, '0.00'])], 'parameter_invalid', 'deposit.deposits[1].receivables[0].amount'],
    ] as const) {
      const reply = await reconcileAll(user, [...input]);
      expect([reply.codes, reply.fieldNames]).toEqual([[code], [field]]);
    }
    const { secret } = (await user.graph('mutation { createApiKey(input: { permission: READ }) { secret } }')).body.data
      .createApiKey;
    expect((await reconcileAll(user.using(secret), [good])).codes).toEqual(['permission_denied']);
    expect(await locked(user, open.id)).toBe('0.00');
    expect(resultsOf(await reconcileAll(user, many(100))).map(({ problems }) => problems[0].code)).toEqual(
      Array.from({ length: 100 }, () => 'RESOURCE_MISSING'),
    );
  });

  it('cost a write and an object for each deposit, however the input is written', async () => {
    const user = await given.directUser(1);
    const rows = [1, 2, 3].map((i) => row(`deposit_${i}`, ['receivable_1', '1.00']));
    const costOf = async (query: string, variables: object) => (await user.graph(query, variables)).cost!;
    const fields = '{ results { deposit { id } } }';
    const deposits = rows.map(({ id }) => `{ id: "${id}", receivables: [{ id: "receivable_1", amount: "1.00" }] }`);
    const all = [
      await costOf(`mutation ($input: ReconcileDepositsInput!) { reconcileDeposits(input: $input) ${fields} }`, {
        input: { deposits: rows },
      }),
      await costOf(
        `mutation ($d: [ReconcileDepositInput!]!) { reconcileDeposits(input: { deposits: $d }) ${fields} }`,
        { d: rows },
      ),
      await costOf(`mutation { reconcileDeposits(input: { deposits: [${deposits.join(' ')}] }) ${fields} }`, {}),
    ];
    for (const { requested, actual } of all) {
      expect(requested).toBeGreaterThanOrEqual(10 + 3 * 50 + 3);
      expect(requested).toBeLessThan(10 + 4 * 50);
      expect(actual).toBeGreaterThanOrEqual(10 + 3 * 50);
    }
    expect(new Set(all.map(({ requested }) => requested)).size).toBe(1);
  });
});

const share = fc.record({ of: fc.nat(5), amount: fc.integer({ min: 1, max: 12 }) });
const batch = fc.uniqueArray(
  fc.record({ deposit: fc.nat(7), shares: fc.array(share, { minLength: 1, maxLength: 3 }) }),
  { minLength: 1, maxLength: 6, selector: ({ deposit }) => deposit },
);

/** A user with deposits in several states and receivables, one of them void: twins have the same. */
async function trader() {
  const me = await given.directUser(1);
  const deposits: string[] = [];
  for (const amount of ['5.00', '10.00', '20.00', '20.00', '15.00']) deposits.push((await completed(me, amount)).id);
  deposits.push((await deposited(me)).id);
  const reversed = await completed(me, '10.00');
  await move(me, 'GraphQL', reversed.id, 'reverse');
  deposits.push(reversed.id, unknownId('deposit'));
  const receivables: string[] = [];
  for (const amount of ['8.00', '10.00', '25.00', '6.00', '10.00'])
    receivables.push((await receivableOf(me, amount)).id);
  await must(me.post(`/v1/receivables/${receivables[4]}/void`));
  receivables.push(unknownId('receivable'));
  const places = new Map([...deposits, ...receivables].map((id, i) => [id, `#${i}`]));
  return { me, deposits, receivables, plain: (value: unknown) => replaced(JSON.stringify(value), places) };
}
const replaced = (text: string, places: Map<string, string>): unknown =>
  JSON.parse(text.replace(/\w+_[0-9a-f]{32}/g, (id) => places.get(id) ?? id));

type Trader = Awaited<ReturnType<typeof trader>>;

/** What twins must have in common: balances, receivables, deposits, and their events by type and object. */
async function state({ me, deposits, receivables, plain }: Trader) {
  const rows = await world.sql`
    select to_jsonb(r) - array['created', 'updated_at', 'tenant_id', 'account_id', 'context_id', 'invoice'] as row
    from receivable r where tenant_id = ${tenantOf(me)} order by id`;
  const events = await world.sql`select object_id, type, count(*)::int as n from event
    where tenant_id = ${tenantOf(me)} and object_id = any(${[...deposits, ...receivables]})
    group by 1, 2 order by 1, 2`;
  const postings = await world.sql`select kind, count(*)::int as n from posting
    where tenant_id = ${tenantOf(me)} group by 1 order by 1`;
  const locks = await world.sql`select receivable_id, deposit_id, amount::text from receivable_lock
    where tenant_id = ${tenantOf(me)} order by id`;
  const paid = await world.sql`select id, pending_rest::text as rest, version::int from deposit
    where tenant_id = ${tenantOf(me)} order by id`;
  return plain([await funds(me), rows, events, postings, locks, paid]);
}

/** What became of one call for one deposit, as a result of several has it. */
function outcomeOf({ body, codes, fieldNames }: Reply, place: number) {
  const message = body.errors?.map((error: any) => error.message).join();
  const paths = fieldNames.map((name) => (name === undefined ? null : ['deposits', `${place}`, ...pathInGraph(name)]));
  return {
    deposit: body.data.reconcileDeposit?.deposit ?? null,
    problems: codes.map((code, i) => ({ code: code.toUpperCase(), path: paths[i] })),
    message,
  };
}

describe.each(seedsOf('api/deposit-reconciliations'))('random reconciliations, seed %i', (seed) => {
  it('become the same together as one by one', async () => {
    const refusals = new Set<string>();
    const history = fc.asyncProperty(fc.array(batch, { minLength: 2, maxLength: 4 }), async (batches) => {
      const [together, alone] = [await trader(), await trader()];
      for (const rows of batches) {
        const inputs = ({ deposits, receivables }: Trader) =>
          rows.map(({ deposit, shares }) =>
            row(
              deposits[deposit]!,
              ...shares.map(({ of, amount }): [string, string] => [receivables[of]!, `${amount}.00`]),
            ),
          );
        const results = resultsOf(await reconcileAll(together.me, inputs(together)));
        const replies: ReturnType<typeof outcomeOf>[] = [];
        for (const [i, input] of inputs(alone).entries())
          replies.push(outcomeOf(await reconcileOne(alone.me, input), i));
        for (const [i, { deposit, problems }] of results.entries()) {
          const one = replies[i]!;
          const named = problems.map(({ code, path }: any) => ({ code, path }));
          expect(together.plain(named)).toEqual(alone.plain(one.problems));
          if (problems.length === 0) expect(together.plain(deposit)).toEqual(alone.plain(one.deposit));
          else expect(one.message).toContain(problems[0].message);
          for (const { code } of named) refusals.add(code);
        }
      }
      expect(await state(together)).toEqual(await state(alone));
    });
    await fc.assert(history, { seed, numRuns: Math.max(5, Math.min(100, scale.histories.runs)), endOnFailure: true });
    expect([...refusals].sort()).toEqual(['AMOUNT_EXCEEDS_RECONCILABLE', 'RESOURCE_MISSING', 'STATUS_INVALID']);
  });
});
