import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { auditLedger as auditAtTheEnd } from '../support/audit.js';
import { receivableBody } from '../support/bodies.js';
import { runJobs } from '../support/jobs.js';
import {
  completeDeposit,
  eventually,
  givenIn,
  must,
  payoutAddress,
  type Speaker,
  tenantOf,
  useWorld,
  type World,
} from '../support/world.js';
import { auditLedger, verifySeals } from '../../src/operator/money/audit.js';
import { issueAddress, verifyAccount } from '../../src/operator/account/accounts.js';
import { recordBankNotice } from '../../src/operator/money/bank.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

auditAtTheEnd(world);

/** A superuser in a test's own database, to whom no privilege check applies. */
let admin: postgres.Sql;
beforeAll(() => {
  admin = adminOf(world);
});
afterAll(() => admin.end({ timeout: 1 }));

const adminOf = (of: World) =>
  postgres({ ...inject('admin'), database: of.sql.options.database, max: 1, onnotice: () => {} });
const day = 86_400;

async function completed(user: Speaker, amount: string, to: object = { account_id: user.id }): Promise<any> {
  const { id } = await must(user.post('/v1/deposits', { amount, currency: 'INR', payment_method: 'upi', to }));
  return completeDeposit(user, id);
}

async function reconciled(user: Speaker, deposit: { id: string }, amount: string): Promise<any> {
  const receivable = await must(user.post('/v1/receivables', receivableBody({ currency: 'INR' })));
  await must(user.post(`/v1/deposits/${deposit.id}/reconcile`, { receivables: [{ id: receivable.id, amount }] }));
  return receivable;
}

/** A payout of all available money, in progress. */
async function payingOut(user: Speaker): Promise<any> {
  await must(user.post('/v1/test_helpers/clock', { advance_seconds: day }));
  await runJobs(user);
  return (await user.get('/v1/payouts?status=processing')).body.data[0];
}

/** Stores a refund of a deposit, of which nothing else knows. */
const refundOf = (more: Record<string, string> = {}) => {
  const columns = {
    ...{ tenant_id: 'tenant_id', livemode: 'livemode', id: "'refund_x'", created: '1', account_id: 'to_account_id' },
    ...{ deposit_id: 'id', amount: '1', currency: 'currency', status: "'pending'", payment_id: 'payment_id' },
    ...{ from_pending: '1', debited_account_id: 'to_account_id', context_id: 'context_id', on_root_list: 'true' },
    ...more,
  };
  return `insert into refund (${Object.keys(columns).join()})
    select ${Object.values(columns).join()} from deposit where id = :deposit`;
};

