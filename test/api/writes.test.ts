import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { Database } from '../../src/db/database.js';
import { poolsDefault } from '../../src/db/connect/database-settings.js';
import { text } from '../../src/db/write/write-arguments.js';
import { DomainError } from '../../src/errors/problems.js';
import { deposit } from '../../src/resources/deposit/table.js';
import { until } from '../support/child.js';
import { patience, scale } from '../support/scale.js';
import { eventually, givenIn, must, nickname, repeated, tenantOf, useWorld } from '../support/world.js';
import { createRoot } from '../../src/operator/account/accounts.js';
import { refuseBesideOtherReleases } from '../../src/db/write/other-releases.js';
import { version } from '../../src/config/version.js';
import { auditLedger } from '../support/audit.js';

vi.setConfig(patience);

const world = useWorld({ worker: false });
const given = givenIn(world);

/** How to connect to this file's database. */
async function login() {
  const [{ database }] = await world.sql<[{ database: string }]>`select current_database() as database`;
  return { ...inject('admin'), username: 'tidegate', database };
}

// PostgreSQL breaks a deadlock and the gateway tries again, so a deadlock would not be visible in the answers.
afterAll(async () => {
  const [row] = await world.sql`select deadlocks::int as n from pg_stat_database where datname = current_database()`;
  expect(row!.n).toBe(0);
});

/** A tenant with accounts that pay, in one of its modes. */
interface Place {
  tenant: string;
  live: boolean;
  root: string;
  payers: string[];
}

async function placesOf(): Promise<[Place, Place]> {
  const { account } = await createRoot(world.operator, {
    ...{ type: 'user', edition: 1, nickname: nickname() },
    businessDetails: { legalName: 'Acme' },
  });
  const tenant = account.tenantId;
  const of = async (live: boolean): Promise<Place> => {
    const payers = [];
    for (let n = 0; n < 3; n++) {
      const args = { ...partner, ownerId: account.id, nickname: nickname() };
      const [row] = await world.database.call('create_account', [tenant, live, '{}', JSON.stringify(args)]);
      payers.push(String(row!.id));
    }
    return { tenant, live, root: account.id, payers };
  };
  return [await of(false), await of(true)];
}
const setting = { address: {}, addressCurrency: {}, payoutsApplicable: true };
const partner = { kind: 'partner', edition: 1, onRootList: true, addressKey: 'partner', setting };

/** What became of a write: the amount and status of its row, or the codes and the fields of its refusal. */
type Outcome = string;
const refusalOf = (error: unknown): Outcome => {
  if (!(error instanceof DomainError)) throw error;
  return error.problems.map(({ code, field }) => `${code} ${field ?? ''}`.trim()).join();
};

function write(
  database: Database,
  { tenant, live, root }: Place,
  fn: 'create_deposit' | 'move_deposit',
  args: object,
  key: string = randomUUID(),
) {
  const requestId = `req_${randomUUID()}`;
  const envelope = { account: root, key, sent: true, operation: 'test', request: { key }, requestId };
  return database.write(fn, tenant, live, envelope, args as never, deposit).then(([row]) => row!);
}

const deposited = ({ root }: Place, amount: bigint, more: object = {}) => ({
  ...{ toAccountId: root, toAddressId: 'address_none', fromAccountId: null, fromAddressId: null, amount },
  ...{ currency: 'USD', paymentMethod: 'domestic_credit', ...more },
});
const moved = (id: string, to = 'completed') => ({ id, from: ['initialized', 'processing'], to });

/** Ten metadata keys are allowed. */
const tooMany = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, 'v']));

