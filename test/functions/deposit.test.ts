import { describe, expect, it } from 'vitest';
import { makeAccount, moneyOf, refusal, type Row, useFunctions, useRoot, violations } from './fixture.js';
import { jobsTried } from '../support/jobs.js';

const fixture = useFunctions();
const { world, of, call, value, write, rowText, jobText, stored, jobsOf, eventsOf } = fixture;
const root = useRoot(fixture, 'user', 1);
const { addressOf, create, deposit, receivable, reconcile, reconciled, balance } = moneyOf(fixture, root);
const json = (object: unknown) => JSON.stringify(object);
const kindsOf = async (id: string) => (await jobsOf(root, id)).map(({ kind }) => kind);
const textOf = ({ id }: Row) => rowText('deposit', root, id);
const funds = () => balance(root.id);
/** The change of a compartment of the root by a step. */
const change = async (compartment: string, step: () => Promise<unknown>): Promise<number> => {
  const before = Number((await funds())[compartment] ?? 0);
  await step();
  return Number((await funds())[compartment] ?? 0) - before;
};

of('receiver_of', () => {
  it('is a user itself, and the owner of a partner', async () => {
    const { id } = await makeAccount(fixture, root);
    expect(await value('receiver_of', root.tenantId, false, id)).toBe(root.id);
    expect(await value('receiver_of', root.tenantId, false, root.id)).toBe(root.id);
    expect(await value('receiver_of', root.tenantId, false, 'account_none')).toBeNull();
  });
});

of('payment_address', () => {
  it('creates the address of a method once, and finds it again', async () => {
    const { id } = await makeAccount(fixture, root);
    const address = async (method: string) =>
      value('payment_address', root.tenantId, false, '{}', await rowText('account', root, id), method, 'USD');
    const [wallet, bank] = [await address('klarna'), await address('domestic_credit')];
    expect(await stored('address', root, wallet)).toMatchObject({ type: 'wallet', wallet: { provider: 'klarna' } });
    expect(await address('klarna')).toBe(wallet);
    expect(await address('affirm')).not.toBe(wallet);
    expect(await stored('address', root, bank)).toMatchObject({ type: 'bank_account', is_reusable: false });
    expect(await address('domestic_debit')).toBe(bank);
    expect(await stored('address', root, bank)).toMatchObject({ is_reusable: true });
    expect(await stored('address', root, await address('upi'))).toMatchObject({ vpa: { id: 'payer@sandbox' } });
  });
});

of('insert_deposit', () => {
  it('stores a deposit as it is given, with what a new row has by itself, and nothing beside it', async () => {
    const text = await textOf(await deposit(40n));
    const id = 'deposit_inserted';
    const [given] = await world.sql`
      select jsonb_populate_record(${text}::deposit, ${json({ id, disputed: 7, version: 9 })}::text::jsonb)::text as d`;
    const [made] = await call('insert_deposit', root.tenantId, false, given!.d);
    expect(made).toMatchObject({ id, amount: '40', status: 'completed', disputed: '0', version: '0' });
    expect(await stored('deposit', root, id)).toMatchObject({ id, amount: '40', disputed: '0' });
    expect([await kindsOf(id), await eventsOf(root, id)]).toEqual([[], []]);
    // Its money is the caller's, and this one has none.
    await world.sql`delete from deposit where tenant_id = ${root.tenantId} and id = ${id}`;
    await world.sql`delete from search_entry where tenant_id = ${root.tenantId} and id = ${id}`;
  });
});

of('create_deposit', () => {
  it('creates a deposit with its payment, its job and its event', async () => {
    const partner = await makeAccount(fixture, root);
    const made = await create(500n, { fromAccountId: partner.id, metadata: { a: '1' }, statementDescriptor: 'INV' });
    expect(made).toMatchObject({ amount: '500', status: 'initialized', metadata: { a: '1' }, pending_rest: '0' });
    expect(await stored('address', root, made.from_address_id)).toMatchObject({ category: 'partner_payment' });
    const payment = await stored('payment', root, made.payment_id);
    expect(payment).toMatchObject({ type: 'deposit', amount: '500', status: 'processing', deposit_id: made.id });
    expect(await kindsOf(made.id)).toEqual(['process_deposit']);
    expect(await eventsOf(root, made.id)).toEqual(['deposit.initialized']);
  });

  it('stores nothing when its metadata is refused', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, 'v']));
    expect(await refusal(create(777n, { metadata }))).toBe('parameter_invalid deposit.metadata');
    expect(await stored('payment', root, '777', 'amount::text')).toBeUndefined();
  });
});

