import { expect, it } from 'vitest';
import { pollsEnded } from '../../src/jobs/table.js';
import { statementsWaiting } from '../support/world.js';
import {
  lockedInOrder,
  lockRow,
  makeAccount,
  moneyOf,
  refusal,
  type Row,
  useFunctions,
  useRoot,
  violations,
} from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, rowText, jobText, stored, jobsOf, eventsOf } = fixture;
const root = useRoot(fixture, 'user', 2);
const { receivable, balance } = moneyOf(fixture, root);
const json = (object: unknown) => JSON.stringify(object);
const kindsOf = async (id: string) => (await jobsOf(root, id)).map(({ kind }) => kind);
/** Texts as an array. */
const textArray = (texts: string[]) => `{${texts.map((text) => JSON.stringify(text)).join()}}`;
const card = { cards: { last4: '4242' } };
const inr = { currency: 'INR' };

let payer: string | undefined;
const partner = async () => (payer ??= (await makeAccount(fixture, root)).id);
const create = async (more: object = {}): Promise<Row> => {
  const { id } = await receivable(100n, inr);
  return write(root, 'create_checkout', {
    ...{ amount: 100n, grossAmount: 103n, currency: 'INR', fromAccountId: await partner(), toAccountId: root.id },
    ...{ paymentMethods: ['cards', 'upi'], receivableIds: [id], redirectUrl: 'https://shop.example/', seconds: 600 },
    ...more,
  });
};
let keys = 0;
const begin = ({ id }: Row, more: object = {}): Promise<Row> =>
  write(root, 'begin_transaction', {
    ...{ checkoutId: id, attemptKey: `key ${++keys}`, paymentMethod: 'card', details: card, seconds: 300, ...more },
  });
const reload = ({ id }: Row) => stored('checkout', root, id);
const attempt = ({ id }: Row) => stored('transaction', root, id);
/** Makes the time of a checkout, and of its attempts, be over. */
const expire = async ({ id }: Row) => {
  await world.sql`update checkout set expires_at = created - 1 where id = ${id}`;
  await world.sql`update transaction set expires_at = created - 1 where checkout_id = ${id}`;
};

/** Calls while the row of a checkout is locked, and ends the time of the checkout before it gives the lock back. */
const overWhileItWaits = async ({ id }: Row, ask: () => Promise<Row>): Promise<string> => {
  const offset = (seconds: number) => world.sql`
    insert into test_clock (tenant_id, livemode, offset_seconds, now) values (${root.tenantId}, false, ${seconds}, 0)
    on conflict (tenant_id, livemode) do update set offset_seconds = test_clock.offset_seconds + ${seconds}`;
  const { asked } = await world.sql.begin(async (tx) => {
    await lockRow(tx, root, 'checkout', id);
    const asked = refusal(ask());
    await statementsWaiting(world, 1);
    await offset(601);
    return { asked };
  });
  return asked.finally(() => offset(-601));
};

of('checkout_address', () => {
  it('is created with the first checkout of a partner, and found again', async () => {
    const { id } = await makeAccount(fixture, root);
    const find = async () => value('checkout_address', root.tenantId, false, '{}', await rowText('account', root, id));
    const address = await find();
    expect(await find()).toBe(address);
    expect(await stored('address', root, address)).toMatchObject({ category: 'service_checkout', name: 'Acme' });
  });
});

of('create_checkout', () => {
  it('creates a checkout of its receivables, which expires by a job', async () => {
    const made = await create({ metadata: { a: '1' } });
    expect(made).toMatchObject({ status: 'initialized', amount: '100', gross_amount: '103', metadata: { a: '1' } });
    expect(Number(made.expires_at) - Number(made.created)).toBe(600);
    const link = await stored('checkout_receivable', root, made.id, 'checkout_id');
    expect(link).toMatchObject({ receivable_id: made.receivable_ids[0], position: 1 });
    expect(await kindsOf(made.id)).toEqual(['expire_checkout']);
    expect(await eventsOf(root, made.id)).toEqual(['checkout.created']);
  });

  it('refuses a partner on hold, a receivable that is not open, and more than the receivables take', async () => {
    const { id: held } = await makeAccount(fixture, root);
    await write(root, 'move_account', { id: held, from: ['draft'], to: 'hold' });
    expect(await refusal(create({ fromAccountId: held }))).toBe('status_invalid checkout.from.account_id');
    const { id } = await receivable(1n, inr);
    await write(root, 'void_receivable', { id });
    expect(await refusal(create({ receivableIds: [id] }))).toBe('status_invalid checkout.receivables[0].id');
    expect(await refusal(create({ amount: 101n }))).toBe('amount_exceeds_reconcilable checkout.amount');
  });
});

