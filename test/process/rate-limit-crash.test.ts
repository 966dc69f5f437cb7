import { expect, it } from 'vitest';
import { leaseShare } from '../../src/limits/lease.js';
import { type Gateway, useChildren } from '../support/child.js';

const children = useChildren();
const burst = 6_000;
const perSecond = 5;
/** What reading an account costs. */
const read = 11;

it('a gateway that is killed loses its account at most one lease, and the others admit the rest', async () => {
  const DATA_DIR = await children.preparedFolder('demo');
  const environment = {
    DATA_DIR,
    RATE_LIMIT: 'enforce',
    RATE_LIMIT_BURST: String(burst),
    RATE_LIMIT_PER_SECOND: String(perSecond),
  };
  const [killed, other] = [await children.gateway(environment), await children.gateway(environment)];
  const key = killed.keys[1]!;
  const started = performance.now();
  const ask = async ({ origin }: Gateway) => {
    const { status } = await fetch(`${origin}/v1/accounts`, { headers: { authorization: `Bearer ${key}` } });
    return status;
  };
  const account = async ({ origin }: Gateway) => {
    const reply = await fetch(`${origin}/v1/accounts?limit=1`, { headers: { authorization: `Bearer ${key}` } });
    return reply.status;
  };
  expect(await ask(other)).toBe(200);
  // Enough that its leases have grown to their greatest size.
  let admitted = 0;
  for (let i = 0; i < 150; i++) if ((await account(killed)) === 200) admitted += read;
  expect(admitted).toBe(150 * read);
  killed.signal('SIGKILL');
  await killed.ended;

  for (let refused = 0; refused < 3; ) {
    const status = await account(other);
    if (status === 200) admitted += read;
    else {
      expect(status).toBe(429);
      refused++;
    }
  }
  const seconds = (performance.now() - started) / 1_000;
  const firstPage = 20;
  expect(admitted).toBeLessThanOrEqual(burst + seconds * perSecond);
  // One key leaves the last tenth.
  expect(admitted).toBeGreaterThan(burst - burst / 10 - burst / leaseShare - firstPage - read);
});
