import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Database } from '../../src/db/database.js';
import { poolsDefault } from '../../src/db/connect/database-settings.js';
import { Scope } from '../../src/db/scope.js';
import type { Caller } from '../../src/request/caller.js';
import { eventListing } from '../../src/resources/event/listing.js';
import { event } from '../../src/resources/event/table.js';
import type { PageArgs } from '../../src/types/pagination.js';
import { useWorld } from '../support/world.js';

const world = useWorld({ worker: false });

/** An event of a statement of some seconds at most, in microseconds after the one before, and what happens about it. */
const happening = (statementSeconds: number) =>
  fc.record({
    after: fc.integer({ min: 0, max: 4_000_000 }),
    /** Seconds by which the test clock moves before it. */
    moved: fc.oneof(
      { weight: 9, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 100_000 }) },
    ),
    /** From the reading of the clock to the id, and from there to the commit: at most the statement's time together. */
    read: fc.integer({ min: 0, max: 1_000_000 }),
    committed: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: (statementSeconds - 1) * 1_000_000 })),
    /** Whether events are numbered at the time of its commit. */
    numbers: fc.boolean(),
  });
const history = (statementSeconds: number) => fc.array(happening(statementSeconds), { minLength: 30, maxLength: 80 });

const bound = fc.constantFrom('gt', 'gte', 'lt', 'lte', 'eq');

let tenants = 0;

describe.each([5, 60])('events of a time range, with statements of at most %i s', (statementSeconds) => {
  let database: Database;
  beforeAll(() => {
    const pools = { ...poolsDefault, statementMilliseconds: statementSeconds * 1_000 };
    const name = world.sql.options.database;
    database = new Database({ ...inject('admin'), username: 'tidegate', database: name }, undefined, { pools });
  });
  afterAll(() => database.close());

  it('are all listed, and no others, although they commit late and the clock moves', async () => {
    await fc.assert(
      fc.asyncProperty(
        history(statementSeconds),
        fc.array(fc.tuple(bound, fc.nat(), bound, fc.nat(), fc.boolean())),
        async (all, ranges) => {
          const tenant = `tenant${++tenants}`;
          const { sql } = world;
          let now = 1_700_000_000_000_000;
          let offset = 0;
          const events = all.map((one, i) => {
            now += one.after;
            const before = offset;
            offset += one.moved;
            // A transaction that runs while the clock moves may have read it before.
            const created = Math.floor((now - one.read) / 1_000_000) + (one.read > 500_000 ? before : offset);
            const id = `event_${now.toString(16).padStart(14, '0')}${String(i).padStart(18, '0')}`;
            return { id, created, commit: now + one.committed, numbers: one.numbers };
          });
          const ordered = [...events].sort((a, b) => a.commit - b.commit);
          for (const [i, { id, created, numbers }] of ordered.entries()) {
            await sql`insert into event (tenant_id, livemode, id, created, type, object, object_id, data, context_id,
              on_root_list)
            values (${tenant}, false, ${id}, ${created}, 'deposit.completed', 'deposit', 'deposit_1', '{}',
            ${`account_${tenant}`}, true)`;
            if (numbers || i === ordered.length - 1) await sql`select number_events(${tenant}, false, 1000)`;
          }
          const account = `account_${tenant}`;
          const caller: Caller = {
            ...{ tenantId: tenant, livemode: false, edition: 1, kind: 'platform', permission: 'full', keyId: null },
            ...{ accountId: account, actingAccountId: account, actingAccountKind: 'platform' },
          };
          const timeOf = (n: number) => events[n % events.length]!.created + (n % 3) - 1;
          for (const [one, a, other, b, backward] of ranges) {
            const created = { [one]: timeOf(a), [other]: timeOf(b) };
            const scope = new Scope(caller, database);
            const args = { created, [backward ? 'last' : 'first']: 100 } as PageArgs;
            const { nodes } = await scope.page(event, eventListing, args);
            const fits = (time: number) =>
              Object.entries(created).every(([name, at]) =>
                name === 'gt'
                  ? time > at
                  : name === 'gte'
                    ? time >= at
                    : name === 'lt'
                      ? time < at
                      : name === 'lte'
                        ? time <= at
                        : time === at,
              );
            const expected = events.filter((each) => fits(each.created)).map(({ id }) => id);
            expect([created, nodes.map(({ id }) => id).sort()]).toEqual([created, expected.sort()]);
          }
        },
      ),
      { numRuns: 30 },
    );
  });
});
