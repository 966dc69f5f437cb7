import { expect, inject, it } from 'vitest';
import { statementsWaiting } from '../support/world.js';
import {
  comparable,
  jsonList,
  lockRow,
  makeAccount,
  moneyOf,
  refusal,
  type Row,
  useFunctions,
  useRoot,
} from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, rowText, stored, eventsOf } = fixture;
const root = useRoot(fixture, 'user', 1);
const { addressOf, complete, create, deposit } = moneyOf(fixture, root);
const json = (object: unknown) => JSON.stringify(object);

/** The arguments of a deposit that the root receives. */
const argsOf = async (amount: number, more: object = {}) => ({
  ...{ toAccountId: root.id, toAddressId: (await addressOf(root.id))[0]!.id, fromAccountId: null, fromAddressId: null },
  ...{ amount: `${amount}`, currency: 'USD', paymentMethod: 'domestic_credit', ...more },
});
const envelopeOf = (key: string, isRepeatable = true) => ({
  ...{ requestId: `req_${key}`, account: root.id, key: isRepeatable ? key : undefined },
  ...{ operation: 'createDeposit', request: { amount: 'hash' } },
});

of('deposit_args', () => {
  it('has the arguments of a deposit', async () => {
    const [{ keys }] = (await call('deposit_args')) as [Row];
    expect(keys).toContain('statementDescriptor');
  });
});

of('deposit_of_args', () => {
  it('is the row of a deposit without its time and its payment, which is not stored', async () => {
    const partner = (await makeAccount(fixture, root)).id;
    const args = json(await argsOf(12, { fromAccountId: partner, metadata: { a: '1' }, toAddressId: null }));
    const [row] = await call(
      'deposit_of_args',
      ...([root.tenantId, false, '{}', await rowText('account', root, root.id), args] as const),
    );
    expect(row).toMatchObject({ amount: '12', from_account_id: partner, status: 'initialized', metadata: { a: '1' } });
    expect(row).toMatchObject({ created: null, payment_id: null, statement_descriptor: '', on_root_list: true });
    expect(row!.to_address_id).toBe((await addressOf(root.id))[0]!.id);
    expect(await stored('address', root, row!.from_address_id)).toMatchObject({ linked_id: partner });
    expect(await stored('deposit', root, row!.id)).toBeUndefined();
  });
});

/** The rows that a deposit consists of, without what differs between two that are made from the same arguments. */
const rowsOf = async (id: string) => {
  const { payment_id: payment } = await stored('deposit', root, id);
  return comparable(
    fixture,
    {
      ...{ deposit: 'id', payment: 'deposit_id', job: 'subject_id', event: 'object_id', search_entry: 'id' },
      idempotency: "answer ->> 'id'",
    },
    [id, payment],
  );
};

