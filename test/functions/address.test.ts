import { expect, it } from 'vitest';
import { statementsWaiting } from '../support/world.js';
import { activate, makeAccount, type Place, refusal, type Row, useFunctions, useRoot } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, rowText, jobText, stored, jobsOf, eventsOf } = fixture;
const root = useRoot(fixture, 'platform', 1);
const partner = () => makeAccount(fixture, root);

/** Offers partners receiving addresses in these currencies. */
const offer = async (place: Place, ...currencies: string[]) => {
  const { id } = await stored('account_setting', place, root.id, 'account_id');
  const offered = { address: { partner: currencies.length > 0 }, addressCurrency: { partner: currencies } };
  await write(place, 'update_account_setting', { id, ...offered });
};
const payout = (linkedId: string, more: object = {}) =>
  write(root, 'create_address', {
    ...{ linkedId, category: 'user_payout', type: 'bank_account', currency: 'USD', name: 'Asha Rao' },
    ...{ bankAccount: { number: '1' }, billingDetails: {}, supportingDocumentation: null, byPlatform: true, ...more },
  });
const kindsOf = async (id: string) => (await jobsOf(root, id)).map(({ kind }) => kind);
const insert = async (owner: Row, ...more: (string | null)[]): Promise<Row> =>
  (await call('insert_address', root.tenantId, false, '{}', await rowText('account', root, owner.id), ...more))[0]!;

of('insert_address', () => {
  it('inserts an activated address of the owner, where JSON null means absent', async () => {
    const owner = await partner();
    const made = await insert(owner, 'partner_payment', 'bank_account', 'EUR', null, 'null');
    expect(made).toMatchObject({ status: 'activated', linked_id: owner.id, currency: 'EUR', bank_account: null });
    expect(made).toMatchObject({ is_reusable: false, metadata: null, context_id: owner.context_id });
    expect(await eventsOf(root, made.id)).toEqual(['address.created']);
  });
});

of('create_address', () => {
  it('replaces the address of the same currency, which then waits to be retired', async () => {
    const { id } = await partner();
    const [first, other] = [await payout(id), await payout(id, { currency: 'EUR' })];
    const second = await payout(id, { metadata: { a: '1' } });
    expect(second).toMatchObject({ status: 'activated', metadata: { a: '1' } });
    expect(await stored('address', root, first.id)).toMatchObject({ status: 'pending_deactivation' });
    expect(await stored('address', root, other.id)).toMatchObject({ status: 'activated' });
    expect(await kindsOf(first.id)).toEqual(['retire_address']);
  });

  it('stores nothing when its metadata is refused', async () => {
    const { id } = await partner();
    const metadata = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, 'v']));
    expect(await refusal(payout(id, { metadata }))).toBe('parameter_invalid address.metadata');
    expect(await stored('address', root, id, 'linked_id')).toBeUndefined();
  });
});

of('update_address', () => {
  it('changes metadata', async () => {
    const { id } = await payout((await partner()).id);
    const changed = await write(root, 'update_address', { id, metadata: { a: '1' } });
    expect(changed).toMatchObject({ metadata: { a: '1' }, version: '1' });
    expect(await eventsOf(root, id)).toEqual(['address.created', 'address.updated']);
  });

  it('refuses an unknown address', async () => {
    const update = write(root, 'update_address', { id: 'address_none', metadata: null });
    expect(await refusal(update)).toBe('resource_missing address.id');
  });
});

of('vpa_of', () => {
  it('is an address for payments by code', async () => {
    const upi = { onetime: 'enabled', recurring: 'disabled' };
    expect(await value('vpa_of', 'asha@bank')).toEqual({ id: 'asha@bank', upi });
  });
});

