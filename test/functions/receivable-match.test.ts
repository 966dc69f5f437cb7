import { expect, it } from 'vitest';
import { makeAccount, moneyOf, type Row, useFunctions, useRoot, violations } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, jobText, rowText, stored, jobsOf, eventsOf } = fixture;
const root = useRoot(fixture, 'user', 1);
const { create, complete, deposit, receivable } = moneyOf(fixture, root);

const settingOf = (account: string) => stored('account_setting', root, account, 'account_id');
const set = async (account: string, autoReconcile: boolean | null) =>
  write(root, 'update_account_setting', { id: (await settingOf(account)).id, autoReconcile });
const invoice = (referenceNumber: string, amount: bigint, more: object = {}) =>
  receivable(amount, { invoice: { amount: `${amount}`, currency: 'USD', referenceNumber }, ...more });
const said = (statementDescriptor: string) => ({ statementDescriptor });
const matches = ({ id }: Row, visibleTo: string | null = null) =>
  call('receivable_matches', root.tenantId, false, `{${id}}`, visibleTo);
const match = async ({ id }: Row) =>
  call('job_match_deposit', root.tenantId, false, await jobText('match_deposit', id));
/** The jobs of a subject that match deposits. */
const kindsOf = async (id: string) =>
  (await jobsOf(root, id)).map(({ kind }) => kind as string).filter((kind) => kind.startsWith('match_'));
const rest = async ({ id }: Row) => Number((await stored('deposit', root, id)).pending_rest);
const lastEvent = async ({ id }: Row): Promise<Row> => {
  const rows = await world.sql<Row[]>`select * from event
    where tenant_id = ${root.tenantId} and not livemode and object_id = ${id} order by id desc limit 1`;
  return rows[0]!;
};

of('receivable_matches', () => {
  it('has the reasons of each match, of what the caller sees', async () => {
    const [named, other] = [await invoice('RM-1', 70n), await invoice('RM-2', 80n)];
    const paid = await deposit(70n, said('for RM-1 and RM-2'));
    const found = [
      { receivable_id: named.id, exact: true, named: true, equal: true, billed: false, amount: '70', currency: 'USD' },
      { receivable_id: other.id, exact: false, named: true, equal: false, billed: false, amount: '70' },
    ];
    expect(await matches(paid)).toMatchObject(found);
    expect(await matches(paid, root.id)).toMatchObject(found);
    expect(await matches(paid, 'account_other')).toEqual([]);
  });
});

of('said_words', () => {
  it('leaves out the last word of a text that was cut', async () => {
    const words = (text: string) => value('said_words', text, 12);
    const texts = ['Pay INV-1', 'Payment INV-12', 'INV-1 INV…'];
    expect(await Promise.all(texts.map(words))).toEqual(['pay inv 1', 'payment', 'inv 1']);
  });
});

of('may_be_cut', () => {
  it('is of a text that is as long as may be, or ends with an ellipsis', async () => {
    const texts = ['Pay INV-1', 'Payment INV-12', 'INV-1 INV…'];
    const cut = (text: string) => value('may_be_cut', text, 12);
    expect(await Promise.all(texts.map(cut))).toEqual([false, true, true]);
  });
});

of('auto_reconciles', () => {
  it('is the setting of the account that owns the receivables', async () => {
    const partner = await makeAccount(fixture, root);
    const asked = () =>
      Promise.all(
        [root.id, partner.id, 'account_none'].map((id) => value('auto_reconciles', root.tenantId, false, id)),
      );
    expect(await asked()).toEqual([false, false, false]);
    await set(root.id, true);
    expect(await asked()).toEqual([true, true, false]);
    await set(root.id, null);
    expect(await asked()).toEqual([true, true, false]);
    await set(root.id, false);
  });
});