of('create_deposits', () => {
  it('stores for each what create_deposit stores, in their order', async () => {
    const [partner, payer, hidden] = (await Promise.all(
      [1, 2, 3].map(async () => (await makeAccount(fixture, root)).id as string),
    )) as [string, string, string];
    // One that is off the root list, and of another acting account: payment and deposit differ in who sees them.
    await world.sql`update account set on_root_list = false, context_id = 'account_other'
      where tenant_id = ${root.tenantId} and not livemode and id = ${hidden}`;
    const all = [
      await argsOf(21),
      await argsOf(22, { toAddressId: null, visibleTo: root.id, statementDescriptor: 'INVOICE 7 of May' }),
      await argsOf(23, { fromAccountId: partner, metadata: { order: 'O-1', place: 'Kochi' } }),
      await argsOf(24, { fromAccountId: partner, paymentMethod: 'domestic_debit' }),
      await argsOf(25, { fromAccountId: payer, paymentMethod: 'klarna', metadata: null }),
      await argsOf(26, { fromAccountId: 'account_none', fromAddressId: 'address_none', metadata: {} }),
      await argsOf(27, { toAccountId: partner, fromAccountId: root.id, fromAddressId: 'address_of_root' }),
      await argsOf(28, { toAccountId: hidden, fromAccountId: partner }),
      await argsOf(29, { fromAccountId: hidden, fromAddressId: 'address_of_hidden' }),
    ];
    const alone: string[] = [];
    for (const [n, args] of all.entries())
      alone.push(
        (await call('create_deposit', root.tenantId, false, json(envelopeOf(`key_a${n}`, n !== 3)), json(args)))[0]!.id,
      );
    const envelopes = jsonList(all.map((_, n) => envelopeOf(`key_t${n}`, n !== 3)));
    const rows = await call('create_deposits', root.tenantId, false, 10_000, envelopes, jsonList(all));
    const together = rows.map((row) => row.create_deposits as Row);
    expect(together.map(({ amount }) => `${amount}`)).toEqual(all.map(({ amount }) => amount));
    const [{ row }] = (await world.sql`
      select to_jsonb(d) as row from deposit d where tenant_id = ${root.tenantId} and id = ${together[2]!.id}`) as [
      Row,
    ];
    expect(together[2]).toEqual(row);
    for (const [n, { id }] of together.entries()) expect(await rowsOf(id)).toEqual(await rowsOf(alone[n]!));
    const counts = Object.fromEntries(Object.entries(await rowsOf(together[2]!.id)).map(([k, v]) => [k, v.length]));
    expect(counts).toEqual({
      deposit: 1,
      payment: 1,
      job: 1,
      event: 1,
      search_entry: expect.any(Number),
      idempotency: 1,
    });
    expect(counts.search_entry).toBeGreaterThanOrEqual(5);
    expect(await eventsOf(root, partner)).toEqual(await eventsOf(root, payer));
  });

  it('refuses all for one that is refused, or has an argument that is not declared', async () => {
    const before = await world.sql`select from deposit`;
    const two = async (more: object) =>
      call(
        'create_deposits',
        root.tenantId,
        false,
        10_000,
        jsonList([{}, {}]),
        jsonList([await argsOf(31), await argsOf(32, more)]),
      );
    const metadata = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, 'v']));
    expect(await refusal(two({ metadata }))).toBe('parameter_invalid deposit.metadata');
    await expect(two({ amuont: '1' })).rejects.toThrow('create_deposits: "amuont" is not declared');
    expect((await world.sql`select from deposit`).length).toBe(before.length);
  });
});

of('answer_of_deposit', () => {
  it('has the amounts as text', async () => {
    const { id } = await create(9_007_199_254_740_993n);
    const [{ row }] = (await world.sql`
      select to_jsonb(d)::text as row from deposit d where tenant_id = ${root.tenantId} and id = ${id}`) as [Row];
    expect(await value('answer_of_deposit', row)).toMatchObject({
      ...{ id, amount: '9007199254740993', pending_rest: '0', disputed: '0', version: 0 },
    });
  });
});

of('envelope_of_write', () => {
  it('is under its name, or where a gateway of the previous release sends it', async () => {
    expect(await value('envelope_of_write', json({ envelope: { key: 'a' } }))).toEqual({ key: 'a' });
    expect(await value('envelope_of_write', json({ call: { key: 'b' } }))).toEqual({ key: 'b' });
  });
});

const creation = (args: object, key: string) => ({ fn: 'create_deposit', envelope: envelopeOf(key), args });

