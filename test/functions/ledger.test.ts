import { createHash } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { eventually } from '../support/world.js';
import { makeAccount, moneyOf, refusal, useFunctions, useRoot } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, rowText, jobText, stored, jobsOf, eventsOf } = fixture;
const root = useRoot(fixture, 'user', 1);
const { balance } = moneyOf(fixture, root);
const json = (object: unknown) => JSON.stringify(object);
const bank = (amount: number, currency = 'USD') => ({ contra: 'bank', currency, amount });
const pending = (account: string, amount: number, category = 'pending') => ({
  ...{ account, category, currency: 'USD', amount },
});
let causes = 0;
/** Changes what is append-only, as the owner of the tables could. */
const changing = async (change: () => Promise<unknown>) => {
  const tables = 'posting, posting_seal';
  await world.sql.unsafe(`grant update, delete on ${tables} to current_user`);
  await change().finally(() => world.sql.unsafe(`revoke update, delete on ${tables} from current_user`));
};
const payment = async () =>
  value(
    ...(['insert_payment', root.tenantId, false, await rowText('account', root, root.id)] as const),
    ...(['deposit', 7, 'USD', 'processing', null] as const),
  );
const post = async (kind: string, legs: object[], cause = `cause_${++causes}`) =>
  value('post', root.tenantId, false, kind, cause, await payment(), json(legs));
/** An account without money, whose balance exists. */
const account = async () => {
  const { id } = await makeAccount(fixture, root);
  await call('lock_balance', root.tenantId, false, id, 'USD');
  return id as string;
};

of('lock_balance', () => {
  it('creates the balance, and locks it until the caller commits', async () => {
    const { id } = await makeAccount(fixture, root);
    expect(await value('lock_balance', root.tenantId, false, id, 'USD')).toBe(id);
    expect(await balance(id)).toEqual({});
    const free = () => world.sql`select from balance
      where tenant_id = ${root.tenantId} and not livemode and account_id = ${id} for update skip locked`;
    expect(await free()).toHaveLength(1);
    await world.sql.begin(async (sql) => {
      await sql`select lock_balance(${root.tenantId}, false, ${id}, 'USD')`;
      expect(await free()).toHaveLength(0);
    });
  });

  it('locks nothing without an account', async () => {
    expect(await value('lock_balance', root.tenantId, false, null, 'USD')).toBeNull();
  });
});

of('lock_balances', () => {
  it('creates the balance of each key, and skips a key without an account', async () => {
    const [one, other] = [await makeAccount(fixture, root), await makeAccount(fixture, root)];
    const keys = [other, one, { id: null }, one].map(({ id }) => ({ account: id, currency: 'EUR' }));
    await call('lock_balances', root.tenantId, false, json(keys));
    const made = await world.sql`select account_id from balance
      where tenant_id = ${root.tenantId} and currency = 'EUR' order by 1`;
    expect(made.map(({ account_id: id }) => id)).toEqual([one.id, other.id].toSorted());
    await call('lock_balances', root.tenantId, false, '[]');
    await call('lock_balances', root.tenantId, false, json([{ account: one.id, currency: 'GBP' }]));
    const more = await world.sql`select from balance where tenant_id = ${root.tenantId} and currency = 'GBP'`;
    expect(more).toHaveLength(1);
  });

  it.each([
    ['two', ['other', 'one']],
    ['three', ['other', 'one', 'other']],
    ['two and a key without an account', ['other', 'one', 'none']],
  ])('locks %s in the order of their keys', async (_, names) => {
    const [one, other] = [await account(), await account()].toSorted() as [string, string];
    const accounts: Record<string, string | null> = { one, other, none: null };
    const keys = names.map((name) => ({ account: accounts[name]!, currency: 'USD' }));
    let locking: Promise<unknown> | undefined;
    await world.sql.begin(async (sql) => {
      await sql`select lock_balance(${root.tenantId}, false, ${one}, 'USD')`;
      // Without the limits of a gateway's statements, which a busy machine could reach. The node of a cluster has one
      // for its role, so that the wait begins again.
      const lock = (): Promise<unknown> =>
        world.sql`select lock_balances(${root.tenantId}, false, ${json(keys)}::text::jsonb)`.catch((error) => {
          if (error.code !== '55P03') throw error;
          return lock();
        });
      locking = lock();
      // The coordinator of a cluster has no locks of its nodes, but a view of who waits for whom.
      const waiting = inject('distributed')
        ? () => sql`select from citus_lock_waits`
        : () => sql`select from pg_locks where not granted and transactionid = pg_current_xact_id()::xid`;
      await eventually(waiting, (rows) => rows.length > 0);
      const free = await sql`select from balance
        where tenant_id = ${root.tenantId} and not livemode and account_id = ${other} for update skip locked`;
      expect(free).toHaveLength(1);
    });
    await locking;
  });
});