of('job_match_deposit', () => {
  it('is enqueued when a deposit is completed while the setting is on', async () => {
    expect(await kindsOf((await deposit(5n)).id)).not.toContain('match_deposit');
    await set(root.id, true);
    const made = await create(5n);
    expect(await kindsOf(made.id)).not.toContain('match_deposit');
    await complete(made);
    expect(await kindsOf(made.id)).toContain('match_deposit');
  });

  it('reconciles the one exact match once, and says why', async () => {
    const open = await invoice('JM-1', 31n);
    const paid = await deposit(31n, said('invoice jm-1'));
    await match(paid);
    await match(paid);
    expect(await stored('receivable', root, open.id)).toMatchObject({ status: 'locked', amount_locked: '31' });
    expect((await eventsOf(root, paid.id)).filter((type) => type === 'deposit.reconciled')).toHaveLength(1);
    const event = await lastEvent(paid);
    expect(event).toMatchObject({ type: 'deposit.reconciled', request_id: null });
    expect(event.data).toMatchObject({
      match_reasons: ['reference', 'amount'],
      allocations: [{ receivable_id: open.id, amount: '31' }],
    });
  });

  it('says the payer too where the invoice bills it', async () => {
    const payer = await makeAccount(fixture, root);
    await invoice('JM-2', 32n, { customerId: payer.id });
    const paid = await deposit(32n, { ...said('JM-2'), fromAccountId: payer.id });
    await match(paid);
    expect((await lastEvent(paid)).data.match_reasons).toEqual(['reference', 'amount', 'payer']);
  });

  it.each<[string, () => Promise<Row>]>([
    [
      'two candidates',
      async () => {
        await Promise.all([invoice('JM-3', 33n), invoice('JM-3', 33n)]);
        return deposit(33n, said('JM-3'));
      },
    ],
    // A reference that no word with a digit finds is among those of the same amount.
    ...['ALPHA', 'A7', '2026/10/A/77/01/4/9/5'].map((reference): [string, () => Promise<Row>] => [
      `two candidates beside many of the amount, of which one is ${reference}`,
      async () => {
        const amount = BigInt(2_000 + reference.length);
        for (let i = 0; i < 6; i++) await invoice(`SUB-${i}`, amount);
        await Promise.all([invoice(reference, amount), invoice('JM-30', amount)]);
        return deposit(amount, said(`${reference} and JM-30`));
      },
    ]),
    [
      'an amount of which there are too many',
      async () => {
        await Promise.all(Array.from({ length: 101 }, (_, i) => invoice(`M-${i}`, 3_001n)));
        return deposit(3_001n, said('M-7'));
      },
    ],
    ...[`${'x'.repeat(133)} JM-9`.padEnd(140, ' Y'), 'JM-9 and …'].map((text): [string, () => Promise<Row>] => [
      `a bank's text that may have been cut: ${text.length}`,
      async () => {
        await invoice('JM-9', 3_100n);
        const paid = await deposit(3_100n);
        const details = { reference: 'b', text };
        await world.sql`update deposit set bank_details = ${world.sql.json(details)} where id = ${paid.id as string}`;
        return stored('deposit', root, paid.id);
      },
    ]),
    [
      'the amount without the reference',
      async () => {
        await invoice('JM-4', 34n);
        return deposit(34n, said('thank you'));
      },
    ],
    [
      'the reference with another amount',
      async () => {
        await invoice('JM-5', 35n);
        return deposit(36n, said('JM-5'));
      },
    ],
    [
      'a receivable that is void',
      async () => {
        const { id } = await invoice('JM-6', 37n);
        await write(root, 'void_receivable', { id });
        return deposit(37n, said('JM-6'));
      },
    ],
    [
      'a receivable that another deposit has paid',
      async () => {
        await invoice('JM-7', 38n);
        await match(await deposit(38n, said('JM-7')));
        return deposit(38n, said('JM-7'));
      },
    ],
    [
      'another currency',
      async () => {
        await invoice('JM-8', 39n, { currency: 'EUR' });
        return deposit(39n, said('JM-8'));
      },
    ],
  ])('does nothing for %s', async (_, make) => {
    const paid = await make();
    const before = await stored('deposit', root, paid.id);
    await match(paid);
    expect(await stored('deposit', root, paid.id)).toEqual(before);
    expect(await eventsOf(root, paid.id)).not.toContain('deposit.reconciled');
  });

  it('takes what is left of both', async () => {
    const [open, other] = [await invoice('JM-9', 100n), await invoice('JM-10', 60n)];
    const first = await deposit(40n);
    await write(root, 'reconcile_deposit', { id: first.id, receivables: [{ id: open.id, amount: 40n }] });
    const paid = await deposit(120n, said('JM-9 JM-10'));
    await match(paid);
    expect(await rest(paid)).toBe(120);
    await write(root, 'reconcile_deposit', { id: paid.id, receivables: [{ id: other.id, amount: 60n }] });
    await match(paid);
    expect(await rest(paid)).toBe(0);
    expect(await stored('receivable', root, open.id)).toMatchObject({ status: 'locked', amount_locked: '100' });
  });

  it('does nothing once the setting is off, and for a deposit that is taken back or absent', async () => {
    await invoice('JM-11', 41n);
    const taken = await deposit(41n, said('JM-11'));
    await write(root, 'move_deposit', { id: taken.id, from: ['completed'], to: 'reversed' });
    await match(taken);
    await match({ id: 'deposit_none' });
    const paid = await deposit(41n, said('JM-11'));
    await set(root.id, false);
    await match(paid);
    expect(await rest(paid)).toBe(41);
    await set(root.id, true);
    await match(paid);
    expect(await rest(paid)).toBe(0);
  });
});

