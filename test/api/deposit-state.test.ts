import pino from 'pino';
import { beforeAll, describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { Worker } from '../../src/jobs/runner.js';
import { currencyOf, unknownId } from '../support/bodies.js';
import { advanceAndRun, runJobs } from '../support/jobs.js';
import { activatedUser } from '../support/onboarding-profile.js';
import {
  must,
  transports,
  eventually,
  givenIn,
  type Speaker,
  useWorld,
  tenantOf,
  withoutTotals,
} from '../support/world.js';
import {
  activatedPartner,
  addressesOf,
  type Answer,
  completed,
  deposited,
  funds,
  money,
  move,
  receivableOf,
  reconcile,
  type State,
  type Verb,
  verbs,
  ways,
} from './deposit-fixture.js';

// No worker, so that a deposit keeps the state that a test has made; `work` does a worker's work.
const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

const edges: Record<State, Partial<Record<Verb, string>>> = {
  initialized: { process: 'processing', cancel: 'cancelled', complete: 'completed', fail: 'failed' },
  processing: { complete: 'completed', fail: 'failed' },
  completed: { reverse: 'reversed', dispute: 'completed' },
  cancelled: {},
  failed: {},
  reversed: {},
  'a dispute': {},
};

const transitions = (Object.keys(edges) as State[]).flatMap((state) =>
  verbs.map((verb) => [state, verb, edges[state][verb] ?? 'refused'] as const),
);

describe.each(transports)('the state of a deposit over %s', (transport) => {
  let user: Speaker;
  beforeAll(async () => {
    user = await given.directUser(1);
  });

  it.each(transitions)('%s, %s: %s', async (state, verb, outcome) => {
    let { id } = await deposited(user);
    for (const step of ways[state]) id = (await move(user, 'REST', id, step)).deposit.id;
    const before = await user.get(`/v1/deposits/${id}`);
    const balance = await funds(user);

    const { status, codes, deposit } = await move(
      user,
      transport,
      id,
      verb,
      verb === 'fail' ? { reason_code: 'general' } : {},
    );

    const after = (await user.get(`/v1/deposits/${id}`)).body;
    if (outcome === 'refused') {
      expect([status, codes, after]).toEqual([400, ['status_invalid'], before.body]);
      expect(await funds(user)).toEqual(balance);
    } else if (verb === 'dispute') {
      expect([status, after]).toEqual([200, before.body]);
      expect(deposit).toEqual({
        ...before.body,
        id: expect.not.stringMatching(id),
        created: expect.any(Number),
        amount: '-10.00',
        reason_code: expect.any(String),
        status: 'completed',
      });
    } else {
      const reason = verb === 'fail' ? { reason_code: 'general' } : {};
      expect([status, deposit, after]).toEqual([
        200,
        { ...before.body, status: outcome, ...reason },
        { ...before.body, status: outcome, ...reason },
      ]);
    }
  });

  it.each([
    'cancelled',
    'duplicate',
    'general',
    'high_risk',
    'incorrect_amount',
    'poor_image_quality',
    'unmatched_details',
  ])('a dispute or a failure may have the reason %s', async (reason) => {
    const [failing, disputed] = await Promise.all([deposited(user), completed(user)]);
    const failed = await move(user, transport, failing.id, 'fail', { reason_code: reason });
    const dispute = await move(user, transport, disputed.id, 'dispute', { reason_code: reason, amount: '1.00' });
    expect([failed.deposit.reason_code, dispute.deposit.reason_code]).toEqual([reason, reason]);
  });

  it('refuses an unknown reason, and treats a foreign deposit like an invented one', async () => {
    const [own, outsider] = await Promise.all([completed(user), given.directUser(1)]);
    const foreign = await completed(outsider);
    const reason = await user.post(`/v1/test_helpers/deposits/${own.id}/dispute`, { reason_code: 'whim' });
    expect([reason.status, reason.fieldNames]).toEqual([400, ['deposit.reason_code']]);
    for (const verb of verbs) {
      const replies = await Promise.all(
        [foreign.id, unknownId('deposit')].map((id) => move(user, transport, id, verb)),
      );
      expect(replies.map((r) => [r.status, r.codes, r.fieldNames])).toEqual(
        replies.map(() => [404, ['resource_missing'], ['deposit.id']]),
      );
    }
  });
});

describe('the money of a deposit', () => {
  it('is in no balance until the deposit is completed, and never if it is cancelled or fails', async () => {
    const user = await given.directUser(1);
    const nothing = {
      available: money('0.00'),
      pending: money('0.00'),
      payout_processing: money('0.00'),
      fee_advance: [],
    };
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => deposited(user)));
    await must(move(user, 'REST', one.id, 'process'));
    await must(move(user, 'REST', two.id, 'cancel'));
    await must(move(user, 'REST', three.id, 'fail'));
    expect(await funds(user)).toEqual(nothing);
    expect((await user.get('/v1/balance_transactions')).body.data).toEqual([]);

    await must(move(user, 'REST', one.id, 'complete'));

    expect(await funds(user)).toEqual({ ...nothing, pending: money('10.00') });
    expect((await user.get('/v1/balance_transactions')).body.data).toEqual([
      expect.objectContaining({ amount: '10.00', currency: 'USD', category: 'pending' }),
    ]);
    const payments = (await user.get('/v1/payments')).body.data;
    expect(payments.map((p: any) => [p.type, p.amount, p.status, p.deposit_id]).toSorted()).toEqual(
      [
        ['deposit', '10.00', 'completed', one.id],
        ['deposit', '10.00', 'cancelled', two.id],
        ['deposit', '10.00', 'failed', three.id],
      ].toSorted(),
    );
  });

  it('is credited once after concurrent completions over both APIs', async () => {
    const user = await given.directUser(1);
    const { id } = await deposited(user);

    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, i) => move(user, transports[i % 2]!, id, 'complete')),
    );

    expect(replies.map((r) => r.status).toSorted()).toEqual([200, 400, 400, 400, 400, 400, 400, 400]);
    expect((await funds(user)).pending).toEqual(money('10.00'));
  });

  it('is fee advance of a platform that is paid on its fee advance address, and never pending', async () => {
    for (const edition of [1, 2] as const) {
      const platform = await given.platform(edition);
      const currency = currencyOf[edition];
      const [advance] = await addressesOf(platform, platform.id, 'service_fee_advance');

      const done = await completed(platform, '25.00', { to: { address_id: advance.id } });

      expect(done.to).toEqual({ account_id: platform.id, address_id: advance.id });
      const held = { available: money('0.00', currency), pending: money('0.00', currency) };
      expect(await funds(platform)).toMatchObject({ ...held, fee_advance: money('25.00', currency) });
      expect((await platform.get('/v1/balance_transactions')).body.data).toEqual([
        expect.objectContaining({ amount: '25.00', category: 'fee_advance' }),
      ]);
      // It is clawed back from the same compartment.
      await must(move(platform, 'REST', done.id, 'dispute', { amount: '5.00' }));
      expect(await funds(platform)).toMatchObject({ ...held, fee_advance: money('20.00', currency) });
      await must(move(platform, 'REST', done.id, 'reverse'));
      expect(await funds(platform)).toMatchObject({ ...held, fee_advance: money('0.00', currency) });
    }
  });

  it('is pending at a platform that is paid on its own receiving address, in Edition 1', async () => {
    const platform = await given.platform(1);
    await completed(platform, '25.00');
    expect(await funds(platform)).toEqual({
      available: money('0.00'),
      pending: money('25.00'),
      payout_processing: money('0.00'),
      fee_advance: money('0.00'),
    });
  });

  // The helper reads the deposit and waits for the balance; meanwhile the sandbox starts to process it.
  it('goes to the account of its address, also if the sandbox moves it while a helper completes it', async () => {
    const platform = await given.platform(1);
    const [advance] = await addressesOf(platform, platform.id, 'service_fee_advance');
    const to = { address_id: advance.id };
    await completed(platform, '1.00', { to });
    await advanceAndRun(platform, 61);
    const { id } = await deposited(platform, '2.00', { to });
    let helper: Promise<Answer> | undefined;

    await world.sql.begin(async (sql) => {
      await sql`select from balance where tenant_id = ${tenantOf(platform)} for update`;
      helper = move(platform, 'REST', id, 'complete');
      await eventually(
        () => world.sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        (waiting) => waiting.length > 0,
      );
      await runJobs(platform);
    });

    expect([(await helper!).status, (await helper!).deposit.status]).toEqual([200, 'completed']);
    const { pending, fee_advance } = await funds(platform);
    expect([pending, fee_advance]).toEqual([money('0.00'), money('3.00')]);
  });

  it("is pending at a partner that is paid on its own address, and in its owner's aggregate", async () => {
    const user = await given.directUser(1);
    const [one, other] = [await activatedPartner(user, user), await activatedPartner(user, user)];
    const to = { account_id: one.id };

    const done = await completed(user, '30.00', { from: { account_id: one.id }, to });
    await completed(user, '12.50', { from: { account_id: other.id }, to: { account_id: other.id } });
    await completed(user, '1.00');

    const [address] = await addressesOf(user, one.id, 'service_receive');
    expect(done.to).toEqual({ account_id: one.id, address_id: address.id });
    expect((await funds(user, one.id)).pending).toEqual(money('30.00'));
    expect((await funds(user)).pending).toEqual(money('1.00'));
    expect((await user.get('/v1/balance/aggregate')).body).toEqual({
      object: 'balance_aggregate',
      account_id: user.id,
      livemode: false,
      pending: money('42.50'),
    });
  });
});