of('deposit_of_args', () => {
  it('is the row of a deposit without its time and its payment, which is not stored', async () => {
    const partner = (await makeAccount(fixture, root)).id;
    const args = {
      ...{ toAccountId: root.id, toAddressId: null, fromAccountId: partner, fromAddressId: null, amount: '12' },
      ...{ currency: 'USD', paymentMethod: 'domestic_credit', metadata: { a: '1' } },
    };
    const [row] = await call(
      'deposit_of_args',
      ...([root.tenantId, false, '{}', await rowText('account', root, root.id), json(args)] as const),
    );
    expect(row).toMatchObject({ amount: '12', from_account_id: partner, status: 'initialized', metadata: { a: '1' } });
    expect(row).toMatchObject({ created: null, payment_id: null, statement_descriptor: '', on_root_list: true });
    expect(row!.to_address_id).toBe((await addressOf(root.id))[0]!.id);
    expect(await stored('address', root, row!.from_address_id)).toMatchObject({ linked_id: partner });
    expect(await stored('deposit', root, row!.id)).toBeUndefined();
  });
});

of('deposit_destination', () => {
  it('is the newest usable address, preferably in the currency, of an account that the caller sees', async () => {
    const to = (actingAccount: string | null, currency = 'USD', account: string = root.id) =>
      create(5n, { toAccountId: account, toAddressId: null, currency, visibleTo: actingAccount });
    const [address] = await addressOf(root.id);
    expect((await to(root.id)).to_address_id).toBe(address!.id);
    const owner = await rowText('account', root, root.id);
    const [euro] = await call(
      'insert_address',
      root.tenantId,
      false,
      '{}',
      owner,
      'service_receive',
      'bank_account',
      'EUR',
    );
    expect((await to(null)).to_address_id).toBe(address!.id);
    expect((await to(null, 'EUR')).to_address_id).toBe(euro!.id);
    expect((await to(null, 'GBP')).to_address_id).toBe(euro!.id);
    await world.sql`delete from address where id = ${euro!.id}`;
    const find = async (account: string, actingAccount: string | null) =>
      refusal(call('deposit_destination', root.tenantId, false, account, 'USD', actingAccount));
    expect(await find(owner, 'account_other')).toBe('resource_missing deposit.to.account_id');
    expect(await refusal(to(null, 'USD', 'account_none'))).toBe('resource_missing deposit.to.account_id');
    const partner = await rowText('account', root, (await makeAccount(fixture, root)).id);
    expect(await find(partner, null)).toBe('address_unusable deposit.to.account_id');
  });
});

of('category_of', () => {
  it('is pending, but for the fee advance address of a platform', async () => {
    const made = await create(5n);
    expect(await value('category_of', root.tenantId, false, await textOf(made))).toBe('pending');
    const owner = await rowText('account', root, root.id);
    const fee = ['service_fee_advance', 'bank_account', 'USD'] as const;
    const [address] = await call('insert_address', root.tenantId, false, '{}', owner, ...fee);
    const advance = await create(5n, { toAddressId: address!.id });
    expect(await value('category_of', root.tenantId, false, await textOf(advance))).toBe('fee_advance');
  });
});

const move = ({ id }: Row, from: string[], to: string) => write(root, 'move_deposit', { id, from, to });

of('move_deposit', () => {
  it('has the time after the wait for its locks', async () => {
    const { id } = await create(2n);
    let moving: Promise<Row> | undefined;
    const released = await world.sql.begin(async (sql) => {
      await sql`select from deposit where tenant_id = ${root.tenantId} and not livemode and id = ${id} for update`;
      moving = move({ id }, ['initialized'], 'processing');
      await sql`select pg_sleep(1.1)`;
      const [row] = await sql`select floor(date_part('epoch', clock_timestamp()))::bigint as seconds`;
      return Number(row!.seconds);
    });
    expect(Number((await moving!).updated_at)).toBeGreaterThanOrEqual(released);
  });

  it('posts the money of a completed deposit, through `processing`', async () => {
    const made = await create(40n);
    expect(await change('pending', () => move(made, ['initialized', 'processing'], 'completed'))).toBe(40);
    expect(await stored('deposit', root, made.id)).toMatchObject({ status: 'completed', pending_rest: '40' });
    expect(await stored('payment', root, made.payment_id)).toMatchObject({ status: 'completed' });
    const types = ['deposit.initialized', 'deposit.processing', 'deposit.completed'];
    expect(await eventsOf(root, made.id)).toEqual(types);
  });

  it('takes all money of a reversed deposit back', async () => {
    const made = await deposit(40n);
    expect(await change('pending', () => move(made, ['completed'], 'reversed'))).toBe(-40);
    expect(await stored('deposit', root, made.id)).toMatchObject({ status: 'reversed', pending_rest: '0' });
  });

  it('refuses another status than the given ones', async () => {
    const made = await deposit(1n);
    expect(await refusal(move(made, ['processing'], 'failed'))).toBe('status_invalid deposit.status');
  });
});