of('job_match_deposits', () => {
  const waiting = async (id: string, args: object = {}) =>
    call('job_match_deposits', root.tenantId, false, await jobText('match_deposits', id, args));
  const matching = async () =>
    (
      await world.sql<Row[]>`select subject_id from job
        where tenant_id = ${root.tenantId} and not livemode and kind = 'match_deposit' order by id`
    ).map(({ subject_id: id }) => id as string);
  const clear = () => world.sql`delete from job where tenant_id = ${root.tenantId} and kind like 'match_%'`;

  it('is enqueued when the setting is switched on, and not while it is on', async () => {
    await set(root.id, false);
    await clear();
    await set(root.id, true);
    await set(root.id, true);
    expect(await kindsOf(root.id)).toEqual(['match_deposits']);
  });

  it('enqueues the deposits that wait, of the account and its partners, a hundred at a time', async () => {
    const partner = await makeAccount(fixture, root);
    const [first] = [await deposit(1n), await create(1n)];
    await world.sql`insert into deposit (tenant_id, livemode, id, created, amount, currency, to_account_id,
        payment_method, statement_descriptor, status, payment_id, pending_rest, context_id, on_root_list)
      select tenant_id, false, 'deposit_more_' || lpad(n::text, 3, '0'), created + n, 1, currency, ${partner.id},
        payment_method, '', 'completed', payment_id, 1, ${root.id}, false
      from deposit, generate_series(1, 120) n where tenant_id = ${root.tenantId} and id = ${first.id}`;
    const all = await world.sql<Row[]>`select id from deposit
      where tenant_id = ${root.tenantId} and not livemode and pending_rest > 0 order by created, id`;
    await clear();
    await waiting(root.id);
    const page = await matching();
    const next = (await jobsOf(root, root.id)).at(-1)!;
    expect(next).toMatchObject({ kind: 'match_deposits', args: { after: page[99] } });
    await clear();
    await waiting(root.id, next.args);
    expect([...page, ...(await matching())]).toEqual(all.map(({ id }) => id));
    expect([page.length, all.length > 120, await kindsOf(root.id)]).toEqual([100, true, []]);
    await world.sql`delete from deposit where tenant_id = ${root.tenantId} and id like 'deposit_more_%'`;
  });

  it('ends when the setting is off, and where a later job begins again', async () => {
    await clear();
    await set(root.id, false);
    await waiting(root.id);
    expect(await matching()).toEqual([]);
    await set(root.id, true);
    await clear();
    await call('enqueue', root.tenantId, false, 'match_deposits', root.id, 0, '{}');
    const earlier = (await jobsOf(root, root.id)).find(({ kind }) => kind === 'match_deposits');
    await call('enqueue', root.tenantId, false, 'match_deposits', root.id, 0, '{}');
    await call('job_match_deposits', root.tenantId, false, await rowText('job', root, earlier!.id));
    expect(await matching()).toEqual([]);
  });
});

it('leaves no contradiction in the ledger', async () => {
  expect(await violations(fixture)).toEqual([]);
});