of('create_first_deposits', () => {
  // The time is for the wait for locks alone, and not for the checks.
  const places = (...writes: object[]) => [root.tenantId, false, 0, json(writes)] as const;
  const first = async (...writes: object[]): Promise<number> => {
    const [row] = await world.sql.unsafe(
      'select cardinality(create_first_deposits($1, $2, $3, $4::text::jsonb)) as count',
      [...places(...writes)],
    );
    return row!.count;
  };

  it('creates those with which the writes begin', async () => {
    const [one, two, three] = await Promise.all(
      [41, 42, 43].map(async (amount) => creation(await argsOf(amount), `key_${amount}`)),
    );
    await call('create_first_deposits', ...places(one!, two!, { fn: 'move_deposit' }, three!));
    expect(await stored('deposit', root, '42', 'amount::text')).toMatchObject({ status: 'initialized' });
    expect(await stored('deposit', root, '43', 'amount::text')).toBeUndefined();
    expect(await first(three!, creation(await argsOf(44), 'key_44'))).toBe(2);
  });

  it('creates none when there is but one, or when one of them is refused', async () => {
    const one = creation(await argsOf(45), 'key_45');
    expect([await first(), await first(one), await first({ fn: 'move_deposit' }, one, one)]).toEqual([0, 0, 0]);
    expect(await first(creation(await argsOf(46), 'key_46'), one, one)).toBe(0);
    expect(await stored('deposit', root, '46', 'amount::text')).toBeUndefined();
  });

  it('waits for all their locks no longer than for one, and leaves the limit as it was to other writes', async () => {
    const payers = await Promise.all([1, 2].map(() => makeAccount(fixture, root)));
    const writes = await Promise.all(
      payers.map(async ({ id }, n) => creation(await argsOf(47, { fromAccountId: id }), `key_47_${n}`)),
    );
    const limitAfter = (fn: string, milliseconds: number) =>
      world.sql.begin(async (tx) => {
        const values = [root.tenantId, milliseconds, json(writes)];
        await tx`set local lock_timeout = 77`;
        await tx.unsafe(`select ${fn}($1, false, $2, $3::text::jsonb)`, values);
        return (await tx`select current_setting('lock_timeout') as limit`)[0]!.limit as string;
      });
    expect(await limitAfter('create_first_deposits', 0)).toBe('77ms');
    for (const write of writes) write.envelope.key += '_again';
    expect(await limitAfter('write_deposits', 99)).toBe('99ms');
    for (const write of writes) write.envelope.key += '_late';
    const late = (milliseconds: number) =>
      world.sql.unsafe('select create_deposits($1, false, $2, $3, $4)', [
        ...[root.tenantId, milliseconds, jsonList([{}, {}]), jsonList(writes.map(({ args }) => args))],
      ]);
    await world.sql.begin(async (tx) => {
      await lockRow(tx, root, 'account', payers[1]!.id);
      for (const milliseconds of [0, 50]) await expect(late(milliseconds)).rejects.toMatchObject({ code: '55P03' });
    });
    expect(await late(0)).toHaveLength(2);
  });
});

of('lock_payer', () => {
  it('returns what a wait has left of its time, and takes nothing for a lock that is free', async () => {
    const { id } = await makeAccount(fixture, root);
    const lock = (milliseconds: number) => value('lock_payer', root.tenantId, false, id, milliseconds);
    expect(await lock(0)).toBe(0);
    const { left } = await world.sql.begin(async (tx) => {
      await lockRow(tx, root, 'account', id);
      const waiting = lock(60_000);
      await statementsWaiting(world, 1);
      await tx`select pg_sleep(0.2)`;
      return { left: waiting };
    });
    expect(await left).toBeLessThanOrEqual(59_800);
    await world.sql.begin(async (tx) => {
      const limit = async () => (await tx`select current_setting('lock_timeout') as limit`)[0]!.limit as string;
      const before = await limit();
      await tx`select lock_payer(${root.tenantId}, false, ${id}, 1234)`;
      expect(await limit()).toBe(before);
    });
  });
});

