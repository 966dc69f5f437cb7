/**
 * How much of every suite is run: a short form with `npm test`, the whole with `npm run test:faults`.
 * This is the one place that says how much; a number in the environment says otherwise for one run.
 */
const whole = process.env.FAULTS === 'whole';

const number = (name: string, short: number, long: number): number => {
  const given = process.env[name];
  if (given === undefined || given === '') return whole ? long : short;
  if (!/^\d{1,9}$/.test(given)) throw new Error(`${name} must be a whole number.`);
  return Number(given);
};

export const scale = {
  whole,
  /** Every random choice follows from it. A run that fails says which it was. */
  seed: number('SEED', Math.floor(Math.random() * 2 ** 31), Math.floor(Math.random() * 2 ** 31)),
  /** One client's histories of at most so many commands, against the model. */
  histories: { runs: number('HISTORIES', 24, 1_000), commands: 100 },
  /** Histories of many clients at once, put in order afterwards and then held against the same model. */
  crowds: {
    runs: number('CROWDS', 2, 200),
    clients: number('CROWD_CLIENTS', 8, 32),
    operations: number('CROWD_OPERATIONS', 60, 500),
  },
  /** Racers off at once, in so many rounds of each race. */
  races: { rounds: number('ROUNDS', 8, 500), racers: 16 },
  /** Rounds of the races of one write, of which there are many kinds. */
  writeRaces: number('WRITE_ROUNDS', 9, 30),
  /** Processes that are killed while clients write. */
  crash: {
    gateways: number('GATEWAY_KILLS', 2, 50),
    databases: number('DATABASE_KILLS', 1, 20),
    clients: 32,
    writes: number('WRITES', 500, 20_000),
  },
  /** Amounts and currencies that are made up. */
  amounts: { runs: number('AMOUNTS', 1_000, 100_000), sent: number('AMOUNTS_SENT', 60, 2_000) },
  /** Documents that are made up, whose estimated nodes are held against those that are answered. */
  documents: number('DOCUMENTS', 60, 1_000),
  /** Partners that are issued 175 addresses each. */
  partners: number('PARTNERS', 16, 64),
  /** Locks of one payout: in the long form, more than one call of five seconds could settle. */
  locks: number('LOCKS', 2_000, 100_000),
  /** Deposits that come in while others page through the list and ask for totals. */
  lists: { writers: 8, deposits: number('LISTED', 160, 5_000), readers: whole ? 12 : 6 },
};

/** How long a test may take in either form. */
export const patience = { testTimeout: whole ? 6 * 3_600_000 : 120_000, hookTimeout: 180_000 };

/** Tells the figures of a whole run, for the README. */
export function figures(suite: string, numbers: Record<string, number | string>): void {
  if (!whole) return;
  const told = Object.entries(numbers).map(([name, value]) => `${name} ${value}`);
  process.stdout.write(`${suite}: ${told.join(', ')}\n`);
}

/** Seconds since a time, to one decimal. */
export const secondsSince = (start: number): string => `${((Date.now() - start) / 1000).toFixed(1)} s`;

/** Numbers in [0, 1) that follow from a seed: mulberry32. */
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