of('open_checkout', () => {
  const open = ({ id }: Row) => write(root, 'open_checkout', { id });
  const seconds = async () => {
    const [row] = await world.sql`select clock(${root.tenantId}, false) as now`;
    return Number(row!.now);
  };
  /** Whether an opening so many seconds after the last one is noted, judged within one second of the clock. */
  const notedAfter = async ({ id }: Row, after: number) => {
    for (;;) {
      const now = await seconds();
      await world.sql`update checkout set opened_at = ${now - after} where id = ${id}`;
      const noted = Number((await open({ id })).opened_at) === now;
      if ((await seconds()) === now) return noted;
    }
  };

  it('notes that a page is open, once a minute', async () => {
    const made = await create();
    expect(made.opened_at).toBeNull();
    const first = await open(made);
    expect(Number(first.opened_at)).toBeGreaterThanOrEqual(Number(made.created));
    expect(await notedAfter(made, 59)).toBe(false);
    expect(await notedAfter(made, 60)).toBe(true);
    expect(await eventsOf(root, made.id)).toEqual(['checkout.created']);
  });

  it('notes nothing once the checkout can no longer be paid', async () => {
    const [over, cancelled] = [await create(), await create()];
    await expire(over);
    await write(root, 'end_checkout', { id: cancelled.id, to: 'cancelled' });
    for (const made of [over, cancelled]) expect((await open(made)).opened_at).toBeNull();
  });
});

of('end_checkout', () => {
  it('cancels and expires a checkout, once', async () => {
    const [one, other] = [await create(), await create()];
    const end = ({ id }: Row, to: string) => write(root, 'end_checkout', { id, to });
    expect(await end(one, 'cancelled')).toMatchObject({ status: 'cancelled' });
    expect(await end(other, 'expired')).toMatchObject({ status: 'expired' });
    expect(await eventsOf(root, other.id)).toEqual(['checkout.created', 'checkout.expired']);
    expect(await refusal(end(one, 'expired'))).toBe('status_invalid checkout.status');
  });
});

of('job_expire_checkout', () => {
  it('expires a checkout that is not paid, once', async () => {
    const made = await create();
    const job = await jobText('expire_checkout', made.id);
    await call('job_expire_checkout', root.tenantId, false, job);
    await call('job_expire_checkout', root.tenantId, false, job);
    expect(await reload(made)).toMatchObject({ status: 'expired' });
  });
});

of('insert_transaction', () => {
  it('inserts an attempt that ends with its checkout at the latest', async () => {
    const made = await create();
    const insert = async (seconds: number) => {
      const checkout = await rowText('checkout', root, made.id);
      const key = `inserted ${seconds}`;
      return (await call('insert_transaction', root.tenantId, false, '{}', checkout, key, 'upi', 'null', seconds))[0]!;
    };
    expect(await insert(100_000)).toMatchObject({ expires_at: made.expires_at, payment_method_details: null });
    const short = await insert(60);
    expect(Number(short.expires_at) - Number(short.created)).toBe(60);
    expect(await reload(made)).toMatchObject({ last_tried_at: short.created });
    expect(await kindsOf(short.id)).toEqual(['expire_transaction']);
  });
});