of('lock_all_balances', () => {
  it('locks the balances in every currency, and creates none', async () => {
    const id = await account();
    await call('lock_all_balances', root.tenantId, false, id);
    expect(await world.sql`select from balance where account_id = ${id}`).toHaveLength(1);
    await world.sql.begin(async (sql) => {
      await sql`select lock_all_balances(${root.tenantId}, false, ${id})`;
      const free = await world.sql`select from balance
        where tenant_id = ${root.tenantId} and not livemode and account_id = ${id} for update skip locked`;
      expect(free).toHaveLength(0);
    });
  });
});

of('leg', () => {
  it('is one movement of a balance', async () => {
    expect(await value('leg', 'account_1', 'pending', 'USD', -5)).toEqual(pending('account_1', -5));
  });
});

of('contra_leg', () => {
  it('is one movement of the outside world', async () => {
    expect(await value('contra_leg', 'bank', 'USD', 5)).toEqual(bank(5));
  });
});

of('post_outside', () => {
  it('moves money between two places in the outside world, and none in a balance', async () => {
    await call(
      'post_outside',
      root.tenantId,
      false,
      'unexplained',
      'cause_x',
      'payment_x',
      'acquirer',
      'refund',
      5,
      'USD',
    );
    const rows = await world.sql`select c.contra, c.amount, c.currency from posting p
      join contra_entry c on (c.tenant_id, c.posting_id) = (p.tenant_id, p.id)
      where p.tenant_id = ${root.tenantId} and p.cause = 'cause_x' and p.payment_id = 'payment_x' order by 1`;
    expect(rows).toEqual([
      { contra: 'acquirer', amount: '-5', currency: 'USD' },
      { contra: 'refund', amount: '5', currency: 'USD' },
    ]);
  });
});

of('sorted_legs', () => {
  const sorted = (...legs: object[]) => value('sorted_legs', 'kind', 'cause', json(legs));
  const [a, b] = ['account_a', 'account_b'];

  it.each([
    ['a balance and the outside world', [pending(a, 5), bank(-5)]],
    ['two balances', [pending(a, -5), pending(b, 5)]],
    ['two compartments of a balance', [pending(a, -5, 'available'), pending(a, 5)]],
  ])('of %s are in the order of their keys', async (_, legs) => {
    expect(await sorted(...legs)).toEqual(legs);
    expect(await sorted(...legs.toReversed())).toEqual(legs);
  });

  it('are added up by compartment, without those of nothing', async () => {
    const legs = [bank(-6, 'USD'), pending(b, 4), pending(a, 1), pending(a, 1), pending(a, 3, 'available')];
    const found = await sorted(...legs, pending(a, -3, 'available'));
    expect(found).toEqual([
      { ...pending(a, 2), contra: null },
      { ...pending(b, 4), contra: null },
      { account: null, category: null, ...bank(-6) },
    ]);
  });

  it.each([
    ['no sum of zero', [pending(a, 5), bank(-4)], 'does not sum to zero'],
    ['two currencies', [pending(a, 5), bank(-5, 'EUR')], 'does not sum to zero'],
    ['two amounts of zero', [pending(a, 0), bank(0)], 'moves nothing'],
    ['one compartment', [pending(a, 5), pending(a, -5)], 'moves nothing'],
    ['the outside world alone', [bank(5), bank(-5)], 'moves nothing'],
    ['no legs', [], 'moves nothing'],
  ])('with %s are no posting', async (_, legs, message) => {
    await expect(sorted(...legs)).rejects.toThrow(message);
  });
});