of('assign_vpa', () => {
  const assign = (id: string, vpa: string) => write(root, 'assign_vpa', { id, vpa });

  it('gives an address of checkouts its UPI address, which stays the first one', async () => {
    const { id } = await insert(await partner(), 'service_checkout', 'vpa', 'INR');
    expect(await assign(id, 'one@acquirer')).toMatchObject({ id, vpa: { id: 'one@acquirer' }, version: '1' });
    expect(await assign(id, 'two@acquirer')).toMatchObject({ id, vpa: { id: 'one@acquirer' }, version: '1' });
    expect(await eventsOf(root, id)).toEqual(['address.created', 'address.updated']);
  });

  it('refuses an address that takes no money of checkouts, and an unknown one', async () => {
    const { id } = await insert(await partner(), 'partner_payment', 'vpa', 'INR');
    expect(await refusal(assign(id, 'one@acquirer'))).toBe('resource_missing address.id');
    expect(await refusal(assign('address_none', 'one@acquirer'))).toBe('resource_missing address.id');
    expect(await stored('address', root, id)).toMatchObject({ vpa: null, version: '0' });
  });
});

of('move_address', () => {
  it('changes the status; an expired address is not reusable', async () => {
    const owner = await partner();
    const { id } = await insert(owner, 'partner_payment', 'bank_account', 'EUR');
    await world.sql`update address set is_reusable = true where id = ${id}`;
    const moved = await write(root, 'move_address', { id, from: ['activated'], to: 'expired' });
    expect(moved).toMatchObject({ status: 'expired', is_reusable: false });
    expect(await eventsOf(root, id)).toEqual(['address.created', 'address.expired']);
  });

  it('refuses another status', async () => {
    const { id } = await payout((await partner()).id);
    const move = write(root, 'move_address', { id, from: ['expired'], to: 'deactivated' });
    expect(await refusal(move)).toBe('status_invalid address.status');
  });
});

of('create_test_wallet', () => {
  it('creates a wallet of the provider', async () => {
    const { id } = await partner();
    const made = await write(root, 'create_test_wallet', { accountId: id, provider: 'klarna', currency: 'EUR' });
    expect(made).toMatchObject({ category: 'partner_payment', type: 'wallet', wallet: { provider: 'klarna' } });
  });

  it('stores nothing for an unknown account', async () => {
    await expect(
      write(root, 'create_test_wallet', { accountId: 'account_none', provider: 'klarna', currency: 'EUR' }),
    ).rejects.toMatchObject({ code: '23502' });
  });
});

of('job_retire_address', () => {
  it('deactivates a replaced address, and no other', async () => {
    const { id } = await partner();
    const [first, second] = [await payout(id), await payout(id)];
    for (const address of [first, second])
      await call('job_retire_address', root.tenantId, false, await jobText('retire_address', address.id));
    expect(await stored('address', root, first.id)).toMatchObject({ status: 'deactivated' });
    expect(await stored('address', root, second.id)).toMatchObject({ status: 'activated' });
  });
});

of('sandbox_bank_account', () => {
  it('has a number and the routing codes of the currency', async () => {
    const account = await value('sandbox_bank_account', 'USD');
    expect(account).toMatchObject({ domesticDebit: '000000019', globalWire: 'TGSBUS00', type: 'all' });
    expect(account.number).toMatch(/^9\d{13}$/);
    expect(account.last4).toBe(account.number.slice(-4));
    expect(await value('sandbox_bank_account', 'INR')).toMatchObject({ domesticCredit: 'TGSB0000001' });
    expect(await value('sandbox_bank_account', 'EUR')).not.toHaveProperty('domesticCredit');
  });
});

