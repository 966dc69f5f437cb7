import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { Worker } from '../../src/jobs/runner.js';
import {
  type Edition,
  eventually,
  givenIn,
  must,
  payoutAddressBody,
  type Speaker,
  useWorld,
} from '../support/world.js';
import { create, keys, payout } from './address-fixture.js';

// Without a worker, so that a test can see an address that waits for its deactivation.
const world = useWorld({ worker: false });
const given = givenIn(world);

describe('the newest payout address of a currency', () => {
  const statusOf = async (speaker: Speaker, id: string) => (await must(speaker.get(`/v1/addresses/${id}`))).status;

  it('replaces the older one, which waits for its deactivation and is then deactivated', async () => {
    const user = await given.directUser(2);
    const [first, dollars] = [
      await must(create(user, payout(user))),
      await must(create(user, payout(user, { currency: 'USD' }))),
    ];

    const second = await must(create(user, payout(user)));

    expect(await Promise.all([first, second, dollars].map(({ id }) => statusOf(user, id)))).toEqual([
      'pending_deactivation',
      'activated',
      // An address in another currency is a separate destination.
      'activated',
    ]);
    const worker = new Worker(world.database, pino({ level: 'silent' }));
    worker.start();
    try {
      await eventually(
        () => statusOf(user, first.id),
        (status) => status === 'deactivated',
      );
    } finally {
      await worker.stop();
    }
    expect(await Promise.all([second, dollars].map(({ id }) => statusOf(user, id)))).toEqual([
      'activated',
      'activated',
    ]);
    const events = await world.sql`select type from event where object_id = ${first.id} order by id`;
    expect(events.map(({ type }) => type)).toEqual([
      'address.created',
      'address.pending_deactivation',
      'address.deactivated',
    ]);
  });

  it('does not change the addresses of other accounts', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const [own, users] = [
      await must(create(platform, payoutAddressBody(platform.id))),
      await must(create(platform, payoutAddressBody(user.id))),
    ];
    await must(create(platform, payoutAddressBody(user.id)));
    expect(await Promise.all([own, users].map(({ id }) => statusOf(platform, id)))).toEqual([
      'activated',
      'pending_deactivation',
    ]);
  });

  // If two were in use, chance would decide where the money goes.
  it('is a single one after concurrent creations', async () => {
    const user = await given.directUser(1);
    await Promise.all(Array.from({ length: 6 }, () => must(create(user, payout(user)))));
    const { data } = await must(user.get('/v1/addresses?category=user_payout'));
    expect(data.map(({ status }: { status: string }) => status).toSorted()).toEqual([
      'activated',
      ...Array(5).fill('pending_deactivation'),
    ]);
  });
});

