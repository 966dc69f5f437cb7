import pino from 'pino';
import postgres from 'postgres';
import { describe, expect, inject, it } from 'vitest';
import { Worker } from '../../src/jobs/runner.js';
import { assemble, complete } from '../support/onboarding-profile.js';
import { runDueJobs } from '../support/jobs.js';
import {
  type Edition,
  eventually,
  givenIn,
  must,
  payoutAddressBody,
  type Speaker,
  tenantOf,
  useWorld,
  type World,
} from '../support/world.js';
import { issueAddress, verifyAccount } from '../../src/operator/account/accounts.js';

const world = useWorld();
const given = givenIn(world);
/** Where the sandbox does nothing until a test has it work: what comes before that takes a busy machine long. */
const still = useWorld({ worker: false });
const givenStill = givenIn(still);

const account = (speaker: Speaker, id: string) => must(speaker.get(`/v1/accounts/${id}`));
const activate = (speaker: Speaker, id: string) => must(speaker.post(`/v1/accounts/${id}/activate`));

interface Shown {
  id: string;
  category: string;
  status: string;
  currency: string;
}
async function addresses(speaker: Speaker, id: string, query = ''): Promise<Shown[]> {
  return (await must(speaker.get(`/v1/addresses?linked_id=${id}${query}`))).data;
}
/** The currencies of an account's usable receiving addresses; a currency with two addresses is listed twice. */
async function received(speaker: Speaker, id: string): Promise<string[]> {
  const list = await addresses(speaker, id, '&category=service_receive&status=activated');
  return list.map(({ currency }) => currency).toSorted();
}
/** The account after the sandbox has verified it and its bank has issued the offered addresses. */
const settled = (speaker: Speaker, id: string) =>
  eventually(
    () => account(speaker, id),
    ({ status, address }) => status === 'activated' && address === 'activated',
  );
/** Waits until a tenant has no work left; what has not happened by then does not happen. */
const idle = (root: { id: string }, where: World = world) =>
  eventually(
    async () => (await where.sql`select kind from job where tenant_id = ${tenantOf(root)}`).length,
    (jobs) => jobs === 0,
  );
/** The history of an account: its status and address state at each of its events. */
const history = async (id: string, where: World = world) =>
  (
    await where.sql`select data ->> 'status' as status, data ->> 'address' as address from event where object_id = ${id}
      order by id`
  ).map(({ status, address }) => [status, address]);

async function setOffer(root: Speaker, body: object) {
  const [setting] = (await must(root.get(`/v1/account_settings?account_id=${root.id}`))).data;
  return must(root.post(`/v1/account_settings/${setting.id}`, body));
}

type Kind = 'connected user' | "connected user's partner" | "platform's partner" | "direct user's partner";
/** A draft of this kind with everything that activation requires, and the root that activates it. */
async function draft(kind: Kind, edition: Edition, aggregator = false) {
  const root = await (kind === "direct user's partner"
    ? given.directUser(edition)
    : given.platform(edition, aggregator ? { subType: 'aggregator' } : {}));
  if (kind === 'connected user') return { root, id: await assemble(root, complete(edition)) };
  const owner = kind === "connected user's partner" ? await root.connectedUser() : root;
  return { root, id: (await owner.partner()).id as string };
}

