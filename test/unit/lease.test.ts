import { describe, expect, it } from 'vitest';
import { busy } from '../../src/db/connect/deadline.js';
import { Charge } from '../../src/limits/charge.js';
import { Lease } from '../../src/limits/lease.js';

// PostgreSQL may answer reads while it accepts no writes, and a lease is a write.
it('admits requests while the shared allowance cannot be asked, and takes their points afterwards', async () => {
  let away = true;
  const asked: { back: number; need: number; want: number }[] = [];
  const lease = new Lease({ burst: 1_000, perSecond: 10, enforced: true }, async (question) => {
    asked.push(question);
    if (away) throw busy();
    return { granted: 0, remaining: 0 };
  });
  for (let i = 0; i < 20; i++) await lease.take(50, 'key');
  expect(asked).toHaveLength(1);
  away = false;
  await lease.close();
  expect(asked.at(-1)).toMatchObject({ back: -1_000, want: 0 });
});

it('refuses a request that costs more than the allowance can hold, whether it can be asked or not', () => {
  const lease = new Lease({ burst: 1_000, perSecond: 10, enforced: true }, () => Promise.reject(busy()));
  expect(() => lease.take(1_001, 'key')).toThrow(/at most 900/);
});

it('gives a request what it holds where only unusually many currencies would cost more', async () => {
  const lease = new Lease({ burst: 1_000, perSecond: 1e-9, enforced: true }, async ({ want }) => ({
    granted: want,
    remaining: 1_000 - want,
  }));
  expect(() => new Charge(lease, 1, 'key').take(2_000, 901)).toThrow(/at most 900/);
  const charge = new Charge(lease, 1, 'key');
  await charge.take(2_000, 800);
  charge.countObjects(950);
  expect(charge.finish(false)).toMatchObject({ requested: 950, actual: 950, remaining: 50 });
});

describe('the last tenth', () => {
  const size = { burst: 1_000, perSecond: 1e-9, enforced: true };

  it('is for senders that have spent less than a tenth, and the rest for any', async () => {
    let shared = size.burst;
    const lease = new Lease(size, async ({ want, need }) => {
      const granted = shared >= need ? Math.min(want, shared) : 0;
      shared -= granted;
      return { granted, remaining: shared };
    });
    let spent = 0;
    const most = async (sender: string) => {
      let count = 0;
      try {
        for (; ; count++) await lease.take(10, sender);
      } catch {
        spent += count * 10;
        return count * 10;
      }
    };
    expect(await most('a')).toBe(900);
    expect(lease.state).toMatchObject({ remaining: 100 });
    await lease.take(40, 'b');
    expect(await most('a')).toBe(0);
    // What was taken and not used is given back to its sender.
    lease.give(20, 'b');
    expect(await most('c')).toBe(80);
    expect(spent + 20).toBe(size.burst);
    expect(() => lease.take(901, 'd')).toThrow(/at most 900/);
  });

  it('is kept from a sender that has spent the rest on another gateway', async () => {
    const lease = new Lease(size, async ({ want }) => ({ granted: want, remaining: 90, spent: { a: 850, b: 10 } }));
    await lease.take(10, 'b');
    expect(() => lease.take(200, 'a')).toThrow(/rate|points/);
    await lease.take(10, 'b');
  });
});