describe('writes that wait for each other', () => {
  let database: Database;
  beforeAll(async () => {
    // The time limits are so long that none of them ends a write on a busy machine.
    const pools = { ...poolsDefault, statementMilliseconds: 120_000, lockMilliseconds: 120_000 };
    database = new Database(await login(), undefined, { pools });
  });
  afterAll(() => database.close());

  const kinds = ['create', 'pay', 'refused', 'used', 'twice', 'complete', 'unknown'] as const;
  type Kind = (typeof kinds)[number];

  async function outcomeOf(kind: Kind, amount: bigint, n: string, place: Place, used: string): Promise<Outcome> {
    const outcome = (made: Promise<typeof deposit.$inferSelect>) =>
      made.then((row) => {
        const own = row.tenantId === place.tenant && row.livemode === place.live;
        return own ? `${row.amount} ${row.status}` : 'a row of another';
      }, refusalOf);
    const create = (more: object = {}, key?: string) =>
      write(database, place, 'create_deposit', deposited(place, amount, { metadata: { n }, ...more }), key);
    const both = async (one: () => Promise<typeof deposit.$inferSelect>) =>
      (await Promise.all([outcome(one()), outcome(one())])).toSorted().join(' | ');
    if (kind === 'create') return outcome(create());
    if (kind === 'pay') return outcome(create({ fromAccountId: place.payers[n.length % 3] }));
    if (kind === 'refused') return outcome(create({ metadata: tooMany }));
    if (kind === 'used') return outcome(create({}, used));
    if (kind === 'unknown') return outcome(write(database, place, 'move_deposit', moved('deposit_none')));
    const key = randomUUID();
    if (kind === 'twice') return both(() => create({}, key));
    const { id } = await create();
    return both(() => write(database, place, 'move_deposit', moved(id)));
  }

  function wantedOf(kind: Kind, amount: bigint): Outcome {
    if (kind === 'refused') return 'parameter_invalid deposit.metadata';
    if (kind === 'used') return 'idempotency_key_in_use';
    if (kind === 'unknown') return 'status_invalid deposit.status';
    if (kind === 'twice') return `${amount} initialized | idempotency_key_in_use`;
    if (kind === 'complete') return `${amount} completed | status_invalid deposit.status`;
    return `${amount} initialized`;
  }

  it('each get their own outcome, and store their own row, key and event, in every tenant and mode', async () => {
    const places = [...(await placesOf()), ...(await placesOf())];
    const used = places.map(() => randomUUID());
    await Promise.all(
      places.map((place, n) => write(database, place, 'create_deposit', deposited(place, 1n), used[n])),
    );
    // Amounts beyond what a JSON number holds to the cent.
    const amountOf = (n: number) => 9_007_199_254_740_993n + BigInt(n);
    const all = Array.from({ length: 3 }, () =>
      places.flatMap((_, place) => kinds.map((kind) => ({ place, kind }))),
    ).flat();
    const outcomes = await Promise.all(
      all.map(({ kind, place }, n) => outcomeOf(kind, amountOf(n), `${n}`, places[place]!, used[place]!)),
    );
    expect(outcomes).toEqual(all.map(({ kind }, n) => wantedOf(kind, amountOf(n))));
    for (const [place, { tenant, live }] of places.entries()) {
      const made = all.flatMap((each, n) => {
        const stores = each.place === place && ['create', 'pay', 'twice', 'complete'].includes(each.kind);
        return stores ? [`${n} ${amountOf(n)}`] : [];
      });
      const rows = await world.sql`select amount::text, metadata ->> 'n' as n from deposit
        where tenant_id = ${tenant} and livemode = ${live} and metadata is not null`;
      expect(rows.map(({ n, amount }) => `${n} ${amount}`).toSorted()).toEqual(made.toSorted());
    }
    // Each row has one event of its creation and one key, which a replay would find.
    const [counted] = await world.sql`
      select count(*)::int as deposits,
        (select count(*)::int from event e where e.type = 'deposit.initialized') as events,
        (select count(distinct i.answer ->> 'id')::int from idempotency i
        where i.answer ->> 'status' = 'initialized') as keys
      from deposit`;
    expect(counted).toEqual({ deposits: counted!.deposits, events: counted!.deposits, keys: counted!.deposits });
    expect(await world.sql`select rule, what from violations`).toEqual([]);
  });

  it('are all done when they lock the same payers and balances', async () => {
    const [here] = await placesOf();
    const rows = await Promise.all(
      Array.from({ length: 120 }, (_, n) =>
        write(database, here, 'create_deposit', deposited(here, 5n, { fromAccountId: here.payers[(n * 7) % 3] })),
      ),
    );
    const done = await Promise.all(rows.map(({ id }) => write(database, here, 'move_deposit', moved(id))));
    expect(done.every(({ status }) => status === 'completed')).toBe(true);
  });
});