describe.concurrent('in test mode the sandbox verifies, and its bank issues', () => {
  const kinds: Kind[] = ['connected user', "connected user's partner", "platform's partner", "direct user's partner"];
  const rows = [
    ...kinds.map((kind) => ({ edition: 1 as Edition, kind, aggregator: false, currency: 'USD' })),
    ...kinds.map((kind) => ({ edition: 2 as Edition, kind, aggregator: false, currency: 'INR' })),
    ...(['connected user', "connected user's partner", "platform's partner"] as const).map((kind) => ({
      edition: 2 as Edition,
      kind: kind as Kind,
      aggregator: true,
      currency: 'INR',
    })),
  ];

  it.each(rows)(
    'to a $kind one $currency address, Edition $edition, aggregator: $aggregator',
    async ({ edition, kind, aggregator, currency }) => {
      const { root, id } = await draft(kind, edition, aggregator);

      const submitted = await activate(root, id);
      const after = await settled(root, id);
      await idle(root);

      expect([submitted.status, submitted.address]).toEqual(['verifying', 'deactivated']);
      expect(after).toEqual({
        ...submitted,
        status: 'activated',
        address: 'activated',
        capability: edition === 1 ? { multicurrency_exports_v1: 'activated' } : {},
      });
      expect((await history(id)).slice(-4)).toEqual([
        ['verifying', 'deactivated'],
        ['activated', 'requested'],
        ['activated', 'processing'],
        ['activated', 'activated'],
      ]);
      const issued = await addresses(root, id, '&category=service_receive');
      expect(issued).toEqual([
        expect.objectContaining({
          type: 'bank_account',
          status: 'activated',
          currency,
          linked_id: id,
          livemode: false,
        }),
      ]);
    },
  );

  it('one address per currency of the setting that applies to the kind', async () => {
    const platform = await given.platform(1);
    await setOffer(platform, {
      address_currency: {
        partner: ['USD', 'EUR', 'GBP'],
        connected_user: ['CAD'],
        connected_user_partner: ['AUD', 'USD'],
      },
    });
    const user = await assemble(platform, complete(1));
    const [ofPlatform, ofUser] = await Promise.all([platform.partner(), platform.actingFor(user).partner()]);
    const ids = [user, ofPlatform.id, ofUser.id];

    await Promise.all(ids.map((id) => activate(platform, id)));
    await Promise.all(ids.map((id) => settled(platform, id)));

    expect(await Promise.all(ids.map((id) => received(platform, id)))).toEqual([
      ['CAD'],
      ['EUR', 'GBP', 'USD'],
      ['AUD', 'USD'],
    ]);
  });

  // A repeated currency does not order a second account.
  it('one address for a currency that is given twice', async () => {
    const user = await given.directUser(1);
    const [setting] = (await must(user.get('/v1/account_settings'))).data;
    const reply = await user.post(`/v1/account_settings/${setting.id}`, {
      address_currency: { partner: ['EUR', 'EUR'] },
    });
    const partner = await user.partner();
    await activate(user, partner.id);
    await settled(user, partner.id);

    expect(await received(user, partner.id)).toEqual([reply.status === 200 ? 'EUR' : 'USD']);
  });

  it('nothing to a kind that is disabled, and all of it after it is enabled', async () => {
    const platform = await given.platform(1);
    await setOffer(platform, { address: { connected_user: false, partner: false } });
    const user = await assemble(platform, complete(1));
    const partner = (await platform.partner()).id;
    await Promise.all([activate(platform, user), activate(platform, partner)]);
    await eventually(
      () => Promise.all([account(platform, user), account(platform, partner)]),
      (shown) => shown.every(({ status }) => status === 'activated'),
    );
    await idle(platform);
    const before = await Promise.all([user, partner].map((id) => account(platform, id)));
    const none = await Promise.all([user, partner].map((id) => received(platform, id)));

    await setOffer(platform, { address: { connected_user: true } });
    await settled(platform, user);
    await idle(platform);

    expect(before.map(({ address }) => address)).toEqual(['deactivated', 'deactivated']);
    expect(none).toEqual([[], []]);
    expect(await received(platform, user)).toEqual(['USD']);
    // The other kind is still disabled.
    expect([(await account(platform, partner)).address, await received(platform, partner)]).toEqual([
      'deactivated',
      [],
    ]);
  });

  it('an added currency to accounts that are activated already, with roots, which keep their addresses', async () => {
    const [platform, direct] = await Promise.all([given.platform(1), given.directUser(2)]);
    const partner = (await direct.partner()).id;
    const [waiting] = await Promise.all([direct.partner(), activate(direct, partner)]);
    await settled(direct, partner);
    const old = await addresses(direct, partner);

    await Promise.all([
      setOffer(platform, { address_currency: { platform: ['USD', 'EUR'] } }),
      setOffer(direct, { address_currency: { user: ['INR', 'SGD'], partner: ['INR', 'USD', 'EUR'] } }),
    ]);
    await Promise.all([
      eventually(
        () => received(platform, platform.id),
        (list) => list.length > 1,
      ),
      eventually(
        () => received(direct, direct.id),
        (list) => list.length > 1,
      ),
      eventually(
        () => received(direct, partner),
        (list) => list.length > 2,
      ),
    ]);
    await Promise.all([idle(platform), idle(direct)]);

    expect(await received(platform, platform.id)).toEqual(['EUR', 'USD']);
    expect(await received(direct, direct.id)).toEqual(['INR', 'SGD']);
    expect(await received(direct, partner)).toEqual(['EUR', 'INR', 'USD']);
    expect(await addresses(direct, partner)).toEqual(expect.arrayContaining(old));
    expect(await received(direct, waiting.id)).toEqual([]);
    const shown = await Promise.all([
      account(platform, platform.id),
      account(direct, direct.id),
      account(direct, partner),
    ]);
    expect(shown.map(({ address }) => address)).toEqual(['activated', 'activated', 'activated']);
    expect((await history(partner)).slice(-3)).toEqual([
      ['activated', 'requested'],
      ['activated', 'processing'],
      ['activated', 'activated'],
    ]);
  });
});

