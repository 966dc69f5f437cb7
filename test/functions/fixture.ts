import { sql } from 'drizzle-orm';
import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { violationsOf } from '../../src/db/cluster/tenant-audit.js';
import { text } from '../../src/db/write/write-arguments.js';
import { definedFunctions } from '../../src/db/write/print-write-functions.js';
import type { ArgumentsOf, WriteFunction } from '../../src/db/write/write-arguments.js';
import { DomainError } from '../../src/errors/problems.js';
import type { BrokenRule } from '../../src/resources/ledger/table.js';
import { nickname, statementsWaiting, useWorld } from '../support/world.js';
import { createRoot } from '../../src/operator/account/accounts.js';

export type Row = Record<string, any>;
type Value = string | number | boolean | null;

/** A tenant in one of its modes. */
export interface Place {
  tenantId: string;
  live: boolean;
}

const bodies = new Map(definedFunctions().map(({ name, body }) => [name, body]));

/** What a function refuses in its own body: the code of each domain error, and its field where it is constant. */
const refusalsOf = (name: string): string[] =>
  [...bodies.get(name)!.matchAll(/refuse\(\s*\d+,\s*'(\w+)',\s*(?:'([^']*)'(?=\s*[,)])|(null))?/g)].map(
    ([, code, field, none]) => (field === undefined && none === undefined ? `${code}` : `${code} ${field ?? ''}`),
  );

/**
 * Direct calls of SQL functions, on a database of the test file's own: no API and no worker runs. `of` groups the tests
 * of one function; the group fails if they do not call it, or do not cause each of the domain errors in its body.
 */
export function useFunctions() {
  const world = useWorld({ worker: false });
  const called = new Map<string, Set<string>>();
  const tenants = new Set<string>();

  const call = async (name: string, ...values: Value[]): Promise<Row[]> => {
    const refused = called.get(name) ?? new Set();
    called.set(name, refused);
    if (/^[0-9a-f]{32}$/.test(String(values[0]))) tenants.add(String(values[0]));
    try {
      return await world.database.call(name, values);
    } catch (error) {
      if (error instanceof DomainError)
        for (const { code, field } of error.problems) refused.add(code).add(`${code} ${field ?? ''}`);
      throw error;
    }
  };

  const of = (name: string, tests: () => void) =>
    describe(name, () => {
      tests();
      afterAll(() => {
        expect([name, called.has(name)]).toEqual([name, true]);
        const untested = refusalsOf(name).filter((refusal) => !called.get(name)!.has(refusal));
        expect(untested, `domain errors of ${name} that no test causes`).toEqual([]);
      });
    });

  return {
    world,
    of,
    call,
    /** The tenants for which functions were called: a distributed database has those of other test files, too. */
    tenants,
    /** The single value that a function returns. */
    value: async (name: string, ...values: Value[]) => (await call(name, ...values))[0]![name],
    /** Calls a write function without an idempotency key, and returns its row. */
    write: async <F extends WriteFunction>(place: Place, name: F, args: ArgumentsOf<F>, ...content: string[]) =>
      (await call(name, place.tenantId, place.live, '{}', text(args), ...content))[0]!,
    /** The text of a row, as a function takes it whose parameter is a row. */
    rowText: async (table: string, { tenantId, live }: Place, id: string): Promise<string> => {
      const rows = await world.sql.unsafe<{ row: string }[]>(
        `select r::text as row from ${table} r where tenant_id = $1 and livemode = $2 and id = $3`,
        [tenantId, live, id],
      );
      return rows[0]!.row;
    },
    /** The text of a job that has not been stored. */
    jobText: async (kind: string, subject: string, args: object = {}): Promise<string> => {
      const job = JSON.stringify({ id: 'job_1', kind, subject_id: subject, args });
      const [row] = await world.sql.unsafe('select jsonb_populate_record(null::job, $1::text::jsonb)::text as row', [
        job,
      ]);
      return row!.row;
    },
    /** A stored row, by its id; by another key the first one that was made. */
    stored: async (table: string, { tenantId, live }: Place, id: string, key = 'id'): Promise<Row> => {
      const found = await world.sql.unsafe<Row[]>(
        `select * from ${table} t where tenant_id = $1 and livemode = $2 and ${key} = $3
          order by to_jsonb(t) ->> 'id' limit 1`,
        [tenantId, live, id],
      );
      return found[0]!;
    },
    /** The jobs of a subject, oldest first. */
    jobsOf: ({ tenantId, live }: Place, subject: string) =>
      world.sql<Row[]>`select * from job
        where tenant_id = ${tenantId} and livemode = ${live} and subject_id = ${subject} order by id`,
    /** The types of the events about an object, oldest first. */
    eventsOf: async ({ tenantId, live }: Place, id: string): Promise<string[]> =>
      (
        await world.sql`select type from event
          where tenant_id = ${tenantId} and livemode = ${live} and object_id = ${id} order by id`
      ).map(({ type }) => type),
  };
}

export type FunctionsFixture = ReturnType<typeof useFunctions>;

/** The code and the field of what a call refuses, such as `status_invalid deposit.status`. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (error instanceof DomainError) return `${error.problems[0]!.code} ${error.problems[0]!.field ?? ''}`.trim();
    throw error;
  }
  throw new Error('the call was not refused');
}

/** A root in both modes, created before the tests of a file: test mode is activated, live mode is a draft. */
export function useRoot(
  { world }: FunctionsFixture,
  type: 'platform' | 'user' = 'user',
  edition: 1 | 2 = 2,
  subType?: 'aggregator',
) {
  const root = { id: '', tenantId: '', live: false, inLive: { tenantId: '', live: true } };
  beforeAll(async () => {
    const { account } = await createRoot(world.operator, {
      ...{ type, edition, subType, nickname: nickname() },
      businessDetails: { legalName: 'Malabar Spice Traders' },
    });
    root.id = account.id;
    root.tenantId = root.inLive.tenantId = account.tenantId;
  });
  return root;
}

const setting = { address: {}, addressCurrency: {}, payoutsApplicable: true };

/** Creates a partner or a connected user of a root, in draft; returns its row. */
export const makeAccount = (
  { write }: FunctionsFixture,
  root: Place & { id: string },
  kind: 'partner' | 'connected_user' = 'partner',
  more: Partial<ArgumentsOf<'create_account'>> = {},
): Promise<Row> =>
  write(root, 'create_account', {
    ...{ kind, edition: 2, addressKey: kind, ownerId: root.id, onRootList: true, nickname: nickname() },
    ...(kind === 'partner' && { actingAccountId: root.id }),
    ...{ businessDetails: { legalName: 'Acme', type: 'company' }, setting },
    ...more,
  });

/** Moves a draft, or an account on hold, to `activated`. */
export const activate = ({ write }: FunctionsFixture, place: Place, id: string): Promise<Row> =>
  write(place, 'move_account', { id, from: ['draft', 'verifying', 'hold'], to: 'activated' });

/** What moves money of a root in a mode: receivables, completed deposits to it, and its balance. */
export function moneyOf({ write, stored, world }: FunctionsFixture, root: Place & { id: string }) {
  const addressOf = (id: string, category = 'service_receive') => world.sql<Row[]>`select * from address
    where tenant_id = ${root.tenantId} and livemode = ${root.live} and linked_id = ${id} and category = ${category}`;
  const create = async (amount: bigint, more: Partial<ArgumentsOf<'create_deposit'>> = {}): Promise<Row> => {
    const [address] = await addressOf(root.id);
    return write(root, 'create_deposit', {
      ...{ toAccountId: root.id, toAddressId: address!.id, fromAccountId: null, fromAddressId: null, amount },
      ...{ currency: address!.currency, paymentMethod: 'domestic_credit', ...more },
    });
  };
  const complete = ({ id }: Row) =>
    write(root, 'move_deposit', { id, from: ['initialized', 'processing'], to: 'completed' });
  const receivable = (amount: bigint, more: Partial<ArgumentsOf<'create_receivable'>> = {}): Promise<Row> =>
    write(root, 'create_receivable', {
      ...{ accountId: root.id, currency: 'USD', amountMaximumReconcilable: amount, purposeCode: 'P0802' },
      ...{ transactionType: 'services', invoice: { amount: `${amount}`, currency: 'USD' }, ...more },
    });
  const reconcile = ({ id }: Row, receivables: ArgumentsOf<'reconcile_deposit'>['receivables']) =>
    write(root, 'reconcile_deposit', { id, receivables });
  return {
    addressOf,
    create,
    complete,
    receivable,
    reconcile,
    /** A completed deposit. */
    deposit: async (amount: bigint, more: Partial<ArgumentsOf<'create_deposit'>> = {}) =>
      complete(await create(amount, more)),
    /** A deposit that is counted in full towards a new receivable. */
    reconciled: async (amount: bigint) => {
      const [deposit, { id }] = [await complete(await create(amount)), await receivable(amount)];
      return { deposit: await reconcile(deposit, [{ id, amount }]), receivable: id as string };
    },
    /** The compartments of a balance that are not zero. */
    balance: async (id: string, currency = 'USD') => {
      const [row] = await world.sql`select pending, available, processing, payout_processing, fee_advance from balance
        where tenant_id = ${root.tenantId} and livemode = ${root.live} and account_id = ${id}
        and currency = ${currency}`;
      return Object.fromEntries(Object.entries(row ?? {}).filter(([, amount]) => amount !== '0'));
    },
    stored: (table: string, id: string) => stored(table, root, id),
  };
}

/**
 * What breaks an invariant of the ledger of a tenant that was used. Each tenant is asked for by itself, as the checks
 * of ledgers do: on a cluster, the view over all tenants reads every node.
 */
export async function violations({ world, tenants }: FunctionsFixture): Promise<BrokenRule[]> {
  const found: BrokenRule[] = [];
  for (const tenantId of tenants)
    for (const livemode of [false, true]) {
      const { source, where } = await violationsOf(world.database, { tenantId, livemode });
      const fields = { rule: sql<string>`v.rule`, what: sql<string>`v.what` };
      found.push(
        ...(await world.database.auditQuery<BrokenRule>('ledger_check_violations', (db) =>
          db.select(fields).from(source).where(where),
        )),
      );
    }
  return found;
}

/** Locks a row until the transaction ends. The statement names its tenant, so that a cluster asks one node. */
export async function lockRow(
  tx: postgres.TransactionSql,
  { tenantId, live }: Place,
  table: string,
  id: string,
): Promise<void> {
  await tx`select from ${tx(table)} where tenant_id = ${tenantId} and livemode = ${live} and id = ${id} for update`;
}

/**
 * Whether a call locks the row of the first receivable before that of the second: it waits for the first, which is
 * locked here, and has not locked the second.
 */
export async function lockedInOrder(
  { world }: FunctionsFixture,
  place: Place,
  [first, second]: readonly string[],
  ask: () => Promise<unknown>,
): Promise<boolean> {
  const { asked, free } = await world.sql.begin(async (tx) => {
    await lockRow(tx, place, 'receivable', first!);
    const asked = ask();
    await statementsWaiting(world, 1);
    const free = await world.sql`select id from receivable
      where tenant_id = ${place.tenantId} and livemode = ${place.live} and id = ${second!} for update skip locked`;
    return { asked: [asked], free: free.length === 1 };
  });
  await asked[0];
  return free;
}
