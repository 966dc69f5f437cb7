import Fastify, { type FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { RepeatedRefusals } from '../../src/server/limits/repeated-refusals.js';

const tenant = { tenantId: 'one', livemode: false };

it('waits with the answers of a tenant that is refused more than 20 times in a second, and of no other', () => {
  let now = 5_000;
  const refusals = new RepeatedRefusals(() => now);
  const counted = (times: number, of = tenant) => Array.from({ length: times }, () => refusals.count(of));
  expect(counted(20)).toEqual(Array(20).fill(0));
  // They do not end together.
  expect(counted(50)).toEqual(Array.from({ length: 50 }, (_, i) => 1_000 + 5 * i));
  expect(counted(20, { ...tenant, livemode: true })).toEqual(Array(20).fill(0));
  expect(counted(20, { ...tenant, tenantId: 'two' })).toEqual(Array(20).fill(0));
  now += 999;
  expect(counted(1)).toEqual([1_000]);
  now += 1;
  expect(counted(21)).toEqual([...Array(20).fill(0), 1_004]);
});

it('ends the waits 5 ms after each other, as long as none is longer than three seconds', () => {
  let now = 5_000;
  const refusals = new RepeatedRefusals(() => now);
  const waits = Array.from({ length: 500 }, () => refusals.count(tenant)).slice(20);
  expect(waits).toEqual(Array.from({ length: 480 }, (_, i) => Math.min(1_000 + 5 * i, 3_000)));
  // The next ones end after those, also when a second has passed.
  now += 1_000;
  expect(Array.from({ length: 22 }, () => refusals.count(tenant)).slice(20)).toEqual([2_005, 2_010]);
  now += 10_000;
  expect(Array.from({ length: 21 }, () => refusals.count(tenant)).at(-1)).toBe(1_000);
});

it('gives the turn of a request back before its refusal waits, and lets none wait when the gateway ends', async () => {
  let [rests, ends] = [0, false];
  const app = Fastify();
  app.addHook('onRequest', (request, _, done) => {
    const given = { context: { caller: tenant }, ticket: { release: () => rests++ } };
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