of('create_receivable', () => {
  it('creates an open receivable', async () => {
    const made = await receivable(100n, { description: 'Spices', metadata: { a: '1' } });
    expect(made).toMatchObject({ status: 'open', amount_reconcilable: '100', description: 'Spices' });
    expect(await eventsOf(root, made.id)).toEqual(['receivable.created']);
  });

  it('has a customer of the same tenant and mode', async () => {
    const [other] = await world.sql`select id from account where tenant_id <> ${root.tenantId} limit 1`;
    for (const customerId of ['account_none', ...(other ? [other.id as string] : [])])
      await expect(receivable(100n, { customerId })).rejects.toMatchObject({ code: '23503' });
  });

  it('refuses a live receivable of an account that is not activated', async () => {
    const live = moneyOf(fixture, { ...root, live: true }).receivable(1n);
    expect(await refusal(live)).toBe('status_invalid receivable.account_id');
  });
});

of('update_receivable', () => {
  const update = (id: string, amount: bigint | null) =>
    write(root, 'update_receivable', { id, amountMaximumReconcilable: amount });

  it('lowers and raises the maximum within the invoice, and changes the description', async () => {
    const { id } = await receivable(100n);
    expect(await update(id, 60n)).toMatchObject({ amount_maximum_reconcilable: '60' });
    expect(await update(id, 100n)).toMatchObject({ amount_maximum_reconcilable: '100' });
    expect(await write(root, 'update_receivable', { id, description: null })).toMatchObject({ description: null });
  });

  it('never sets the time of a change back, although its clock is behind', async () => {
    const { id } = await receivable(100n);
    const { updated_at } = await update(id, 99n);
    const later = Number(updated_at) + 1_000;
    await world.sql`update receivable set updated_at = ${later} where id = ${id}`;
    expect(await update(id, 98n)).toMatchObject({ amount_maximum_reconcilable: '98', updated_at: String(later) });
  });

  it('refuses more than the invoice, less than what is locked, and a void receivable', async () => {
    const { receivable: locked } = await reconciled(100n);
    const field = 'amount_exceeds_reconcilable receivable.amount_maximum_reconcilable';
    expect(await refusal(update(locked, 101n))).toBe(field);
    expect(await refusal(update(locked, 99n))).toBe(field);
    const { id } = await receivable(5n);
    await write(root, 'void_receivable', { id });
    expect(await refusal(update(id, 4n))).toBe('status_invalid receivable.status');
  });
});

of('void_receivable', () => {
  it('voids a receivable that has no money, and refuses any other', async () => {
    const { id } = await receivable(5n);
    expect(await write(root, 'void_receivable', { id })).toMatchObject({ status: 'void', amount_reconcilable: '0' });
    const { receivable: locked } = await reconciled(5n);
    expect(await refusal(write(root, 'void_receivable', { id: locked }))).toBe('status_invalid receivable.status');
  });
});

of('change_receivable', () => {
  it('adds to the locked and settled amounts', async () => {
    const { id } = await receivable(50n);
    await call('change_receivable', root.tenantId, false, '{}', id, 20, 5);
    expect(await stored('receivable', root, id)).toMatchObject({ amount_locked: '20', amount_settled_payouts: '5' });
    expect(await eventsOf(root, id)).toEqual(['receivable.created', 'receivable.updated']);
    await call('change_receivable', root.tenantId, false, '{}', id, -20, -5);
  });
});

of('reconcile_deposit', () => {
  it('moves money to the available funds, and locks the receivables', async () => {
    const [paid, one, two] = [await deposit(100n), await receivable(60n), await receivable(30n)];
    const shares = [one, two].map(({ id }, i) => ({ id, amount: i === 0 ? 60n : 20n }));
    expect(await change('available', () => reconcile(paid, shares))).toBe(80);
    expect(await stored('deposit', root, paid.id)).toMatchObject({ pending_rest: '20' });
    expect(await stored('receivable', root, one.id)).toMatchObject({ status: 'locked', amount_locked: '60' });
    expect(await stored('receivable', root, two.id)).toMatchObject({ deposit_ids_amount_locked: [paid.id] });
  });

  it('refuses a deposit that is not completed, a void receivable, and more than there is', async () => {
    const [paid, open] = [await deposit(10n), await receivable(100n)];
    const share = (amount: bigint) => [{ id: open.id, amount }];
    expect(await refusal(reconcile(await create(10n), share(1n)))).toBe('status_invalid deposit.status');
    const { id } = await receivable(10n);
    await write(root, 'void_receivable', { id });
    expect(await refusal(reconcile(paid, [{ id, amount: 1n }]))).toBe('status_invalid deposit.receivables');
    expect(await refusal(reconcile(paid, share(11n)))).toBe(
      'amount_exceeds_reconcilable deposit.receivables[0].amount',
    );
  });
});