describe('updating an address', () => {
  it.each([1, 2] as const)('changes only its metadata, Edition %i', async (edition) => {
    const user = await given.directUser(edition);
    const before = await must(create(user, payout(user, { metadata: { a: '1', b: '2' } })));

    const reply = await user.post(`/v1/addresses/${before.id}`, { metadata: { b: '', c: '3' } });

    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ ...before, metadata: { a: '1', c: '3' } });
    expect(Object.keys(reply.body)).toEqual(keys.split(' '));
    expect(await must(user.get(`/v1/addresses/${before.id}`))).toEqual(reply.body);
    expect((await must(user.post(`/v1/addresses/${before.id}`, { metadata: null }))).metadata).toBeNull();
  });

  it('returns the address unchanged for an empty update', async () => {
    const user = await given.directUser(1);
    const before = await must(create(user, payout(user)));
    expect(await must(user.post(`/v1/addresses/${before.id}`, {}))).toEqual(before);
    expect(await must(user.post(`/v1/addresses/${before.id}`))).toEqual(before);
  });

  it('does the same through GraphQL', async () => {
    const user = await given.directUser(1);
    const before = await must(create(user, payout(user)));
    const made = await must(
      user.graph(
        'mutation ($input: UpdateAddressInput!) { updateAddress(input: $input) { address { id metadata } } }',
        { input: { id: before.id, metadata: { a: '1' } } },
      ),
    );
    expect(made.data.updateAddress.address).toEqual({ id: before.id, metadata: { a: '1' } });
    expect(await must(user.get(`/v1/addresses/${before.id}`))).toEqual({ ...before, metadata: { a: '1' } });
  });

  it('refuses every other parameter, also those of the creation, as unknown', async () => {
    const user = await given.directUser(1);
    const before = await must(create(user, payout(user)));
    const rest: Record<string, unknown> = payout(user);

    const reply = await user.post(`/v1/addresses/${before.id}`, { ...rest, metadata: { a: '1' } });

    expect(reply.status).toBe(400);
    expect(reply.codes.map((code, i) => `${code} ${reply.fieldNames[i]}`).toSorted()).toEqual(
      Object.keys(rest)
        .map((name) => `parameter_unknown address.${name}`)
        .toSorted(),
    );
    expect(await must(user.get(`/v1/addresses/${before.id}`))).toEqual(before);
  });

  it('is possible for an address that the service has issued, too', async () => {
    const user = await given.directUser(1);
    const [issued] = (await must(user.get('/v1/addresses?category=service_receive'))).data;
    const after = await must(user.post(`/v1/addresses/${issued.id}`, { metadata: { shown: 'on invoices' } }));
    expect(after).toEqual({ ...issued, metadata: { shown: 'on invoices' } });
  });
});

