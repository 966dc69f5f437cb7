import net from 'node:net';
import { expect, inject, it } from 'vitest';
import { account } from '../../src/resources/account/table.js';
import { Database } from '../../src/db/database.js';
import { optionsOf } from '../../src/db/connect/driver/connection-options.js';
import { poolsDefault } from '../../src/db/connect/database-settings.js';
import { slowDefault } from '../../src/config/defaults.js';
import { preparedMax } from '../../src/db/read/statements.js';
import { DomainError } from '../../src/errors/problems.js';
import { useWorld } from '../support/world.js';

const world = useWorld({ worker: false });

// A list has one statement per combination of filters, and PostgreSQL keeps each for every connection.
it('keeps a limited number of statements, and executes the others without keeping them', async () => {
  const { database } = world;
  // In groups: 1,500 statements that wait at once would end by their time limit on a busy machine.
  for (let n = 0; n < preparedMax + 50; n += 50) {
    const numbers = Array.from({ length: 50 }, (_, i) => n + i);
    const rows = await Promise.all(
      numbers.map((number) => database.text<{ n: string }>(`select $1::text || '${number}' as n`, ['is '])),
    );
    expect(rows.map(([row]) => row!.n)).toEqual(numbers.map((number) => `is ${number}`));
  }
  expect(database.preparedStatements.size).toBe(preparedMax);
  const found = await database.read('none', (db) => db.select({ id: account.id }).from(account).limit(1), {});
  expect(found).toEqual([]);
  expect(database.preparedStatements.has('none')).toBe(false);
});

// A client with all combinations of filters uses up the limit for all tenants, so it is reset after an hour, the
// lifetime of a connection.
it('keeps other statements after an hour, for all tenants', async () => {
  const [{ database: name }] = await world.sql<[{ database: string }]>`select current_database() as database`;
  let now = 0;
  const database = new Database({ ...inject('admin'), username: 'tidegate', database: name }, undefined, {
    now: () => now,
  });
  try {
    const prepared = async () => {
      const [row] = await database.text<{ n: number }>('select count(*)::int as n from pg_prepared_statements', []);
      return row!.n;
    };
    const asked = async (from: number, to: number) => {
      for (let n = from; n < to; n += 50)
        await Promise.all(Array.from({ length: 50 }, (_, i) => database.text(`select ${n + i} as n`, [])));
    };
    const list = () =>
      database.read('list', (db) => db.select({ id: account.id }).from(account).limit(1), {}) as Promise<object[]>;
    await asked(0, preparedMax);
    await list();
    const full = await prepared();
    expect(database.preparedStatements.size).toBe(preparedMax);
    expect(database.preparedStatements.has('list')).toBe(false);
    now += 3_599_999;
    await list();
    expect([database.preparedStatements.has('list'), await prepared()]).toEqual([false, full]);
    now += 1;
    await list();
    expect([...database.preparedStatements.keys()]).toEqual(['list']);
    expect(await list()).toEqual([]);
    await asked(preparedMax, preparedMax + 250);
    expect(database.preparedStatements.size).toBe(251);
  } finally {
    await database.close();
  }
});

// An un-awaited query of the driver would end the process if its connection were lost.
it('survives the loss of connections at any moment, and only waiting callers get the error', async () => {
  const admin = inject('admin');
  const [{ database: name }] = await world.sql<[{ database: string }]>`select current_database() as database`;
  const untold: unknown[] = [];
  const note = (error: unknown) => untold.push(error);
  process.on('unhandledRejection', note);
  let lost = 0;
  // For each connection, one more message of the client passes before the reset.
  const relay = net.createServer((client) => {
    const server = net.connect(`${admin.host}/.s.PGSQL.${admin.port}`);
    let left = ++lost <= 6 ? Math.ceil(lost / 2) : Number.POSITIVE_INFINITY;
    client.on('data', (chunk) => {
      if (--left > 0) server.write(chunk);
      else client.resetAndDestroy();
    });
    server.on('data', (chunk) => client.write(chunk));
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
  });
  await new Promise<void>((resume) => relay.listen(0, '127.0.0.1', resume));
  const { port } = relay.address() as net.AddressInfo;
  const database = new Database({ ...admin, username: 'tidegate', database: name, host: '127.0.0.1', port });
  try {
    const kinds = ['platform', 'it\'s \\ "quoted", {NULL}', ''];
    for (let n = 0; n < 10; n++)
      expect(
        await database.text('select $1::text[] as kinds, $2::text = any($1) as among', [kinds, 'platform']),
      ).toEqual([{ kinds, among: true }]);
    expect(lost).toBeGreaterThan(6);
    expect(untold).toEqual([]);
  } finally {
    await database.close();
    relay.close();
    process.off('unhandledRejection', note);
  }
});

// Every connection has prepared the calls when a migration changes their result type. The driver prepares such a call
// again in two steps, and must not send another one between them, whose row would become the answer to the first.
it('answers each write its own row after a migration has changed the shape of the rows', async () => {
  const [{ database: name }] = await world.sql<[{ database: string }]>`select current_database() as database`;
  const database = new Database({ ...inject('admin'), username: 'tidegate', database: name });
  const functions = ['shape_one', 'shape_two', 'shape_three'];
  // Each has another order of columns, one of which is parsed.
  const columns = [
    'id text, word text, data jsonb',
    'data jsonb, id text, word text',
    'word text, data jsonb, id text',
  ];
  for (const [i, fn] of functions.entries()) await world.sql.unsafe(`create table ${fn}_row (${columns[i]})`);
  const define = (fn: string) =>
    world.sql.unsafe(`create or replace function ${fn}(p_id text) returns setof ${fn}_row language plpgsql as $$
      declare v ${fn}_row;
      begin
        if p_id like 'refused%' then raise exception using errcode = 'TG400', message = 'x', detail = '[]'; end if;
        v := jsonb_populate_record(null::${fn}_row, jsonb_build_object('id', p_id, 'word', '${fn}', 'data',
        '{}'::jsonb));
        return next v;
      end $$`);
  for (const fn of functions) await define(fn);
  /** More writers than connections, so that some connections still execute one write when the next one comes. */
  const round = (nth: number) =>
    Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        for (let i = 0; i < 12; i++) {
          const fn = functions[(i + writer) % functions.length]!;
          const id = `${nth % 2 && i % 2 === 0 ? 'refused' : 'call'} ${nth} ${writer} ${i}`;
          const answer = await database.call(fn, [id]).then(
            ([row]) => [row!.id, row!.word],
            (error: Error) => [id, error instanceof DomainError ? 'refused' : error.message],
          );
          expect(answer).toEqual([id, id.startsWith('refused') ? 'refused' : fn]);
        }
      }),
    );
  try {
    await round(0);
    for (let nth = 1; nth <= 20; nth++) {
      for (const fn of functions) {
        await world.sql.unsafe(`alter table ${fn}_row add column added_${nth} jsonb`);
        await define(fn);
      }
      await round(nth);
    }
  } finally {
    await database.close();
  }
});

// Beyond its limit the server refuses connections, so that single requests of a busy process would fail.
it('has an embedded server that admits the connections of twelve processes, and larger pools', async () => {
  const connection = inject('admin');
  const given = { durable: true, pools: poolsDefault, slow: slowDefault, direct: connection };
  const pools = Object.values(optionsOf(connection, given)).map(({ max }) => max);
  const [row] = await world.sql`select current_setting('max_connections')::int as most`;
  // Each process has one that listens, too, and its pools may have ten more by their settings.
  expect(row!.most).toBeGreaterThanOrEqual(12 * (pools.reduce((sum, max) => sum + max, 1) + 10));
});