of('refuse_shares', () => {
  it('names each share with which a limit is passed', async () => {
    const [paid, { id }] = [await deposit(100n), await receivable(50n)];
    const check = async (...amounts: string[]) =>
      call(
        ...(['refuse_shares', root.tenantId, false, await textOf(paid)] as const),
        json(amounts.map((amount) => ({ id, amount }))),
      );
    await check('25', '25');
    await expect(check('25', '26', '1')).rejects.toMatchObject({
      problems: [{ code: 'amount_exceeds_reconcilable', field: 'deposit.receivables[1].amount' }],
    });
    await expect(check('51', '50')).rejects.toMatchObject({
      problems: [{ field: 'deposit.receivables[0].amount' }, { field: 'deposit.receivables[1].amount' }],
    });
  });
});

of('lock_money_of', () => {
  it('creates and locks the balances of the account and of its receiver', async () => {
    const partner = await makeAccount(fixture, root);
    const owner = await rowText('account', root, partner.id);
    const receive = ['service_receive', 'bank_account', 'EUR'] as const;
    const [address] = await call('insert_address', root.tenantId, false, '{}', owner, ...receive);
    const made = await create(5n, { toAccountId: partner.id, toAddressId: address!.id, currency: 'EUR' });
    await call('lock_money_of', root.tenantId, false, await textOf(made));
    for (const id of [partner.id, root.id])
      expect(await stored('balance', root, `${id} EUR`, "account_id || ' ' || currency")).toMatchObject({
        available: '0',
      });
  });
});

of('lock_receivable', () => {
  const lock = async (paid: Row, id: string, amount: number) =>
    call('lock_receivable', root.tenantId, false, '{}', await textOf(paid), id, amount, 'deposit.receivables');

  it('refuses more than the receivable can take, and a void one', async () => {
    const [paid, { id }] = [await deposit(100n), await receivable(10n)];
    expect(await refusal(lock(paid, id, 11))).toBe('amount_exceeds_reconcilable deposit.receivables');
    await write(root, 'void_receivable', { id });
    expect(await refusal(lock(paid, id, 1))).toBe('status_invalid deposit.receivables');
  });

  // A gateway of an earlier release does not check the currency of a reconciled deposit.
  it('refuses a share that the currency cannot have', async () => {
    const yen = { currency: 'JPY', invoice: { amount: '10000', currency: 'JPY' } };
    const [paid, { id }] = [await deposit(10_000n, { currency: 'JPY' }), await receivable(10_000n, yen)];
    expect(await refusal(lock(paid, id, 1_050))).toBe('parameter_invalid deposit.receivables');
    expect(await refusal(reconcile(paid, [{ id, amount: 1_050n }]))).toBe('parameter_invalid deposit.receivables');
  });

  it('locks its share in the open batch of the account', async () => {
    const [paid, { id }] = [await deposit(10n), await receivable(10n)];
    await lock(paid, id, 10);
    const [held] = [await stored('receivable_lock', root, id, 'receivable_id')];
    expect(held).toMatchObject({ deposit_id: paid.id, amount: '10', settled: false });
    expect(await stored('lock_batch', root, held.batch_id)).toMatchObject({ held_in: 'USD', payout_id: null });
    // The caller makes the money available.
    await call('make_available', root.tenantId, false, '{}', paid.id, 10);
  });
});

of('open_lock_batch', () => {
  it('is the same batch until a payout takes it along', async () => {
    const open = (currency: string) => value('open_lock_batch', root.tenantId, false, root.id, currency);
    const batch = await open('GBP');
    expect(await open('GBP')).toBe(batch);
    expect(await open('SGD')).not.toBe(batch);
  });
});

