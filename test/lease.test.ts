import { expect, it } from 'vitest';
import { busy } from '../src/db/deadline.js';
import { Lease } from '../src/request/lease.js';

// PostgreSQL may answer reads while it accepts no writes, and a lease is a write.
it('admits requests while the shared allowance cannot be asked, and takes their points afterwards', async () => {
  let away = true;
  const asked: { back: number; need: number; want: number }[] = [];
  const lease = new Lease({ burst: 1_000, perSecond: 10, enforced: true }, async (question) => {
    asked.push(question);
    if (away) throw busy();
    return { granted: 0, remaining: 0 };
  });
  for (let i = 0; i < 20; i++) await lease.take(50);
  expect(asked).toHaveLength(1);
  away = false;
  await lease.close();
  expect(asked.at(-1)).toMatchObject({ back: -1_000, want: 0 });
});

it('refuses a request that costs more than the allowance can hold, whether it can be asked or not', () => {
  const lease = new Lease({ burst: 1_000, perSecond: 10, enforced: true }, () => Promise.reject(busy()));
  expect(() => lease.take(1_001)).toThrow(/1000|1,000/);
});
