import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { alive } from '../support/alive.js';
import { behind, childrenOf, type Gateway, postmaster, until, useChildren } from '../support/child.js';
import { freePort } from '../support/ports.js';

const children = useChildren();
const WORKERS = 3;

interface Answer {
  status: number;
  replayed: boolean;
  body: { id: string; secret: string; errors: { code: string }[] };
}

/** A request on a separate connection, so that the processes serve requests in turn. */
function ask(gateway: Gateway, key: string, path: string, body?: object, headers = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${gateway.origin}${path}`, {
      agent: false,
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    });
    request.on('error', reject).on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          replayed: response.headers['idempotent-replayed'] === 'true',
          body: JSON.parse(text || '{}'),
        }),
      );
    });
    request.end(body && JSON.stringify(body));
  });
}

const partner = (nickname: string) => ({
  type: 'partner',
  nickname,
  business_details: {
    legal_name: 'Several Ltd',
    email: 'a@b.example',
    type: 'company',
    physical_address: { country: 'US' },
  },
});

describe('several processes on one port', () => {
  let DATA_DIR: string;
  let gateway: Gateway;
  let key: string;
  let metricsPort: number;
  /** The sum of a metric's values. */
  const counted = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.startsWith(name));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  const replacedFor = (reason: string) => counted(`tidegate_processes_replaced_total{reason="${reason}"}`);
  beforeAll(async () => {
    DATA_DIR = await children.preparedFolder('demo');
    metricsPort = await freePort();
    gateway = await children.gateway({ DATA_DIR, WORKERS: String(WORKERS), METRICS_PORT: String(metricsPort) });
    key = gateway.keys[1]!;
    await until(() => childrenOf(gateway.pid).length === WORKERS);
    // All of them serve when new connections get no error and each process has its pool.
    const sql = behind(DATA_DIR);
    await until(async () => {
      await Promise.all(Array.from({ length: 12 }, () => ask(gateway, key, '/v1/accounts')));
      const [row] = await sql`select count(*)::int as n from pg_stat_activity where application_name = 'tidegate read'`;
      return row!.n > 2 * (WORKERS - 1);
    }, 200);
    await sql.end();
  });

  it('print their address once', () => {
    expect(gateway.out.match(/is listening on/g)).toHaveLength(1);
    expect(gateway.errors).toBe('');
  });

  it('run a request once that is sent sixteen times with one key to any of them', async () => {
    for (let round = 0; round < 5; round++) {
      const nickname = `several ${randomUUID()}`;
      const racers = await Promise.all(
        Array.from({ length: 16 }, () =>
          ask(gateway, key, '/v1/accounts', partner(nickname), { 'idempotency-key': nickname }),
        ),
      );
      const made = racers.filter(({ status }) => status === 200);
      expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
      expect(made.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(racers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    }
  });

  it('all refuse a revoked key within a second', async () => {
    const mutate = async (query: string) =>
      (await ask(gateway, key, '/graphql', { query })).body as unknown as {
        data: { createApiKey: { apiKey: { id: string }; secret: string } };
      };
    const viewer = (await ask(gateway, key, '/graphql', {
      query: '{ viewer { account { id } } }',
    })) as unknown as { body: { data: { viewer: { account: { id: string } } } } };
    const { id: account } = viewer.body.data.viewer.account;
    const { data } = await mutate(
      `mutation { createApiKey(input: { accountId: "${account}", permission: READ }) { apiKey { id } secret } }`,
    );
    const { apiKey, secret } = data.createApiKey;
    const warm = await Promise.all(Array.from({ length: 12 }, () => ask(gateway, secret, '/v1/accounts')));
    expect(warm.every(({ status }) => status === 200)).toBe(true);

    await mutate(`mutation { revokeApiKey(input: { id: "${apiKey.id}" }) { apiKey { id } } }`);
    await new Promise((resume) => setTimeout(resume, 1_000));

    const after = await Promise.all(Array.from({ length: 12 }, () => ask(gateway, secret, '/v1/accounts')));
    expect(after.map(({ status }) => status)).toEqual(Array(12).fill(401));
  });

  it('complete a deposit once, although each has a worker', async () => {
    const second = gateway.keys[2]!;
    const users = (await ask(gateway, second, '/v1/accounts?type=user&status=activated&limit=1')) as unknown as {
      body: { data: { id: string }[] };
    };
    const behalf = { 'on-behalf-of': users.body.data[0]!.id };
    const made = await Promise.all(
      Array.from({ length: 20 }, () =>
        ask(
          gateway,
          second,
          '/v1/deposits',
          { amount: '1.00', currency: 'INR', to: { account_id: users.body.data[0]!.id }, payment_method: 'upi' },
          behalf,
        ),
      ),
    );
    const ids = made.map(({ body }) => body.id);
    const sql = behind(DATA_DIR);
    await until(async () => {
      const [row] = await sql`select count(*)::int as n from deposit where id = any(${ids}) and status = 'completed'`;
      return row!.n === ids.length;
    });
    const [postings] = await sql`select count(*)::int as n from posting where cause = any(${ids})`;
    expect(postings!.n).toBe(ids.length);
    expect([...(await sql`select * from violations`)]).toEqual([]);
    await sql.end();
  });

  it('are replaced after one of them is killed, and the port is served all the time', async () => {
    const before = childrenOf(gateway.pid);
    const requests = await counted('tidegate_http_requests_total');
    expect([requests > 0, await replacedFor('ended')]).toEqual([true, 0]);
    process.kill(before[0]!, 'SIGKILL');
    await until(() => !alive(before[0]));
    for (let i = 0; i < 10; i++) expect((await ask(gateway, key, '/v1/accounts')).status).toBe(200);
    await until(() => childrenOf(gateway.pid).length === WORKERS);
    expect(childrenOf(gateway.pid)).not.toContain(before[0]);
    expect(gateway.out.match(/is listening on/g)).toHaveLength(1);
    // The death is logged and counted, and what the process had counted stays in the sums.
    const line = { level: 50, reason: 'ended', process: before[0], signal: 'SIGKILL' };
    await until(() => gateway.log().some(({ msg }) => msg === 'a process of WORKERS is replaced'));
    expect(gateway.log().find(({ msg }) => msg === 'a process of WORKERS is replaced')).toMatchObject(line);
    expect(await replacedFor('ended')).toBe(1);
    expect(await counted('tidegate_http_requests_total')).toBeGreaterThanOrEqual(requests);
  });

  it('are replaced when one of them hangs, and the metrics of the others are served meanwhile', async () => {
    const [hangs] = childrenOf(gateway.pid);
    const requests = await counted('tidegate_http_requests_total');
    process.kill(hangs!, 'SIGSTOP');
    expect(await counted('tidegate_http_requests_total')).toBeGreaterThanOrEqual(requests);
    await until(() => !alive(hangs), 200);
    await until(() => childrenOf(gateway.pid).length === WORKERS);
    await until(() => gateway.log().some(({ reason, process: pid }) => reason === 'hung' && pid === hangs));
    expect([await replacedFor('hung'), await replacedFor('ended')]).toEqual([1, 1]);
    await until(async () => (await ask(gateway, key, '/v1/accounts')).status === 200);
  });

  it('stop together on SIGTERM, with their PostgreSQL', async () => {
    const [pids, { pid }] = [childrenOf(gateway.pid), postmaster(DATA_DIR)!];
    expect(await gateway.stop()).toBe(0);
    expect(pids.filter(alive)).toEqual([]);
    await until(() => !alive(pid));
  });
});

describe('the end of their parent process', () => {
  it('does not wait for a Prometheus that keeps its connection', async () => {
    const METRICS_PORT = String(await freePort());
    const gateway = await children.gateway({
      DATA_DIR: await children.preparedFolder('migrated'),
      WORKERS: '2',
      METRICS_PORT,
    });
    await until(() => childrenOf(gateway.pid).length === 2);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    let over = false;
    const scraped = new Promise<void>((resume) => {
      const scrape = () =>
        http
          .get(`http://127.0.0.1:${METRICS_PORT}/metrics`, { agent }, (answer) => {
            answer.resume().on('end', () => (over ? resume() : setTimeout(scrape, 20)));
          })
          .on('error', () => resume());
      scrape();
    });
    try {
      expect(await gateway.stop()).toBe(0);
    } finally {
      over = true;
      await scraped;
      agent.destroy();
    }
  });

  it('ends all of them and their PostgreSQL', async () => {
    const DATA_DIR = await children.preparedFolder('migrated');
    const gateway = await children.gateway({ DATA_DIR, WORKERS: '2' });
    await until(() => childrenOf(gateway.pid).length === 2);
    const [pids, { pid }] = [childrenOf(gateway.pid), postmaster(DATA_DIR)!];
    gateway.signal('SIGKILL');
    await gateway.ended;
    await until(() => pids.every((each) => !alive(each)) && !alive(pid));
  });

  it('is immediate when the first of them cannot start, with its reason', async () => {
    const child = children.start({ DATA_DIR: children.folder(), WORKERS: '2', TLS_CERT_FILE: '/nowhere' });
    expect(await child.ended).toBe(1);
    expect(child.errors).toContain('TLS_CERT_FILE');
  });
});