of('make_available', () => {
  it('moves pending money to the available funds, and schedules a payout', async () => {
    const paid = await deposit(30n);
    const available = () => call('make_available', root.tenantId, false, '{}', paid.id, 20);
    expect(await change('available', available)).toBe(20);
    expect(await kindsOf(root.id)).toContain('pay_out');
    expect(await refusal(available())).toBe('amount_exceeds_reconcilable deposit.receivables');
  });
});

it('leaves no contradiction in the ledger', async () => {
  expect(await violations(fixture)).toHaveLength(0);
});

describe('the jobs of a deposit', () => {
  const root = useRoot(fixture, 'platform', 1);
  const { create } = moneyOf(fixture, root);
  const kindsOf = async (id: string) => (await jobsOf(root, id)).map(({ kind }) => kind);
  const statusOf = async (id: string) => (await stored('deposit', root, id)).status as string;
  const move = ({ id }: Row, from: string[], to: string) => write(root, 'move_deposit', { id, from, to });
  const processing = async (amount: bigint) => move(await create(amount), ['initialized'], 'processing');

  of('job_process_deposit', () => {
    const process = async ({ id }: Row) =>
      call('job_process_deposit', root.tenantId, false, await jobText('process_deposit', id));

    it('begins to process a deposit once, and enqueues its completion', async () => {
      const made = await create(3n);
      await process(made);
      await process(made);
      expect(await stored('deposit', root, made.id)).toMatchObject({ status: 'processing' });
      expect(await kindsOf(made.id)).toEqual(['process_deposit', 'complete_deposit']);
      const [begun, next] = await jobsOf(root, made.id);
      expect(Number(next!.due)).toBeGreaterThan(Number(begun!.created));
    });

    // The test helper `process` moves a deposit before the sandbox does.
    it('completes a deposit that a client has begun to process', async () => {
      const ids = [await processing(3n), await processing(4n)].map(({ id }) => id as string);
      const run = async () => {
        await world.sql`update job set due = 0
        where tenant_id = ${root.tenantId} and not livemode and subject_id in ${world.sql(ids)}`;
        // A call begins no job after its first second.
        while (Number(await value('run_jobs', root.tenantId, false, 50)) > 0);
      };
      await run();
      for (const id of ids) expect(await kindsOf(id)).toEqual(['complete_deposit']);
      await run();
      for (const id of ids) expect([await statusOf(id), await kindsOf(id)]).toEqual(['completed', []]);
    });

    it('leaves one alone that a helper has completed or failed meanwhile', async () => {
      for (const to of ['completed', 'failed']) {
        const made = await processing(3n);
        await process(made);
        await move(made, ['processing'], to);
        await call('job_complete_deposit', root.tenantId, false, await jobText('complete_deposit', made.id));
        await world.sql`delete from job where tenant_id = ${root.tenantId} and kind = 'complete_deposit'`;
        await process(made);
        expect([await statusOf(made.id), await kindsOf(made.id)]).toEqual([to, ['process_deposit']]);
      }
    });
  });

  of('job_complete_deposit', () => {
    it('completes a deposit that is being processed, and no other', async () => {
      const made = await create(3n);
      const job = await jobText('complete_deposit', made.id);
      await call('job_complete_deposit', root.tenantId, false, job);
      expect(await stored('deposit', root, made.id)).toMatchObject({ status: 'initialized' });
      await move(made, ['initialized'], 'processing');
      await call('job_complete_deposit', root.tenantId, false, job);
      expect(await stored('deposit', root, made.id)).toMatchObject({ status: 'completed' });
    });

    it('completes the others when one of them meets an error', async () => {
      const [one, bad, other] = [await processing(24n), await processing(25n), await processing(26n)] as const;
      await world.sql`delete from job where tenant_id = ${root.tenantId}`;
      for (const { id } of [one, bad, other])
        await call('enqueue', root.tenantId, false, 'complete_deposit', id, 0, '{}');
      await world.sql`insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id)
      values (${root.tenantId}, false, 'posting_before', 0, 'deposit', ${bad.id}, ${bad.payment_id})`;
      const rows = await jobsTried(world, root.tenantId);
      expect(rows.map((row) => row.job_error)).toEqual([null, 'state_conflict', null]);
      expect(await Promise.all([one, bad, other].map(({ id }) => statusOf(id)))).toEqual([
        ...['completed', 'processing', 'completed'],
      ]);
      await world.sql.unsafe(`grant delete on posting to current_user`);
      await world.sql`delete from posting where tenant_id = ${root.tenantId} and id = 'posting_before'`;
      await world.sql.unsafe(`revoke delete on posting from current_user`);
    });
  });

  it('leaves no contradiction in the ledger', async () => {
    expect(await violations(fixture)).toHaveLength(0);
  });
});