of('begin_transaction', () => {
  it('begins an attempt, and returns it for the same form', async () => {
    const made = await create();
    const begun = await begin(made, { attemptKey: 'same' });
    expect(begun).toMatchObject({ status: 'processing', amount: '103', payment_method: 'card' });
    expect(await begin(made, { attemptKey: 'same' })).toMatchObject({ id: begun.id });
    expect(await kindsOf(begun.id)).toEqual(['expire_transaction', 'inquire_transaction']);
  });

  it('refuses another form with the key, a method, a second attempt, an ended checkout, and too many', async () => {
    const made = await create({ paymentMethods: ['cards'] });
    const conflict = 'state_conflict checkout.effective_transaction';
    expect(await refusal(begin(made, { paymentMethod: 'upi' }))).toBe('parameter_invalid checkout.payment_methods');
    await begin(made, { attemptKey: 'other' });
    expect(await refusal(begin(made, { attemptKey: 'other', details: {} }))).toBe(conflict);
    expect(await refusal(begin(made))).toBe(conflict);
    const codes = await create();
    for (let i = 0; i < 30; i++) await begin(codes, { paymentMethod: 'upi', details: null });
    expect(await refusal(begin(codes))).toBe('rate_limit_exceeded checkout.id');
    await expire(made);
    expect(await refusal(begin(made))).toBe('status_invalid checkout.status');
  });

  it('begins no attempt for a checkout that expires while its row is locked', async () => {
    const made = await create();
    expect(await overWhileItWaits(made, () => begin(made))).toBe('status_invalid checkout.status');
  });
});

const endTransaction = async ({ id }: Row, status: string, reason: string | null = null) =>
  (await call('settle_transaction', root.tenantId, false, '{}', id, status, reason))[0]!;

of('settle_transaction', () => {
  it('ends an attempt once; a success after the expiry counts', async () => {
    const made = await create();
    const begun = await begin(made);
    expect(await endTransaction(begun, 'failed', 'expired')).toMatchObject({ effective_transaction_status: 'failed' });
    await endTransaction(begun, 'failed', 'declined');
    expect(await attempt(begun)).toMatchObject({ status: 'failed', reason_code: 'expired' });
    expect(await endTransaction(begun, 'succeeded')).toMatchObject({ status: 'completed' });
    await endTransaction(begun, 'failed', 'declined');
    expect(await attempt(begun)).toMatchObject({ status: 'succeeded' });
  });
});

of('credit_checkout', () => {
  const credit = async (checkout: Row, begun: Row) => {
    const [c, t] = [await rowText('checkout', root, checkout.id), await rowText('transaction', root, begun.id)];
    return (await call('credit_checkout', root.tenantId, false, '{}', c, t))[0]!;
  };

  it('credits the first success, and locks the receivables', async () => {
    const made = await create();
    const begun = await begin(made);
    const before = Number((await balance(root.id, 'INR')).available ?? 0);
    const credited = await credit(made, begun);
    expect(credited).toMatchObject({ status: 'completed', effective_transaction_id: begun.id });
    expect(Number((await balance(root.id, 'INR')).available) - before).toBe(100);
    expect(await stored('receivable', root, made.receivable_ids[0])).toMatchObject({ status: 'locked' });
    expect(await stored('deposit', root, credited.deposit_id)).toMatchObject({
      status: 'completed',
      pending_rest: '0',
    });
  });

  it('makes a failed deposit of any other success, and marks a late one', async () => {
    const made = await create();
    await endTransaction(await begin(made), 'succeeded');
    const second = await call(
      ...(['insert_transaction', root.tenantId, false, '{}', await rowText('checkout', root, made.id)] as const),
      ...(['second', 'card', json(card), 60] as const),
    );
    await credit(made, second[0]!);
    expect(await attempt(second[0]!)).toMatchObject({ status: 'failed', reason_code: 'duplicate' });
    const late = await create();
    const begun = await begin(late);
    await expire(late);
    await credit(late, begun);
    expect(await reload(late)).toMatchObject({ status: 'expired', effective_transaction_status: 'succeeded' });
    expect((await eventsOf(root, late.id)).at(-1)).toBe('checkout.late_payment');
  });
});

/** The unexplained money of an attempt. */
const unexplainedOf = ({ id }: Row): Promise<Row[]> =>
  world.sql`select * from unexplained where transaction_id = ${id}` as never;