describe('the sandbox', () => {
  const real = useWorld();
  const there = givenIn(real);

  it('takes a deposit through processing to completed by itself, once, also with two workers', async () => {
    const second = new Worker(real.database, pino({ level: 'silent' }));
    second.start();
    const user = await there.directUser(1);

    const made = await Promise.all(Array.from({ length: 5 }, () => deposited(user, '1.00')));
    expect(made.map((d) => d.status)).toEqual(made.map(() => 'initialized'));
    await eventually(
      () => user.get('/v1/deposits'),
      (r) => r.body.data.every((d: any) => d.status === 'completed'),
    );
    await eventually(
      () => user.get('/v1/events?type=deposit.completed'),
      (r) => r.body.data.length === 5,
    );
    await second.stop();

    expect((await user.get('/v1/balance')).body.pending).toEqual(money('5.00'));
    const { body } = await user.graph(
      '{ events(type: ["deposit.initialized", "deposit.processing", ' +
        '"deposit.completed"], first: 50) { nodes { type objectId } } }',
    );
    const emitted = body.data.events.nodes.map((e: any) => `${e.objectId} ${e.type}`).toSorted();
    expect(emitted).toEqual(
      made
        .flatMap(({ id }) => ['initialized', 'processing', 'completed'].map((state) => `${id} deposit.${state}`))
        .toSorted(),
    );
    expect(await real.sql`select rule, what from violations`).toEqual([]);
  });
});