describe.concurrent('a root', () => {
  type Root = 'platform' | 'aggregator' | 'direct user';
  const rows: { edition: Edition; root: Root; address: string; categories: [string, string][] }[] = [
    {
      edition: 1,
      root: 'platform',
      address: 'activated',
      categories: [
        ['service_fee_advance', 'USD'],
        ['service_receive', 'USD'],
      ],
    },
    { edition: 1, root: 'direct user', address: 'activated', categories: [['service_receive', 'USD']] },
    { edition: 2, root: 'platform', address: 'deactivated', categories: [['service_fee_advance', 'INR']] },
    { edition: 2, root: 'aggregator', address: 'deactivated', categories: [['service_fee_advance', 'INR']] },
    { edition: 2, root: 'direct user', address: 'activated', categories: [['service_receive', 'INR']] },
  ];

  it.each(rows)(
    '$root of Edition $edition is activated in test mode at once, and a draft without addresses in live mode',
    async ({ edition, root, address, categories }) => {
      const { test, live } = await (root === 'direct user'
        ? given.directUserBoth(edition)
        : given.platformBoth(edition, root === 'aggregator' ? { subType: 'aggregator' } : {}));

      const [inTest, inLive] = await Promise.all([account(test, test.id), account(live, live.id)]);
      const issued = await addresses(test, test.id);

      expect([inTest.status, inTest.address, inTest.livemode]).toEqual(['activated', address, null]);
      expect([inLive.status, inLive.address, inLive.livemode]).toEqual(['draft', 'deactivated', null]);
      expect(issued.map(({ category, currency }) => [category, currency]).toSorted()).toEqual(categories);
      expect(new Set(issued.map(({ status }) => status))).toEqual(new Set(['activated']));
      expect(await addresses(live, live.id)).toEqual([]);
      // The worker adds nothing later.
      await idle(test);
      expect(await addresses(test, test.id)).toEqual(issued);
      expect(await account(test, test.id)).toEqual(inTest);
    },
  );

  it('of Edition 2 that is a platform gets no receiving address, for every offer to its accounts', async () => {
    const platform = await given.platform(2);
    await setOffer(platform, { address_currency: { partner: ['INR', 'USD'], connected_user: ['USD'] } });
    await idle(platform);
    expect(await received(platform, platform.id)).toEqual([]);
    expect((await account(platform, platform.id)).address).toBe('deactivated');
  });

  it('keeps its only fee advance address when it is held, verified, deactivated and ordered again', async () => {
    const platform = await given.platform(1);
    const advance = await addresses(platform, platform.id, '&category=service_fee_advance');
    for (const verb of ['hold', 'verify'])
      await must(platform.post(`/v1/test_helpers/accounts/${platform.id}/${verb}`));
    await idle(platform);
    expect(await addresses(platform, platform.id, '&category=service_fee_advance')).toEqual(advance);
    expect(advance).toHaveLength(1);
    expect(await received(platform, platform.id)).toEqual(['USD']);
  });
});