of('open_account_addresses', () => {
  const open = (place: Place, id: string) => call('open_account_addresses', place.tenantId, place.live, '{}', id);

  it('orders receiving addresses that the setting offers, and in test mode a fee advance address', async () => {
    await offer(root, 'USD');
    const { id } = await partner();
    await open(root, id);
    expect(await stored('account', root, id)).toMatchObject({ address: 'deactivated' });
    await activate(fixture, root, id);
    expect(await stored('account', root, id)).toMatchObject({ address: 'requested' });
    expect(await kindsOf(id)).toEqual(['process_addresses']);
    for (const place of [root, root, root.inLive]) await open(place, root.id);
    const fees = await world.sql`select livemode, bank_account ->> 'bankName' as name from address
      where tenant_id = ${root.tenantId} and category = 'service_fee_advance'`;
    expect(fees).toEqual([{ livemode: false, name: 'Tidegate Sandbox Bank' }]);
  });

  it.each([0, 1])(
    'ends an order in live mode of what is no longer offered, with %i of its addresses',
    async (issued) => {
      const live = root.inLive;
      await offer(live, 'USD', 'EUR');
      const { id } = await makeAccount(fixture, { ...root, live: true });
      await activate(fixture, live, id);
      const bankAccount = { number: '12', type: 'all' };
      const address = { linkedId: id, category: 'service_receive', type: 'bank_account', currency: 'USD', name: null };
      if (issued > 0) await write(live, 'record_issued_address', { ...address, bankAccount });
      await open(live, id);
      expect(await stored('account', live, id)).toMatchObject({ address: issued ? 'processing' : 'requested' });
      await offer(live, ...(issued ? ['USD'] : []));
      await open(live, id);
      expect(await stored('account', live, id)).toMatchObject({ address: issued ? 'activated' : 'deactivated' });
    },
  );

  it('orders none where nothing is offered', async () => {
    await offer(root);
    const { id } = await partner();
    await open(root, id);
    expect(await stored('account', root, id)).toMatchObject({ address: 'deactivated' });
  });
});

/** An activated partner whose receiving address is ordered. */
const ordered = async () => {
  await offer(root, 'USD');
  const { id } = await partner();
  return activate(fixture, root, id);
};

of('job_process_addresses', () => {
  it('begins to process an order', async () => {
    const { id } = await ordered();
    await call('job_process_addresses', root.tenantId, false, await jobText('process_addresses', id));
    expect(await stored('account', root, id)).toMatchObject({ address: 'processing' });
    expect(await kindsOf(id)).toEqual(['process_addresses', 'issue_addresses']);
  });
});

of('issue_addresses', () => {
  it('issues one address for each missing currency', async () => {
    const { id } = await ordered();
    await call('issue_addresses', root.tenantId, false, '{}', id);
    await call('issue_addresses', root.tenantId, false, '{}', id);
    expect(await stored('account', root, id)).toMatchObject({ address: 'activated' });
    const issued = await world.sql`select currency, name from address where linked_id = ${id}`;
    expect(issued).toEqual([{ currency: 'USD', name: 'Acme' }]);
  });

  it('issues nothing without an order', async () => {
    const { id } = await ordered();
    await write(root, 'move_account', { id, from: ['activated'], to: 'deactivated' });
    await offer(root);
    await write(root, 'move_account', { id, from: ['deactivated'], to: 'activated' });
    await offer(root, 'USD');
    await call('issue_addresses', root.tenantId, false, '{}', id);
    expect(await stored('account', root, id)).toMatchObject({ status: 'activated', address: 'deactivated' });
    expect(await world.sql`select from address where linked_id = ${id}`).toHaveLength(0);
  });
});

of('receiving_state', () => {
  it('is that of the last usable address, which its account follows', async () => {
    const { id } = await ordered();
    const state = () => value('receiving_state', root.tenantId, false, id);
    expect(await state()).toBe('deactivated');
    await call('issue_addresses', root.tenantId, false, '{}', id);
    expect(await state()).toBe('activated');
    const [address] = await world.sql`select id from address where linked_id = ${id}`;
    await write(root, 'move_address', { id: address!.id, from: ['activated'], to: 'deactivated' });
    expect([await state(), (await stored('account', root, id)).address]).toEqual(['deactivated', 'deactivated']);
    expect((await eventsOf(root, id)).at(-1)).toBe('account.updated');
  });
});

