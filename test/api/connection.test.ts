import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { inject, describe, expect, it } from 'vitest';
import { connectionOf } from '../../src/db/connect/driver/address.js';
import { openClient } from '../../src/db/connect/driver/connection.js';
import { Servers } from '../../src/db/connect/driver/servers.js';

/** PostgreSQL sends two rows of it, and then fails. */
const failsAmongItsRows = 'select 10 / (3 - n) from generate_series(1, 5) n';

describe('the result of a statement, after one that failed among its rows on the same connection,', () => {
  it.each<[string, boolean]>([
    ['at once behind it', true],
    ['after it', false],
  ])('has all its rows at their places: %s', async (_, pipelined) => {
    const client = openClient({ ...inject('admin'), database: 'postgres', max: 1, fetch_types: false });
    try {
      const asked = [
        () => client.unsafe('select n from generate_series(7, 8) n'),
        () => client.unsafe('select n from generate_series($1::int4, 8) n', [7], { prepare: true }).values(),
        () => client`select n from generate_series(${7}::int4, 8) n`,
        () => client.unsafe('select 1 where false'),
      ];
      const answers: unknown[][] = [];
      for (const ask of asked) {
        const failure = client.unsafe(failsAmongItsRows).then(
          () => undefined,
          (error: { code: string }) => error.code,
        );
        if (!pipelined) await failure;
        const rows = await ask().execute();
        expect(await failure).toBe('22012');
        answers.push([rows.columns.length, ...rows]);
      }
      expect(answers).toEqual([[1, { n: 7 }, { n: 8 }], [1, [7], [8]], [1, { n: 7 }, { n: 8 }], [1]]);
    } finally {
      await client.end({ timeout: 1 });
    }
  });
});

/** A relay to the tests' PostgreSQL that can reset its connections, as a network or a pooler does. */
async function relay() {
  const { host, port } = inject('admin') as { host: string; port: number };
  const members = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const upstream = host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host);
    members.add(client);
    client.on('close', () => members.delete(client));
    for (const one of [client, upstream]) one.on('error', () => {});
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume));
  return {
    reset: () => members.forEach((member) => member.resetAndDestroy()),
    port: (server.address() as net.AddressInfo).port,
    close: () => server.close(),
  };
}

/** What an answer is, or the code of its failure. */
const outcomeOf = <T>(answer: Promise<T>) => answer.catch(({ code }: { code: string }) => code);

describe('a statement on a connection that is reset', () => {
  const opened = (port: number) => {
    const { username } = inject('admin') as { username: string };
    const login = { host: '127.0.0.1', port, username, database: 'postgres', max: 1, backoff: () => 0.01 };
    return openClient({ ...login, fetch_types: false } as never);
  };

  it('is answered or fails when it is given between the error and the end of the connection', async () => {
    const { port, reset, close } = await relay();
    const client = opened(port);
    try {
      await client`select 0`;
      const running = client`select pg_sleep(5)`.execute();
      await sleep(100);
      reset();
      const after = running.then(
        () => undefined,
        // The client knows of the error here, and the statement below is the next thing that it does.
        () => outcomeOf(client`select 1 as one`.execute().then(([row]) => row?.one)),
      );
      expect(await outcomeOf(after)).toBe(1);
      expect(await outcomeOf(client`select 2 as two`.execute().then(([row]) => row?.two))).toBe(2);
    } finally {
      await client.end({ timeout: 0 });
      close();
    }
  });

  it('gets its own rows or fails when the connection was idle', async () => {
    const { port, reset, close } = await relay();
    const client = opened(port);
    try {
      const seen: unknown[] = [];
      for (let turns = 0; turns < 40; turns++) {
        await outcomeOf(client`select 0`.execute());
        reset();
        for (let i = 0; i < turns; i++) await new Promise((resume) => setImmediate(resume));
        seen.push(
          await outcomeOf(client`select ${turns}::int4 as turn`.execute().then(([row]) => row?.turn ?? 'no row')),
        );
      }
      const lost = /^(ECONNRESET|EPIPE|CONNECTION_CLOSED)$/;
      expect(seen.filter((answer, turn) => answer !== turn && !lost.test(String(answer)))).toEqual([]);
      expect(seen.some((answer, turn) => answer === turn)).toBe(true);
    } finally {
      await client.end({ timeout: 0 });
      close();
    }
  });
});