describe.concurrent('deactivation', () => {
  it('deactivates the receiving addresses, and a new activation issues new ones', async () => {
    const { root, id } = await draft("platform's partner", 1);
    await setOffer(root, { address_currency: { partner: ['USD', 'EUR'] } });
    await activate(root, id);
    await settled(root, id);
    const old = await addresses(root, id);

    const closed = await must(root.post(`/v1/accounts/${id}/deactivate`));
    const gone = await addresses(root, id);
    await activate(root, id);
    await settled(root, id);
    await idle(root);
    const all = await addresses(root, id);

    expect([closed.status, closed.address]).toEqual(['deactivated', 'deactivated']);
    expect(gone).toEqual(old.map((address) => ({ ...address, status: 'deactivated' })));
    expect(await received(root, id)).toEqual(['EUR', 'USD']);
    // The old addresses are never used again.
    expect(all).toEqual([
      expect.objectContaining({ status: 'activated' }),
      expect.objectContaining({ status: 'activated' }),
      ...gone,
    ]);
  });

  it('by the test helper has the same effect on a connected user and on a root', async () => {
    const { root, id } = await draft('connected user', 1);
    await activate(root, id);
    await settled(root, id);
    const received = async (of: string) =>
      (await addresses(root, of, '&category=service_receive')).map((a) => a.status);
    expect(await Promise.all([received(id), received(root.id)])).toEqual([['activated'], ['activated']]);

    const shown = await Promise.all(
      [id, root.id].map((one) => must(root.post(`/v1/test_helpers/accounts/${one}/deactivate`))),
    );
    await idle(root);

    expect(shown.map(({ status, address }) => [status, address])).toEqual([
      ['deactivated', 'deactivated'],
      ['deactivated', 'deactivated'],
    ]);
    expect(await Promise.all([received(id), received(root.id)])).toEqual([['deactivated'], ['deactivated']]);
  });
});

describe.concurrent('several workers at the same time', () => {
  it('issue exactly one address per currency and emit each event once', async () => {
    const workers = Array.from({ length: 2 }, () => new Worker(world.database, pino({ level: 'silent' })));
    for (const worker of workers) worker.start();
    try {
      const platform = await given.platform(1);
      await setOffer(platform, { address_currency: { partner: ['USD', 'EUR'] } });
      const ids = await Promise.all(Array.from({ length: 12 }, async () => (await platform.partner()).id as string));
      await Promise.all(ids.map((id) => activate(platform, id)));
      await Promise.all(ids.map((id) => settled(platform, id)));
      const first = await Promise.all(ids.map((id) => history(id)));
      // Several changes of the offer in a row queue several jobs for the same account.
      for (const partner of [
        ['USD', 'EUR', 'GBP'],
        ['USD', 'EUR', 'GBP', 'CAD'],
        ['USD', 'EUR', 'GBP', 'CAD', 'AUD'],
      ])
        await setOffer(platform, { address_currency: { partner } });
      await Promise.all(
        ids.map((id) =>
          eventually(
            () => received(platform, id),
            (list) => list.length >= 5,
          ),
        ),
      );
      await idle(platform);

      expect(await Promise.all(ids.map((id) => received(platform, id)))).toEqual(
        ids.map(() => ['AUD', 'CAD', 'EUR', 'GBP', 'USD']),
      );
      expect(first).toEqual(
        ids.map(() => [
          ['draft', 'deactivated'],
          ['verifying', 'deactivated'],
          ['activated', 'requested'],
          ['activated', 'processing'],
          ['activated', 'activated'],
        ]),
      );
      const shown = await Promise.all(ids.map((id) => account(platform, id)));
      expect(new Set(shown.map(({ address }) => address))).toEqual(new Set(['activated']));
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()));
    }
  });
});