of('keep_unexplained', () => {
  it('keeps what a success took beyond its attempt, or in another currency', async () => {
    const outcome = async (amount: bigint, currency: string) => {
      const begun = await begin(await create());
      await write(root, 'decide_transaction', { id: begun.id, status: 'succeeded', amount, currency });
      const checkout = await endTransaction(begun, 'succeeded');
      if ((await unexplainedOf(begun)).length === 0)
        await call('keep_unexplained', root.tenantId, false, await rowText('transaction', root, begun.id));
      const { taken_amount, taken_currency, status } = await attempt(begun);
      const deposit = checkout.deposit_id && (await stored('deposit', root, checkout.deposit_id));
      await world.sql`delete from job where subject_id = ${begun.id}`;
      const kept = (await unexplainedOf(begun)).map((x) => `${x.amount} ${x.currency} ${x.reason} ${x.status}`);
      const taken = taken_amount && `${taken_amount} ${taken_currency}`;
      return [taken, status, checkout.status, deposit?.amount ?? null, kept];
    };
    expect(await outcome(103n, 'INR')).toEqual([null, 'succeeded', 'completed', '100', []]);
    expect(await outcome(60n, 'INR')).toEqual(['60 INR', 'succeeded', 'completed', '60', []]);
    expect(await outcome(102n, 'INR')).toEqual(['102 INR', 'succeeded', 'completed', '100', []]);
    expect(await outcome(110n, 'INR')).toEqual([
      ...['110 INR', 'succeeded', 'completed', '100'],
      ['7 INR beyond_attempt open'],
    ]);
    expect(await outcome(103n, 'USD')).toEqual([
      ...['103 USD', 'processing', 'initialized', null],
      ['103 USD other_currency open'],
    ]);
  });
});

of('insert_unexplained', () => {
  it('posts it from the acquirer to its contra account, once for an attempt', async () => {
    const begun = await begin(await create());
    await world.sql`update transaction set taken_amount = 5, taken_currency = 'EUR' where id = ${begun.id}`;
    const insert = () =>
      value(
        ...(['insert_unexplained', root.tenantId, false, begun.id, null, null, 5, 'EUR', 'other_currency'] as const),
      );
    const id = await insert();
    const entries = await world.sql`
      select c.contra, c.amount, c.currency from posting p
      join contra_entry c on (c.tenant_id, c.posting_id) = (p.tenant_id, p.id)
      where p.cause = ${id} and p.kind = 'unexplained' order by 1`;
    expect(entries).toEqual([
      { contra: 'acquirer', amount: '-5', currency: 'EUR' },
      { contra: 'unexplained', amount: '5', currency: 'EUR' },
    ]);
    await expect(insert()).rejects.toThrow('unexplained_of_transaction');
  });
});

/** A refund of the second payment of a checkout, which took `amount`. */
const duplicateRefund = async (amount = 103n) => {
  const made = await create();
  // The first attempt expires, and succeeds after the second one.
  const again = await begin(made);
  await endTransaction(again, 'failed', 'expired');
  await endTransaction(await begin(made), 'succeeded');
  await world.sql`update transaction set taken_amount = ${String(amount)}, taken_currency = 'INR'
    where id = ${again.id}`;
  await endTransaction(again, 'succeeded');
  expect(await kindsOf(again.id)).toContain('send_refund');
  return { made, again, refund: (await call('refund_duplicate', root.tenantId, false, again.id))[0]! };
};

of('refund_duplicate', () => {
  it('refunds all that was taken, from no account', async () => {
    const { made, again, refund } = await duplicateRefund(120n);
    const { deposit_id: depositId } = await attempt(again);
    expect(refund).toMatchObject({
      ...{ amount: '120', currency: 'INR', status: 'pending', from_pending: '0', debited_account_id: null },
      ...{ account_id: root.id, checkout_id: made.id, deposit_id: depositId, reason: 'The checkout was paid twice.' },
    });
    const payment = await stored('payment', root, refund.payment_id);
    expect(payment).toMatchObject({ type: 'refund', amount: '-120', status: 'processing' });
    expect(await eventsOf(root, refund.id)).toEqual(['refund.created']);
  });
});

of('end_duplicate_refund', () => {
  const end = async ({ id, payment_id: payment }: Row, to: string, paid: string) => {
    await world.sql`update refund set status = ${to} where id = ${id}`;
    await world.sql`update payment set status = ${paid} where id = ${payment}`;
    await call('end_duplicate_refund', root.tenantId, false, await rowText('refund', root, id));
  };

  it('moves no balance when it succeeds', async () => {
    const { refund } = await duplicateRefund();
    const before = await balance(root.id);
    await end(refund, 'succeeded', 'completed');
    expect(await balance(root.id)).toEqual(before);
    const entries = await world.sql`
      select c.contra, c.amount from posting p
      join contra_entry c on (c.tenant_id, c.posting_id) = (p.tenant_id, p.id)
      where p.cause = ${refund.id} order by 1`;
    expect(entries).toEqual([
      { contra: 'acquirer', amount: '-103' },
      { contra: 'refund', amount: '103' },
    ]);
  });

  it('leaves the money to the operator when it fails', async () => {
    const { again, refund } = await duplicateRefund();
    const before = await balance(root.id);
    await end(refund, 'failed', 'failed');
    expect(await balance(root.id)).toEqual(before);
    expect(await unexplainedOf(again)).toMatchObject([{ amount: '103', currency: 'INR', reason: 'duplicate' }]);
  });
});