describe('a connection that cannot be opened', () => {
  const opened = (address: string, options: object = {}) =>
    openClient({ ...connectionOf(address), max: 1, fetch_types: false, ...options } as never);

  /** A server that does something with each connection, and counts them. */
  async function listening(on: (socket: net.Socket) => void) {
    const seen = { connections: 0, open: new Set<net.Socket>() };
    const server = net.createServer((socket) => {
      seen.connections++;
      seen.open.add(socket);
      socket.on('error', () => {}).on('close', () => seen.open.delete(socket));
      on(socket);
    });
    await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume));
    const { port } = server.address() as net.AddressInfo;
    return { seen, port, close: () => server.close() };
  }

  const several = '127.0.0.1:1,127.0.0.1:2';
  it.each([
    // The kernel refuses to connect to this address before anything is sent.
    ['255.255.255.255', '', 'ENETUNREACH'],
    ['255.255.255.255', '?sslmode=require', 'ENETUNREACH'],
    ['127.0.0.1:1', '', 'ECONNREFUSED'],
    ['127.0.0.1:1', '?sslmode=require', 'ECONNREFUSED'],
    [several, '', 'CONNECTION_UNAVAILABLE'],
    [several, '?sslmode=require', 'CONNECTION_UNAVAILABLE'],
  ])('says why: %s%s', async (hosts, parameters, code) => {
    const client = opened(`postgres://${hosts}/x${parameters}`);
    expect(await outcomeOf(client`select 1`.execute())).toBe(code);
    await client.end({ timeout: 0 });
  });

  it('says why when the server in use is one of several', async () => {
    const { connection } = new Servers(
      ['255.255.255.255', '127.0.0.1'].map((host) => ({ host: [host], port: [1] }) as never),
      'any',
    );
    const client = openClient({ ...connection, max: 1, fetch_types: false });
    expect(await outcomeOf(client`select 1`.execute())).toBe('ENETUNREACH');
    await client.end({ timeout: 0 });
  });

  it.each(['disable', 'prefer', 'require'])('is tried once when the server ends it: sslmode=%s', async (mode) => {
    const { seen, port, close } = await listening((socket) => socket.once('data', () => socket.end()));
    const client = opened(`postgres://127.0.0.1:${port}/x?sslmode=${mode}`);
    expect(await outcomeOf(client`select 1`.execute())).toBe('CONNECTION_CLOSED');
    await sleep(50);
    expect(seen.connections).toBe(1);
    await client.end({ timeout: 0 });
    close();
  });

  it('names the server that does not answer', async () => {
    const { port, close } = await listening((socket) => socket.resume());
    const client = opened(`postgres://127.0.0.1:${port}/x`, { connect_timeout: 0.3 });
    await expect(client`select 1`.execute()).rejects.toThrow(`write CONNECT_TIMEOUT 127.0.0.1:${port}`);
    await client.end({ timeout: 0 });
    close();
  });

  it('is not used when its client has ended meanwhile', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-tls-'));
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(folder, name)) as [string, string];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    spawnSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, '-subj', '/CN=localhost']);
    const secret = { key: fs.readFileSync(key), cert: fs.readFileSync(cert) };
    const received: Buffer[] = [];
    let [requests, over] = [0, () => {}];
    const ended = new Promise<void>((resume) => (over = resume));
    const { seen, port, close } = await listening((socket) =>
      socket.once('data', async () => {
        requests++;
        await ended;
        socket.write('S');
        const secure = new tls.TLSSocket(socket, { ...secret, isServer: true });
        secure.on('error', () => {}).on('data', (data) => received.push(data));
      }),
    );
    const client = opened(`postgres://127.0.0.1:${port}/x?sslmode=require`);
    const asked = outcomeOf(client`select 1`.execute());
    await expect.poll(() => requests).toBe(1);
    await client.end({ timeout: 0 });
    expect(await asked).toBe('CONNECTION_DESTROYED');
    over();
    await expect.poll(() => seen.open.size).toBe(0);
    await sleep(250);
    expect([seen.connections, seen.open.size, received]).toEqual([1, 0, []]);
    close();
    fs.rmSync(folder, { recursive: true });
  });
});