describe.sequential('what comes before the sandbox', () => {
  /** Has the sandbox do what the tenant waits for; returns whether there was something. */
  async function go(root: { id: string }): Promise<boolean> {
    const { count } = await still.sql`update job set due = 0 where tenant_id = ${tenantOf(root)}`;
    if (count > 0) await runDueJobs(still, tenantOf(root));
    return count > 0;
  }
  const finish = async (root: { id: string }) => {
    while (await go(root));
  };

  // A currency that is not offered is not issued, and an account without an address has none to activate.
  it('nothing to a kind that is disabled while its addresses are on order', async () => {
    const user = await givenStill.directUser(1);
    const { id } = await user.partner();
    await activate(user, id);
    await must(user.post(`/v1/test_helpers/accounts/${id}/verify`));
    await setOffer(user, { address: { partner: false } });
    await finish(user);
    expect([(await account(user, id)).address, await received(user, id)]).toEqual(['deactivated', []]);
  });

  it.each([0, 1])(
    'the addresses on order when an account was held, after the hold is lifted, step %i',
    async (step) => {
      const user = await givenStill.directUser(1);
      const { id } = await user.partner();
      await activate(user, id);
      await must(user.post(`/v1/test_helpers/accounts/${id}/verify`));
      const on = ['requested', 'processing'][step];
      for (let done = 0; done < step; done++) await go(user);
      expect((await account(user, id)).address).toBe(on);
      const held = await must(user.post(`/v1/test_helpers/accounts/${id}/hold`));
      await finish(user);
      expect([held.status, (await account(user, id)).address]).toEqual(['hold', on]);
      await must(user.post(`/v1/test_helpers/accounts/${id}/verify`));
      await finish(user);
      expect(await account(user, id)).toMatchObject({ status: 'activated', address: 'activated' });
      expect(await received(user, id)).toEqual(['USD']);
    },
  );

  it('and leaves a verification that a test helper has settled unchanged', async () => {
    const user = await givenStill.directUser(1);
    const [held, verified, closed] = await Promise.all([user.partner(), user.partner(), user.partner()]);
    await Promise.all([held, verified, closed].map(({ id }) => activate(user, id)));

    await Promise.all([
      must(user.post(`/v1/test_helpers/accounts/${held.id}/hold`)),
      must(
        user.graph(
          'mutation ($input: VerifyTestAccountInput!) { verifyTestAccount(input: $input) { account { id } } }',
          {
            input: { id: verified.id },
          },
        ),
      ),
      must(
        user.graph(
          'mutation ($input: DeactivateTestAccountInput!) { deactivateTestAccount(input: $input) { account { id } } }',
          {
            input: { id: closed.id },
          },
        ),
      ),
    ]);
    await finish(user);

    const shown = await Promise.all([held, verified, closed].map(({ id }) => account(user, id)));
    expect(shown.map(({ status }) => status)).toEqual(['hold', 'activated', 'deactivated']);
    expect(await Promise.all([held, verified, closed].map(({ id }) => received(user, id)))).toEqual([[], ['USD'], []]);
  });
  it('while addresses are on order cancels the order', async () => {
    const user = await givenStill.directUser(1);
    const { id } = await user.partner();
    await activate(user, id);
    await must(user.post(`/v1/test_helpers/accounts/${id}/verify`));
    expect((await account(user, id)).address).not.toBe('deactivated');
    await must(user.post(`/v1/accounts/${id}/deactivate`));
    await finish(user);
    expect((await account(user, id)).address).toBe('deactivated');
    expect(await received(user, id)).toEqual([]);
  });
});