it('the wait of a write for its turn ends, and the write is not begun later', async () => {
  const [here] = await placesOf();
  // A tenant has one connection, and a write waits half a second for it.
  const pools = { ...poolsDefault, write: 2, statementMilliseconds: 120_000, lockMilliseconds: 500 };
  const database = new Database(await login(), undefined, { pools });
  const rows = () => world.sql`select from deposit where tenant_id = ${here.tenant}`;
  await world.sql.unsafe(`create function be_busy(tenant text) returns void language plpgsql as
    'begin while not pg_try_advisory_xact_lock(471) loop perform pg_sleep(0.01); end loop; end'`);
  const holder = await world.sql.reserve();
  try {
    await holder`select pg_advisory_lock(471)`;
    let ended = false;
    const before = database.call('be_busy', [here.tenant]).then(() => (ended = true));
    const key = randomUUID();
    const create = () => write(database, here, 'create_deposit', deposited(here, 2n), key);
    expect(await create().then(() => 'done', refusalOf)).toBe('service_unavailable');
    expect(ended).toBe(false);
    await holder`select pg_advisory_unlock(471)`;
    await before;
    // A further write of the tenant would be behind it.
    await database.call('create_deposit', [here.tenant, here.live, '{}', text(deposited(here, 3n))]);
    expect(await rows()).toHaveLength(1);
    await create();
    expect(await rows()).toHaveLength(2);
  } finally {
    holder.release();
    await world.sql.unsafe('drop function be_busy(text)');
    await database.close();
  }
});