describe('listing addresses', () => {
  const ids = async (speaker: Speaker, query = '') =>
    (await must(speaker.get(`/v1/addresses${query}`))).data.map(({ id }: { id: string }) => id);

  /** Two kinds of addresses of a platform, a payout address of its user, and an expired one. */
  async function company() {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const own = (await must(platform.get('/v1/addresses'))).data as { id: string; category: string }[];
    const expired = (await must(create(user, payout(user)))).id as string;
    await must(platform.post(`/v1/test_helpers/addresses/${expired}/expire`));
    const usable = (await must(create(user, payout(user)))).id as string;
    const of = (category: string) => own.find((address) => address.category === category)!.id;
    return { platform, user, expired, usable, receive: of('service_receive'), advance: of('service_fee_advance') };
  }

  it('shows those of the acting account, and filters by every field', async () => {
    const { platform, user, expired, usable, receive, advance } = await company();
    const own = [receive, advance].toSorted().toReversed();
    const rows: [Speaker, string, string[]][] = [
      [user, '', [usable, expired]],
      [platform, '', [usable, expired, ...own]],
      [platform.actingFor(user.id), '', [usable, expired]],
      [platform, '?category=user_payout', [usable, expired]],
      [platform, '?category=service_receive', [receive]],
      [platform, '?category=service_fee_advance', [advance]],
      [platform, '?category=service_receive&category=service_fee_advance', own],
      [platform, '?category=service_receive,service_fee_advance', own],
      [platform, '?category[]=partner_payment&category[]=service_checkout', []],
      [platform, '?currency=INR', [usable, expired]],
      [platform, '?currency=USD', own],
      [platform, '?currency=USD&currency=INR', [usable, expired, ...own]],
      [platform, '?status=expired', [expired]],
      [platform, '?status=activated&category=user_payout', [usable]],
      [platform, '?status=expired&status=deactivated&status=pending_deactivation', [expired]],
      [platform, '?type=bank_account', [usable, expired, ...own]],
      [platform, '?type=wallet', []],
      [platform, '?is_reusable=false', [usable, expired, ...own]],
      [platform, '?is_reusable=true', []],
      [platform, '?wallet.provider=klarna', []],
      [platform, `?linked_id=${user.id}`, [usable, expired]],
      [platform, `?linked_id=${platform.id}`, own],
      [user, `?linked_id=${platform.id}`, []],
      [platform, '?limit=1', [usable]],
      [platform, `?starting_after=${usable}&limit=1`, [expired]],
      [platform, `?ending_before=${expired}`, [usable]],
    ];
    for (const [speaker, query, expected] of rows)
      expect([query, await ids(speaker, query)]).toEqual([query, expected]);
  });

  // Payments create wallets; here the test inserts a row of each kind.
  it('refuses the filters of the other edition on the edge as on the list', async () => {
    const [first, second] = await Promise.all([given.directUser(1), given.directUser(2)]);
    const filters: [filter: string, field: string][] = [
      ['type: [VPA]', 'address.type'],
      ['vpa: { upi: { onetime: ENABLED } }', 'address.vpa.upi.onetime'],
      ['vpa: { upi: { recurring: ENABLED } }', 'address.vpa.upi.recurring'],
    ];
    // Three times, because a document is answered by resolvers first and by its compiled query afterwards.
    for (const [filter, field] of filters)
      for (const ask of ['addresses', 'edge'])
        for (let i = 0; i < 3; i++) {
          const list = `addresses(${filter}) { nodes { id } }`;
          const query = (me: Speaker) => (ask === 'edge' ? `{ account(id: "${me.id}") { ${list} } }` : `{ ${list} }`);
          expect([filter, (await first.graph(query(first))).fieldNames]).toEqual([filter, [field]]);
          expect([filter, (await second.graph(query(second))).fieldNames]).toEqual([filter, []]);
        }
  });

  it('filters by reusability for ACH debit: addresses from which a partner paid so, until they expire', async () => {
    const user = await given.directUser(1);
    const [debtor, other] = [await user.partner(), await user.partner()];
    const paid = async (from: string, payment_method: string) =>
      (
        await must(
          user.post('/v1/deposits', { amount: '1.00', currency: 'USD', from: { account_id: from }, payment_method }),
        )
      ).from.address_id;
    const reusable = async () => (await must(user.get('/v1/addresses?is_reusable=true'))).data.map((a: any) => a.id);
    const one = await paid(debtor.id, 'domestic_debit');
    const two = await paid(other.id, 'domestic_wire');
    expect(await reusable()).toEqual([one]);
    const graph = await must(user.graph('{ addresses(isReusable: true) { nodes { id isReusable category } } }'));
    expect(graph.data.addresses.nodes).toEqual([{ id: one, isReusable: true, category: 'PARTNER_PAYMENT' }]);
    // The same account, debited later, becomes reusable; a wire does not undo that.
    expect(await paid(other.id, 'domestic_debit')).toBe(two);
    expect(await paid(debtor.id, 'domestic_wire')).toBe(one);
    expect(new Set(await reusable())).toEqual(new Set([one, two]));
    expect((await must(user.post(`/v1/test_helpers/addresses/${one}/expire`))).is_reusable).toBe(false);
    expect(await reusable()).toEqual([two]);
  });

  it('finds a wallet of each provider, which a test helper creates for a partner and no other account', async () => {
    const user = await given.directUser(1);
    const partner = await user.partner();
    const make = (id: string, body: object) => user.post(`/v1/test_helpers/accounts/${id}/wallet`, body);
    for (const provider of ['affirm', 'afterpay', 'klarna', 'paypal_external']) {
      const made = await must(make(partner.id, provider === 'paypal_external' ? {} : { provider }));
      expect(made).toMatchObject({
        type: 'wallet',
        category: 'partner_payment',
        currency: 'USD',
        wallet: { provider },
      });
      expect((await must(user.get(`/v1/addresses?wallet.provider=${provider}`))).data).toEqual([made]);
    }
    const own = await make(user.id, {});
    expect([own.status, own.codes, own.fieldNames]).toEqual([400, ['account_type_invalid'], ['address.id']]);
    const wrong = await make(partner.id, { provider: 'cash' });
    expect([wrong.status, wrong.fieldNames]).toEqual([400, ['address.provider']]);
  });

  it('filters by wallet provider and by what a vpa can do', async () => {
    const user = await given.directUser(2);
    const partner = await user.partner();
    const put = async (id: string, type: string, wallet: object | null, vpa: object | null) => {
      await world.sql`insert into address (tenant_id, livemode, id, created, category, type, status, currency,
        linked_id, wallet, vpa, context_id, on_root_list)
        select tenant_id, livemode, ${id}, created, 'partner_payment', ${type}, 'activated', 'INR', id,
               ${wallet && world.sql.json(wallet as never)}, ${vpa && world.sql.json(vpa as never)}, context_id,
               on_root_list
        from account where id = ${partner.id}`;
      return id;
    };
    const hex = partner.id.slice(-30);
    const klarna = await put(`address_${hex}01`, 'wallet', { provider: 'klarna' }, null);
    const affirm = await put(`address_${hex}02`, 'wallet', { provider: 'affirm' }, null);
    const vpa = await put(`address_${hex}03`, 'vpa', null, {
      id: 'asha@bank',
      upi: { onetime: 'enabled', recurring: 'disabled' },
    });
    const rows: [string, string[]][] = [
      ['wallet.provider=klarna', [klarna]],
      ['wallet.provider=klarna&wallet.provider=affirm', [affirm, klarna]],
      ['wallet.provider=afterpay,paypal_external', []],
      ['type=wallet', [affirm, klarna]],
      ['type=vpa', [vpa]],
      ['vpa.upi.onetime=enabled', [vpa]],
      ['vpa.upi.onetime=disabled', []],
      ['vpa.upi.recurring=disabled', [vpa]],
      ['vpa[upi][recurring]=enabled', []],
      ['vpa.upi.onetime=enabled&vpa.upi.recurring=enabled', []],
    ];
    for (const [query, expected] of rows) expect([query, await ids(user, `?${query}`)]).toEqual([query, expected]);
    expect(await must(user.get(`/v1/addresses/${vpa}`))).toMatchObject({
      type: 'vpa',
      vpa: { id: 'asha@bank', upi: { onetime: 'enabled', recurring: 'disabled' } },
      wallet: null,
      bank_account: null,
    });
    expect(await must(user.get(`/v1/addresses/${klarna}`))).toMatchObject({
      vpa: null,
      wallet: { provider: 'klarna' },
    });
  });

  const refused: [Edition, query: string, code: string, field: string][] = [
    [1, 'type=vpa', 'parameter_invalid', 'type'],
    [1, 'vpa.upi.onetime=enabled', 'parameter_unknown', 'vpa.upi.onetime'],
    [1, 'vpa.upi.recurring=enabled', 'parameter_unknown', 'vpa.upi.recurring'],
    [2, 'vpa.upi.onetime=maybe', 'parameter_invalid', 'vpa.upi.onetime'],
    [2, 'wallet.provider=purse', 'parameter_invalid', 'wallet.provider'],
    [1, 'category=user', 'parameter_invalid', 'category'],
    [1, 'currency=dollars', 'parameter_invalid', 'currency'],
    [1, 'is_reusable=no', 'parameter_invalid', 'is_reusable'],
    [1, 'status=draft', 'parameter_invalid', 'status'],
    [1, 'name=x', 'parameter_unknown', 'name'],
    // The parameter takes one account: with two, neither the first nor the last is used.
    [1, 'linked_id=account_1&linked_id=account_2', 'parameter_invalid', 'linked_id'],
  ];
  it.each(refused)('of Edition %i refuses %s', async (edition, query, code, field) => {
    const user = await given.directUser(edition);
    const reply = await user.get(`/v1/addresses?${query}`);
    expect([reply.status, reply.codes, reply.fieldNames]).toEqual([400, [code], [`address.${field}`]]);
  });
});
