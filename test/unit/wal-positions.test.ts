import { createCipheriv } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ConsistencyTokens } from '../../src/db/replicas/consistency-token.js';
import { OwnWrites } from '../../src/db/replicas/own-writes.js';
import { Secrets } from '../../src/config/secrets.js';
import {
  lsnOf,
  positionOf,
  PrimaryPositions,
  timelineOf,
  timelineOfFile,
  walPositionOf,
} from '../../src/db/replicas/wal-positions.js';

const seen = (at: number, position: bigint) => ({ at, flushed: position, inserted: position + 1n });

describe('a position of the log', () => {
  it.each([
    ['0/0', 0n],
    ['0/15D690F8', 0x15d690f8n],
    ['16/B374D848', 0x16_b374_d848n],
    ['FFFFFFFF/FFFFFFFF', 2n ** 64n - 1n],
  ])('is a number: %s', (text, lsn) => {
    const position = walPositionOf(0x8000_0001, text);
    expect([timelineOf(position), lsnOf(position)]).toEqual([0x8000_0001, lsn]);
  });

  it('is later than all of an older timeline', () => {
    expect(walPositionOf(timelineOfFile('0000000A0000000000000001'), '0/1')).toBe(walPositionOf(10, '0/1'));
    expect(walPositionOf(10, '0/1')).toBeGreaterThan(walPositionOf(9, 'FFFFFFFF/FFFFFFFF'));
  });

  it.each([
    [1, 0n],
    [2 ** 32 - 1, 2n ** 64n - 1n],
  ])('is in a token, with its timeline: %d %d', (timeline, lsn) => {
    const tokens = new ConsistencyTokens(Secrets.of('a pepper that is long enough for a test'));
    expect(tokens.read(tokens.write(positionOf(timeline, lsn)))).toBe(positionOf(timeline, lsn));
  });

  it('asks for the primary in a token that has no timeline, as gateways made it before', () => {
    const secrets = Secrets.of('a pepper that is long enough for a test');
    const sealing = createCipheriv('aes-256-ecb', secrets.derivedKeys('consistency')[0]!, null).setAutoPadding(false);
    const block = Buffer.concat([Buffer.from('tidegate'), Buffer.from('00000000000000ff', 'hex')]);
    const token = Buffer.concat([sealing.update(block), sealing.final()]).toString('base64url');
    expect(new ConsistencyTokens(secrets).read(token)).toBe('primary');
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

  it('tell the age of a replica that is far behind, after days, and are few', () => {
    const positions = new PrimaryPositions(10_000);
    const [days, step] = [3 * 86_400_000, 10_000];
    const positionAt = (at: number) => BigInt(Math.floor(at / step) + 1);
    for (let at = 0; at <= days; at += step) positions.add(seen(at, positionAt(at)));
    for (const age of [0, 20_000, 60_000, 3_600_000, 86_400_000]) {
      const known = days - positions.upTo(positionAt(days - age));
      expect([age, known >= age && known <= age * 1.125 + step]).toEqual([age, true]);
    }
    expect(positions.length).toBeLessThan(200);
  });

  it('are forgotten where a promoted standby is behind them', () => {
    const positions = new PrimaryPositions(60_000);
    positions.add(seen(0, 10n));
    positions.add(seen(500, 30n));
    positions.add(seen(1_000, 20n));
    expect([positions.upTo(19n), positions.upTo(30n)]).toEqual([0, 1_000]);
  });

  it('of an older timeline are forgotten, and a replica there has none of a time', () => {
    const positions = new PrimaryPositions(60_000);
    positions.add(seen(0, positionOf(1, 10n)));
    positions.add(seen(500, positionOf(2, 20n)));
    expect(
      [positionOf(1, 10n), positionOf(1, 30n), positionOf(2, 19n), positionOf(2, 20n), positionOf(3, 20n)].map(
        (replayed) => positions.upTo(replayed),
      ),
    ).toEqual([...Array(3).fill(Number.NEGATIVE_INFINITY), 500, Number.NEGATIVE_INFINITY]);
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
    expect([writes.required(['account 0']), writes.required(['outsider'])]).toEqual([1n, 1n]);
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