of('move_within_balance', () => {
  const move = async (id: string, amount: number, kind = 'move') => {
    const legs = json([pending(id, amount, 'available'), pending(id, -amount)]);
    const [posting, of] = [`posting_${++causes}`, await payment()];
    const row = { tenant_id: root.tenantId, livemode: false };
    const moved = call('move_within_balance', root.tenantId, false, kind, posting, of, 44, legs);
    if (
      await moved.then(
        () => true,
        () => false,
      )
    ) {
      const one = { ...row, id: posting, created: 44, kind, cause: posting, payment_id: of };
      await world.sql`insert into posting ${world.sql(one)}`;
      await world.sql`insert into unsealed ${world.sql({ ...row, posting_id: posting })}`;
    }
    await moved;
    return world.sql`select category, amount, balance_after, version, created from entry
      where tenant_id = ${root.tenantId} and posting_id = ${posting} order by version`;
  };

  it('changes the balance once, and writes both entries', async () => {
    const id = await account();
    await post('deposit', [pending(id, 10), bank(-10)]);
    expect((await move(id, 4)).map((row) => ({ ...row }))).toEqual([
      { category: 'available', amount: '4', balance_after: '4', version: '2', created: '44' },
      { category: 'pending', amount: '-4', balance_after: '6', version: '3', created: '44' },
    ]);
    expect(await balance(id)).toEqual({ pending: '6', available: '4' });
  });

  it('refuses money that is not available, unless it is taken back', async () => {
    const id = await account();
    expect(await refusal(move(id, -5))).toBe('balance_insufficient');
    expect(await balance(id)).toEqual({});
    expect(await move(id, -5, 'reversal')).toHaveLength(2);
    expect(await balance(id)).toEqual({ pending: '5', available: '-5' });
    await expect(move(id, 6)).rejects.toThrow('balance_not_negative');
  });
});

of('post', () => {
  it('moves money between a balance and the outside world', async () => {
    const id = await account();
    const posting = await post('deposit', [pending(id, 100), bank(-100)]);
    expect(await balance(id)).toEqual({ pending: '100' });
    expect(await stored('entry', root, posting, 'posting_id')).toMatchObject({ balance_after: '100', version: '1' });
    expect(await stored('contra_entry', root, posting, 'posting_id')).toMatchObject({ amount: '-100', contra: 'bank' });
    expect(await stored('unsealed', root, posting, 'posting_id')).toBeDefined();
  });

  it('moves money between balances, and adds up legs of the same compartment', async () => {
    const id = await account();
    await post('deposit', [pending(id, 100), bank(-100)]);
    await post('reconciliation', [pending(id, -30), pending(id, -30), pending(id, 60, 'available')]);
    expect(await balance(id)).toEqual({ pending: '40', available: '60' });
  });

  it.each(['two accounts', 'one account'])(
    'writes an entry with its balance for each side of a move: %s',
    async (of) => {
      const from = await account();
      const to = of === 'one account' ? from : await account();
      await post('deposit', [bank(-100), pending(from, 100)]);
      const posting = await post('move', [pending(to, 30, 'available'), pending(from, -30)]);
      const entries = await world.sql`select account_id, category, amount, balance_after, version, context_id from entry
      where tenant_id = ${root.tenantId} and posting_id = ${posting} order by category`;
      const versions = from === to ? ['2', '3'] : ['1', '2'];
      expect(entries.map((row) => ({ ...row }))).toEqual([
        {
          account_id: to,
          category: 'available',
          amount: '30',
          balance_after: '30',
          version: versions[0],
          context_id: root.id,
        },
        {
          account_id: from,
          category: 'pending',
          amount: '-30',
          balance_after: '70',
          version: versions[1],
          context_id: root.id,
        },
      ]);
      expect(await balance(from)).toEqual({ pending: '70', ...(from === to && { available: '30' }) });
    },
  );

  it('refuses a cause that has posted, and money that is not available unless it is taken back', async () => {
    const id = await account();
    await post('deposit', [pending(id, 10), bank(-10)], `twice ${id}`);
    expect(await refusal(post('deposit', [pending(id, 10), bank(-10)], `twice ${id}`))).toBe('state_conflict');
    const more = [pending(id, -5, 'available'), bank(5)];
    expect(await refusal(post('payout', more))).toBe('balance_insufficient');
    await post('dispute', more);
    expect(await balance(id)).toEqual({ pending: '10', available: '-5' });
  });

  it('refuses what does not sum to zero per currency, and what moves nothing', async () => {
    const id = await account();
    await expect(post('deposit', [pending(id, 10), bank(-9), bank(-1, 'EUR')])).rejects.toThrow('does not sum to zero');
    await expect(post('deposit', [pending(id, 1), pending(id, -1), bank(0)])).rejects.toThrow('moves nothing');
    expect(await balance(id)).toEqual({});
  });
});

