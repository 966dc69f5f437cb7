import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Embedded } from '../../src/db/embedded/lease.js';
import { startEmbedded } from '../../src/db/embedded/server.js';
import { makeCertificate } from '../support/certificate.js';
import { alive } from '../support/alive.js';
import { behind, childrenOf, type Finished, type Gateway, postmaster, until, useChildren } from '../support/child.js';
import { details, eventually, nickname, payoutAddressBody, type Reply, type Speaker } from '../support/world.js';
import { hasty } from '../support/patient.js';
import { freePort } from '../support/ports.js';
import { demoIn } from './process-fixture.js';

// Each test starts Node and PostgreSQL, which takes long on a busy machine.

const children = useChildren();
const { folder } = demoIn(children);

const createPlatform = ['account', 'create', '--type=platform', '--edition=1', '--legal-name=Root Traders', '--json'];

// A terminal, a container and a service manager know npm's process, or the group of all processes, and not the
// gateway's.
// Each test starts npm twice, the compiler, and the gateway.
describe('npm start', () => {
  const project = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-npm-'));
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await children.preparedFolder('migrated');
    fs.chmodSync(project, 0o755);
    // A copy, because it compiles the program that the other tests run meanwhile.
    const root = fileURLToPath(new URL('../..', import.meta.url));
    // With what is built, so that each build only finds that nothing has changed.
    for (const part of [
      'package.json',
      'package-lock.json',
      'tsconfig.json',
      'src',
      'drizzle',
      'schema',
      'docs',
      'dist',
    ])
      fs.cpSync(path.join(root, part), path.join(project, part), { recursive: true, preserveTimestamps: true });
    fs.symlinkSync(path.join(root, 'node_modules'), path.join(project, 'node_modules'));
    build();
  });
  afterAll(() => fs.rmSync(project, { recursive: true, force: true }));
  const build = () => expect(spawnSync('npm', ['run', '--silent', 'build'], { cwd: project }).status).toBe(0);

  // A program that runs or starts meanwhile reads these files.
  it('builds, before it starts, nothing that is built, and a changed asset as a whole', () => {
    const built = (...part: string[]) => path.join(project, 'dist', ...part);
    const written = () =>
      new Map(
        fs
          .readdirSync(built(), { recursive: true, encoding: 'utf8' })
          .map((name) => [name, fs.statSync(built(name))] as const)
          .map(([name, { ino, mtimeMs }]) => [name, `${ino} ${mtimeMs}`]),
      );
    const before = written();
    const asset = path.join('server', 'dashboard', 'assets', 'start.css');
    expect(before.has(asset)).toBe(true);
    build();
    expect(written()).toEqual(before);
    fs.appendFileSync(path.join(project, 'src', asset), '/* changed */\n');
    // What was open before the change is as it was.
    const open = fs.openSync(built(asset), 'r');
    const text = fs.readFileSync(built(asset), 'utf8');
    build();
    expect(fs.readFileSync(open, 'utf8')).toBe(text);
    fs.closeSync(open);
    expect(fs.readFileSync(built(asset), 'utf8')).toBe(`${text}/* changed */\n`);
    const changed = [...written()].filter(([name, state]) => before.get(name) !== state).map(([name]) => name);
    expect(changed.toSorted()).toEqual(['.built', path.dirname(asset), asset]);
  });

  type End = [how: string, workers: string, end: (npm: number) => void];
  const ends: End[] = [
    ['SIGTERM to npm', '1', (npm) => process.kill(npm, 'SIGTERM')],
    ['Ctrl-C, of several processes', '2', (npm) => process.kill(-npm, 'SIGINT')],
    ['the end of the terminal, of several processes', '2', (npm) => process.kill(-npm, 'SIGHUP')],
    ['SIGTERM to all of them', '2', (npm) => process.kill(-npm, 'SIGTERM')],
    ['Ctrl-C', '1', (npm) => process.kill(-npm, 'SIGINT')],
  ];
  it.each(ends)('finishes what is under way on %s, and leaves no process behind', async (_, WORKERS, end) => {
    const npm = children.npmStart(project, { DATA_DIR: dataDir, WORKERS });
    try {
      const gateway = await npm;
      const { keys } = JSON.parse((await children.quickCommand({ DATA_DIR: dataDir }, ...createPlatform)).out);
      const { pid } = postmaster(dataDir)!;
      const sql = behind(dataDir);
      await sql.unsafe(`
        create table if not exists patience (held boolean); insert into patience values (true);
        create or replace function be_patient() returns trigger language plpgsql as $$
        begin
          while exists (select from patience) loop perform pg_sleep(0.02); end loop;
          return new;
        end $$;
        create or replace trigger be_patient before insert on account for each row execute function be_patient()`);
      const reply = gateway
        .speaker(keys.test)
        .post('/v1/accounts', { type: 'partner', nickname: nickname(), business_details: details() });
      await until(async () => (await sql`select from pg_stat_activity where wait_event = 'PgSleep'`).length > 0);
      end(gateway.pid);
      await until(() =>
        // One of several processes may accept a connection that no other serves any more.
        fetch(`${gateway.origin}/readyz`, { signal: AbortSignal.timeout(500) }).then(
          ({ status }) => status !== 200,
          () => true,
        ),
      );
      await sql`delete from patience`;
      expect((await reply).status).toBe(200);
      await sql.end({ timeout: 1 });
      await gateway.ended;
      await until(() => !alive(pid) && groupOf(gateway.pid).length === 0);
    } finally {
      for (const left of groupOf((await npm).pid)) process.kill(left, 'SIGKILL');
    }
  });
});