of('record_unexplained', () => {
  it('records once what was taken back after refunds, which a refund that fails covers', async () => {
    const { deposit, receivable: bill } = moneyOf(fixture, root);
    const paid = await deposit(100n);
    expect(await bill(100n)).toBeDefined();
    const refund = await write(root, 'create_refund', { depositId: paid.id });
    const given = { depositId: paid.id, amount: 60n, reference: ' CB 7 ', note: 'A chargeback' };
    expect(await refusal(write(root, 'open_dispute', { id: paid.id, reference: 'CB 7', reasonCode: 'general' }))).toBe(
      'amount_exceeds_deposit deposit.amount',
    );
    const before = await balance(root.id);
    const row = await write(root, 'record_unexplained', given);
    expect(row).toMatchObject({ amount: '-60', covered: '0', reason: 'recorded', reference: 'CB 7', status: 'open' });
    expect(await write(root, 'record_unexplained', given)).toEqual(row);
    expect(await balance(root.id)).toEqual(before);
    const conflict = 'state_conflict unexplained.reference';
    for (const other of [{ amount: 61n }, { note: 'Another' }])
      expect(await refusal(write(root, 'record_unexplained', { ...given, ...other }))).toBe(conflict);
    expect(await refusal(write(root, 'record_unexplained', { ...given, reference: ' ' }))).toMatch(/reference/);
    // What a dispute or a recall has taken is recorded once.
    const other = await deposit(100n);
    for (const kind of ['chargeback', 'recall'])
      await call('dispute_once', root.tenantId, false, '{}', kind, `CB ${kind}`, other.id, 10, 'general');
    for (const reference of ['CB chargeback', 'CB recall'])
      expect(await refusal(write(root, 'record_unexplained', { ...given, reference }))).toBe(conflict);
    await write(root, 'move_refund', { id: refund.id, to: 'failed' });
    const [covered] = await world.sql`select covered, status from unexplained where id = ${row.id}`;
    expect(covered).toEqual({ covered: '60', status: 'resolved' });
    expect(await stored('deposit', root, paid.id)).toMatchObject({ disputed: '60', pending_rest: '40' });
  });

  const recorded = (paid: Row, amount: bigint, reference: string) =>
    write(root, 'record_unexplained', { depositId: paid.id, amount, reference, note: 'A chargeback' });
  const left = 'state_conflict unexplained.amount';

  it('is refused where something is left of the deposit, which a dispute then takes', async () => {
    const { deposit, create: made } = moneyOf(fixture, root);
    const paid = await deposit(100n);
    const refund = await write(root, 'create_refund', { depositId: paid.id, amount: 99n });
    expect(await refusal(recorded(paid, 60n, 'CB 70'))).toBe(left);
    expect(await refusal(recorded(paid, 1n, 'CB 70'))).toBe(left);
    await write(root, 'move_refund', { id: refund.id, to: 'failed' });
    const given = { id: paid.id, reference: 'CB 70', reasonCode: 'general', amount: 60n };
    expect(await write(root, 'open_dispute', given)).toMatchObject({ amount: '60', status: 'needs_response' });
    expect(await refusal(recorded(await made(100n), 60n, 'CB 71'))).toBe(left);
    expect(
      await world.sql`select from unexplained
      where tenant_id = ${root.tenantId} and reference in ('CB 70', 'CB 71')`,
    ).toHaveLength(0);
  });

  it('is at most what was paid, and may be of a deposit that its bank has reversed', async () => {
    const { deposit } = moneyOf(fixture, root);
    const paid = await deposit(100n);
    await write(root, 'move_deposit', { id: paid.id, from: ['completed'], to: 'reversed' });
    expect(await refusal(recorded(paid, 101n, 'CB 72'))).toBe('amount_exceeds_deposit unexplained.amount');
    expect(await recorded(paid, 100n, 'CB 72')).toMatchObject({ amount: '-100', status: 'open' });
  });
});

