import http from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { useChildren } from '../support/child.js';

const children = useChildren();
const tracing = fileURLToPath(new URL('../fixtures/trace-collections.mjs', import.meta.url));

/** The bytes that were allocated and promoted in the collections of young objects that an output reports. */
function collected(out: string) {
  const lines = out.split('\n').filter((line) => / gc=s /.test(line));
  const sum = (name: string) =>
    lines.reduce((total, line) => total + Number(new RegExp(` ${name}=(\\d+) `).exec(line)![1]), 0);
  return { collections: lines.length, promoted: sum('promoted'), allocated: sum('allocated') };
}

/** Requests that are made at the same time, and the most of what they allocate that may become old. */
const loads: [what: string, most: number][] = [
  // It was 0.17 to 0.19 when requests were kept until the next full collection, and is 0.02 since.
  ['requests of several kinds', 0.1],
  // It was 0.04 to 0.05 when the rows of a statement were kept, and is 0.009 since.
  ['lists in turn', 0.02],
];
it.each(loads)('what %s need is gone with them, before it becomes old', async (what, most) => {
  const gateway = await children.gateway({
    DATA_DIR: await children.preparedFolder('demo'),
    NODE_OPTIONS: `--import ${tracing}`,
    LOG_LEVEL: 'error',
  });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
  const headers = { authorization: `Bearer ${gateway.keys[1]}` };
  const send = (method: string, path: string, body?: string) =>
    new Promise<string>((resolve, reject) => {
      const all = body === undefined ? headers : { ...headers, 'content-type': 'application/json' };
      const request = http.request(gateway.origin + path, { method, agent, headers: all }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (piece) => (text += piece));
        answer.on('end', () => (answer.statusCode === 200 ? resolve(text) : reject(new Error(text))));
      });
      request.on('error', reject).end(body);
    });
  const [{ id }] = JSON.parse(await send('GET', '/v1/accounts')).data;
  const query = JSON.stringify({ query: `{ account(id: "${id}") { id nickname status } }` });
  const asks: (() => Promise<string>)[] = [
    () => send('GET', `/v1/accounts/${id}`),
    () => send('GET', '/v1/deposits'),
    () => send('GET', `/v1/balance?account_id=${id}`),
    () => send('POST', '/graphql', query),
  ];
  const lists = Array.from({ length: 16 }, (_, i) => () => send('GET', i % 2 === 0 ? '/v1/accounts' : '/v1/deposits'));
  /** The part of what concurrent requests allocate that becomes old. */
  const promotedShare = async (each: (() => Promise<string>)[]) => {
    const round = (requests: number) =>
      Promise.all(
        each.map(async (ask) => {
          for (let i = 0; i < requests; i++) await ask();
        }),
      );
    // What the process keeps, such as statements and compiled code, is made first.
    await round(800 / each.length);
    const before = collected(gateway.out);
    await round(2_000 / each.length);
    const after = collected(gateway.out);
    expect(after.collections - before.collections).toBeGreaterThanOrEqual(4);
    return (after.promoted - before.promoted) / (after.allocated - before.allocated);
  };
  try {
    expect(await promotedShare(what === 'lists in turn' ? lists : asks)).toBeLessThan(most);
  } finally {
    agent.destroy();
  }
});