// The gateway cannot restart a PostgreSQL that it did not start.
describe('a separate PostgreSQL that is away for a while', () => {
  let folder: string;
  const holds: Embedded[] = [];
  const hold = async () => {
    const embedded = await startEmbedded({ dir: path.join(folder, 'postgres') });
    holds.push(embedded);
    return embedded;
  };
  afterAll(async () => {
    for (const held of holds) await held.release();
  });

  it('loses no response, and is used again as soon as it is back', async () => {
    folder = await children.preparedFolder('migrated');
    const { host } = (await hold()).options;
    const environment = {
      DATABASE_URL: `postgres://tidegate@localhost/tidegate?host=${encodeURIComponent(host)}`,
      API_KEY_PEPPER: 'a pepper that is long enough for a test',
    };
    const made = await children.quickCommand(environment, ...createPlatform);
    const gateway = await children.gateway({ ...environment, ...hasty, TRUSTED_PROXY: '127.0.0.1' });
    const speaker = gateway.speaker(JSON.parse(made.out).keys.test, { 'x-forwarded-proto': 'https' });
    const ask = (nickname: string) =>
      speaker.post(
        '/v1/accounts',
        { type: 'partner', nickname, business_details: details() },
        { 'idempotency-key': nickname },
      );
    const kept = await ask('before');
    expect(kept.status).toBe(200);

    const { pid } = postmaster(folder)!;
    const backends = childrenOf(pid);
    process.kill(pid, 'SIGKILL');
    // Until they notice, they still answer.
    await until(() => ![pid, ...backends].some(alive));
    const [one, other, list] = await Promise.all([ask('one'), ask('other'), speaker.get('/v1/accounts')]);
    const [ready, health] = await Promise.all(['/readyz', '/healthz'].map((at) => fetch(gateway.origin + at)));

    for (const reply of [one, other, list])
      expect(reply).toMatchObject({ status: 503, codes: ['service_unavailable'], body: { object: 'error' } });
    expect([ready, health]).toEqual([
      expect.objectContaining({ status: 503 }),
      expect.objectContaining({ status: 200 }),
    ]);
    await hold();
    const again = await eventually(
      () => ask('one'),
      ({ status }) => status === 200,
    );
    expect((await ask('one')).body).toEqual(again.body);
    expect((await speaker.get(`/v1/accounts/${kept.body.id}`)).body).toEqual(kept.body);
    expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
    expect([gateway.over, gateway.errors]).toEqual([false, '']);
  });
});