// The tests run one after the other: a worker runs only when a test starts it.
describe.sequential('a worker that is killed', () => {
  /** Runs a worker until a tenant has no work left. */
  async function work(root: { id: string }) {
    const worker = new Worker(still.database, pino({ level: 'silent' }));
    worker.start();
    try {
      await idle(root, still);
    } finally {
      await worker.stop();
    }
  }

  it('in the middle of a job leaves the complete job to the next worker', async () => {
    const user = await givenStill.directUser(1);
    const { id } = await user.partner();
    await activate(user, id);
    await still.sql`update job set due = 0 where tenant_id = ${tenantOf(user)}`;
    const dying = postgres({
      ...inject('admin'),
      username: 'tidegate',
      database: String(still.sql.options.database),
      max: 1,
      onnotice: () => {},
    });
    // The job is done but not committed when the backend is killed, as in a machine failure.
    const killed = dying`select run_jobs(${tenantOf(user)}, false, 50), pg_sleep(60)`.then(
      () => 'survived',
      () => 'killed',
    );
    const [backend] = await eventually(
      () => still.sql`select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
      (found) => found.length > 0,
    );
    await still.sql`select pg_terminate_backend(${backend!.pid})`;
    expect(await killed).toBe('killed');
    await dying.end({ timeout: 1 });
    const left = await still.sql`select kind from job where tenant_id = ${tenantOf(user)} and subject_id = ${id}`;
    expect(left.map(({ kind }) => kind)).toEqual(['verify_account']);
    expect((await account(user, id)).status).toBe('verifying');

    await work(user);

    expect(await account(user, id)).toMatchObject({ status: 'activated', address: 'activated' });
    expect(await received(user, id)).toEqual(['USD']);
    expect(await history(id, still)).toEqual([
      ['draft', 'deactivated'],
      ['verifying', 'deactivated'],
      ['activated', 'requested'],
      ['activated', 'processing'],
      ['activated', 'activated'],
    ]);
  });

  // A job that fails must not delay the verifications of other accounts.
  it('is not the effect of a failing job: the other jobs complete, and that one waits with its error', async () => {
    const user = await givenStill.directUser(1);
    const { id } = await user.partner();
    await activate(user, id);
    await still.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      values (${tenantOf(user)}, false, 'job_0', 0, 'no_such_kind', ${id}, '{}', 0)`;
    const worker = new Worker(still.database, pino({ level: 'silent' }));
    worker.start();
    try {
      await settled(user, id);
    } finally {
      await worker.stop();
    }
    const [bad] =
      await still.sql`select attempts > 0 as tried, error, due > created as later from job where id = 'job_0'`;
    expect(bad).toEqual({ tried: true, error: expect.stringContaining('no_such_kind'), later: true });
  });
});

describe.concurrent('live mode', () => {
  it('is never decided by itself: an activation waits for its verification, and no work is queued', async () => {
    const { test, live } = await given.platformBoth(1);
    const partner = await live.partner();
    expect((await activate(live, partner.id)).status).toBe('verifying');
    // Both modes belong to one tenant; the worker's run for test mode must not include live mode.
    const inTest = await test.partner();
    await activate(test, inTest.id);
    await settled(test, inTest.id);

    expect(await world.sql`select kind from job where tenant_id = ${tenantOf(live)} and livemode`).toHaveLength(0);
    expect(await account(live, partner.id)).toMatchObject({
      status: 'verifying',
      address: 'deactivated',
      livemode: true,
    });
  });

  it('waits for the operator, who verifies, and records each address that the bank has issued', async () => {
    const { live } = await given.directUserBoth(1);
    await setOffer(live, { address_currency: { partner: ['USD', 'EUR'] } });
    const partner = await live.partner();
    await activate(live, partner.id);
    const row = await world.operator.account(partner.id);
    const states = async () => {
      const { status, address } = await account(live, partner.id);
      return [status, address, await received(live, partner.id)];
    };
    const issue = (currency: string) =>
      issueAddress(world.operator, row, {
        category: 'service_receive',
        currency,
        bankAccount: { bankName: 'Harbour Bank', number: '889900112233', domesticCredit: '021000021' },
      });

    const seen = [await states()];
    await verifyAccount(world.operator, row, 'activated');
    seen.push(await states());
    await issue('EUR');
    seen.push(await states());
    await issue('USD');
    seen.push(await states());

    expect(seen).toEqual([
      ['verifying', 'deactivated', []],
      ['activated', 'requested', []],
      ['activated', 'processing', ['EUR']],
      ['activated', 'activated', ['EUR', 'USD']],
    ]);
    const [euro] = (await must(live.get(`/v1/addresses?linked_id=${partner.id}&currency=EUR`))).data;
    expect(euro).toMatchObject({
      livemode: true,
      category: 'service_receive',
      bank_account: { bank_name: 'Harbour Bank', number: '889900112233', last4: '2233', type: 'all' },
      billing_details: null,
    });
    await expect(issue('USD')).rejects.toMatchObject({ problems: [{ code: 'state_conflict' }] });
    expect(await received(live, partner.id)).toEqual(['EUR', 'USD']);

    // A currency that is added later is ordered again, and only the operator issues it.
    await setOffer(live, { address_currency: { partner: ['USD', 'EUR', 'GBP'] } });
    await eventually(
      () => account(live, partner.id),
      ({ address }) => address === 'requested',
    );
    await idle(live);
    expect(await states()).toEqual(['activated', 'requested', ['EUR', 'USD']]);
    await issue('GBP');
    expect(await states()).toEqual(['activated', 'activated', ['EUR', 'GBP', 'USD']]);
  });

  it('leaves roots as drafts until an operator activates them, and records a platform’s fee advance', async () => {
    const { live } = await given.platformBoth(1);
    const row = await world.operator.account(live.id, true);

    await verifyAccount(world.operator, row, 'activated');

    expect(await account(live, live.id)).toMatchObject({ status: 'activated', address: 'requested', livemode: null });
    expect(await addresses(live, live.id)).toEqual([]);
    const issued = { category: 'service_fee_advance', currency: 'USD', bankAccount: { number: '12341' } } as const;
    const { id } = await issueAddress(world.operator, await world.operator.account(live.id, true), issued);
    const details = { ...issued, bankAccount: { number: '56785' } };
    await issueAddress(world.operator, await world.operator.account(live.id, true), details);
    expect(await addresses(live, live.id)).toMatchObject([
      { id, category: 'service_fee_advance', status: 'activated', bank_account: { number: '56785' } },
    ]);
    expect(await world.sql`select kind from job where tenant_id = ${tenantOf(live)} and livemode`).toHaveLength(0);
  });
});

describe.concurrent('tenants and modes', () => {
  it('are separate: a currency that one adds is issued only to its own accounts', async () => {
    const [one, other] = await Promise.all([given.directUser(1), given.directUser(1)]);
    await setOffer(one, { address_currency: { user: ['USD', 'EUR'] } });
    await eventually(
      () => received(one, one.id),
      (list) => list.length === 2,
    );
    await idle(one);
    expect(await received(other, other.id)).toEqual(['USD']);
  });

  it('keep their payout addresses unchanged when an account is verified', async () => {
    const { root, id } = await draft('connected user', 2);
    await must(root.post('/v1/addresses', payoutAddressBody(id, { currency: 'USD' })));
    const before = await addresses(root, id);
    await activate(root, id);
    await settled(root, id);
    expect(await addresses(root, id, '&category=user_payout')).toEqual(before);
  });
});