of('least_amount', () => {
  it.each([
    ['JPY', '100'],
    ['USD', '1'],
  ])('of %s is %s', async (currency, least) => expect(await value('least_amount', currency)).toBe(least));
});

of('insert_payment', () => {
  it('inserts a payment of the account, at the time of the clock', async () => {
    const before = Number(await value('clock', root.tenantId, false));
    const made = await stored('payment', root, await payment());
    expect(made).toMatchObject({ account_id: root.id, type: 'deposit', amount: '7', status: 'processing' });
    expect(Number(made.created)).toBeGreaterThanOrEqual(before);
    expect(Number(made.created)).toBeLessThanOrEqual(Number(await value('clock', root.tenantId, false)));
  });
});

of('insert_payment_at', () => {
  it('takes the time from the caller', async () => {
    const owner = await rowText('account', root, root.id);
    const payment = ['deposit', 7, 'USD', 'processing', null, 44] as const;
    const id = await value('insert_payment_at', root.tenantId, false, owner, ...payment);
    expect(await stored('payment', root, id)).toMatchObject({ created: '44', context_id: root.id });
  });
});

of('move_payment', () => {
  it('changes the status', async () => {
    const id = await payment();
    await call('move_payment', root.tenantId, false, id, 'completed');
    expect(await stored('payment', root, id)).toMatchObject({ status: 'completed' });
  });
});

of('exchanged', () => {
  const exchanged = async (amount: number, source: string, target: string, live = false) => {
    const [row] = await call('exchanged', root.tenantId, live, amount, source, target);
    return [row!.amount, row!.rate];
  };

  it.each([
    ['the same currency', 500, 'USD', 'USD', ['500', '1']],
    ['a table in test mode', 100, 'USD', 'INR', ['8300', '83']],
    ['a currency without a minor unit', 101, 'USD', 'JPY', ['15100', '150']],
    ['an unknown currency', 100, 'USD', 'XXX', [null, null]],
  ])('%s', async (_, amount, source, target, result) => {
    expect(await exchanged(amount, source, target)).toEqual(result);
  });

  it('knows only the rates of the operator in live mode', async () => {
    expect(await exchanged(100, 'USD', 'INR', true)).toEqual([null, null]);
    await write(root.inLive, 'set_rate', { source: 'USD', target: 'INR', rate: '84.5' });
    expect(await exchanged(101, 'USD', 'INR', true)).toEqual(['8534', '84.5']);
  });

  it('has no amount beyond the largest', async () => {
    await write(root.inLive, 'set_rate', { source: 'USD', target: 'EUR', rate: '1e17' });
    expect(await exchanged(2, 'USD', 'EUR', true)).toEqual([null, '100000000000000000']);
  });
});

of('set_rate', () => {
  const set = (rate: string) => write(root, 'set_rate', { source: 'GBP', target: 'INR', rate });

  it('replaces a rate, and offers payouts anew', async () => {
    await set('100');
    expect(await set('101.5')).toMatchObject({ rate: '101.5' });
    expect((await jobsOf(root, 'GBP')).map(({ kind }) => kind)).toEqual(['offer_payouts', 'offer_payouts']);
    expect(await eventsOf(root, root.id)).toContain('rate.set');
  });

  it.each(['0', '-1', 'NaN', 'Infinity'])('refuses %s', async (rate) => {
    expect(await refusal(set(rate))).toBe('parameter_invalid rate.rate');
  });
});