describe('behind a trusted proxy, on a separate PostgreSQL', () => {
  let gateway: Gateway;
  let key: string;
  let before: Finished;
  beforeAll(async () => {
    const environment = await children.database();
    gateway = await children.gateway({ ...environment, TRUSTED_PROXY: '127.0.0.1' });
    before = await children.quickCommand(environment, 'account', 'list', '--json');
    const made = await children.quickCommand(environment, ...createPlatform);
    key = JSON.parse(made.out).keys.test;
  });
  afterAll(() => gateway.stop());

  // NODE_ENV is not set here: without it, too, the schema is not public.
  it('suggests no names of the schema', async () => {
    const { status, text } = await gateway
      .speaker(key, { 'x-forwarded-proto': 'https' })
      .graph('{ viewr { edition } }');
    expect([status, text]).toEqual([400, expect.stringContaining('viewr')]);
    expect(text).not.toMatch(/did you mean/i);
  });

  it('seeds no demo and prints no key', async () => {
    expect(before).toEqual({ code: 0, out: '{"accounts":[]}\n', errors: '' });
    expect(gateway.out).not.toContain('sk_');
    expect(gateway.keys).toEqual({});
  });

  it('refuses a plain request before it reads the key or the body', async () => {
    const domainError = {
      object: 'error',
      http_status_code: 403,
      errors: [{ code: 'https_required', message: 'Plain HTTP is not accepted. Use HTTPS.', metadata: {} }],
    };
    const authorizations = [{ authorization: `Bearer ${key}` }, { authorization: 'Bearer sk_test_wrong' }, {}];
    for (const headers of authorizations) {
      for (const proto of [{}, { 'x-forwarded-proto': 'http' }, { 'x-forwarded-proto': 'https, http' }]) {
        for (const place of ['/v1/accounts', '/v1/nowhere']) {
          const reply = await fetch(`${gateway.origin}${place}`, { headers: { ...headers, ...proto } as never });
          expect([place, reply.status, await reply.json()]).toEqual([place, 403, domainError]);
        }
      }
    }
    const graph = await gateway.speaker(key).graph('{ viewer { account { id } } }');
    expect([graph.status, graph.codes]).toEqual([403, ['https_required']]);
    const malformed = await gateway.speaker(key).post('/v1/accounts', '{');
    expect([malformed.status, malformed.body]).toEqual([403, domainError]);
  });

  // Over plain HTTP an attacker could change the page and read the key that is typed into it.
  it('refuses the page of the explorer and its files too', async () => {
    for (const place of ['/graphiql', '/graphiql/assets/none.js', '/graphql', '/']) {
      const page = await fetch(gateway.origin + place, { headers: { accept: 'text/html' }, redirect: 'manual' });
      expect([place, page.status, page.headers.get('content-type')]).toEqual([
        place,
        403,
        'application/json; charset=utf-8',
      ]);
    }
  });

  it('serves requests that came to the proxy over HTTPS, and makes browsers require it', async () => {
    const user = gateway.speaker(key, { 'x-forwarded-proto': 'https' });

    const reply = await user.get('/v1/accounts');

    expect([reply.status, reply.body.data.length]).toEqual([200, 1]);
    expect(reply.headers.get('strict-transport-security')).toContain('max-age=31536000');
  });

  it('answers probes without HTTPS, which load balancers do not use for them', async () => {
    expect((await fetch(`${gateway.origin}/healthz`)).status).toBe(200);
    expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
  });

  // A forwarded header is reliable only from a trusted peer.
  it('trusts no peer except the proxy', async () => {
    const outsider = await children.gateway({
      ...(await children.database({ migrated: true })),
      TRUSTED_PROXY: '10.1.2.3',
    });

    const reply = await outsider.speaker(key, { 'x-forwarded-proto': 'https' }).get('/v1/accounts');

    expect([reply.status, reply.codes]).toEqual([403, ['https_required']]);
  });
});