describe('the view of violations', () => {
  /** The ids for the corruptions: a user with money in every state, and a payout in each final status. */
  const at: Record<string, string> = {};
  beforeAll(async () => {
    const user = await given.directUser(2);
    at.user = user.id;
    at.tenant = tenantOf(user);
    await payoutAddress(user);
    const [paid, flying, waiting, reversed] = [
      await completed(user, '10.00'),
      await completed(user, '20.00'),
      await completed(user, '30.00'),
      await completed(user, '40.00'),
    ];
    await reconciled(user, paid, '10.00');
    at.ended = (await payingOut(user)).id;
    await must(user.post(`/v1/test_helpers/payouts/${at.ended}/settle`));
    at.settled = (await reconciled(user, flying, '15.00')).id;
    at.flying = (await payingOut(user)).id;
    at.locked = (await reconciled(user, waiting, '3.00')).id;
    at.deposit = waiting.id;
    at.reversed = reversed.id;
    await must(user.post(`/v1/test_helpers/deposits/${reversed.id}/reverse`));
    at.disputing = (await must(user.post(`/v1/test_helpers/deposits/${waiting.id}/dispute`, { amount: '2.00' }))).id;
    const party = { account_id: user.id };
    const begun = { amount: '50.00', currency: 'INR', payment_method: 'upi', to: party };
    at.begun = (await must(user.post('/v1/deposits', begun))).id;
    // A user without any reversal, and a platform.
    const other = await given.directUser(2);
    at.other = other.id;
    await reconciled(other, await completed(other, '7.00'), '5.00');
    at.aggregated = (await (await given.platform(2, { subType: 'aggregator' })).connectedUser()).id;
    // A deposit that appears completed and then reversed, and was not.
    at.kept = (await completed(other, '1.00')).id;
  });

  class Undo extends Error {}

  /** The violations that the view shows the serving role after a corruption, which is then undone. */
  async function found(corruption: string[]): Promise<string[]> {
    let rules: string[] = [];
    const attempt = admin.begin(async (sql) => {
      for (const statement of corruption)
        await sql.unsafe(statement.replaceAll(/:(\w+)/g, (_, name: string) => `'${at[name]}'`));
      await sql`set local role tidegate`;
      rules = (await sql`select distinct rule from violations order by 1`).map((row) => row.rule as string);
      throw new Undo();
    });
    await attempt.catch((error) => {
      if (!(error instanceof Undo)) throw error;
    });
    return rules;
  }

  it('is empty when nothing is wrong, and has rows when something is', async () => {
    expect(await found([])).toEqual([]);
    expect(await found(['update balance set available = available + 1'])).not.toEqual([]);
  });

  const sums = 'balance is not the sum of its entries';
  const rest = 'pending is not the sum of what deposits have left';
  const flying = 'payout_processing is not the sum of the payouts under way';
  const first = (table: string) => `(select min(id) from ${table} where tenant_id = :tenant)`;
  const last = `id = (select id from entry where tenant_id = :tenant order by version desc limit 1)`;
  const zero = 'posting does not sum to zero';
  const running = 'balance_after is not the running sum';
  const dense = 'versions are not dense';

  // Manual changes, and the rules that must report each one, whether or not other rules report it too.
  const corruptions: [what: string, rules: string[], ...statements: string[]][] = [
    [
      'money of the outside world',
      [zero],
      `update contra_entry set amount = amount + 1 where id = ${first('contra_entry')}`,
    ],
    ['a deleted entry of the outside world', [zero], `delete from contra_entry where id = ${first('contra_entry')}`],
    ['available funds', [sums], 'update balance set available = available + 1 where account_id = :user'],
    ['pending funds', [sums, rest], 'update balance set pending = pending + 1 where account_id = :user'],
    ['processing funds', [sums], 'update balance set processing = processing + 1 where account_id = :user'],
    [
      'funds in a payout',
      [sums, flying],
      'update balance set payout_processing = payout_processing + 1 where account_id = :user',
    ],
    [
      'a fee advance of a user',
      [sums, 'fee advance of an account that is no platform'],
      'update balance set fee_advance = 1 where account_id = :user',
    ],
    [
      'available funds below zero without a reason',
      ['available is below zero without a dispute or reversal', sums],
      'update balance set available = -1 where account_id = :other',
    ],
    [
      'available funds of a user of an aggregator',
      ['user of an aggregator has available money, or is below zero'],
      `insert into balance select (jsonb_populate_record(b, jsonb_build_object('tenant_id', a.tenant_id,
        'account_id', a.id, 'available', 1))).*
       from balance b, account a where b.account_id = :other and a.id = :aggregated and not a.livemode`,
    ],
    [
      'a payout of more than there was',
      ['payout left its account below zero', running],
      "update entry set balance_after = -1 where category = 'available' and posting_id = " +
        "(select id from posting where kind = 'payout' and cause = :ended)",
    ],
    [
      'pending funds below zero',
      [sums, 'compartment below zero', rest],
      'alter table balance drop constraint balance_not_negative',
      'update balance set pending = -1 where account_id = :user',
    ],
    ['a deleted balance', ['entries without a balance'], 'delete from balance where account_id = :other'],
    ['a version of a balance', [dense], 'update balance set version = version + 1 where account_id = :user'],
    ['a deleted last entry', [sums, zero, dense], `delete from entry where ${last}`],
    ['a balance after an entry', [running], `update entry set balance_after = balance_after + 1 where ${last}`],
    ['a version of an entry', [running, dense], `update entry set version = version + 1 where ${last}`],
    ['an amount of an entry', [running, sums, zero], `update entry set amount = amount + 1 where ${last}`],
    [
      'an entry in another mode',
      [running, sums, zero, dense, 'entries without a balance'],
      `update entry set livemode = true where ${last}`,
    ],
    [
      'a locked amount',
      ['receivable is not the sum of its locks'],
      'update receivable set amount_locked = amount_locked - 1 where id = :locked',
    ],
    [
      'a settled amount',
      ['receivable is not the sum of its locks'],
      'update receivable set amount_settled_payouts = 1 where id = :locked',
    ],
    [
      'a lock that is larger than its deposit',
      ['locks of a deposit exceed it', 'receivable is not the sum of its locks'],
      'update receivable_lock set amount = 100000 where receivable_id = :locked',
    ],
    [
      'a lock that is gone',
      ['receivable is not the sum of its locks'],
      'delete from receivable_lock where receivable_id = :locked',
    ],
    [
      'a lock of money that was taken back',
      ['locks outlive their money'],
      'update deposit set disputed = amount - pending_rest where id = (select min(deposit_id) from ' +
        'receivable_lock where receivable_id = :locked)',
    ],
    [
      'a deposit that is completed without money',
      ['deposit and its postings disagree'],
      "update deposit set status = 'completed' where id = :begun",
    ],
    [
      'a deposit with money that is not completed',
      ['deposit and its postings disagree'],
      "update deposit set status = 'failed' where id = :deposit",
    ],
    [
      'a payout that is completed without money',
      ['payout and its postings disagree', flying],
      "update payout set status = 'completed' where id = :flying",
    ],
    [
      'a payout that is paid and still under way',
      ['payout and its postings disagree', flying],
      "update payout set status = 'processing' where id = :ended",
    ],
    [
      'a payout to an address that is deactivated',
      ['payout to an address that was not usable'],
      "update address set status = 'deactivated' where id = (select address_id from payout where id = :flying)",
    ],
    [
      'a payout to an address that had been replaced',
      ['payout to an address that was not usable'],
      `insert into event select (jsonb_populate_record(e, jsonb_build_object('id', 'event_0', 'number', 1000,
        'object_id', y.address_id, 'data', jsonb_build_object('status', 'pending_deactivation')))).*
       from payout y, event e where y.id = :ended and e.object_id = y.id and e.type = 'payout.processing'`,
      `update event set number = 1001 where object_id = :ended and type = 'payout.processing'`,
      `delete from event where object_id = (select address_id from payout where id = :ended) and id <> 'event_0'`,
    ],
    [
      'a payout that was made under a hold',
      ['payout was made under a hold'],
      `insert into event select (jsonb_populate_record(e, jsonb_build_object('id', 'event_0', 'number', 1000,
        'object_id', s.id, 'data', jsonb_build_object('payouts_enabled', false)))).*
       from account_setting s, event e where s.account_id = :user and e.object_id = :ended
       and e.type = 'payout.processing' and s.tenant_id = e.tenant_id and s.livemode = e.livemode`,
      `update event set number = 1001 where object_id = :ended and type = 'payout.processing'`,
    ],
    [
      'a payout in its own currency that is not what it was made of',
      ['payout is not its source at its rate'],
      'update payout set source_amount = source_amount + 1 where id = :ended',
    ],
    [
      'a converted payout that is not its source at its rate',
      ['payout is not its source at its rate', 'payout and its conversion disagree'],
      "update payout set source_currency = 'USD', source_amount = 100, rate = 83 where id = :ended",
    ],
    [
      'available money without a payout to come',
      ['available money has neither a payout to come nor a reason'],
      "delete from job where kind = 'pay_out' and subject_id = :other",
    ],
    [
      'a lock that its completed payout has not settled',
      ['lock was left behind by its payout'],
      'update receivable_lock set settled = false where batch_id in ' +
        '(select id from lock_batch where payout_id = :ended)',
    ],
    [
      'a payout that is returned without its money and its locks',
      ['payout and its postings disagree', 'lock was left behind by its payout'],
      "update payout set status = 'returned' where id = :ended",
    ],
    [
      'a payout that took along locks of money in another currency',
      ['payout took locks of other money'],
      "update lock_batch set held_in = 'EUR' where payout_id = :ended",
    ],
    [
      'a payout that took along locks and is no more',
      ['payout took locks of other money'],
      "update lock_batch set payout_id = 'payout_x' where payout_id = :ended",
    ],
    [
      'a lock that is paid out by another account',
      ['lock is in the batch of another account'],
      // No foreign key allows this change.
      'set local session_replication_role = replica',
      'update lock_batch set account_id = :other where id in (select batch_id ' +
        'from receivable_lock where receivable_id = :locked)',
    ],
    [
      'unexplained money that no posting and no attempt has',
      ['unexplained money and its posting disagree'],
      "insert into unexplained values (:tenant, false, 'unexplained_x', 1, 'transaction_x', 5, 'USD', " +
        "'other_currency', 'open')",
    ],
    [
      'money that was taken back of an attempt that took none',
      [
        ...['unexplained money and its posting disagree'],
        'what was taken back of an attempt and what it took disagree',
      ],
      'insert into unexplained (tenant_id, livemode, id, created, transaction_id, amount, currency, reason, ' +
        "status, reference, note) values (:tenant, false, 'unexplained_x', 1, 'transaction_x', -5, 'USD', " +
        "'recorded', 'open', 'R', 'N')",
    ],
    [
      'a recall whose deposit is missing',
      ['recall or chargeback and its deposit disagree'],
      "insert into clawback values (:tenant, false, 'recall', 'R', 1, :deposit, 'deposit_x', 1, 'general')",
    ],
    [
      'a chargeback of another amount than its deposit',
      ['recall or chargeback and its deposit disagree'],
      "insert into clawback values (:tenant, false, 'chargeback', 'R', 1, :deposit, :disputing, 1, 'general')",
    ],
    [
      'a pending refund that has moved no money',
      [
        ...['refund and its money disagree', 'refund and its payment disagree'],
        'processing is not the sum of the pending refunds',
      ],
      refundOf(),
    ],
    [
      'a refund of more than its deposit, whose money has not left',
      ['refunds and disputes exceed their deposit', 'refund and its end disagree'],
      refundOf({ amount: 'amount * 2', status: "'succeeded'" }),
    ],
    [
      'a refund of the deposit of another account',
      ['refund and its deposit disagree'],
      refundOf({ account_id: "'account_x'" }),
    ],
    [
      'a refund that debits no account and is of no duplicate',
      ['refund of a duplicate and its attempt disagree'],
      refundOf({ debited_account_id: 'null', from_pending: '0' }),
    ],
    [
      'money that was taken beyond a deposit and is not unexplained',
      ['what was taken beyond a deposit and its unexplained money disagree'],
      "insert into clawback values (:tenant, false, 'recall', 'R', 1, :deposit, :disputing, 1, 'general', 5)",
    ],
    [
      'a disputed amount that no dispute took',
      ['disputed is not the sum of the disputes that were not won'],
      'update deposit set disputed = disputed - 1 where id = :deposit',
    ],
    [
      'a deposit that nobody has disputed',
      ['deposit is disputed without a dispute'],
      'update deposit set disputed = 1, pending_rest = pending_rest - 1 where id = :kept',
    ],
    [
      'a dispute of another amount than its deposit',
      ['dispute and its deposits disagree'],
      'update dispute set amount = amount + 1 where debit_deposit_id = :disputing',
    ],
    [
      'a dispute that was won, whose money is not back',
      [...['deposit of a dispute is reversed without a win, or is not after one'], 'dispute and its money disagree'],
      "update dispute set status = 'won', decided_at = created where debit_deposit_id = :disputing",
    ],
    [
      'a dispute under review that nobody has answered',
      ['dispute and its times disagree'],
      "update dispute set status = 'under_review' where debit_deposit_id = :disputing",
    ],
    ['an amount of a payout under way', [flying], 'update payout set amount = amount + 1 where id = :flying'],
    ['the pending rest of a deposit', [rest], 'update deposit set pending_rest = pending_rest - 1 where id = :deposit'],
    [
      'an amount of a payment that its deposit has not',
      ['payment has not the amount of its object'],
      'update payment set amount = amount + 1 where id = (select payment_id from deposit where id = :deposit)',
    ],
    [
      'the currency of a payment of a payout',
      ['payment has not the amount of its object'],
      "update payment set currency = 'USD' where id = (select payment_id from payout where id = :ended)",
    ],
    ...['max(number)', 'min(number) + 1'].map((which): [string, string[], string, string] => [
      `a deleted event: ${which}`,
      ['events are not dense up to the last number'],
      'select number_events(:tenant, false, 500)',
      `delete from event where tenant_id = :tenant and not livemode and number =
        (select ${which} from event where tenant_id = :tenant and not livemode)`,
    ]),
    ...['posting', 'entry', 'contra_entry', 'seal_block', 'posting_seal'].map((table): [string, string[], string] => [
      `the privilege to change ${table}`,
      ['append-only is not enforced'],
      `grant update on ${table} to tidegate`,
    ]),
    // Design, invariants I10 and I11: the status and amount of a deposit or payout equal its postings.
    [
      'an amount of a completed deposit',
      ['deposit and its money disagree'],
      'update deposit set amount = amount + 1 where id = :deposit',
    ],
    [
      'a deposit that is reversed, with its money still there',
      ['reversed deposit and its reversal disagree'],
      "update deposit set status = 'reversed' where id = :kept",
    ],
    [
      'an amount of a payout that has ended',
      ['payout and its money disagree'],
      'update payout set amount = amount + 1 where id = :ended',
    ],
    [
      'the deposits that a receivable names',
      ['receivable names other deposits than its locks'],
      "update receivable set deposit_ids_amount_locked = '{deposit_x}' where id = :locked",
    ],
    [
      'a posting that is gone, with its entries still there',
      ['entry without its posting'],
      "delete from posting where tenant_id = :tenant and kind = 'reconciliation'",
    ],
  ];
  it.each(corruptions)('finds %s', async (_, rules, ...statements) => {
    expect(await found(statements)).toEqual(expect.arrayContaining(rules));
  });
});