describe('a connection that is lost', () => {
  it(`leaves each write done once, ${scale.writeKills} times`, async () => {
    const user = await given.directUser(1);
    const made: string[] = [];
    let over = false;
    const clients = Promise.all(
      Array.from({ length: 12 }, async (_, client) => {
        for (let n = 0; !over; n++) {
          const body = { amount: '1.00', currency: 'USD', metadata: { n: `${client} ${n}` } };
          const reply = await repeated((headers) => user.post('/v1/deposits', body, headers));
          expect(reply.status, reply.text).toBe(200);
          made.push(`${client} ${n} ${reply.body.id}`);
        }
      }),
    );
    const kills = async () => {
      for (let kill = 0; kill < scale.writeKills * 3; kill++) {
        const wanted = made.length + 12;
        await until(() => made.length >= wanted);
        await world.sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'tidegate write'`;
      }
    };
    // A client that fails ends the wait for the kills, which could be for a further write.
    await Promise.race([kills(), clients]);
    over = true;
    await clients;
    const rows = await world.sql`
      select metadata ->> 'n' as n, id from deposit where tenant_id = ${tenantOf(user)} and not livemode`;
    expect(rows.map(({ n, id }) => `${n} ${id}`).toSorted()).toEqual(made.toSorted());
  });
});

const reported = (id: string, of: string) =>
  world.database.work('report_gateway_process', [id, 'pay-1', 4_242, of] as never);

describe('a write of objects that the release before cannot read', () => {
  it('is refused while a gateway of another release runs, and not after it has ended', async () => {
    await reported('gateway_own', version);
    await refuseBesideOtherReleases(world.database);

    await reported('gateway_old', '0.1.0');
    await expect(refuseBesideOtherReleases(world.database)).rejects.toMatchObject({
      status: 503,
      problems: [{ code: 'service_unavailable', retryAfter: 30 }],
      message: expect.stringContaining('Another version of the service still runs beside this one'),
    });

    // Its process was killed, and could not say that it ends.
    await world.sql`update gateway_process set seen_at = seen_at - 60 where id = 'gateway_old'`;
    await refuseBesideOtherReleases(world.database);
  });
});

describe('the due jobs of deposits', () => {
  auditLedger(world);

  /** The statuses through which a deposit may go, as the types of its events. */
  const ways = [
    'initialized processing completed',
    'initialized processing completed reversed',
    'initialized processing failed',
    'initialized cancelled',
  ];

  it('are done by several workers while clients move them, each through one way, with the sum of all', async () => {
    const user = await given.directUser(1);
    const tenant = tenantOf(user);
    const second = user.at(await world.another());
    const work = async () => {
      for (let idle = 0; idle < 20; ) {
        await world.sql`update job set due = 0 where tenant_id = ${tenant} and due > 0`;
        const done = await world.database.work('run_due_jobs', [tenant, false, 50]);
        expect(done.filter((row) => row.job_error !== null)).toEqual([]);
        idle = done.length > 0 ? 0 : idle + 1;
      }
    };
    const ids: string[] = [];
    for (let round = 0; round < scale.writeRaces; round++) {
      const made = await Promise.all(
        Array.from({ length: 32 }, async (_, n) => {
          const body = { amount: `${n + 1}.07`, currency: 'USD' };
          const me = n % 2 ? user : second;
          return (await must(repeated((headers) => me.post('/v1/deposits', body, headers)))).id as string;
        }),
      );
      ids.push(...made);
      const moves = made.map(async (id, n) => {
        const move = ['complete', 'fail', 'reverse', 'cancel', undefined, undefined][(n + round) % 6];
        if (move === undefined) return;
        const me = n % 4 ? user : second;
        const path = `/v1/test_helpers/deposits/${id}/${move}`;
        const ask = () => repeated((headers) => me.post(path, undefined, headers));
        // A worker completes it, so that it can be reversed.
        const reply = await eventually(ask, ({ status }) => move !== 'reverse' || status === 200);
        expect([200, 400]).toContain(reply.status);
        if (reply.status === 400) expect(reply.codes).toEqual(['status_invalid']);
      });
      await Promise.all([work(), work(), work(), ...moves]);
    }
    await eventually(
      async () => world.sql`select id from job where tenant_id = ${tenant} and kind like '%_deposit'`,
      ({ length }) => length === 0,
    );
    const seen = new Map<string, Set<string>>();
    const events = await world.sql<{ object_id: string; type: string }[]>`
    select object_id, type from event where tenant_id = ${tenant} and object = 'deposit'`;
    expect(new Set(events.map(({ object_id, type }) => `${object_id} ${type}`)).size).toBe(events.length);
    for (const { object_id: id, type } of events)
      seen.set(id, (seen.get(id) ?? new Set()).add(type.replace('deposit.', '')));
    const found = ids.map((id) =>
      ways.find((way) => way.split(' ').toSorted().join() === [...seen.get(id)!].toSorted().join()),
    );
    expect(found).not.toContain(undefined);
    expect(found).toEqual(expect.arrayContaining(ways.slice(0, 2)));
    const [sums] = await world.sql`
    select sum(amount) filter (where status = 'completed')::text as completed,
      (select sum(pending)::text from balance where tenant_id = ${tenant}) as pending,
      count(*) filter (where status not in ('completed', 'reversed', 'failed', 'cancelled'))::int as left
    from deposit where tenant_id = ${tenant}`;
    expect(sums).toEqual({ completed: sums!.pending, pending: sums!.completed, left: 0 });
  });
});