of('resolve_unexplained', () => {
  it('records what became of it, once, and moves nothing', async () => {
    const begun = await begin(await create());
    await write(root, 'decide_transaction', { id: begun.id, status: 'succeeded', amount: 200n, currency: 'INR' });
    await endTransaction(begun, 'succeeded');
    await world.sql`delete from job where subject_id = ${begun.id}`;
    const [{ id }] = (await unexplainedOf(begun)) as [Row];
    const resolve = () => write(root, 'resolve_unexplained', { id, resolution: 'Sent back', resolvedBy: 'Mira' });
    expect(await resolve()).toMatchObject({ status: 'resolved', resolution: 'Sent back', resolved_by: 'Mira' });
    expect(await refusal(resolve())).toBe('status_invalid unexplained.status');
  });
});

of('lock_receivables_of', () => {
  it('locks the receivables in their order, each for what it can still take', async () => {
    const [one, two] = [await receivable(60n, inr), await receivable(100n, inr)];
    const made = await create({ receivableIds: [one.id, two.id] });
    const deposit = await moneyOf(fixture, root).deposit(100n, { paymentMethod: 'upi' });
    const rows = [await rowText('checkout', root, made.id), await rowText('deposit', root, deposit.id)];
    expect(await value('lock_receivables_of', root.tenantId, false, '{}', ...rows)).toBe('100');
    expect(await stored('receivable', root, one.id)).toMatchObject({ amount_locked: '60' });
    expect(await stored('receivable', root, two.id)).toMatchObject({ amount_locked: '40' });
    // The caller makes the money available.
    await call('make_available', root.tenantId, false, '{}', deposit.id, 100);
  });
});

of('allocations_of', () => {
  it('returns the locks of a deposit in their order, and null where it has none', async () => {
    const allocations = (id: string) => value('allocations_of', root.tenantId, false, id);
    const [one, two] = [await receivable(60n, inr), await receivable(100n, inr)];
    const made = await create({ receivableIds: [two.id, one.id], amount: 130n, grossAmount: 133n });
    const { deposit_id: id } = await endTransaction(await begin(made), 'succeeded');
    expect(await allocations(id)).toEqual([
      { receivable_id: two.id, amount: '100' },
      { receivable_id: one.id, amount: '30' },
    ]);
    const transfer = await moneyOf(fixture, root).deposit(7n, { paymentMethod: 'upi' });
    expect(await allocations(transfer.id)).toBeNull();
    expect(await value('allocations_of', root.tenantId, true, id)).toBeNull();
  });
});

of('source_legs', () => {
  it('are the bank, or the acquirer and its fee', async () => {
    const legs = async ({ id }: Row) => value('source_legs', root.tenantId, false, await rowText('deposit', root, id));
    const { deposit_id: id } = await endTransaction(await begin(await create()), 'succeeded');
    expect(await legs({ id })).toEqual([
      { contra: 'acquirer', currency: 'INR', amount: -103 },
      { contra: 'fees', currency: 'INR', amount: 3 },
    ]);
    const transfer = await moneyOf(fixture, root).create(7n, { paymentMethod: 'upi' });
    expect(await legs(transfer)).toEqual([{ contra: 'bank', currency: 'INR', amount: -7 }]);
  });
});

of('job_expire_transaction', () => {
  it('ends an attempt whose time is over', async () => {
    const begun = await begin(await create());
    await call('job_expire_transaction', root.tenantId, false, await jobText('expire_transaction', begun.id));
    expect(await attempt(begun)).toMatchObject({ status: 'failed', reason_code: 'expired' });
  });
});

of('job_settle_transaction', () => {
  it('is in a round that locks the receivables of all checkouts that it credits, before the first', async () => {
    const ids = [await receivable(100n, inr), await receivable(100n, inr)].map(({ id }) => id as string).toSorted();
    const jobs: string[] = [];
    for (const id of ids.toReversed()) {
      const begun = await begin(await create({ receivableIds: [id] }));
      await write(root, 'decide_transaction', { id: begun.id, status: 'succeeded' });
      jobs.push(await jobText('settle_transaction', begun.id));
    }
    const lock = () => call('lock_balances_of_jobs', root.tenantId, false, textArray(jobs));
    expect(await lockedInOrder(fixture, root, ids, lock)).toBe(true);
  });

  it('ends an attempt as the job says', async () => {
    const begun = await begin(await create());
    const job = await jobText('settle_transaction', begun.id, { status: 'failed', reasonCode: 'declined' });
    await call('job_settle_transaction', root.tenantId, false, job);
    expect(await attempt(begun)).toMatchObject({ status: 'failed', reason_code: 'declined' });
  });
});

