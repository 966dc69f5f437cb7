import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { config } from '../../src/config/config.js';
import { version } from '../../src/config/version.js';
import { poolSizes } from '../../src/db/connect/connections.js';
import { poolNames } from '../../src/db/connect/observer.js';
import { poolsOf } from '../../src/db/connect/open.js';
import { programVersion } from '../../src/db/schema/schema-version.js';
import { queueNames } from '../../src/limits/queue-refusal.js';
import type { Readiness } from '../../src/db/connect/readiness.js';
import { Metrics } from '../../src/server/telemetry/metrics.js';
import { ProcessMetrics } from '../../src/server/telemetry/process-metrics.js';
import { type Gateway, until, useChildren } from '../support/child.js';
import { freePort } from '../support/ports.js';
import { eventually } from '../support/world.js';

const children = useChildren();
const docs = path.join(import.meta.dirname, '../../docs');

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: object }[];
}

/** The traces that a gateway has sent to a collector. */
const spans: Span[] = [];
let received = '';
const collector = http.createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (part: string) => (text += part));
  request.on('end', () => {
    received += `${request.url} ${text}\n`;
    for (const { scopeSpans } of JSON.parse(text).resourceSpans ?? [])
      for (const { spans: some } of scopeSpans) spans.push(...some);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
});
afterAll(() => void collector.close());

/** The samples of a metric with some labels. */
const samples = (text: string, name: string, ...labels: string[]): number[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => labels.every((label) => line.includes(label)))
    .map((line) => Number(line.split(' ').at(-1)));

const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0);

/** The names of our metrics in a text, without the suffixes of histograms. */
const named = (text: string) =>
  new Set((text.match(/\btidegate_[a-z_]+/g) ?? []).map((name) => name.replace(/_(bucket|sum|count)$/, '')));