of('posting_texts', () => {
  it('are the postings with their entries, in the order of the ids', async () => {
    const id = await account();
    const first = await post('deposit', [pending(id, 100), bank(-100)], `text ${id}`);
    const [one, missing] = await value('posting_texts', root.tenantId, false, `{${first},posting_none}`);
    const { created, kind, cause } = await stored('posting', root, first);
    const texts = [
      first,
      created,
      kind,
      cause,
      'payment_[0-9a-f]+bt_.*',
      id,
      String.raw`payment_\w+`,
      'pending',
      'USD',
    ];
    expect(one).toMatch(new RegExp(`^${[...texts, '100'].join(String.raw`\|`)}`));
    expect(one).toMatch(/contra_\w+\|\d+\|bank\|USD\|-100$/);
    expect(missing).toBe('missing');
  });
});

of('block_hash', () => {
  it('is the SHA-256 of the previous hash and the texts', async () => {
    const hash = createHash('sha256').update('before\none\ntwo').digest('hex');
    expect(await value('block_hash', 'before', '{one,two}')).toBe(hash);
  });
});

of('seal_postings', () => {
  it('seals what waits in one block, at most so many, and links it to the block before', async () => {
    const id = await account();
    for (let i = 0; i < 3; i++) await post('deposit', [pending(id, 1), bank(-1)]);
    expect(await value('seal_postings', root.tenantId, false, 2)).toBe(2);
    expect(await value('seal_postings', root.tenantId, false, 100)).toBeGreaterThan(0);
    expect(await value('seal_postings', root.tenantId, false, 100)).toBe(0);
    const [first, second] =
      await world.sql`select * from seal_block where tenant_id = ${root.tenantId} order by number`;
    expect(second!.previous).toBe(first!.hash);
  });
});

of('first_broken_block', () => {
  it('is null while all blocks match, and then the block of a changed posting', async () => {
    expect(await value('first_broken_block', root.tenantId, false)).toBeNull();
    await changing(
      () => world.sql`update posting set cause = cause || 'x' where tenant_id = ${root.tenantId} and id = (
      select min(posting_id) from posting_seal where tenant_id = ${root.tenantId} and block = 2)`,
    );
    expect(await value('first_broken_block', root.tenantId, false)).toBe('2');
    await changing(() => world.sql`delete from unsealed where tenant_id = ${root.tenantId}`);
    await changing(() => world.sql`delete from posting_seal where tenant_id = ${root.tenantId} and block = 1`);
    expect(await value('first_broken_block', root.tenantId, false)).toBe('1');
  });
});

of('append_only_tables', () => {
  it("are the tables of the ledger and of its seal, and the operators' audit log", async () => {
    expect(await value('append_only_tables')).toEqual([
      'posting',
      'entry',
      'contra_entry',
      'seal_block',
      'posting_seal',
      'operator_action',
    ]);
  });
});

of('append_only_breaches', () => {
  it('are none for the role that serves, and name a role that owns the tables', async () => {
    expect(await call('append_only_breaches', '{}')).toEqual([]);
    const [superuser] = await world.sql`select rolname as name from pg_roles where rolsuper order by oid limit 1`;
    const breaches = await call('append_only_breaches', `{${superuser!.name}}`);
    expect(breaches.map(({ what }) => what)).toContain(`the serving role ${superuser!.name} is a superuser`);
  });
});

of('begin_ledger_check', () => {
  const begin = () => value('begin_ledger_check', root.tenantId, false, 600, 1_800);
  const backdate = (seconds: number) =>
    world.sql`update ledger_check set created = created - ${seconds} where tenant_id = ${root.tenantId}`;

  it('begins one check at a time, and fails one whose gateway has ended', async () => {
    const id = await begin();
    expect(id).toMatch(/^ledger_check_/);
    expect(await begin()).toBeNull();
    await backdate(700);
    expect(await begin()).toBeNull();
    await backdate(1_200);
    expect(await begin()).toMatch(/^ledger_check_/);
    const [row] = await world.sql`select status, error from ledger_check where id = ${id}`;
    expect(row).toEqual({ status: 'failed', error: 'The gateway that made the check has ended.' });
  });

  it('takes the place of one that runs when an operator asks', async () => {
    await world.sql`delete from ledger_check where tenant_id = ${root.tenantId}`;
    const id = await begin();
    const asked = await value('begin_ledger_check', root.tenantId, false, 0, 1_800);
    expect(asked).toMatch(/^ledger_check_/);
    const [row] = await world.sql`select status, error from ledger_check where id = ${id}`;
    expect(row).toEqual({ status: 'failed', error: 'A check that an operator asked for took its place.' });
    expect(await value('end_ledger_check', root.tenantId, false, id, '[]', 0, null, null)).toBeNull();
    expect(await value('end_ledger_check', root.tenantId, false, asked, '[]', 0, null, null)).toBe('passed');
  });

  it('deletes checks that are older than 90 days', async () => {
    await backdate(91 * 86_400);
    const id = await begin();
    expect(await world.sql`select id from ledger_check where tenant_id = ${root.tenantId}`).toEqual([{ id }]);
    await world.sql`delete from ledger_check where tenant_id = ${root.tenantId}`;
  });
});