of('decide_transaction', () => {
  const decide = ({ id }: Row, status: string, more: object = {}) =>
    write(root, 'decide_transaction', { id, status, ...more });

  it('enqueues the end of an attempt, once, and stops the polls', async () => {
    const begun = await begin(await create());
    await decide(begun, 'failed', { reasonCode: 'declined', afterSeconds: 5 });
    await decide(begun, 'failed', { reasonCode: 'declined' });
    const jobs = await jobsOf(root, begun.id);
    expect(jobs.map(({ kind }) => kind)).toEqual(['expire_transaction', 'settle_transaction']);
    expect(jobs[1]!.args).toEqual({ status: 'failed', reasonCode: 'declined' });
  });

  it('records the details of a code that was scanned', async () => {
    const begun = await begin(await create(), { paymentMethod: 'upi', details: null });
    const details = { upi: { vpa: 'a@b' } };
    expect(await decide(begun, 'processing', { details })).toMatchObject({ payment_method_details: details });
    expect(await eventsOf(root, begun.id)).toEqual(['transaction.created', 'transaction.submitted']);
  });

  it('counts a success with other details, and records what does not fit', async () => {
    const begun = await begin(await create());
    const details = { cards: { last4: '1111' } };
    expect(await decide(begun, 'succeeded', { details })).toMatchObject({ mismatch: { credited: true, details } });
    expect(await kindsOf(begun.id)).toContain('settle_transaction');
  });

  it('takes the amount of the first success; another is a mismatch, and the same again changes nothing', async () => {
    const begun = await begin(await create());
    const taken = (amount: bigint, currency: string) => decide(begun, 'succeeded', { amount, currency });
    const first = await taken(60n, 'INR');
    expect(first).toMatchObject({ taken_amount: '60', taken_currency: 'INR', mismatch: null });
    expect(await taken(60n, 'INR')).toEqual(first);
    const second = await taken(70n, 'INR');
    expect(second).toMatchObject({ taken_amount: '60', mismatch: { credited: true, amount: '70', currency: 'INR' } });
    await endTransaction(begun, 'succeeded');
    await world.sql`delete from job where subject_id = ${begun.id}`;
    expect(await taken(103n, 'INR')).toMatchObject({ taken_amount: '60', mismatch: second.mismatch });
    expect(await kindsOf(begun.id)).toEqual([]);
    const other = await begin(await create());
    await decide(other, 'succeeded', { amount: 103n, currency: 'USD' });
    const late = await decide(other, 'succeeded', { amount: 103n, currency: 'INR' });
    expect(late).toMatchObject({ taken_currency: 'USD', mismatch: { credited: false, currency: 'INR' } });
    await endTransaction(other, 'succeeded');
    await world.sql`delete from job where subject_id = ${other.id}`;
  });
});

of('pay_test_checkout', () => {
  const pay = ({ id }: Row, status: string, more: object = {}) =>
    write(root, 'pay_test_checkout', {
      ...{ id, status, reasonCode: status === 'failed' ? 'declined' : null },
      ...{ paymentMethod: 'card', details: card, seconds: 60, ...more },
    });

  it('creates an attempt that is decided at once', async () => {
    const made = await create();
    expect(await pay(made, 'failed')).toMatchObject({ effective_transaction_status: 'failed' });
    expect(await pay(made, 'succeeded')).toMatchObject({ status: 'completed' });
  });

  it('takes another amount or currency, if it is given', async () => {
    const less = await pay(await create(), 'succeeded', { amount: 40n });
    expect(await stored('deposit', root, less.deposit_id)).toMatchObject({ amount: '40', currency: 'INR' });
    expect(await pay(await create(), 'succeeded', { currency: 'USD' })).toMatchObject({ status: 'initialized' });
  });

  it('refuses a failure of a checkout that has ended', async () => {
    const made = await create();
    await write(root, 'end_checkout', { id: made.id, to: 'cancelled' });
    expect(await refusal(pay(made, 'failed'))).toBe('status_invalid checkout.status');
    const late = await create();
    expect(await overWhileItWaits(late, () => pay(late, 'failed'))).toBe('status_invalid checkout.status');
  });
});

