import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { childrenOf, type Gateway, postmaster, until, useChildren } from '../support/child.js';
import { hasty } from '../support/patient.js';
import { freePort } from '../support/ports.js';
import { patience } from '../support/scale.js';

vi.setConfig(patience);

const children = useChildren();
const program = [process.env.HAPROXY ?? '', '/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find((file) =>
  fs.existsSync(file),
);
const missing = program ? '' : ' (skipped: no haproxy is installed)';

// `.ci/run` installs HAProxy where it can; HAPROXY names another one.
describe.skipIf(!program)(`two gateways behind HAProxy with haproxy.cfg${missing}`, () => {
  let gateways: Gateway[];
  let balancer: ChildProcess;
  let origin: string;
  let DATA_DIR: string;
  const outputs: string[] = [];
  const ask = async () => {
    const headers = { authorization: `Bearer ${gateways[0]!.keys[1]}`, connection: 'close' };
    const reply = await fetch(`${origin}/v1/accounts?limit=1`, { headers });
    const [type = ''] = (reply.headers.get('content-type') ?? '').split(';');
    const body = (await reply.json()) as { errors?: { code: string }[] };
    return [reply.status, type, reply.headers.get('retry-after'), body.errors?.[0]?.code];
  };
  const graph = async () => {
    const headers = { authorization: `Bearer ${gateways[0]!.keys[1]}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query: '{ viewer { account { id } } }' });
    const reply = await fetch(`${origin}/graphql`, { method: 'POST', headers, body });
    const answer = (await reply.json()) as { errors?: { extensions: { code: string } }[] };
    return [reply.headers.get('retry-after'), answer.errors?.[0]?.extensions.code];
  };
  const served = [200, 'application/json', null, undefined];
  const unavailable = [503, 'application/json', '1', 'service_unavailable'];

  beforeAll(async () => {
    DATA_DIR = await children.preparedFolder('demo');
    const settings = { DATA_DIR, ...hasty };
    gateways = [await children.gateway(settings), await children.gateway(settings)];
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    const [one, two] = gateways.map(({ origin: at }) => new URL(at).host);
    balancer = spawn(program!, ['-db', '-f', path.resolve('docs/operations/deploy/haproxy.cfg')], {
      env: { GATEWAY_ONE: one, GATEWAY_TWO: two, LISTEN: `127.0.0.1:${port}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [balancer.stdout!, balancer.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => outputs.push(text));
    await until(() =>
      ask().then(
        ([status]) => status === 200,
        () => false,
      ),
    );
  });
  afterAll(() => void balancer?.kill('SIGKILL'));

  it('answer a stall of PostgreSQL themselves, as the APIs promise, and stay in the balancer', async () => {
    const { pid } = postmaster(DATA_DIR)!;
    const stopped = [pid, ...childrenOf(pid)];
    const answers: unknown[] = [];
    let over = false;
    // From before the stall until after it, one request after the other.
    const asking = [ask, graph].map(async (each) => {
      for (; !over; await sleep(20)) answers.push(await each());
    });
    await until(() => answers.length > 4);
    for (const one of stopped) process.kill(one, 'SIGSTOP');
    const stalled: unknown[] = [];
    try {
      for (const at of gateways.map((gateway) => gateway.origin))
        await until(async () => (await fetch(`${at}/readyz`)).status === 503);
      for (let i = 0; i < 20; i++) stalled.push(await ask());
    } finally {
      for (const one of stopped) process.kill(one, 'SIGCONT');
    }
    expect(stalled).toEqual(Array(20).fill(unavailable));
    await until(async () => (await ask())[0] === 200);
    over = true;
    await Promise.all(asking);
    const known = [served, unavailable, [null, undefined], ['1', 'SERVICE_UNAVAILABLE']].map((each) =>
      JSON.stringify(each),
    );
    expect(known).toEqual(expect.arrayContaining([...new Set(answers.map((each) => JSON.stringify(each)))]));
    expect(answers).toContainEqual(['1', 'SERVICE_UNAVAILABLE']);
    expect(outputs.join('')).not.toMatch(/DOWN/);
  });

  it('are left one by one when they end', async () => {
    const [first] = gateways as [Gateway, Gateway];
    first.signal('SIGTERM');
    await first.ended;
    // Where no connection is made, the request goes to the other gateway.
    await until(() => /gateways\/one is DOWN/.test(outputs.join('')));
    for (let i = 0; i < 10; i++) expect(await ask()).toEqual(served);
  });

  it('leave an error of the APIs when the last one dies within a request, and when none is there', async () => {
    const { pid } = postmaster(DATA_DIR)!;
    const stopped = [pid, ...childrenOf(pid)];
    const last = gateways[1]!;
    // A request is under way when its gateway dies.
    for (const one of stopped) process.kill(one, 'SIGSTOP');
    const lost = ask();
    await until(async () => (await fetch(`${last.origin}/readyz`)).status === 503);
    last.signal('SIGKILL');
    for (const one of stopped) process.kill(one, 'SIGCONT');
    expect(await lost).toEqual([502, ...unavailable.slice(1)]);
    await until(() => /has no server available/.test(outputs.join('')));
    expect(await ask()).toEqual(unavailable);
  });
});