describe('with a certificate', () => {
  const pair = children.folder();
  const cert = path.join(pair, 'tidegate.crt');
  let gateway: Gateway;
  let metricsPort: number;
  beforeAll(async () => {
    metricsPort = await freePort();
    const tls = { ...makeCertificate(pair, { ip: true }), METRICS_PORT: String(metricsPort) };
    gateway = await children.gateway({ DATA_DIR: folder.DATA_DIR, ...tls });
  });
  afterAll(() => gateway.stop());

  it('serves HTTPS, logs its address, and makes browsers require it', async () => {
    expect(gateway.origin).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const reply = await new Promise<{ status: number | undefined; insist: string | undefined; text: string }>(
      (resolve, reject) => {
        const headers = { authorization: `Bearer ${gateway.keys[1]}` };
        https
          .get(`${gateway.origin}/v1/accounts?type=platform`, { ca: fs.readFileSync(cert), headers }, (answer) => {
            let text = '';
            answer.setEncoding('utf8').on('data', (part: string) => (text += part));
            answer.on('end', () =>
              resolve({ status: answer.statusCode, insist: answer.headers['strict-transport-security'], text }),
            );
          })
          .on('error', reject);
      },
    );

    expect(reply.status).toBe(200);
    expect(reply.insist).toContain('max-age=31536000');
    expect(JSON.parse(reply.text).data.map((account: { type: string }) => account.type)).toEqual(['platform']);
  });

  it('says in its metrics when the certificate ends', async () => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const { validTo } = new X509Certificate(fs.readFileSync(cert));
    expect(Number(/^tidegate_certificate_expires_seconds (\S+)$/m.exec(text)![1])).toBe(Date.parse(validTo) / 1_000);
  });

  it('refuses a plain request without any data', async () => {
    const received = await new Promise<string>((resolve) => {
      let text = '';
      const socket = net.connect(Number(new URL(gateway.origin).port), '127.0.0.1');
      socket.setEncoding('latin1').on('data', (part: string) => (text += part));
      socket.on('close', () => resolve(text)).on('error', () => {});
      socket.write(`GET /v1/accounts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.keys[1]}\r\n\r\n`);
    });

    expect(received).not.toMatch(/HTTP|[{}]|account/);
    expect(received.length).toBeLessThan(10);
  });
});

describe('with the explorer, introspection and suggestions off', () => {
  let gateway: Gateway;
  let platform: Speaker;
  beforeAll(async () => {
    gateway = await children.gateway({
      DATA_DIR: folder.DATA_DIR,
      EXPLORER: 'false',
      INTROSPECTION: 'false',
      NODE_ENV: 'production',
    });
    platform = gateway.speaker(gateway.keys[1]!);
  });
  afterAll(() => gateway.stop());

  it('logs at the default level a line for each request, and none for probes', async () => {
    const asked = [await platform.get('/v1/accounts'), await platform.graph('{ viewer { account { id } } }')];
    await fetch(`${gateway.origin}/readyz`);
    const last = await platform.get('/v1/nowhere');
    // Other lines may come between them, such as one about a statement that was slow.
    const written = () => gateway.log().filter(({ msg }) => msg === 'request');
    await until(() => written().some(({ requestId }) => requestId === last.headers.get('request-id')));

    expect(written().map(({ requestId, route, status }) => [requestId, route, status])).toEqual([
      [asked[0]?.headers.get('request-id'), '/v1/accounts', 200],
      [asked[1]?.headers.get('request-id'), '/graphql', 200],
      [last.headers.get('request-id'), 'none', 404],
    ]);
  });

  it('has no page of the explorer, also for browsers', async () => {
    const accept = { accept: 'text/html' };
    const reply = await fetch(`${gateway.origin}/graphiql`, { headers: accept });
    expect([reply.status, await reply.text()]).toEqual([404, expect.stringContaining('nothing at this address')]);
    const start = await fetch(`${gateway.origin}/`, { headers: accept });
    expect([start.status, (await start.text()).includes('/graphiql')]).toEqual([200, false]);
    const graph = await fetch(`${gateway.origin}/graphql`, { headers: accept });
    expect([graph.status, graph.headers.get('content-type')]).toEqual([401, 'application/json; charset=utf-8']);
  });

  it('does not print the address of a page that it does not serve', () => {
    expect(gateway.out).not.toContain('/graphiql');
  });

  it('does not reveal its schema, also not by suggestions, and still answers', async () => {
    const asked = await platform.graph('{ __schema { queryType { name } } }');
    expect([asked.status, asked.body.data]).toEqual([400, undefined]);
    const mistyped = await platform.graph('{ viewer { accout { id } } }');
    expect([mistyped.status, mistyped.text.includes('Did you mean')]).toEqual([400, false]);
    expect((await platform.graph('{ viewer { account { type } } }')).body.data).toEqual({
      viewer: { account: { type: 'PLATFORM' } },
    });
  });
});

