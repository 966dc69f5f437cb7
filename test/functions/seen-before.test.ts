import postgres from 'postgres';
import { expect, inject, it } from 'vitest';
import { makeAccount, moneyOf, refusal, type Row, useFunctions, useRoot } from './fixture.js';
import { buffersIn, explained } from '../support/explained.js';

const fixture = useFunctions();
const { world, of, call, write } = fixture;
const root = useRoot(fixture, 'platform', 2);
const at = () => [root.tenantId, false] as const;
const { receivable } = moneyOf(fixture, root);
const invoice = (referenceNumber: string) => ({ amount: '100', currency: 'USD', referenceNumber });
const imported = (customerId: string | null, reference: string): Promise<Row> =>
  receivable(100n, { customerId, invoice: invoice(reference), unlessSeen: true });
const seen = 'seen_before receivable.invoice.reference_number';

/** How many of some calls were not refused, all at the same time. */
const done = async (calls: Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).filter(({ status }) => status === 'fulfilled').length;

of('refuse_seen', () => {
  it('refuses with the id of the object, and does nothing without one', async () => {
    expect(await refusal(call('refuse_seen', 'account.nickname', 'account_1'))).toBe('seen_before account.nickname');
    await call('refuse_seen', 'account.nickname', null);
  });
});

of('refuse_seen_receivable', () => {
  const check = (accountId: string, customerId: string | null, reference: string) =>
    call('refuse_seen_receivable', ...at(), JSON.stringify({ accountId, customerId, invoice: invoice(reference) }));

  it('refuses account, customer and reference number of a receivable that is not void, and nothing else', async () => {
    const [{ id: customer }, { id: other }] = [await makeAccount(fixture, root), await makeAccount(fixture, root)];
    const made = await receivable(100n, { customerId: customer, invoice: invoice('A') });
    expect(await refusal(check(root.id, customer, 'A'))).toBe(seen);
    await check(root.id, other, 'A');
    await check(root.id, customer, 'B');
    await check(root.id, null, 'A');
    await check('account_other', customer, 'A');
    await write(root, 'void_receivable', { id: made.id });
    await check(root.id, customer, 'A');
  });

  it('stores one of several that are stored at the same time', async () => {
    const { id: customer } = await makeAccount(fixture, root);
    for (const reference of ['A', 'B', 'C'])
      expect(await done(Array.from({ length: 8 }, () => imported(customer, reference)))).toBe(1);
    // The interface for one receivable compares with none.
    await receivable(100n, { customerId: customer, invoice: invoice('A') });
    expect(await done([imported(null, 'A'), imported(null, 'A')])).toBe(2);
  });

  // The pages that a node of a cluster reads are not in the coordinator's plan.
  it.runIf(inject('distributed') === undefined)(
    'reads a few pages, however many receivables the customer has',
    async () => {
      const { id: customer } = await makeAccount(fixture, root);
      const { id } = await receivable(100n, { customerId: customer, invoice: invoice('R-0') });
      await world.sql`
      insert into receivable
        (tenant_id, livemode, id, created, account_id, customer_id, currency, amount_maximum_reconcilable, invoice,
          purpose_code, transaction_type, context_id, on_root_list)
      select tenant_id, livemode, id || n, created, account_id, customer_id, currency, amount_maximum_reconcilable,
        invoice || jsonb_build_object('referenceNumber', 'R-' || n), purpose_code, transaction_type, context_id,
        on_root_list
      from receivable, generate_series(1, 20000) n where id = ${id}`;
      const connection = postgres({ ...inject('admin'), database: world.sql.options.database, max: 1 });
      try {
        await connection`analyze receivable`;
        for (const mode of ['force_custom_plan', 'force_generic_plan']) {
          await connection.unsafe(`set plan_cache_mode = ${mode}`);
          const args = JSON.stringify({ accountId: root.id, customerId: customer, invoice: invoice('absent') });
          const call = 'select refuse_seen_receivable($1, false, $2::text::jsonb)';
          expect(buffersIn(await explained(connection, call, [root.tenantId, args]))).toBeLessThan(60);
        }
      } finally {
        await connection.end();
      }
    },
  );
});

of('refuse_seen_partner', () => {
  const details = (legalName: string | null, physicalAddress: object | null) => ({ legalName, physicalAddress });
  const india = { country: 'IN', postalCode: '411001' };
  const check = (ownerId: string, businessDetails: object) =>
    call('refuse_seen_partner', ...at(), JSON.stringify({ ownerId, businessDetails }));

  it('refuses owner, legal name and address of a partner that is not deactivated, and nothing else', async () => {
    const businessDetails = details('Once Ltd', { ...india, line2: null });
    const made = await makeAccount(fixture, root, 'partner', { businessDetails });
    const refused = 'seen_before account.business_details.legal_name';
    expect(await refusal(check(root.id, details('Once Ltd', india)))).toBe(refused);
    await check(root.id, details('Twice Ltd', india));
    await check(root.id, details('Once Ltd', { ...india, city: 'Pune' }));
    await check('account_other', businessDetails);
    await check(root.id, details(null, india));
    await makeAccount(fixture, root, 'partner', { businessDetails: details('Nowhere Ltd', null) });
    await check(root.id, details('Nowhere Ltd', null));
    await write(root, 'move_account', { id: made.id, from: ['draft'], to: 'deactivated' });
    await check(root.id, businessDetails);
  });

  it('stores one of several that are stored at the same time', async () => {
    const businessDetails = details('Parallel Ltd', india);
    const create = () => makeAccount(fixture, root, 'partner', { businessDetails, unlessSeen: true });
    expect(await done(Array.from({ length: 8 }, create))).toBe(1);
  });
});