describe('two processes with metrics, traces and a limit for slow statements', () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const secretText = 'a nickname that no trace has';
  let gateway: Gateway;
  let port: number;
  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  /** A request on a connection of its own, so that both processes get some. */
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${gateway.origin}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${gateway.keys[1]}`,
        'content-type': 'application/json',
        connection: 'close',
        ...init.headers,
      },
    });
  const graphql = (query: string, headers = {}) =>
    ask('/graphql', { method: 'POST', body: JSON.stringify({ query }), headers });

  beforeAll(async () => {
    await new Promise<void>((resolve) => void collector.listen(0, '127.0.0.1', resolve));
    port = await freePort();
    gateway = await children.gateway({
      DATA_DIR: await children.preparedFolder('demo'),
      WORKERS: '2',
      METRICS_PORT: String(port),
      SLOW_STATEMENT_MILLISECONDS: '1',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    });
    await until(async () => total(samples(await metrics(), 'process_resident_memory_bytes')) > 0);
  });

  it('count each request once, by API, operation and status, whichever process answered it', async () => {
    const query = '{ deposits(first: 1) { nodes { id } } }';
    for (let i = 0; i < 12; i++) expect((await graphql(query)).status).toBe(200);
    for (let i = 0; i < 6; i++) expect((await ask(`/v1/deposits/missing_${i}`)).status).toBe(404);

    // A request is counted after its response was sent.
    const text = await eventually(metrics, (found) => total(samples(found, 'tidegate_http_requests_total')) >= 18);

    expect(total(samples(text, 'tidegate_http_requests_total', 'operation="deposits"', 'status="200"'))).toBe(12);
    const route = 'operation="GET /v1/deposits/:id"';
    expect(total(samples(text, 'tidegate_http_requests_total', route, 'status="404"'))).toBe(6);
    expect(total(samples(text, 'tidegate_http_request_duration_seconds_count', route))).toBe(6);
    expect(total(samples(text, 'tidegate_errors_total', 'api="rest"', 'code="resource_missing"'))).toBe(6);
    const answered = samples(text, 'tidegate_graphql_operations_total');
    expect(total(answered)).toBe(12);
  });

  it('count the refusals of each queue from 0 on', async () => {
    const refused = samples(await metrics(), 'tidegate_queue_refused_total');
    expect(total(refused)).toBe(0);
    const queues = await metrics().then((text) => [...text.matchAll(/^tidegate_queue_refused_total\{queue="(\w+)"/gm)]);
    expect([...new Set(queues.map(([, queue]) => queue))].toSorted()).toEqual([...queueNames].toSorted());
  });

  it('count what alert rules look at from 0 on, so that the first fault is an increase', async () => {
    const text = await metrics();
    for (const api of ['graphql', 'rest', 'operator', 'page'])
      for (const code of ['service_fault', 'service_unavailable'])
        expect(samples(text, 'tidegate_errors_total', `api="${api}"`, `code="${code}"`)).toEqual([0]);
    expect(samples(text, 'tidegate_webhook_attempt_seconds_count', 'outcome="undecryptable"')).toEqual([0]);
    expect(samples(text, 'tidegate_worker_failures_total', 'work="number_events"')).toEqual([0]);
    for (const pool of poolNames)
      expect(samples(text, 'tidegate_statement_repeats_total', `pool="${pool}"`)).toHaveLength(1);
    // Before an operation has answered it is no series, and then its refusals are one, too.
    const answered = 'operation="GET /v1/deposits/:id"';
    expect(samples(text, 'tidegate_http_requests_total', answered, 'status="503"')).toEqual([0]);
    expect(samples(text, 'tidegate_processes_replaced_total')).toEqual([0, 0]);
  });

  it('say which program runs, how many connections both may have, and how late each kind of work is', async () => {
    // The lateness is measured after the start of the worker.
    const text = await eventually(metrics, (found) => samples(found, 'tidegate_oldest_due_seconds').length > 0);
    const own = `{version="${version}",schema="${programVersion().version}"}`;
    expect(text.match(/^tidegate_build_info.*$/gm)).toEqual([`tidegate_build_info${own} 1`]);
    const defaults = config({ serves: true }, { PORT: '0' });
    const slow = { connections: defaults.SLOW_CONNECTIONS, seconds: defaults.SLOW_SECONDS };
    for (const [pool, size] of Object.entries(poolSizes({ pools: poolsOf(defaults), slow })))
      expect([pool, samples(text, 'tidegate_pool_connections_max', `pool="${pool}"`)]).toEqual([pool, [2 * size]]);
    for (const of of ['job', 'payout', 'delivery', 'event'])
      expect([of, samples(text, 'tidegate_oldest_due_seconds', `of="${of}"`)]).toEqual([of, [expect.any(Number)]]);
    expect(samples(text, 'tidegate_oldest_due_seconds')).toHaveLength(4);
  });

  it('have no label that a client chooses', async () => {
    const counted = (text: string) => total(samples(text, 'tidegate_http_requests_total'));
    const before = counted(await metrics());
    const odd = 'OddName123';
    await graphql(`query ${odd} { ${odd}: deposits(first: 1) { nodes { id } } }`);
    await graphql(`{ ${odd} }`);
    await ask(`/${odd}/${odd}`);
    await ask(`/v1/${odd}`);
    await ask('/v1/accounts', { method: 'POST', body: JSON.stringify({ [odd]: odd }) });

    const after = await eventually(metrics, (text) => counted(text) >= before + 5);

    expect(after).not.toContain(odd);
    expect(counted(after)).toBe(before + 5);
    expect(samples(after, 'tidegate_http_requests_total', 'operation="none"')).not.toEqual([]);
  });

  it('serve the metrics at one path only, and nothing else there', async () => {
    expect((await fetch(`http://127.0.0.1:${port}/v1/accounts`)).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST' })).status).toBe(405);
    expect((await ask('/metrics')).status).toBe(404);
  });

  it('send a trace of a request: HTTP, the operation, and each statement by its name', async () => {
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
    const mutation =
      `mutation { createAccount(input: { type: PARTNER, nickname: "${secretText}", businessDetails: { legalName: ` +
      `"${secretText}", type: COMPANY, physicalAddress: { country: "US" }, email: "a@b.example" } }) { account { ` +
      'id } } }';
    expect(await (await graphql(mutation, { traceparent })).json()).not.toHaveProperty('errors');
    await until(() => spans.some(({ traceId: id, name }) => id === traceId && name === 'POST /graphql'));

    const mine = spans.filter((span) => span.traceId === traceId);
    const [root, operation, write] = ['POST /graphql', 'GraphQL createAccount', 'create_account'].map((name) =>
      mine.find((span) => span.name === name),
    );

    expect(root?.parentSpanId).toBe('b7ad6b7169203331');
    expect(operation?.parentSpanId).toBe(root?.spanId);
    expect(write?.parentSpanId).toBe(operation?.spanId);
    expect(write?.attributes).toContainEqual({ key: 'tidegate.pool', value: { stringValue: 'write' } });
    expect(received).not.toContain(secretText);
    expect(received).not.toContain(gateway.keys[1]);
    expect(received.split('\n').filter((line) => line !== '' && !line.startsWith('/v1/traces '))).toEqual([]);
  });

  it('send no value of a client: no address of a page or a connection, search, variable, header or host', async () => {
    const marks = Array.from({ length: 11 }, (_, i) => `clientvalue${i}`);
    const variables = encodeURIComponent(JSON.stringify({ id: `account_${marks[0]}` }));
    const query = encodeURIComponent('query ($id: ID!) { account(id: $id) { id } }');
    const headers = {
      'user-agent': marks[1]!,
      'x-forwarded-for': marks[2]!,
      'x-forwarded-host': marks[3]!,
      forwarded: `for=${marks[2]};host=${marks[3]}`,
      traceparent: `00-${traceId.slice(0, 28)}0fff-b7ad6b7169203331-01`,
      tracestate: `vendor=${marks[9]}`,
      baggage: `member=${marks[10]}`,
    };
    const paths = [
      `/graphql?query=${query}&variables=${variables}`,
      `/v1/accounts?search=${marks[4]}`,
      `/checkout/${marks[5]}`,
      `/checkout/${marks[5]}/card`,
      `/v1/accounts/${marks[6]}`,
      `/${marks[7]}?a=${marks[7]}`,
      `/v1/%${marks[7]}`,
    ];
    const ended = () => spans.filter(({ name }) => /^(GET|POST)/.test(name));
    const before = ended().length;
    for (const path of paths) await ask(path, { headers });
    await new Promise<void>((resolve, reject) => {
      const { hostname, port } = new URL(gateway.origin);
      const own = { host: `${marks[8]}.example`, authorization: `Bearer ${gateway.keys[1]}`, connection: 'close' };
      const request = http.get({ hostname, port, path: '/v1/files', headers: own, agent: false }, (response) =>
        response.resume().on('end', resolve),
      );
      request.on('error', reject);
    });
    await until(() => ended().length >= before + paths.length + 1);

    for (const mark of marks) expect([mark, received.includes(mark)]).toEqual([mark, false]);
    // Each attribute of a request is known, so that none has the address or the port of a connection.
    const known = [
      ...['http.request.method', 'http.response.status_code', 'http.route', 'network.protocol.version', 'url.scheme'],
      ...['error.type', 'tidegate.request_id'],
    ];
    const keys = ended().flatMap(({ attributes }) => attributes.map(({ key }) => key));
    expect([...new Set(keys)].filter((key) => !known.includes(key))).toEqual([]);
    expect(keys).toContain('http.request.method');
  });

  it('keep the statements of requests that wait for each other in their own traces', async () => {
    const ids = Array.from({ length: 24 }, (_, i) => `${traceId.slice(0, 28)}${(0x1000 + i).toString(16)}`);
    const asked = await Promise.all(
      ids.map((id) =>
        graphql('{ receivables(first: 3) { nodes { id account { id } } } }', {
          traceparent: `00-${id}-b7ad6b7169203331-01`,
        }),
      ),
    );
    expect(asked.every(({ status }) => status === 200)).toBe(true);
    const of = (id: string) => spans.filter((span) => span.traceId === id);
    await until(() => ids.every((id) => of(id).some(({ name }) => name === 'POST /graphql')));

    for (const id of ids) {
      const known = new Set(of(id).map(({ spanId }) => spanId));
      expect(of(id).filter(({ name }) => name.startsWith('GraphQL'))).toHaveLength(1);
      const statements = of(id).filter(({ attributes }) => attributes.some(({ key }) => key === 'tidegate.pool'));
      expect(statements.length).toBeGreaterThan(0);
      expect(statements.every(({ parentSpanId }) => known.has(parentSpanId ?? ''))).toBe(true);
    }
  });

  it('log a slow statement by its name, without a value', async () => {
    const slow = () => gateway.log().filter(({ msg }) => msg === 'a slow statement');
    await until(() => slow().length > 0);
    expect(slow()[0]).toEqual({
      level: 40,
      time: expect.any(String),
      statement: expect.stringMatching(/^[a-z_]+/),
      pool: expect.stringMatching(/^(read|slow|write|worker)$/),
      milliseconds: expect.any(Number),
      msg: 'a slow statement',
    });
    expect(gateway.out).not.toContain(secretText);
  });

  it('are not kept from ending by a scraper', async () => {
    expect(await gateway.stop()).toBe(0);
  });
});