of('job_issue_addresses', () => {
  it('issues the addresses of an order', async () => {
    const { id } = await ordered();
    await call('job_issue_addresses', root.tenantId, false, await jobText('issue_addresses', id));
    expect(await stored('account', root, id)).toMatchObject({ address: 'activated' });
  });
});

of('job_offer_addresses', () => {
  it('orders what accounts that are activated already are now offered', async () => {
    await offer(root);
    const { id } = await partner();
    await activate(fixture, root, id);
    await offer(root, 'USD');
    await call('job_offer_addresses', root.tenantId, false, await jobText('offer_addresses', root.id));
    expect(await stored('account', root, id)).toMatchObject({ address: 'requested' });
    expect((await eventsOf(root, id)).at(-1)).toBe('account.updated');
  });
});

of('record_issued_address', () => {
  const record = (linkedId: string, more: object = {}) =>
    write(root.inLive, 'record_issued_address', {
      ...{ linkedId, category: 'service_receive', type: 'bank_account', currency: 'USD', name: null },
      ...{ bankAccount: { number: '12', type: 'all' }, ...more },
    });
  const livePartner = () => makeAccount(fixture, { ...root, live: true });

  it('activates the account with the last missing currency', async () => {
    await offer(root.inLive, 'USD', 'EUR');
    const { id } = await livePartner();
    await activate(fixture, root.inLive, id);
    expect(await record(id)).toMatchObject({ currency: 'USD', status: 'activated' });
    expect(await stored('account', root.inLive, id)).toMatchObject({ address: 'processing' });
    await record(id, { currency: 'EUR' });
    expect(await stored('account', root.inLive, id)).toMatchObject({ address: 'activated' });
    expect(await refusal(record(id))).toBe('state_conflict address.currency');
    expect(await refusal(record(id, { category: 'service_fee_advance' }))).toBe(
      'account_type_invalid address.linked_id',
    );
  });

  it('is waited for by whoever compares what is offered with what there is', async () => {
    const place = root.inLive;
    const { id } = await livePartner();
    /** Records an address in a transaction that ends once another call waits for it. */
    const beside = async (currency: string, change: () => Promise<void>) => {
      let opened: Promise<unknown> | undefined;
      await world.sql.begin(async (tx) => {
        const args = { linkedId: id, category: 'service_receive', type: 'bank_account', currency, name: null };
        const text = JSON.stringify({ ...args, bankAccount: { number: '12', type: 'all' } });
        await tx.unsafe(`select from record_issued_address($1, true, '{}', $2::text::jsonb)`, [place.tenantId, text]);
        await change();
        opened = call('open_account_addresses', place.tenantId, true, '{}', id);
        await statementsWaiting(world, 1);
      });
      await opened;
      return (await stored('account', place, id)).address;
    };
    await offer(place, 'USD', 'EUR');
    await activate(fixture, place, id);
    // The offer is taken back when one of two addresses is there: the account has it, and waits for nothing more.
    expect(await beside('USD', () => offer(place))).toBe('activated');
    await offer(place, 'USD', 'EUR');
    // The missing address is recorded when the account is offered it again: nothing is ordered that is there.
    expect(await beside('EUR', async () => {})).toBe('activated');
  });

  it('opens the fee advance address of a platform, and replaces the details of one that is there', async () => {
    await activate(fixture, root.inLive, root.id);
    const fee = (number: string) => record(root.id, { category: 'service_fee_advance', bankAccount: { number } });
    const { id } = await fee('12');
    expect(await eventsOf(root.inLive, id)).toEqual(['address.created']);
    expect(await fee('34')).toMatchObject({ id, bank_account: { number: '34' } });
    expect(await eventsOf(root.inLive, id)).toEqual(['address.created', 'address.updated']);
  });

  it('refuses an account that is not activated', async () => {
    const { id } = await livePartner();
    expect(await refusal(record(id))).toBe('status_invalid account.status');
  });
});
