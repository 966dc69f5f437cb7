import Fastify, { type FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { RepeatedRefusals } from '../src/server/repeated-refusals.js';

const tenant = { tenantId: 'one', livemode: false };

it('waits with the answers of a tenant that is refused more than 20 times in a second, and of no other', () => {
  let now = 5_000;
  const refusals = new RepeatedRefusals(() => now);
  const counted = (times: number, of = tenant) => Array.from({ length: times }, () => refusals.count(of));
  expect(counted(20)).toEqual(Array(20).fill(0));
  const waits = counted(50);
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(750);
  expect(Math.max(...waits)).toBeLessThan(1_250);
  // They do not end together.
  expect(new Set(waits).size).toBeGreaterThan(40);
  expect(counted(20, { ...tenant, livemode: true })).toEqual(Array(20).fill(0));
  expect(counted(20, { ...tenant, tenantId: 'two' })).toEqual(Array(20).fill(0));
  now += 999;
  expect(counted(1)[0]).toBeGreaterThanOrEqual(750);
  now += 1;
  expect(counted(21).map((wait) => wait > 0)).toEqual([...Array(20).fill(false), true]);
});

it('gives the turn of a request back before its refusal waits, and lets none wait when the gateway ends', async () => {
  let [rests, ends] = [0, false];
  const app = Fastify();
  app.addHook('onRequest', (request, _, done) => {
    const given = { context: { caller: tenant }, visit: { rest: () => rests++ } };
    Object.assign(request, given as unknown as Partial<FastifyRequest>);
    done();
  });
  new RepeatedRefusals(() => 0).addTo(app, () => ends);
  app.get('/', (_, reply) => reply.code(429).send('refused'));
  const refused = () => app.inject('/').then(({ body }) => body);
  for (let i = 0; i < 20; i++) expect(await refused()).toBe('refused');
  expect(rests).toBe(0);
  let answered = false;
  const late = refused().then((body) => {
    answered = true;
    return body;
  });
  await expect.poll(() => rests).toBe(1);
  expect(answered).toBe(false);
  ends = true;
  expect(await refused()).toBe('refused');
  expect(answered).toBe(false);
  expect(await late).toBe('refused');
  await app.close();
});
