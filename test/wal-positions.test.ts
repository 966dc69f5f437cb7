import { describe, expect, it } from 'vitest';
import { OwnWrites } from '../src/db/own-writes.js';
import { PrimaryPositions, walPositionOf } from '../src/db/wal-positions.js';

const seen = (at: number, position: bigint) => ({ at, flushed: position, inserted: position + 1n });

describe('a position of the log', () => {
  it.each([
    ['0/0', 0n],
    ['0/15D690F8', 0x15d690f8n],
    ['16/B374D848', 0x16_b374_d848n],
    ['FFFFFFFF/FFFFFFFF', 2n ** 64n - 1n],
  ])('is a number: %s', (text, position) => {
    expect(walPositionOf(text)).toBe(position);
  });
});

describe('the positions of a primary', () => {
  it('say up to which time a replica has everything, also when nothing is written', () => {
    const positions = new PrimaryPositions(1_000);
    expect(positions.upTo(100n)).toBe(Number.NEGATIVE_INFINITY);
    for (const [at, position] of [
      [0, 10n],
      [500, 20n],
      [1_000, 20n],
      [1_500, 30n],
    ] as const)
      positions.add(seen(at, position));
    expect([9n, 10n, 19n, 20n, 29n, 30n, 99n].map((replayed) => positions.upTo(replayed))).toEqual([
      Number.NEGATIVE_INFINITY,
      0,
      0,
      1_000,
      1_000,
      1_500,
      1_500,
    ]);
  });

  it('are kept for a time, and one more', () => {
    const positions = new PrimaryPositions(1_000);
    for (let n = 0; n <= 10; n++) positions.add(seen(n * 500, BigInt(n)));
    expect([6n, 7n, 8n].map((replayed) => positions.upTo(replayed))).toEqual([Number.NEGATIVE_INFINITY, 3_500, 4_000]);
  });

  it('are forgotten where a promoted standby is behind them', () => {
    const positions = new PrimaryPositions(60_000);
    positions.add(seen(0, 10n));
    positions.add(seen(500, 30n));
    positions.add(seen(1_000, 20n));
    expect([positions.upTo(19n), positions.upTo(30n)]).toEqual([0, 1_000]);
  });
});

describe('the own writes of accounts', () => {
  it('share the questions for a position, and each gets one that was asked after it', async () => {
    const asked: ((position: bigint) => void)[] = [];
    const writes = new OwnWrites(new PrimaryPositions(1_000), () => new Promise((resolve) => asked.push(resolve)));
    const first = writes.wrote(['a']);
    const others = ['b', 'c', 'd'].map((account) => writes.wrote([account]));
    expect(asked).toHaveLength(1);
    asked[0]!(10n);
    expect(await first).toBe(10n);
    expect(asked).toHaveLength(2);
    const last = writes.wrote(['a']);
    asked[1]!(20n);
    expect(await Promise.all(others)).toEqual([20n, 20n, 20n]);
    asked[2]!(30n);
    expect(await last).toBe(30n);
    expect([['a'], ['b'], ['b', 'a'], ['e']].map((accounts) => writes.required(accounts))).toEqual([30n, 20n, 30n, 0n]);
  });

  it('that are forgotten count for all accounts', async () => {
    let position = 0n;
    const writes = new OwnWrites(new PrimaryPositions(1_000), async () => ++position);
    for (let n = 0; n < 10_001; n++) await writes.wrote([`account ${n}`]);
    expect([writes.required(['account 0']), writes.required(['stranger'])]).toEqual([1n, 1n]);
    expect(writes.required(['account 10000'])).toBe(10_001n);
  });

  it('whose position is not known need the primary until it was asked again', async () => {
    const positions = new PrimaryPositions(60_000);
    const writes = new OwnWrites(positions, () => Promise.reject(new Error('no answer')));
    positions.add(seen(performance.now(), 10n));
    expect(await writes.wrote(['a'])).toBeUndefined();
    expect([writes.required(['a']), writes.required(['b'])]).toEqual([undefined, undefined]);
    positions.add(seen(performance.now() + 1, 20n));
    expect([writes.required(['a']), writes.required(['b'])]).toEqual([21n, 21n]);
  });
});