of('end_ledger_check', () => {
  it('stores the outcome of a check that runs, once', async () => {
    const end = async (violations: object[], broken: number | null, error: string | null) => {
      await world.sql`delete from ledger_check where tenant_id = ${root.tenantId}`;
      const id = await value('begin_ledger_check', root.tenantId, false, 600, 1_800);
      const given = [root.tenantId, false, id, json(violations), violations.length, broken, error];
      return [await value('end_ledger_check', ...given), await value('end_ledger_check', ...given)];
    };
    expect(await end([], null, null)).toEqual(['passed', null]);
    expect(await end([{ rule: 'rule', what: 'what' }], null, null)).toEqual(['violated', null]);
    expect(await end([], 3, null)).toEqual(['violated', null]);
    expect(await end([], null, 'no time')).toEqual(['failed', null]);
    const [row] =
      await world.sql`select error, ended is null as runs from ledger_check where tenant_id = ${root.tenantId}`;
    expect(row).toEqual({ error: 'no time', runs: false });
  });
});

describe('the ranks of balances', () => {
  const root = useRoot(fixture, 'user', 1);
  const { deposit } = moneyOf(fixture, root);
  const key = () => [root.tenantId, false] as const;
  const ranks = () =>
    world.sql`select ranked_as, amount, version::int from balance_rank where account_id = ${root.id} order by 1`;
  const rank = () => call('rank_balances', ...key(), `{${root.id},account_none}`);

  of('rank_balances', () => {
    it('writes the sum of available and pending, and replaces no newer place', async () => {
      await deposit(500n);
      await rank();
      expect(await ranks()).toEqual([{ ranked_as: 'user USD', amount: '500', version: 1 }]);
      await deposit(70n);
      await rank();
      expect(await ranks()).toEqual([{ ranked_as: 'user USD', amount: '570', version: 2 }]);
      await world.sql`update balance_rank set version = 9, amount = 1 where account_id = ${root.id}`;
      await rank();
      expect(await ranks()).toEqual([{ ranked_as: 'user USD', amount: '1', version: 9 }]);
      await world.sql`delete from balance_rank where account_id = ${root.id}`;
    });

    it('holds the sum of two of the largest amounts', async () => {
      const most = 9_223_372_036_854_775_807n;
      await world.sql
        .begin(async (tx) => {
          await tx`update balance set available = ${most.toString()}::bigint, pending = ${most.toString()}::bigint,
          version = version + 1 where account_id = ${root.id}`;
          await tx`select rank_balances(${root.tenantId}, false, ${[root.id]})`;
          const [row] = await tx`select amount from balance_rank where account_id = ${root.id}`;
          expect(row).toEqual({ amount: `${2n * most}` });
          throw new Error('undo');
        })
        .catch(({ message }) => expect(message).toBe('undo'));
    });
  });

  of('job_rank_balances', () => {
    it('waits until its time, ranks, and goes on behind the last account', async () => {
      const waiting = async () => (await jobsOf(root, root.id)).filter(({ kind }) => kind === 'rank_balances');
      const run = async (args: object) => {
        await world.sql`delete from job where kind = 'rank_balances'`;
        await call('job_rank_balances', ...key(), await jobText('rank_balances', root.id, args));
        return (await waiting()).map(({ args: of }) => of);
      };
      const soon = Math.floor(Date.now() / 1000) + 600;
      expect(await run({ notBefore: soon })).toEqual([{ notBefore: soon }]);
      expect(await ranks()).toEqual([]);
      expect(await run({ notBefore: 1 })).toEqual([{ upTo: root.id }]);
      expect(await ranks()).toHaveLength(1);
      expect(await run({ upTo: root.id })).toEqual([]);
    });
  });
});