describe("the operator's audit", () => {
  const own = useWorld({ worker: false });
  const there = givenIn(own);

  it('counts the accounts with money and their postings, and reports every violation with its tenant', async () => {
    const [user, other] = [await there.directUser(2), await there.directUser(2)];
    expect(await auditLedger(own.operator)).toEqual({ violations: [], violationCount: 0, accounts: 0, postings: 0 });
    await reconciled(user, await completed(user, '10.00'), '4.00');
    await completed(other, '1.00');
    expect(await auditLedger(own.operator)).toEqual({ violations: [], violationCount: 0, accounts: 2, postings: 3 });

    const superuser = adminOf(own);
    const change = (by: number) =>
      superuser`update balance set available = available + ${by}::bigint where account_id = ${other.id}`;
    await change(1);
    expect(await auditLedger(own.operator)).toEqual({
      violations: [
        'balance is not the sum of its entries',
        // The money was never made available, so no payout of it was queued.
        'available money has neither a payout to come nor a reason',
      ].map((rule) => ({ tenant: tenantOf(other), livemode: false, rule, what: `${other.id} INR` })),
      violationCount: 2,
      accounts: 2,
      postings: 3,
    });
    await change(-1);
    // Beyond a thousand violations it reports the first thousand and their number: each of these balances violates both
    // rules.
    await superuser.unsafe(`insert into balance (tenant_id, livemode, account_id, currency, of_partner, context_id,
      on_root_list, available)
      select b.tenant_id, b.livemode, b.account_id, 'X' || n, false, b.context_id, b.on_root_list, 1
      from balance b, generate_series(1, 1100) n where b.account_id = '${other.id}' and b.currency = 'INR'`);
    const many = await auditLedger(own.operator);
    await superuser`delete from balance where currency like 'X%'`;
    expect([many.violations.length, many.violationCount]).toEqual([1000, 2200]);
    await superuser.end({ timeout: 1 });
    expect((await auditLedger(own.operator)).violations).toEqual([]);
  });
});