of('claim_status_polls', () => {
  it('returns the attempts that are due, and postpones the next poll of each', async () => {
    const begun = await begin(await create());
    await world.sql`update job set due = 0 where subject_id = ${begun.id} and kind = 'inquire_transaction'`;
    const claim = async () => {
      const rows = await call('claim_status_polls', root.tenantId, false, '{}', json({ limit: 100 }));
      return rows.map(({ id }) => id);
    };
    expect(await claim()).toContain(begun.id);
    expect(await claim()).not.toContain(begun.id);
    expect((await jobsOf(root, begun.id))[1]).toMatchObject({ kind: 'inquire_transaction', attempts: 1 });
  });

  it('asks a last time 30 days after the end; in live mode the job stays for the operator', async () => {
    const claim = async ({ id }: Row, live: boolean) => {
      await world.sql`update job set due = 0
        where subject_id = ${id} and kind = 'inquire_transaction' and due < ${pollsEnded}`;
      const rows = await call('claim_status_polls', root.tenantId, live, '{}', json({ limit: 100 }));
      const [poll] = await world.sql`select due::float as due from job
        where subject_id = ${id} and kind = 'inquire_transaction'`;
      return [rows.some((row) => row.id === id), poll?.due];
    };
    const endedAgo = (begun: Row, days: number) => world.sql`
      update transaction
      set status = 'failed', reason_code = 'expired', expires_at = expires_at - ${300 + days * 86_400}
      where id = ${begun.id}`;
    const begun = await begin(await create());
    await endedAgo(begun, 29);
    expect(await claim(begun, false)).toEqual([true, expect.any(Number)]);
    await endedAgo(begun, 1);
    expect(await claim(begun, false)).toEqual([true, undefined]);
    // What is of live mode here is a copy.
    const other = await begin(await create());
    await endedAgo(other, 30);
    await world.sql`update transaction set livemode = true where id = ${other.id}`;
    await world.sql`update job set livemode = true where subject_id = ${other.id}`;
    expect(await claim(other, true)).toEqual([true, pollsEnded]);
    expect(await claim(other, true)).toEqual([false, pollsEnded]);
    await world.sql`update transaction set livemode = false where id = ${other.id}`;
    await world.sql`delete from job where subject_id = ${other.id}`;
  });
});

of('record_status_poll', () => {
  const record = ({ id }: Row, more: object = {}) => write(root, 'record_status_poll', { id, ...more });

  it('records a decision, and ends the polls', async () => {
    const begun = await begin(await create());
    await record(begun, { status: 'failed', reasonCode: 'declined' });
    expect(await kindsOf(begun.id)).toEqual(['expire_transaction', 'settle_transaction']);
  });

  it('polls on until the attempt has expired, where the acquirer does not know it', async () => {
    const made = await create();
    const begun = await begin(made);
    await record(begun);
    expect(await kindsOf(begun.id)).toContain('inquire_transaction');
    await expire(made);
    await record(begun);
    expect(await kindsOf(begun.id)).not.toContain('inquire_transaction');
  });

  it('keeps the job for the operator while the acquirer has no final answer, however late', async () => {
    const begun = await begin(await create());
    await world.sql`update transaction set status = 'failed', reason_code = 'expired', expires_at = created - 9000000
      where id = ${begun.id}`;
    await record(begun, { status: 'processing' });
    expect(await kindsOf(begun.id)).toContain('inquire_transaction');
    await write(root, 'decide_transaction', { id: begun.id, status: 'failed', details: { cards: { last4: '1' } } });
    expect(await kindsOf(begun.id)).toContain('inquire_transaction');
    await write(root, 'decide_transaction', { id: begun.id, status: 'failed', reasonCode: 'declined' });
    expect(await kindsOf(begun.id)).not.toContain('inquire_transaction');
  });
});

it('leaves no contradiction in the ledger', async () => {
  expect((await violations(fixture)).map(({ rule, what }) => `${rule} ${what}`)).toEqual([]);
});