of('lock_balances_of_writes', () => {
  it('locks the balances that the writes may change, and makes none', async () => {
    const made = await create(40n);
    await complete(made);
    const other = (await makeAccount(fixture, root)).id;
    const { id: unpaid } = await create(41n, { toAccountId: other });
    const lock = (...writes: object[]) =>
      world.sql.begin(async (tx) => {
        await tx`select lock_balances_of_writes(${root.tenantId}, false, ${json(writes)}::text::jsonb)`;
        const free = await world.sql`
          select currency from balance
          where tenant_id = ${root.tenantId} and not livemode and account_id = ${root.id} for update skip locked`;
        return free.some(({ currency }) => currency === 'USD') ? 'free' : 'locked';
      });
    expect(await lock({ fn: 'reconcile_deposit', args: { id: made.id } })).toBe('locked');
    expect(await lock({ fn: 'move_deposit', args: { id: made.id, to: 'reversed' } })).toBe('locked');
    expect(await lock({ fn: 'move_deposit', args: { id: made.id, to: 'failed' } })).toBe('free');
    await call('lock_balances_of_writes', root.tenantId, false, json([{ args: { id: unpaid, to: 'completed' } }]));
    expect(await stored('balance', root, other, 'account_id')).toBeUndefined();
  });

  // A join with the writes was planned as a scan of all deposits and all balances of the tenant. What a cluster's node
  // reads is not in the statistics of the coordinator.
  it.runIf(inject('distributed') === undefined)(
    'finds deposits and balances by their keys, with a plan from before the tables grew',
    async () => {
      const partner = (await makeAccount(fixture, root)).id;
      const made = await deposit(42n, { toAccountId: partner });
      const writes = json(Array.from({ length: 16 }, () => ({ fn: 'reconcile_deposit', args: { id: made.id } })));
      const session = await world.sql.reserve();
      try {
        await session.unsafe(`${rowsMore(1, 1_000)}; analyze deposit, balance`);
        // After five calls the session keeps a plan.
        for (let n = 0; n < 8; n++)
          await session`select lock_balances_of_writes(${root.tenantId}, false, ${writes}::text::jsonb)`;
        await session.unsafe(rowsMore(1_001, 3_000));
        const read = async () => {
          const rows = await session`
          select relname, seq_tup_read::int as scanned, idx_tup_fetch::int as found from pg_stat_xact_user_tables
          where relname in ('deposit', 'balance') order by relname`;
          return rows.flatMap(({ scanned, found }) => [scanned, found] as [number, number]);
        };
        await session`begin`;
        const before = await read();
        await session`select lock_balances_of_writes(${root.tenantId}, false, ${writes}::text::jsonb)`;
        const [balances, ...rest] = (await read()).map((rows, n) => rows - before[n]!);
        await session`rollback`;
        const [balancesFound, deposits, depositsFound] = rest;
        // The partner's and its owner's balance.
        expect([balances, balancesFound! <= 4, deposits, depositsFound]).toEqual([0, true, 0, 1]);
      } finally {
        session.release();
      }
    },
  );
});

/** Inserts other deposits and balances of the tenant: copies of one that there is, with numbers. */
const rowsMore = (from: number, to: number) => `
  insert into balance (tenant_id, livemode, account_id, currency, owner_id, of_partner, context_id, on_root_list)
  select b.tenant_id, b.livemode, b.account_id, 'X' || n, b.owner_id, b.of_partner, b.context_id, b.on_root_list
  from (select * from balance order by account_id limit 1) b, generate_series(${from}, ${to}) n;
  insert into deposit (tenant_id, livemode, id, created, amount, currency, to_account_id, payment_method,
    statement_descriptor, status, payment_id, context_id, on_root_list)
  select d.tenant_id, d.livemode, d.id || n, d.created, d.amount, d.currency, d.to_account_id, d.payment_method,
    d.statement_descriptor, d.status, d.payment_id, d.context_id, d.on_root_list
  from (select * from deposit order by id limit 1) d, generate_series(${from}, ${to}) n`;