describe('finding deposits', () => {
  it('lists those of the listed accounts on either side, for each kind of caller', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    const partner = await activatedPartner(platform, user);
    const toUser = await deposited(user, '1.00', { from: { account_id: partner.id } });
    const toPartner = await deposited(user, '2.00', {
      from: { account_id: partner.id },
      to: { account_id: partner.id },
    });
    const fromUser = await deposited(user, '3.00', {
      from: { account_id: user.id },
      to: { account_id: partner.id },
    });
    const toPlatform = await deposited(platform, '4.00');
    const ids = async (speaker: Speaker, query = '') =>
      (await speaker.get(`/v1/deposits${query}`)).body.data.map((d: any) => d.amount).toSorted();

    expect(await ids(user)).toEqual(['1.00', '2.00', '3.00']);
    expect(await ids(platform.actingFor(user.id))).toEqual(['1.00', '2.00', '3.00']);
    // A connected user's partner is not on the platform's list, so a deposit to it without a payer is not shown.
    expect(await ids(platform)).toEqual(['1.00', '3.00', '4.00']);
    // The platform can still see it, by its id and by its account.
    for (const d of [toUser, toPartner, fromUser, toPlatform])
      expect((await platform.get(`/v1/deposits/${d.id}`)).body).toEqual(d);
    expect((await user.get(`/v1/deposits/${toPlatform.id}`)).status).toBe(404);
    expect(await ids(platform, `?account_id=${user.id}`)).toEqual(['1.00', '3.00']);
    expect(await ids(platform, `?account_id=${partner.id}`)).toEqual(['1.00', '2.00', '3.00']);
    expect(await ids(user, `?account_id=${partner.id}`)).toEqual(['1.00', '2.00', '3.00']);
    expect(await ids(user, `?account_id=${platform.id}`)).toEqual([]);
    const graph = await user.graph(
      `{ account(id: "${partner.id}") { depositsIn { nodes { amount } } depositsOut { nodes { amount } } } }`,
    );
    expect(graph.body.data.account.depositsIn.nodes.map((d: any) => d.amount).toSorted()).toEqual(['2.00', '3.00']);
    expect(graph.body.data.account.depositsOut.nodes.map((d: any) => d.amount).toSorted()).toEqual(['1.00', '2.00']);
  });

  it('are found from their receiving address and from each other, in both directions', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    const partner = await activatedPartner(platform, user);
    const disputed = await completed(user, '9.00', { from: { account_id: partner.id } });
    const other = await completed(user, '1.00', { to: { account_id: partner.id } });
    const first = (await move(user, 'REST', disputed.id, 'dispute', { amount: '2.00' })).deposit;
    const second = (await move(user, 'REST', disputed.id, 'dispute', { amount: '3.00' })).deposit;
    await withoutTotals(world, tenantOf(platform));
    await world.sql`update deposit set created = created + 1 where tenant_id = ${platform.id.replace('account_', '')}
      and id = ${second.id}`;
    const walk = (speaker: Speaker, id: string) =>
      speaker.graph(
        `query ($id: ID!) { deposit(id: $id) {
           fromAddress { id category } toAddress { id category } disputes { id } disputedBy(first: 1) { nodes { amount
           disputes { id } } totalCount pageInfo { hasNextPage } }
           at: toAddress { deposits { nodes { amount } totalCount } failed: deposits(status: [FAILED]) { nodes { id } }
           } } }`,
        { id },
      );
    for (const speaker of [user, platform]) {
      const { deposit } = (await walk(speaker, disputed.id)).body.data;
      expect(deposit.disputes).toBeNull();
      expect([deposit.fromAddress, deposit.toAddress]).toEqual([
        { id: disputed.from.address_id, category: 'PARTNER_PAYMENT' },
        { id: disputed.to.address_id, category: 'SERVICE_RECEIVE' },
      ]);
      expect(deposit.disputedBy).toEqual({
        nodes: [{ amount: '-3.00', disputes: { id: disputed.id } }],
        ...{ totalCount: 2, pageInfo: { hasNextPage: true } },
      });
      // A dispute has come in nowhere that the disputed deposit has not.
      const { deposits, failed } = deposit.at;
      expect(deposits.nodes.map((d: any) => d.amount).toSorted()).toEqual(['-2.00', '-3.00', '9.00']);
      expect([deposits.totalCount, failed.nodes]).toEqual([3, []]);
      const back = (await walk(speaker, first.id)).body.data.deposit;
      expect([back.disputes, back.disputedBy.totalCount]).toEqual([{ id: disputed.id }, 0]);
      const elsewhere = (await walk(speaker, other.id)).body.data.deposit;
      expect([elsewhere.disputedBy.totalCount, elsewhere.at.deposits.totalCount]).toEqual([0, 1]);
    }
  });

  it('that are not reconciled are a list with the rest of each, whose sum is the pending balance', async () => {
    const user = await given.directUser(1);
    const waiting = async () => {
      const list = 'nodes { id pendingRest } totalCount';
      const query = `{ deposits(unreconciled: true) { ${list} }
        viewer { account { depositsIn(unreconciled: true) { ${list} } balance { pending { amount } } } } }`;
      // The resolvers answer twice, and then a compiled query does.
      const answers: any[] = [];
      for (let n = 0; n < 4; n++) answers.push((await user.graph(query)).body.data);
      const [{ deposits, viewer }] = answers;
      expect(answers).toEqual(Array(4).fill(answers[0]));
      expect(viewer.account.depositsIn).toEqual(deposits);
      expect(deposits.totalCount).toBe(deposits.nodes.length);
      const found = deposits.nodes.map(({ id, pendingRest }: any) => [id, pendingRest]);
      expect((await user.get('/v1/deposits?unreconciled=true')).body.data.map(({ id }: any) => id)).toEqual(
        found.map(([id]: [string]) => id),
      );
      return [found, viewer.account.balance.pending[0]?.amount];
    };
    const receivable = await receivableOf(user, '100.00');
    const [first, second] = [await completed(user, '10.00'), await completed(user, '20.10')];
    await deposited(user, '7.00');
    const rest = [second.id, '20.10'];
    expect(await waiting()).toEqual([[rest, [first.id, '10.00']], '30.10']);
    await must(reconcile(user, 'REST', first.id, [[receivable.id, '9.99']]));
    expect(await waiting()).toEqual([[rest, [first.id, '0.01']], '20.11']);
    await must(reconcile(user, 'REST', first.id, [[receivable.id, '0.01']]));
    expect(await waiting()).toEqual([[rest], '20.10']);
    await must(move(user, 'REST', second.id, 'reverse'));
    expect((await waiting())[0]).toEqual([]);
    for (const wrong of [
      'unreconciled=false',
      'unreconciled=no',
      'unreconciled=true&order_by=amount_desc&currency=USD',
    ]) {
      const { status, codes, fieldNames } = await user.get(`/v1/deposits?${wrong}`);
      expect([status, codes, fieldNames]).toEqual([400, ['parameter_invalid'], ['deposit.unreconciled']]);
    }
  });

  it('of one account on either side finds each once, with any filters, page, direction and API', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    const partner = await activatedPartner(platform, user);
    const party = (id: string) => ({ account_id: id });
    const sides: [from: string | undefined, to: string][] = [
      [partner.id, user.id],
      [user.id, partner.id],
      [partner.id, partner.id],
      [user.id, user.id],
      [undefined, partner.id],
      [undefined, user.id],
    ];
    for (let n = 0; n < 3; n++)
      for (const [from, to] of sides) {
        const d = await deposited(user, `${n + 1}.00`, { ...(from && { from: party(from) }), to: party(to) });
        if (n === 0) await move(user, 'REST', d.id, 'complete');
      }
    // Six to a second: both sides meet within one.
    const tenant = tenantOf(platform);
    await withoutTotals(world, tenant);
    await world.sql`
      update deposit d set created = 1800000000 + n.n % 3
      from (select id, row_number() over (order by id) n from deposit where tenant_id = ${tenant} and not livemode) n
      where d.id = n.id and d.tenant_id = ${tenant} and not d.livemode`;
    const rows = (await world.sql`select * from deposit where tenant_id = ${tenant} and not livemode`)
      .map((row) => ({ ...row, created: Number(row.created) }) as any)
      .sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1));
    const filters: [query: string, args: string, passes: (row: any) => boolean][] = [
      ['', '', () => true],
      ['&status=completed', ', status: [COMPLETED]', (row) => row.status === 'completed'],
      [
        '&status=initialized&currency=USD',
        ', status: [INITIALIZED], currency: ["USD"]',
        (r) => r.status !== 'completed',
      ],
      ['&payment_method=klarna', ', paymentMethod: [KLARNA]', () => false],
      ['&created.gt=1800000000', ', created: { gt: "2027-01-15T08:00:00Z" }', (row) => row.created > 1_800_000_000],
      ['&unreconciled=true', ', unreconciled: true', (row) => row.pending_rest !== '0'],
      [
        '&unreconciled=true&currency=USD&status=completed',
        ', unreconciled: true, status: [COMPLETED], currency: ["USD"]',
        (row) => row.pending_rest !== '0',
      ],
    ];
    expect(rows.filter((row) => row.pending_rest !== '0').length).toBeGreaterThan(1);
    const all = [user, platform].flatMap((speaker) =>
      [user, partner].flatMap(({ id }) => filters.map((filter) => ({ speaker, id, filter }))),
    );
    for (const {
      speaker,
      id,
      filter: [query, args, passes],
    } of all) {
      const of = (row: any) => row.to_account_id === id || row.from_account_id === id;
      const ids: string[] = rows.filter((row) => of(row) && passes(row)).map((row) => row.id);
      const rest = async (more: string) => {
        const { status, body } = await speaker.get(`/v1/deposits?account_id=${id}${query}${more}`);
        expect(status).toBe(200);
        return [body.data.map((d: any) => d.id), body.has_next];
      };
      for (const size of [1, 2, 5, 10]) {
        const page = `&limit=${size}`;
        for (let at = 0; at < Math.max(ids.length, 1); at += size) {
          const end = at + size;
          const [after, before] = [ids[at - 1], ids[ids.length - at]];
          expect(await rest(`${page}${after ? `&starting_after=${after}` : ''}`)).toEqual([
            ids.slice(at, end),
            ids.length > end,
          ]);
          if (!before) continue;
          const start = Math.max(ids.length - end, 0);
          expect(await rest(`${page}&ending_before=${before}`)).toEqual([ids.slice(start, ids.length - at), start > 0]);
        }
      }
      const fields = 'totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage }';
      const middle = Math.floor(ids.length / 2);
      const list = (alias: string, more: string) =>
        `${alias}: deposits(accountId: "${id}"${args}, ${more}) { ${fields} }`;
      const cursor = ids[middle];
      const { data, errors } = (
        await speaker.graph(
          `{ ${list('newest', 'first: 2')} ${list('oldest', 'last: 2')}
             ${cursor ? list('on', `first: 2, after: "${cursor}"`) : ''}
             ${cursor ? list('back', `last: 2, before: "${cursor}"`) : ''} }`,
        )
      ).body;
      expect(errors).toBeUndefined();
      const shown = (from: number, to: number) => ({
        totalCount: ids.length,
        nodes: ids.slice(Math.max(from, 0), to).map((one) => ({ id: one })),
        pageInfo: { hasNextPage: to < ids.length, hasPreviousPage: from > 0 },
      });
      expect(data).toEqual({
        newest: shown(0, 2),
        oldest: shown(ids.length - 2, ids.length),
        ...(cursor && { on: shown(middle + 1, middle + 3), back: shown(middle - 2, middle) }),
      });
    }
  });

  it('of one account misses and repeats none while deposits are added on both sides', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    const partner = await activatedPartner(platform, user);
    const make = (i: number) => {
      const [from, to] = i % 2 === 0 ? [user, partner] : [partner, user];
      return deposited(user, `${i + 1}.00`, { from: { account_id: from.id }, to: { account_id: to.id } });
    };
    const before: string[] = [];
    for (let i = 0; i < 12; i++) before.push((await make(i)).id);
    let more = true;
    const busy = Promise.all(
      [0, 1].map(async (side) => {
        const made: string[] = [];
        for (let i = side; more && i < 200; i += 2) made.push((await make(i)).id);
        return made;
      }),
    );
    const walk = async (first: string, parameter: string) => {
      const met: string[] = [];
      for (let cursor = first; ; ) {
        const { body } = await user.get(`/v1/deposits?account_id=${partner.id}&limit=3&${parameter}=${cursor}`);
        const ids: string[] = body.data.map((d: any) => d.id);
        if (parameter === 'ending_before') met.unshift(...ids);
        else met.push(...ids);
        cursor = (parameter === 'ending_before' ? met[0] : met.at(-1)) ?? first;
        if (!body.has_next) return met;
      }
    };
    const onward = await walk(before.at(-1)!, 'starting_after');
    more = false;
    const made = (await busy).flat();
    const back = await walk(before[0]!, 'ending_before');

    expect(onward).toEqual(before.slice(0, -1).toReversed());
    expect(made.length).toBeGreaterThan(0);
    expect(back).toHaveLength(new Set(back).size);
    expect(back.toSorted()).toEqual([...before.slice(1), ...made].toSorted());
  });

  it('shows none of them to another tenant, and pages and filters like every list', async () => {
    const [user, outsider] = await Promise.all([given.directUser(1), given.directUser(1)]);
    const made = [];
    for (let n = 1; n <= 12; n++) made.push(await deposited(user, `${n}.00`));
    await must(move(user, 'REST', made[0]!.id, 'complete'));

    expect((await outsider.get('/v1/deposits')).body).toEqual({ object: 'list', data: [], has_next: false });
    expect((await outsider.get(`/v1/deposits/${made[0]!.id}`)).status).toBe(404);
    const newest = [...made].sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1)).map((d) => d.id);
    const first = await user.get('/v1/deposits');
    expect([first.body.data.map((d: any) => d.id), first.body.has_next]).toEqual([newest.slice(0, 10), true]);
    const next = await user.get(`/v1/deposits?starting_after=${newest[9]}`);
    expect([next.body.data.map((d: any) => d.id), next.body.has_next]).toEqual([newest.slice(10), false]);
    const back = await user.get(`/v1/deposits?ending_before=${newest[10]}&limit=3`);
    expect([back.body.data.map((d: any) => d.id), back.body.has_next]).toEqual([newest.slice(7, 10), true]);
    const done = await user.get('/v1/deposits?status=completed');
    expect(done.body.data.map((d: any) => d.id)).toEqual([made[0]!.id]);
    const foreign = await user.get(`/v1/deposits?starting_after=${unknownId('deposit')}`);
    expect([foreign.status, foreign.fieldNames]).toEqual([400, ['deposit.starting_after']]);
  });
});