describe('a metrics port that is taken', () => {
  it('is reported by the name of the setting', async () => {
    const taken = http.createServer();
    await new Promise<void>((resolve) => void taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const dataDir = await children.preparedFolder('demo');
    const child = children.start({ DATA_DIR: dataDir, PORT: '0', METRICS_PORT: String(port) });
    expect(await child.ended).toBe(1);
    expect(child.errors).toContain('METRICS_PORT and METRICS_HOST: listen EADDRINUSE');
    taken.close();
  });
});

describe('the names of the metrics', () => {
  const metrics = new Metrics();
  const readiness = { commitAgeSeconds: 0 } as Readiness;
  metrics.watchDatabase({ observers: [], readiness, poolSizes: {} as never, crossTenant: { nodes: [] } });
  metrics.watchCertificate(() => 0);
  metrics.watchRequestLog(() => 0);
  metrics.watchRequests(() => ({ working: 0, inFlight: 0, pages: 0, loopDelaySeconds: 0 }));
  metrics.watchStreams(() => 0);
  metrics.watchReplicas({ states: [], onPrimary: 0 });
  metrics.watchQueues();
  const registered = new Set(
    [...metrics.registry.getMetricsAsArray(), ...new ProcessMetrics().own.getMetricsAsArray()]
      .map(({ name }) => name)
      .filter((name) => name.startsWith('tidegate_')),
  );

  it('are those of the table in docs/operations/monitor.md', () => {
    const text = fs.readFileSync(path.join(docs, 'operations/monitor.md'), 'utf8');
    const rows = text.split('\n').filter((line) => line.startsWith('| `tidegate_'));
    expect(named(rows.join('\n'))).toEqual(registered);
  });

  it('are each in a rule or on the dashboard', () => {
    const used = named(
      ['alerts.yml', 'grafana-dashboard.json']
        .map((file) => fs.readFileSync(path.join(docs, 'operations', file), 'utf8'))
        .join('\n'),
    );
    expect([...registered].filter((name) => !used.has(name))).toEqual([]);
  });

  it('have a value before anything has happened, if they count, but for the answers of each operation', async () => {
    metrics.works(['run_jobs']);
    const all = [
      ...(await metrics.registry.getMetricsAsJSON()),
      ...(await new ProcessMetrics().own.getMetricsAsJSON()),
    ];
    const counters = all.filter(({ name, type }) => String(type) === 'counter' && name.startsWith('tidegate_'));
    const repeats = counters.find(({ name }) => name === 'tidegate_statement_repeats_total');
    expect(repeats?.values.map(({ labels, value }) => [labels.pool, value])).toEqual(
      poolNames.map((pool) => [pool, 0]),
    );
    expect(counters.length).toBeGreaterThan(8);
    expect(counters.filter(({ values }) => values.length === 0).map(({ name }) => name)).toEqual([
      'tidegate_http_requests_total',
    ]);
  });

  it.each(['alerts.yml', 'grafana-dashboard.json'])('exist, where docs/operations/%s uses them', (file) => {
    const used = named(fs.readFileSync(path.join(docs, 'operations', file), 'utf8'));
    expect(used.size).toBeGreaterThan(3);
    expect([...used].filter((name) => !registered.has(name))).toEqual([]);
  });
});
