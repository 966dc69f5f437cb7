import { appendFileSync } from 'node:fs';

/**
 * How much of every suite runs: a short form with `npm test`, the long form with `npm run test:faults`.
 * Only this file sets these numbers; an environment variable overrides one of them for one run.
 */
const whole = process.env.FAULTS === 'whole';
/** Whether tables of combinations are tried whole, as in the long form and with `npm run test:all`. */
const all = whole || process.env.TESTS === 'all';

const number = (name: string, short: number, long: number): number => {
  const given = process.env[name];
  if (given === undefined || given === '') return whole ? long : short;
  if (!/^\d{1,9}$/.test(given)) throw new Error(`${name} must be a whole number.`);
  return Number(given);
};

export const scale = {
  whole,
  all,
  /** The seed of every random choice: always the same, but for `npm run fuzz`, which gives others. */
  seed: number('SEED', 1, 1),
  /** Histories of one client, of at most `commands` commands each, compared with the model. */
  histories: { runs: number('HISTORIES', 3, 1_000), commands: 100 },
  /** Histories of many concurrent clients, which are put in order afterwards and then compared with the same model. */
  crowds: {
    runs: number('CROWDS', 1, 200),
    clients: number('CROWD_CLIENTS', 16, 32),
    operations: number('CROWD_OPERATIONS', 16, 500),
  },
  /** `racers` concurrent clients, in each of `rounds` rounds of each race. */
  races: { rounds: number('ROUNDS', 4, 500), racers: 16 },
  /** Rounds of the races of one write, of which there are many kinds. */
  writeRaces: number('WRITE_ROUNDS', 4, 30),
  /** Processes that are killed while clients write. */
  crash: {
    gateways: number('GATEWAY_KILLS', 1, 50),
    databases: number('DATABASE_KILLS', 1, 20),
    clients: 32,
    writes: number('WRITES', 300, 100_000),
  },
  /** The ledgers of a round of checks, and the postings of each. */
  ledgerRound: { tenants: number('ROUND_TENANTS', 6, 200), postings: number('ROUND_POSTINGS', 20, 1_000) },
  /** Rounds in which the connections of writes are ended three times. */
  writeKills: number('WRITE_KILLS', 2, 100),
  /** Clients that trade, until so many of their requests were answered, and the rounds of faults meanwhile. */
  deposits: {
    clients: 64,
    requests: number('DEPOSIT_REQUESTS', 400, 20_000),
    rounds: number('DEPOSIT_ROUNDS', 1, 8),
  },
  /** Standbys that are promoted one after the other while clients write. */
  promotions: number('PROMOTIONS', 1, 6),
  /** Writes before a backup that is made while clients write. */
  backup: { clients: whole ? 16 : 6, writes: number('BACKED_UP', 200, 20_000) },
  /** Restarts of one of two gateways, in turn, under load. */
  restarts: number('RESTARTS', 2, 50),
  /** How often PgBouncer is killed while clients write. */
  poolerRestarts: number('POOLER_RESTARTS', 1, 10),
  /** Random amounts and currencies. */
  amounts: { runs: number('AMOUNTS', 1_000, 100_000), sent: number('AMOUNTS_SENT', 60, 2_000) },
  /** Random documents, whose estimated number of nodes is compared with the number in the response. */
  documents: number('DOCUMENTS', 30, 1_000),
  /** Random profiles that are activated, of each edition. */
  profiles: number('PROFILES', 25, 200),
  /** Partners, each of which gets 175 addresses. */
  partners: number('PARTNERS', 16, 64),
  /** Locks of one payout: in the long form, more than one call of five seconds could settle. */
  locks: number('LOCKS', 1_000, 100_000),
  /** Deposits that are added while other clients page through the list and query totals. */
  lists: { writers: 8, deposits: number('LISTED', 160, 5_000), readers: whole ? 12 : 6 },
};

/**
 * Seeds with which `npm run fuzz` has found a fault, by the file of tests, which asks `seedsOf` for them: each run
 * tries them from then on. A property with the seed of all properties gets its `examples` instead.
 */
export const found: Record<string, readonly number[]> = {};

/** The seeds that a file of tests tries: the usual one and those that found a fault, or the one of `SEED`. */
export const seedsOf = (file: string): number[] =>
  process.env.SEED ? [scale.seed] : [scale.seed, ...(found[file] ?? [])];

/**
 * The time-outs of a test in either form. On a cluster a statement takes several times as long, and `npm run fuzz`
 * tries longer forms on machines that may do other work.
 */
export const testMilliseconds =
  process.env.CITUS_URL === undefined && process.env.EVIDENCE === undefined ? 600_000 : 1_200_000;
export const patience = { testTimeout: whole ? 6 * 3_600_000 : testMilliseconds, hookTimeout: 600_000 };

/** Prints the figures of a run of the long form, for the README. */
export function figures(suite: string, numbers: Record<string, number | string>): void {
  if (!whole) return;
  const pairs = Object.entries(numbers).map(([name, value]) => `${name} ${value}`);
  process.stdout.write(`${suite}: ${pairs.join(', ')}\n`);
}

/** Adds to the sums of a run of `npm run fuzz -- --evidence`. */
export function evidence(counts: Partial<Record<'writes' | 'kills' | 'audits', number>>): void {
  const file = process.env.EVIDENCE;
  if (file) appendFileSync(file, `${JSON.stringify(counts)}\n`);
}

/** Seconds since a time, to one decimal. */
export const secondsSince = (start: number): string => `${((Date.now() - start) / 1000).toFixed(1)} s`;

const combinations = { tried: 0, all: 0 };

/** What the tests of a file tried of their tables of combinations since the last call, if it was not all. */
export function triedOfTables(): string | undefined {
  const { tried, all: rows } = combinations;
  Object.assign(combinations, { tried: 0, all: 0 });
  return tried < rows ? `Tried ${tried} of ${rows} rows (npm run test:all tries them all).` : undefined;
}

/**
 * What `npm test` tries of a table of combinations: rows that together have each pair of values that a row of the table
 * has, or with `together` 1 each value. It is the same part each time, in the table's order. `npm run test:all` tries
 * the whole table.
 */
export function covering<T>(rows: readonly T[], valuesOf: (row: T) => readonly unknown[], together: 1 | 2 = 2): T[] {
  if (all) return [...rows];
  const wanted = rows.map((row) => {
    const values = valuesOf(row).map((value, place) => `${place} ${String(value)}`);
    const pairs = values.flatMap((one, n) => values.slice(n + 1).map((other) => `${one} & ${other}`));
    return new Set(together === 1 ? values : pairs);
  });
  // Mixed, so that the values that several rows could give take turns.
  const roll = random(1);
  const places = rows.map((_, place) => ({ place, order: roll() })).toSorted((a, b) => a.order - b.order);
  const covered = new Set<string>();
  const missing = (place: number) => {
    for (const each of wanted[place]!) if (covered.has(each)) wanted[place]!.delete(each);
    return wanted[place]!.size;
  };
  const chosen = new Set<number>();
  for (let most = Math.max(0, ...wanted.map(({ size }) => size)); most > 0; most--)
    for (const { place } of places) {
      if (missing(place) < most) continue;
      chosen.add(place);
      for (const each of wanted[place]!) covered.add(each);
    }
  combinations.tried += chosen.size;
  combinations.all += rows.length;
  return rows.filter((_, place) => chosen.has(place));
}

/** A generator of numbers in [0, 1) from a seed: mulberry32. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}
