/**
 * How much of every suite runs: a short form with `npm test`, the long form with `npm run test:faults`.
 * Only this file sets these numbers; an environment variable overrides one of them for one run.
 */
const whole = process.env.FAULTS === 'whole';
/** Whether nothing takes turns, as in the long form and with `npm run test:all`. */
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
  /** The seed of every random choice. The configuration draws one for all files of a run, which prints it. */
  seed: number('SEED', 0, 0),
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
  /** Rounds in which the connections of writes that wait for each other are ended three times. */
  writeKills: number('WRITE_KILLS', 2, 100),
  /** Clients whose writes are combined, until so many calls were, and the rounds of faults meanwhile. */
  combined: {
    clients: 64,
    batches: number('COMBINED_CALLS', 10, 600),
    rounds: number('COMBINED_ROUNDS', 1, 8),
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

/** The time-outs of a test in either form. On a cluster a statement takes several times as long. */
const short = process.env.CITUS_URL === undefined ? 300_000 : 1_200_000;
export const patience = { testTimeout: whole ? 6 * 3_600_000 : short, hookTimeout: 600_000 };

/** Prints the figures of a run of the long form, for the README. */
export function figures(suite: string, numbers: Record<string, number | string>): void {
  if (!whole) return;
  const pairs = Object.entries(numbers).map(([name, value]) => `${name} ${value}`);
  process.stdout.write(`${suite}: ${pairs.join(', ')}\n`);
}

/** Seconds since a time, to one decimal. */
export const secondsSince = (start: number): string => `${((Date.now() - start) / 1000).toFixed(1)} s`;

/**
 * What a round tries of many combinations: all of them where nothing takes turns. Otherwise it is a part, the next one
 * in each round, so that the rounds together try everything.
 */
export const share = <T>(every: readonly T[], parts: number, round: number): T[] =>
  every.filter((_, place) => all || (place + round) % parts === 0);

/** What `it` and `describe` have in common: they register tests by a title, perhaps with a time-out. */
type Register = (title: string, run: () => Promise<void> | void, milliseconds?: number) => void;

/**
 * Registers long tests, of which none needs another: all where nothing takes turns, and else one of `parts`. Tests
 * that follow each other in a file are in different parts. Which part it is depends on higher digits of the seed than
 * what a test itself tries of its combinations, so that each combination has its turn.
 */
export function inTurn(parts: number, register: Register): Register {
  let place = scale.seed >> 4;
  return (...given) => {
    if (all || place++ % parts === 0) register(...given);
  };
}

/**
 * For a file whose tests are repeated for several values, such as both APIs or both editions: all of them where nothing
 * takes turns, and else one of them for each table of the file, another one in the next run.
 */
export function oneInTurn(): <T>(values: readonly T[]) => T[] {
  let table = scale.seed >> 8;
  return (values) => share(values, values.length, table++);
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
