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