of('write_deposits', () => {
  const severalWithin = (milliseconds: number, ...writes: object[]) =>
    call('write_deposits', root.tenantId, false, milliseconds, json(writes));
  const several = (...writes: object[]) => severalWithin(10_000, ...writes);
  const move_ = (id: string, to: string, more: object = {}) => ({
    ...{ fn: 'move_deposit', envelope: {}, args: { id, from: ['initialized', 'processing'], to } },
    ...more,
  });

  it('returns each row or refusal at its place, and leaves out what met another error', async () => {
    const [first, second] = [await create(7n), await create(8n)];
    const rows = await several(
      move_(first.id, 'completed'),
      move_(first.id, 'completed'),
      move_(second.id, 'completed', { fn: 'pay_out' }),
      move_(second.id, 'completed', { args: { id: second.id } }),
      move_(second.id, 'processing'),
    );
    expect(rows).toEqual([
      { place: 0, refused: null, problems: null, answer: expect.objectContaining({ id: first.id, amount: '7' }) },
      { place: 1, refused: 'TG400', problems: expect.stringContaining('"deposit.status"'), answer: null },
      { place: 4, refused: null, problems: null, answer: expect.objectContaining({ status: 'processing' }) },
    ]);
    expect(await stored('deposit', root, first.id)).toMatchObject({ status: 'completed', pending_rest: '7' });
    expect(await stored('deposit', root, second.id)).toMatchObject({ status: 'processing' });
    expect(await eventsOf(root, second.id)).toEqual(['deposit.initialized', 'deposit.processing']);
  });

  it('reads the write envelope where a gateway of the previous version sends it', async () => {
    const { id } = await create(9n);
    const { envelope, ...rest } = move_(id, 'processing');
    const sent = (requestId: string) => ({ ...envelope, requestId });
    const requestOf = async (type: string) =>
      (await world.sql`select request_id from event where object_id = ${id} and type = ${type}`)[0]!.request_id;
    expect(await several({ ...rest, call: sent('req_before') })).toMatchObject([{ place: 0, refused: null }]);
    expect(await requestOf('deposit.processing')).toBe('req_before');
    expect(await several(move_(id, 'completed', { envelope: sent('req_now') }))).toMatchObject([{ refused: null }]);
    expect(await requestOf('deposit.completed')).toBe('req_now');
  });

  it('stops at a lock, and does nothing when a balance is locked', async () => {
    const made = [await create(1n), await create(2n), await create(3n)];
    const [a, b, c] = made.map(({ id }) => move_(id, 'processing'));
    const places = async (lock: string, ...writes: object[]) =>
      world.sql.begin(async (tx) => {
        await tx.unsafe(lock);
        return (await severalWithin(100, ...writes)).map(({ place }) => place);
      });
    const locked = (table: string, column: string, id: string) =>
      `select from ${table} where tenant_id = '${root.tenantId}' and not livemode and ${column} = '${id}' for update`;
    expect(await places(locked('deposit', 'id', made[1]!.id), a!, b!, c!)).toEqual([0]);
    const completes = move_(made[2]!.id, 'completed');
    expect(await places(locked('balance', 'account_id', root.id), b!, completes)).toEqual([]);
    expect(await stored('deposit', root, made[1]!.id)).toMatchObject({ status: 'initialized' });
  });

  it('creates deposits together, as one subtransaction, and each in its own when one is refused', async () => {
    const writes = async (...amounts: number[]) =>
      Promise.all(amounts.map(async (amount) => creation(await argsOf(amount), `key_${amount}`)));
    const subtransactions = async (from: number, to: number) => {
      const rows = await world.sql`select count(distinct xmin::text)::int as count from deposit
        where amount between ${from} and ${to}`;
      return rows[0]!.count;
    };
    const { id } = await create(9n);
    const good = await several(...(await writes(101, 102, 103)), move_(id, 'completed'));
    expect(good.map(({ place, refused, answer }) => [place, refused, answer.amount])).toEqual([
      ...[0, 1, 2].map((place) => [place, null, `${101 + place}`]),
      [3, null, '9'],
    ]);
    expect(await subtransactions(101, 103)).toBe(1);
    const used = await several(...(await writes(104, 101, 106)));
    expect(used.map(({ place, refused }) => [place, refused])).toEqual([
      ...[
        [0, null],
        [1, 'TG409'],
        [2, null],
      ],
    ]);
    expect(await subtransactions(104, 106)).toBe(2);
  });
});