describe('the log', () => {
  const canary = (place: string) => `canary-${place.replaceAll(' ', '-')}`;
  let gateway: Gateway;
  let key: string;
  const replies: Reply[] = [];
  beforeAll(async () => {
    gateway = await children.gateway({ DATA_DIR: folder.DATA_DIR, LOG_LEVEL: 'debug' });
    const made = await children.quickCommand({ DATA_DIR: folder.DATA_DIR }, ...createPlatform);
    key = JSON.parse(made.out).keys.test;
  });
  afterAll(() => gateway.stop());

  it('has one line of JSON for each request, with the id of its response', async () => {
    const platform = gateway.speaker(key);
    const asked = [
      await platform.get('/v1/accounts'),
      await platform.get('/v1/nowhere'),
      await platform.post('/v1/accounts', '{'),
      await platform.graph('{ viewer { account { id } } }'),
      await platform.graph('{ viewer { accout { id } } }'),
      await gateway.speaker('sk_test_wrong').get('/v1/accounts'),
    ];
    expect(asked.map(({ status }) => status)).toEqual([200, 404, 400, 200, 400, 401]);
    const ids = asked.map(({ headers }) => headers.get('request-id'));
    expect(asked[3]?.body.extensions.requestId).toBe(ids[3]);
    expect(new Set(ids).size).toBe(6);
    const lines = () =>
      gateway.log().filter(({ requestId, msg }) => ids.includes(requestId as string) && msg === 'request');
    // A line is written after the response was sent, so it may appear a moment later.
    await until(() => lines().length >= 6);

    expect(lines().map(({ requestId, method, route, status }) => [requestId, method, route, status])).toEqual([
      [ids[0], 'GET', '/v1/accounts', 200],
      [ids[1], 'GET', 'none', 404],
      [ids[2], 'POST', '/v1/accounts', 400],
      [ids[3], 'POST', '/graphql', 200],
      [ids[4], 'POST', '/graphql', 400],
      [ids[5], 'GET', '/v1/accounts', 401],
    ]);
    const own = lines()[0]!;
    expect(own.account).toMatch(/^account_/);
    expect([own.mode, typeof own.milliseconds, own.key]).toEqual(['test', 'number', expect.stringMatching(/^key_/)]);
  });

  it('has no secret and nothing that a client sent, for every outcome of a request', async () => {
    const platform = gateway.speaker(key, { 'user-agent': canary('user agent'), cookie: `a=${canary('cookie')}` });
    const send = async (reply: Promise<Reply>, status: number) => {
      const answered = await reply;
      expect([answered.status, answered.text]).toEqual([status, expect.any(String)]);
      replies.push(answered);
      return answered;
    };
    const user = (
      await send(
        platform.graph(
          'mutation ($i: CreateConnectedUserInput!) { createConnectedUser(input: $i) { account { id } } }',
          {
            i: { nickname: canary('nickname'), metadata: { [canary('metadata key')]: canary('metadata') } },
          },
        ),
        200,
      )
    ).body.data.createConnectedUser.account.id;
    const taxCard = { tax_card_number: canary('tax card') };
    const named = { account_id: user, full_name: canary('person'), relationship: { owner: true } };
    const iban = 'GB33BUKB20201555555555';
    const bank = { number: canary('account number'), domestic_credit: canary('routing'), iban };
    const address = payoutAddressBody(user, {
      name: canary('holder'),
      bank_account: bank,
      billing_details: { line1: canary('street'), city: 'a', state: 'b', postal_code: 'c', country: 'IN' },
    });
    const partner = { type: 'partner', nickname: canary('nickname'), business_details: details(canary('legal name')) };
    const idempotent = { 'idempotency-key': canary('idempotency key') };
    const fresh = (await send(platform.graph('mutation { createApiKey(input: { permission: FULL }) { secret } }'), 200))
      .body.data.createApiKey.secret;
    await send(platform.post('/v1/persons', { ...named, identification: taxCard }, idempotent), 200);
    await send(
      platform.post('/v1/persons', { ...named, identification: { tax_card_number: 'other' } }, idempotent),
      400,
    );
    await send(platform.post('/v1/addresses', address), 200);
    await send(platform.post('/v1/addresses', { ...address, currency: canary('currency') }), 400);
    await send(platform.post('/v1/accounts', partner), 409);
    await send(platform.post('/v1/accounts', `{ "${canary('malformed')}": `), 400);
    await send(platform.post('/v1/accounts', { [canary('parameter')]: 1 }), 400);
    await send(platform.get(`/v1/accounts?${canary('query')}=${canary('query value')}`), 400);
    await send(platform.get(`/v1/accounts?starting_after=${canary('cursor')}`), 400);
    await send(platform.get(`/v1/accounts/${canary('path')}`), 404);
    await send(platform.get(`/v1/${canary('place')}/x?api_key=${key}`), 404);
    await send(platform.with({ 'on-behalf-of': canary('on behalf') }).get('/v1/accounts'), 404);
    await send(platform.upload('identity_document', Buffer.from(canary('content')), canary('filename')), 400);
    await send(
      platform.graph(`query ${canary('x').replaceAll('-', '_')} { account(id: "${canary('literal')}") { id } }`),
      200,
    );
    await send(platform.graph('query ($id: ID!) { account(id: $id) { id } }', { id: canary('variable') }), 200);
    await send(platform.graph(`{ ${canary('field').replaceAll('-', '_')} }`), 400);
    await send(gateway.speaker(`${fresh.slice(0, -1)}${fresh.endsWith('0') ? '1' : '0'}`).get('/v1/accounts'), 401);
    await send(gateway.speaker(canary('key')).get('/v1/accounts'), 401);
    const basic = Buffer.from(`${fresh}:${canary('password')}`).toString('base64');
    replies.push(await platform.get('/v1/accounts', { authorization: `Basic ${basic}` }));
    expect(replies.at(-1)?.status).toBe(401);

    // An internal error: the failing statement contains what the client sent.
    const sql = behind(folder.DATA_DIR);
    await sql.unsafe('alter table person rename to person_elsewhere');
    await send(platform.post('/v1/persons', { ...named, identification: taxCard }), 500);
    await send(platform.get(`/v1/persons?account_id=${user}&starting_after=${canary('lost cursor')}`), 500);
    await sql.unsafe('alter table person_elsewhere rename to person');
    await sql.end();

    const last = replies.at(-1)?.headers.get('request-id');
    await until(() => gateway.log().filter(({ requestId }) => requestId === last).length === 2);
    const output = `${gateway.out}${gateway.errors}`;
    expect(output.match(/canary[-_a-z]*/gi)).toBeNull();
    expect(output).not.toContain(iban);
    for (const secret of [key, fresh, basic]) expect(output.includes(secret)).toBe(false);
    // The embedded server writes a separate log, next to the data.
    const beside = fs.readFileSync(path.join(folder.DATA_DIR, 'postgres', 'postgres.log'), 'utf8');
    expect(beside.match(/canary[-_a-z]*/gi)).toBeNull();
    for (const secret of [key, fresh, basic]) expect(beside.includes(secret)).toBe(false);
  });

  it('has a line for an internal error, with the id of the request', () => {
    const faults = replies.filter(({ status }) => status === 500);
    expect(faults.length).toBe(2);
    for (const fault of faults) {
      const lines = gateway.log().filter(({ requestId }) => requestId === fault.headers.get('request-id'));
      expect(lines.map(({ msg }) => msg)).toEqual(['fault', 'request']);
      expect(fault.body).toEqual({
        object: 'error',
        http_status_code: 500,
        errors: [{ code: 'service_fault', message: expect.any(String), metadata: {} }],
      });
    }
  });
});

/** The processes of a group. */
function groupOf(id: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pgid=,pid='], { encoding: 'utf8' });
  const all = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return all.filter(([of]) => of === id).map(([, pid]) => pid!);
}
