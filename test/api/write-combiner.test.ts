import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { definedFunctions } from '../../src/db/print-write-functions.js';
import { isCombined } from '../../src/db/write-combiner.js';
import { text, type WriteFunction } from '../../src/db/write-arguments.js';
import { Database } from '../../src/db/database.js';
import { poolsDefault } from '../../src/db/database-settings.js';
import { DomainError } from '../../src/request/problems.js';
import { deposit } from '../../src/resources/deposit/table.js';
import { Bouncer, bouncerProgram } from '../support/bouncer.js';
import { until } from '../support/child.js';
import { patience, scale } from '../support/scale.js';
import { nickname, useWorld } from '../support/world.js';

vi.setConfig(patience);

const world = useWorld({ worker: false });

/** The number of writes in each combined call. */
const together: number[] = [];
beforeAll(() => {
  world.database.observers.push({ began: () => () => {}, combined: (writes) => together.push(writes) });
});
const calls = (): number[] => together.splice(0);

/** A tenant with an account that pays, in one of its modes. */
interface Place {
  tenant: string;
  live: boolean;
  root: string;
  payers: string[];
}

async function placesOf(): Promise<[Place, Place]> {
  const { account } = await world.operator.createRoot({
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

/** What became of a write: the id of its row, or the codes and the fields of its refusal. */
type Outcome = string;
const refusalOf = (error: unknown): Outcome => {
  if (!(error instanceof DomainError)) throw error;
  return error.problems.map(({ code, field }) => `${code} ${field ?? ''}`.trim()).join();
};

function write(
  { tenant, live, root }: Place,
  fn: 'create_deposit' | 'move_deposit',
  args: object,
  key: string = randomUUID(),
  database = world.database,
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

const rowsOf = ({ tenant, live }: Place) =>
  world.sql`select id, amount::text, status, metadata ->> 'n' as n from deposit where tenant_id = ${tenant}
    and livemode = ${live}`;

/** Ten metadata keys are allowed. */
const tooMany = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, 'v']));

afterAll(async () => {
  const [row] = await world.sql`select deadlocks::int as n from pg_stat_database where datname = current_database()`;
  expect(row!.n).toBe(0);
});

describe('writes of one tenant and mode', () => {
  let here: Place;
  beforeAll(async () => {
    [here] = await placesOf();
  });

  it('run alone while there is no queue', async () => {
    calls();
    for (let n = 0; n < 3; n++) await write(here, 'create_deposit', deposited(here, 1n));
    await Promise.all([1n, 2n].map((amount) => write(here, 'create_deposit', deposited(here, amount))));
    expect(calls()).toEqual([]);
  });

  it('that wait go together, 16 at most, and each gets its own row', async () => {
    const amounts = Array.from({ length: 40 }, (_, n) => BigInt(n + 1));
    const rows = await Promise.all(amounts.map((amount) => write(here, 'create_deposit', deposited(here, amount))));
    expect(rows.map(({ amount }) => amount)).toEqual(amounts);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(40);
    const sizes = calls();
    expect([Math.max(...sizes), sizes.reduce((sum, size) => sum + size)]).toEqual([16, 38]);
  });

  it('return the same members of a row as alone, and the largest amount exactly', async () => {
    const args = deposited(here, 9_223_372_036_854_775_806n, { metadata: { n: 'x' }, fromAccountId: here.payers[0] });
    const alone = await write(here, 'create_deposit', args);
    const rows = await Promise.all(Array.from({ length: 5 }, () => write(here, 'create_deposit', args)));
    expect(calls()).toEqual([3]);
    const same = ({ id: _, created: __, paymentId: ___, ...rest }: typeof alone) => rest;
    for (const row of rows) expect(same(row)).toEqual(same(alone));
  });

  it('go alone when they are long', async () => {
    const metadata = { n: 'x'.repeat(40_000) };
    const made = await Promise.all(
      Array.from({ length: 5 }, () => write(here, 'create_deposit', deposited(here, 1n, { metadata }))),
    );
    expect([made.length, calls()]).toEqual([5, []]);
  });

  it('are not delayed by one that meets a lock, which then has the time that it has alone', async () => {
    const holder = await world.sql.reserve();
    try {
      await holder`begin`;
      await holder`select from account where tenant_id = ${here.tenant} and id = ${here.payers[0]!} and not livemode
        for update`;
      const settled: Outcome[] = [];
      const each = Array.from({ length: 24 }, async (_, n) => {
        const fromAccountId = here.payers[n === 12 ? 0 : 1 + (n % 2)];
        const made = write(here, 'create_deposit', deposited(here, 1n, { fromAccountId }));
        settled.push(await made.then(() => 'done', refusalOf));
      });
      await Promise.all(each);
      // The lock is not free within two seconds; all others are done before.
      expect(settled).toEqual([...Array(23).fill('done'), 'state_conflict']);
      expect(calls().length).toBeGreaterThanOrEqual(2);
    } finally {
      await holder`rollback`;
      holder.release();
    }
  });

  it('do not wait for each other when two calls lock the same payers and balances', async () => {
    const rows = await Promise.all(
      Array.from({ length: 120 }, (_, n) =>
        write(here, 'create_deposit', deposited(here, 5n, { fromAccountId: here.payers[(n * 7) % 3] })),
      ),
    );
    const done = await Promise.all(rows.map(({ id }) => write(here, 'move_deposit', moved(id))));
    expect(done.every(({ status }) => status === 'completed')).toBe(true);
    expect(calls().length).toBeGreaterThan(10);
  });
});

/** A random write: what it does, and to which of the places it belongs. */
interface Drawn {
  place: number;
  kind: 'create' | 'pay' | 'refused' | 'used' | 'twice' | 'complete' | 'unknown';
  amount: bigint;
}

describe('writes of several tenants and modes at once', () => {
  it('each get their own outcome, and store their own row, key and event', async () => {
    const places = [...(await placesOf()), ...(await placesOf())];
    const kinds = ['create', 'create', 'pay', 'refused', 'used', 'twice', 'complete', 'unknown'] as const;
    const drawn = fc.record({
      place: fc.nat(3),
      kind: fc.constantFrom(...kinds),
      amount: fc.bigInt({ min: 1n, max: 10n ** 17n }),
    });
    calls();
    await fc.assert(
      fc.asyncProperty(fc.array(drawn, { minLength: 40, maxLength: 90 }), async (all) => {
        const before = await Promise.all(places.map(async (place) => (await rowsOf(place)).length));
        const used = places.map(() => randomUUID());
        await Promise.all(places.map((place, n) => write(place, 'create_deposit', deposited(place, 1n), used[n])));
        const outcomes = await Promise.all(
          all.map((each, n) => outcomeOf(each, `${n} ${run}`, places[each.place]!, used[each.place]!)),
        );
        expect(outcomes).toEqual(all.map(wantedOf));
        for (const [n, place] of places.entries()) {
          const mine = all.map((each, at) => [each, at] as const).filter(([each]) => each.place === n);
          const made = mine.filter(([{ kind }]) => ['create', 'pay', 'twice', 'complete'].includes(kind));
          const rows = await rowsOf(place);
          expect(rows.length).toBe(before[n]! + 1 + made.length);
          const found = new Map(rows.filter((row) => row.n !== null).map((row) => [row.n, row.amount]));
          for (const [{ amount }, at] of made) expect(found.get(`${at} ${run}`)).toBe(`${amount}`);
        }
        run++;
      }),
      { numRuns: 6 },
    );
    expect(calls().length).toBeGreaterThan(12);
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

  let run = 0;

  async function outcomeOf({ kind, amount }: Drawn, n: string, place: Place, used: string): Promise<Outcome> {
    const outcome = (made: Promise<typeof deposit.$inferSelect>) =>
      made.then((row) => {
        const own = row.tenantId === place.tenant && row.livemode === place.live;
        return own ? `${row.amount} ${row.status}` : 'a row of another';
      }, refusalOf);
    const create = (more: object = {}, key?: string) =>
      write(place, 'create_deposit', deposited(place, amount, { metadata: { n }, ...more }), key);
    const both = async (one: () => Promise<typeof deposit.$inferSelect>) =>
      (await Promise.all([outcome(one()), outcome(one())])).toSorted().join(' | ');
    if (kind === 'create') return outcome(create());
    if (kind === 'pay') return outcome(create({ fromAccountId: place.payers[n.length % 3] }));
    if (kind === 'refused') return outcome(create({ metadata: tooMany }));
    if (kind === 'used') return outcome(create({}, used));
    if (kind === 'unknown') return outcome(write(place, 'move_deposit', moved('deposit_none')));
    const key = randomUUID();
    if (kind === 'twice') return both(() => create({}, key));
    const { id } = await create();
    return both(() => write(place, 'move_deposit', moved(id)));
  }

  function wantedOf({ kind, amount }: Drawn): Outcome {
    if (kind === 'refused') return 'parameter_invalid deposit.metadata';
    if (kind === 'used') return 'idempotency_key_in_use';
    if (kind === 'unknown') return 'status_invalid deposit.status';
    if (kind === 'twice') return `${amount} initialized | idempotency_key_in_use`;
    if (kind === 'complete') return `${amount} completed | status_invalid deposit.status`;
    return `${amount} initialized`;
  }
});

it('runs each write alone when an observer of combined writes fails', async () => {
  const [here] = await placesOf();
  const failing = {
    began: () => () => {},
    combined: () => {
      throw new Error('This observer fails.');
    },
  };
  world.database.observers.push(failing);
  try {
    const made = Array.from({ length: 8 }, (_, n) => write(here, 'create_deposit', deposited(here, BigInt(n + 1))));
    expect((await Promise.all(made)).map(({ amount }) => amount)).toEqual([1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n]);
    expect((await rowsOf(here)).length).toBe(8);
  } finally {
    world.database.observers.splice(world.database.observers.indexOf(failing), 1);
  }
});

it('go with fewer others while the database is too slow for many', async () => {
  const [here] = await placesOf();
  const [{ database: name }] = await world.sql<[{ database: string }]>`select current_database() as database`;
  const pools = { ...poolsDefault, statementMilliseconds: 1_500 };
  const slow = new Database({ ...inject('admin'), username: 'tidegate', database: name }, undefined, { pools });
  await world.sql.unsafe(`create function be_slow() returns trigger language plpgsql as
    'begin perform pg_sleep(0.2); return new; end';
    create trigger slow before insert on deposit for each row execute function be_slow()`);
  const lost: string[] = [];
  let sent = 0;
  const wave = async () => {
    const keys = Array.from({ length: 12 }, () => randomUUID());
    const writes = keys.map((key) => write(here, 'create_deposit', deposited(here, 1n), key, slow));
    const outcomes = await Promise.allSettled(writes);
    lost.push(...keys.filter((_, n) => outcomes[n]!.status === 'rejected'));
    sent += keys.length;
    return outcomes.filter(({ status }) => status === 'fulfilled').length;
  };
  try {
    // Of twelve, two go alone, and ten take longer together than a statement may.
    expect(await wave()).toBe(2);
    expect(Math.max(await wave(), await wave(), await wave())).toBeGreaterThan(4);
  } finally {
    await world.sql.unsafe('drop trigger slow on deposit; drop function be_slow()');
    await slow.close();
  }
  // PostgreSQL may go on with a write after its 503. Its key keeps it from having an effect twice.
  for (const key of lost)
    await write(here, 'create_deposit', deposited(here, 1n), key).catch((error: DomainError) =>
      expect(error.problems[0]!.code).toBe('idempotency_key_in_use'),
    );
  expect((await rowsOf(here)).length).toBe(sent);
});

describe('the time of a write', () => {
  /**
   * A database of which a tenant has one connection, and whose statements may take three seconds; `busy` keeps that
   * connection. Each deposit takes `slow` seconds.
   */
  async function narrow(slow: number, work: (database: Database, busy: (seconds: number) => Promise<unknown>) => any) {
    const [{ database: name }] = await world.sql<[{ database: string }]>`select current_database() as database`;
    const pools = { ...poolsDefault, write: 2, statementMilliseconds: 3_000, lockMilliseconds: 60_000 };
    const database = new Database({ ...inject('admin'), username: 'tidegate', database: name }, undefined, { pools });
    await world.sql.unsafe(`create function be_busy(tenant text, seconds float) returns void language plpgsql as
      'begin perform pg_sleep(seconds); end';
      create function be_slow() returns trigger language plpgsql as
      'begin perform pg_sleep(${slow}); return new; end';
      create trigger slow before insert on deposit for each row execute function be_slow()`);
    try {
      // The connection is open.
      await database.call('be_busy', ['', 0]);
      await work(database, (seconds) => database.call('be_busy', [place.tenant, seconds]));
    } finally {
      await world.sql.unsafe('drop trigger slow on deposit; drop function be_slow(), be_busy(text, float)');
      await database.close();
    }
  }
  let place: Place;
  const writes = (count: number, database: Database) =>
    Promise.all(
      Array.from({ length: count }, () =>
        write(place, 'create_deposit', deposited(place, 1n), undefined, database).then(() => 'done', refusalOf),
      ),
    );

  it('begins with the wait for a turn, and calls are smaller once it has ended before the statement', async () => {
    [place] = await placesOf();
    await narrow(0.2, async (database, busy) => {
      const sizes: number[] = [];
      database.observers.push({ began: () => () => {}, combined: (size) => sizes.push(size) });
      // Twelve deposits take 2.4 s, and a good second of their time is over when they begin. On a machine that is so
      // busy that they begin later, they are refused before.
      let most = 12;
      for (let wave = 0; wave < 5 && most === 12; wave++) {
        const busySince = busy(0.7);
        await writes(14, database);
        await busySince;
        await sleep(1_000);
        await world.sql`alter table deposit disable trigger slow`;
        sizes.length = 0;
        expect(await writes(14, database)).toEqual(Array(14).fill('done'));
        await world.sql`alter table deposit enable trigger slow`;
        most = Math.max(...sizes);
      }
      expect(most).toBeLessThan(12);
    });
  });

  it('ends for a write that has waited half of it for its turn', async () => {
    [place] = await placesOf();
    await narrow(0, async (database, busy) => {
      const ends: string[] = [];
      const busySince = busy(2.3).then(() => ends.push('the turn before'));
      ends.push(...(await writes(6, database)));
      await busySince;
      expect(ends).toEqual([...Array(6).fill('service_unavailable'), 'the turn before']);
      expect(await rowsOf(place)).toHaveLength(0);
      expect(await writes(6, database)).toEqual(Array(6).fill('done'));
    });
  });

  it('ends while it waits for a turn of its tenant, and it is not begun later', async () => {
    const [here] = await placesOf();
    const [{ database: name }] = await world.sql<[{ database: string }]>`select current_database() as database`;
    // Statements end after a second, and one connection of a tenant serves all its writes.
    const pools = { ...poolsDefault, write: 2, statementMilliseconds: 1_000, lockMilliseconds: 60_000 };
    const database = new Database({ ...inject('admin'), username: 'tidegate', database: name }, undefined, { pools });
    const holder = await world.sql.reserve();
    try {
      await database.call('create_deposit', [here.tenant, here.live, '{}', text(deposited(here, 1n))]);
      await holder`begin`;
      await holder`select from account where tenant_id = ${here.tenant} and id = ${here.payers[0]!} and not livemode
        for update`;
      const settled: string[] = [];
      const paid = text(deposited(here, 1n, { fromAccountId: here.payers[0] }));
      const blocked = Array.from({ length: 8 }, () =>
        database.call('create_deposit', [here.tenant, here.live, '{}', paid]).then(
          () => settled.push('done'),
          () => settled.push('blocked'),
        ),
      );
      const key = randomUUID();
      await write(here, 'create_deposit', deposited(here, 2n), key, database).then(
        () => settled.push('done'),
        (error) => settled.push(refusalOf(error)),
      );
      // It had its place behind all of the others, which end one after the other.
      expect(settled.at(-1)).toBe('service_unavailable');
      expect(settled.length).toBeLessThan(9);
      await Promise.all(blocked);
      expect((await rowsOf(here)).length).toBe(1);
      await write(here, 'create_deposit', deposited(here, 2n), key, database);
      expect((await rowsOf(here)).length).toBe(2);
    } finally {
      await holder`rollback`;
      holder.release();
      await database.close();
    }
  });
});

/**
 * Deposits that 12 clients create at once until `faults` end; the name and id of each that was acknowledged. With
 * another database than the world's, a client that gets 503 sends its write again with the same key.
 */
async function createdWhile(place: Place, prefix: string, faults: () => Promise<void>, database = world.database) {
  const made: string[] = [];
  let over = false;
  const create = async (name: string): Promise<string> => {
    try {
      const args = deposited(place, 1n, { metadata: { n: name } });
      return (await write(place, 'create_deposit', args, name, database)).id;
    } catch (error) {
      if (database === world.database || !(error instanceof DomainError) || error.status !== 503) throw error;
      await sleep(20);
      return create(name);
    }
  };
  const writing = Promise.all(
    Array.from({ length: 12 }, async (_, client) => {
      for (let n = 0; !over; n++) {
        const name = `${prefix} ${client} ${n}`;
        made.push(`${name} ${await create(name)}`);
      }
    }),
  );
  // A write that fails ends the wait for the faults, which could be for a further write.
  await Promise.race([faults(), writing]);
  over = true;
  await writing;
  return made;
}
const storedIn = async ({ tenant }: Place) => {
  const rows = await world.sql`
    select metadata ->> 'n' as n, id from deposit where tenant_id = ${tenant} and not livemode`;
  return rows.map(({ n, id }) => `${n} ${id}`).toSorted();
};

describe('a connection that is lost', () => {
  it(`leaves each write done once, ${scale.writeKills} times`, async () => {
    const [place] = await placesOf();
    calls();
    const made: string[] = [];
    for (let round = 0; round < scale.writeKills; round++) {
      const kills = async () => {
        for (let kill = 0; kill < 3; kill++) {
          const wanted = together.length + 1 + kill;
          await until(() => together.length >= wanted);
          await world.sql`
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and application_name = 'tidegate write'`;
        }
      };
      made.push(...(await createdWhile(place, `${round}`, kills)));
    }
    expect(calls().length).toBeGreaterThan(scale.writeKills);
    expect(await storedIn(place)).toEqual(made.toSorted());
  });

  const missing = bouncerProgram ? '' : ' (skipped: no PgBouncer is installed)';
  it.skipIf(!bouncerProgram)(`does so when it is PgBouncer in transaction mode that is killed${missing}`, async () => {
    const [place] = await placesOf();
    const [{ database: name }] = await world.sql<[{ database: string }]>`select current_database() as database`;
    const role = `alter role tidegate in database ${name} set`;
    await world.sql.unsafe(`${role} statement_timeout = '5s'; ${role} lock_timeout = '2s'`);
    const bouncer = new Bouncer();
    const settings = 'ignore_startup_parameters = statement_timeout,lock_timeout';
    await bouncer.start(settings);
    const pooled = { host: '127.0.0.1', port: bouncer.port, username: 'tidegate', database: name };
    const database = new Database({ ...pooled, prepare: false });
    let combined = 0;
    database.observers.push({ began: () => () => {}, combined: () => combined++ });
    const called = async (more: number) => {
      const wanted = combined + more;
      await until(() => combined >= wanted);
    };
    try {
      const made = await createdWhile(
        place,
        'pooled',
        async () => {
          for (let restart = 0; restart < scale.poolerRestarts; restart++) {
            await called(8);
            await bouncer.kill();
            await bouncer.start(settings);
          }
          await called(8);
        },
        database,
      );
      expect(await storedIn(place)).toEqual(made.toSorted());
      // The limit of a lock of a combined call ends with it: the server's connection has the role's again.
      const [limit] = await database.call('current_setting', ['lock_timeout']);
      expect(limit).toEqual({ current_setting: '2s' });
    } finally {
      await database.close();
      await bouncer.stop();
    }
  });
});

it('calls in SQL the functions that are combined, and no others', () => {
  const { body } = definedFunctions().find(({ name }) => name === 'write_deposits')!;
  const called = [...body.matchAll(/into v from (\w+)\(p_tenant/g)].map(([, name]) => name!);
  const names = fs.readFileSync('src/db/write-functions.ts', 'utf8').matchAll(/^ {2}(\w+): \{$/gm);
  expect(called.toSorted()).toEqual(
    [...names].map(([, name]) => name!).filter((name) => isCombined(name as WriteFunction)),
  );
});

// The last test: this gateway combines nothing for a minute after it.
it('writes run alone on a database that has no function for several', async () => {
  const [here] = await placesOf();
  const eight = () => Promise.all(Array.from({ length: 8 }, () => write(here, 'create_deposit', deposited(here, 3n))));
  await world.sql`drop function write_deposits`;
  calls();
  expect([(await eight()).length, calls()]).toEqual([8, [6]]);
  expect([(await eight()).length, calls()]).toEqual([8, []]);
  expect((await rowsOf(here)).length).toBe(16);
});