describe('the seal', () => {
  /** What the operator sees of one tenant's chain. */
  async function sealOf(root: Speaker, of: World = world) {
    return (await verifySeals(of.operator)).filter((s) => s.tenant === tenantOf(root));
  }
  const seal = (root: Speaker, most: number) => world.database.call('seal_postings', [tenantOf(root), false, most]);

  describe('by a worker', () => {
    const real = useWorld();
    const there = givenIn(real);

    it('is extended over new postings shortly afterwards, in both modes and without a false alarm', async () => {
      const { test, live } = await there.directUserBoth(2);
      const row = await verifyAccount(real.operator, await real.operator.account(live.id, true), 'activated');
      const address = await issueAddress(real.operator, row, {
        ...{ category: 'service_receive', currency: 'INR', bankAccount: { number: '12341' } },
      });
      await completed(test, '1.00');
      const notice = { event: 'received', addressId: address.id, amount: 100n, currency: 'INR' } as const;
      await recordBankNotice(real.operator, { ...notice, reference: 'B1' });
      const sealed = () =>
        eventually(
          async () => (await real.sql`select count(*)::int as n from unsealed`)[0]!.n,
          (unsealed) => unsealed === 0,
        );
      await sealed();
      expect((await sealOf(test, real)).toSorted((a, b) => Number(a.livemode) - Number(b.livemode))).toEqual([
        { tenant: tenantOf(test), livemode: false, blocks: 1, firstBroken: null },
        { tenant: tenantOf(test), livemode: true, blocks: 1, firstBroken: null },
      ]);

      await completed(test, '2.00');
      await sealed();

      expect((await sealOf(test, real)).find((s) => !s.livemode)).toMatchObject({ blocks: 2, firstBroken: null });
      const [{ n }] = (await real.sql`select count(*)::int as n from posting_seal`) as unknown as [{ n: number }];
      expect(n).toBe(3);
    });
  });

  describe('detects tampering', () => {
    let user: Speaker;
    /** A posting of each of the three blocks. */
    const posting: string[] = [];
    beforeAll(async () => {
      user = await given.directUser(2);
      for (const amount of ['10.00', '20.00', '30.00']) {
        await reconciled(user, await completed(user, amount), '1.00');
        await seal(user, 10);
        const [row] = await world.sql`
          select posting_id from posting_seal where tenant_id = ${tenantOf(user)} order by block desc, posting_id
          limit 1`;
        posting.push(row!.posting_id);
      }
    });

    const whole = () => ({ tenant: tenantOf(user), livemode: false, blocks: 3, firstBroken: null });

    it('and reports none when there was none, however often it is verified', async () => {
      expect(await sealOf(user)).toEqual([whole()]);
      expect(await sealOf(user)).toEqual([whole()]);
    });

    // All columns with amounts or times: a change of a sealed row breaks its block.
    const numbers = { entry: ['amount', 'balance_after', 'version', 'created'], contra_entry: ['amount', 'created'] };
    const columns: [table: string, column: string, type: 'number' | 'text'][] = [
      ['posting', 'created', 'number'],
      ...['kind', 'cause', 'payment_id'].map((c): [string, string, 'text'] => ['posting', c, 'text']),
      ...Object.entries(numbers).flatMap(([table, names]) =>
        names.map((name): [string, string, 'number'] => [table, name, 'number']),
      ),
      ...['id', 'account_id', 'currency', 'category', 'payment_id'].map((c): [string, string, 'text'] => [
        'entry',
        c,
        'text',
      ]),
      ...['id', 'contra', 'currency'].map((c): [string, string, 'text'] => ['contra_entry', c, 'text']),
    ];
    it.each(columns)('with %s.%s, in the block of the row', async (table, column, type) => {
      const name = table === 'posting' ? 'id' : 'posting_id';
      // The distance is large enough to avoid another row's version.
      const change = (sign: '+' | '-') =>
        type === 'number'
          ? `${column} ${sign} 1000`
          : sign === '+'
            ? `${column} || '~'`
            : `left(${column}, length(${column}) - 1)`;
      const tamper = (sign: '+' | '-') =>
        admin.unsafe(`update ${table} set ${column} = ${change(sign)} where ${name} = '${posting[1]}'`);

      expect((await tamper('+')).count).toBeGreaterThan(0);
      const verified = await sealOf(user);
      await tamper('-');

      expect(verified).toEqual([{ ...whole(), firstBroken: 2 }]);
      expect(await sealOf(user)).toEqual([whole()]);
    });

    /** Tampers with rows, verifies, and restores all rows. */
    async function verifiedAfter(...statements: string[]) {
      const tables = ['posting', 'entry', 'contra_entry', 'seal_block', 'posting_seal', 'unsealed'];
      for (const table of tables) await admin.unsafe(`create temp table was_${table} as select * from ${table}`);
      try {
        for (const statement of statements) await admin.unsafe(statement.replaceAll(':tenant', `'${tenantOf(user)}'`));
        return await sealOf(user);
      } finally {
        for (const table of tables) {
          await admin.unsafe(`delete from ${table}`);
          await admin.unsafe(`insert into ${table} select * from was_${table}`);
          await admin.unsafe(`drop table was_${table}`);
        }
      }
    }

    const here = 'tenant_id = :tenant';
    const ofBlock = (n: number) => `posting_id in (select posting_id from posting_seal where ${here} and block = ${n})`;
    const removals: [what: string, block: number, ...statements: string[]][] = [
      ['a deleted entry', 2, `delete from entry where ${here} and category = 'pending' and ${ofBlock(2)}`],
      ['a deleted posting', 3, `delete from posting where ${here} and ${ofBlock(3).replace('posting_id', 'id')}`],
      [
        'an entry that was slipped in',
        1,
        `insert into entry select tenant_id, livemode, id || 'x', created, posting_id, account_id, amount, currency,
          category, payment_id, balance_after, version + 1000, context_id, on_root_list
          from entry where ${here} and ${ofBlock(1)} limit 1`,
      ],
      ['a hash', 1, `update seal_block set hash = repeat('0', 64) where ${here} and number = 1`],
      ['the hash of the previous block', 3, `update seal_block set previous = '' where ${here} and number = 3`],
      ['the number of postings', 2, `update seal_block set postings = 1 where ${here} and number = 2`],
      ['a deleted block', 2, `delete from seal_block where ${here} and number = 2`],
      [
        'the last block, gone with its seals',
        3,
        `delete from seal_block where ${here} and number = 3`,
        `delete from posting_seal where ${here} and block = 3`,
      ],
      [
        'a seal that was moved',
        1,
        `update posting_seal set block = 2 where ${here} and posting_id in (select min(posting_id) from ` +
          `posting_seal where ${here})`,
      ],
      ['a deleted seal', 2, `delete from posting_seal where ${here} and ${ofBlock(2)}`],
      [
        'two things at once: the first is named',
        2,
        `delete from entry where ${here} and (${ofBlock(2)} or ${ofBlock(3)})`,
      ],
      [
        'a posting that waits for no seal',
        4,
        `insert into posting select tenant_id, livemode, 'posting_x', created, kind, cause || 'x', payment_id ` +
          `from posting where ${here} limit 1`,
      ],
    ];
    it.each(removals)('with %s, in block %i', async (_, block, ...statements) => {
      const [answer] = await verifiedAfter(...statements);
      expect([answer?.tenant, answer?.firstBroken]).toEqual([tenantOf(user), block]);
      expect(await sealOf(user)).toEqual([whole()]);
    });

    it('when the whole chain was deleted', async () => {
      const answer = await verifiedAfter(
        `delete from seal_block where ${here}`,
        `delete from posting_seal where ${here}`,
      );
      expect(answer.map((s) => s.firstBroken)).toEqual([1]);
    });

    // If only the blocks or only the seals are left, the chain is still on the list of chains to verify.
    const vanished: [what: string, blocks: number, tables: string[]][] = [
      ['all its postings', 3, ['posting', 'entry', 'contra_entry', 'unsealed']],
      ['all its postings and seals', 3, ['posting', 'entry', 'contra_entry', 'unsealed', 'posting_seal']],
      ['all its postings and blocks', 0, ['posting', 'entry', 'contra_entry', 'unsealed', 'seal_block']],
    ];
    it.each(vanished)('when %s were deleted', async (_, blocks, tables) => {
      const answer = await verifiedAfter(...tables.map((table) => `delete from ${table} where ${here}`));
      expect(answer).toEqual([{ ...whole(), blocks, firstBroken: 1 }]);
      expect(await sealOf(user)).toEqual([whole()]);
    });

    it('and reports no other chain as broken', async () => {
      const other = await given.directUser(2);
      await completed(other, '1.00');
      await seal(other, 10);
      await admin`update entry set amount = amount + 1 where posting_id = ${posting[0]!}`;
      const all = await verifySeals(world.operator);
      await admin`update entry set amount = amount - 1 where posting_id = ${posting[0]!}`;
      expect(all.filter((s) => s.firstBroken !== null)).toEqual([{ ...whole(), firstBroken: 1 }]);
      expect(all).toContainEqual({ tenant: tenantOf(other), livemode: false, blocks: 1, firstBroken: null });
    });
  });

  it('covers every posting once when several workers seal while postings are added', async () => {
    const user = await given.directUser(2);
    let posting = true;
    const sealing = Array.from({ length: 4 }, async () => {
      while (posting) await seal(user, 3);
    });
    try {
      await Promise.all(Array.from({ length: 30 }, (_, n) => completed(user, `${n + 1}.00`)));
    } finally {
      posting = false;
    }
    await Promise.all(sealing);
    while (Number((await seal(user, 3))[0]!.seal_postings) > 0);

    const [seals] = await world.sql`
      select count(*)::int as n, count(distinct posting_id)::int as postings from posting_seal
      where tenant_id = ${tenantOf(user)}`;
    expect(seals).toEqual({ n: 30, postings: 30 });
    const [answer] = await sealOf(user);
    expect([answer?.firstBroken, answer!.blocks >= 10]).toEqual([null, true]);
  });
});
