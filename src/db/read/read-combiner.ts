import type { PendingQuery } from 'postgres';
import type { RequestBudget } from '../../limits/budget.js';
import { DomainError } from '../../errors/problems.js';
import { canCombine, combinedOf, combinedValues, keyOf, type Texts, textsOf } from './combined-statement.js';
import type { Pool } from '../connect/connections.js';
import { outageOf } from '../connect/outage.js';

/** A prepared read with the values of its parameters. */
export interface Read {
  text: string;
  values: readonly unknown[];
  /** Whether PostgreSQL keeps the statement. A statement that it does not keep is not combined. */
  prepare: boolean;
  /** The request for which it reads; undefined for the gateway's own reads. */
  budget: RequestBudget | undefined;
}

/** The rows of a read as arrays of values, in the order of the statement's columns. */
export type RawRows = unknown[][] & {
  columns: { name: string }[];
  statement: { types: number[] };
};

/** The rows of a read, and the names of their columns. */
export interface Found {
  rows: unknown[][];
  columns: string[];
}

/** Gives a read to the driver. */
export function sent(pool: Pool, { text, values, prepare }: Pick<Read, 'text' | 'values' | 'prepare'>) {
  // The driver's types declare neither the columns nor the statement of rows that are arrays, and no `unknown` values;
  // and not this option, without which PostgreSQL would plan a statement without values each time.
  const options = { prepare, simple: false };
  return pool.client.unsafe(text, values as never[], options).values() as unknown as PendingQuery<any> &
    Promise<RawRows>;
}

/** How the combiner runs statements. */
export interface Runs {
  /** Runs one read by its own statement. */
  alone(read: Read): Promise<RawRows>;
  /** Runs a combined statement; its parameters are arrays of text, as PostgreSQL writes them. */
  together(text: string, values: string[]): Promise<unknown[][]>;
  /** Whether a further statement may be prepared. */
  mayPrepare(text: string): boolean;
  /** Whether the database distributes tenants to servers, where a statement over several tenants asks all of them. */
  distributed(): Promise<boolean>;
}

/** How many statements of one text run at once; further reads of this text wait for the end of one of them. */
const runningMax = 2;
/** The most reads of one combined statement. */
const membersMax = 32;
/** Reads whose answer is one longer text are not combined: 32 of them would make one very large answer. */
const charactersMax = 65_536;

/** A request that waits for a read. */
interface Asker {
  budget: RequestBudget;
  resolve: (found: Found) => void;
  reject: (error: unknown) => void;
  forget: () => void;
}

/** A read that waits, and every request that asked for it. */
interface Waiting {
  read: Read;
  /** Its values as PostgreSQL reads them from text. */
  texts: Texts;
  askers: Asker[];
}

/** The reads of one statement text. */
interface Group {
  running: number;
  readonly waiting: Waiting[];
  /** The reads that came since the last statements began, by their values. */
  recent: Map<string, Waiting>;
  /** Whether the reads that wait are sent at the end of this turn of the event loop. */
  gathers: boolean;
  /** Whether these reads can be combined; undefined before their first answer. */
  combinable: boolean | undefined;
  /** The combined statement, made when it is needed for the first time. */
  combined: string | undefined;
  types: number[];
  columns: string[];
}

/**
 * Combines reads of different requests. Reads of one text wait until the end of their turn of the event loop, and while
 * `runningMax` statements of this text run. Those that wait then go to PostgreSQL as one statement, which runs the text
 * of the single statement for the values of each read and numbers its rows. So every read keeps its own tenant, mode
 * and visibility, and gets only the rows of its own number. Requests whose reads have all values in common share one
 * read and its rows, which no caller may change. A read that is alone in its turn runs by the single statement. When a
 * combined statement fails, each of its reads runs alone and gets its own result.
 */
export class ReadCombiner {
  #groups = new Map<string, Group>();
  #distributed: boolean | 'asking' | undefined;

  constructor(private readonly runs: Runs) {}

  /** Forgets all statements, because the statements that PostgreSQL may keep are counted anew. */
  renew(): void {
    this.#groups = new Map();
  }

  read(read: Read): Promise<Found> {
    let group = this.#groups.get(read.text);
    if (!group) {
      group = newGroup();
      // The statements that PostgreSQL keeps are limited in number, and so are the groups.
      if (read.prepare) this.#groups.set(read.text, group);
    }
    const { budget } = read;
    return group.combinable && budget ? this.#wait(group, read, budget) : this.#alone(group, read);
  }

  async #alone(group: Group, read: Read): Promise<Found> {
    group.running++;
    try {
      const rows = await this.runs.alone(read);
      if (group.combinable === undefined) this.#learn(group, read, rows);
      if (isLong(rows)) group.combinable = false;
      return { rows, columns: group.columns };
    } finally {
      group.running--;
      this.#gather(group);
    }
  }

  /** Decides by the first answer of a text whether its reads can be combined. */
  #learn(group: Group, { values, prepare }: Read, { columns, statement }: RawRows): void {
    group.columns = columns.map(({ name }) => name);
    if (this.#distributed === undefined) {
      this.#distributed = 'asking';
      this.runs.distributed().then(
        (distributed) => (this.#distributed = distributed),
        () => (this.#distributed = undefined),
      );
    }
    if (this.#distributed === 'asking') return;
    group.types = statement.types.slice(0, values.length);
    group.combinable = prepare && !this.#distributed && canCombine(group.types);
  }

  #wait(group: Group, read: Read, budget: RequestBudget): Promise<Found> {
    const texts = textsOf(read.values);
    const key = keyOf(texts);
    let waiting = group.recent.get(key);
    if (!waiting) {
      waiting = { read, texts, askers: [] };
      group.recent.set(key, waiting);
      group.waiting.push(waiting);
    }
    const { askers } = waiting;
    return new Promise((resolve, reject) => {
      const forget = budget.onEnd(() => reject(budget.ended as Error));
      askers.push({ budget, resolve, reject, forget });
      this.#gather(group);
    });
  }

  /**
   * Sends the reads that wait at the end of this turn of the event loop, when all requests that have arrived are read.
   */
  #gather(group: Group): void {
    if (group.gathers || group.running >= runningMax || group.waiting.length === 0) return;
    group.gathers = true;
    setImmediate(() => this.#next(group));
  }

  /** Starts the next statements of a group for the reads that wait. */
  #next(group: Group): void {
    group.gathers = false;
    group.recent = new Map();
    while (group.running < runningMax && group.waiting.length > 0) {
      const members = group.waiting.splice(0, membersMax).filter(isWanted);
      for (const { askers } of members) for (const { forget } of askers) forget();
      const text = members.length > 1 ? this.#combinedOf(group, members[0]!.read.text) : undefined;
      if (text !== undefined) void this.#together(group, text, members);
      else for (const member of members) settle(member, this.#alone(group, readOf(member)));
    }
  }

  /** The combined statement of a group; undefined when PostgreSQL keeps no further one, or these reads stand alone. */
  #combinedOf(group: Group, text: string): string | undefined {
    if (!group.combinable) return undefined;
    if (group.combined === undefined) {
      const combined = combinedOf(text, group.types);
      if (this.runs.mayPrepare(combined)) group.combined = combined;
      else group.combinable = false;
    }
    return group.combined;
  }

  async #together(group: Group, text: string, members: Waiting[]): Promise<void> {
    group.running++;
    try {
      const parameters = combinedValues(members.map(({ texts }) => texts));
      const found: unknown[][][] = members.map(() => []);
      for (const row of await this.runs.together(text, parameters)) found[(row.pop() as number) - 1]!.push(row);
      members.forEach((member, i) => give(member, { rows: found[i]!, columns: group.columns }));
    } catch (error) {
      // Nothing would be different for each alone when PostgreSQL is unavailable.
      const unavailable = error instanceof DomainError || outageOf(error) === 'lost';
      for (const member of members) {
        if (unavailable) fail(member, error);
        else this.#again(group, member);
      }
    } finally {
      group.running--;
      this.#gather(group);
    }
  }

  /** Runs a read alone, after the combined statement failed. */
  #again(group: Group, member: Waiting): void {
    const found = this.runs.alone(readOf(member)).then((rows) => ({ rows, columns: group.columns }));
    settle(member, found);
  }
}

const isWanted = ({ askers }: Waiting) => askers.some(({ budget }) => !budget.ended);

/** A read that waited, as one that runs alone: only a request that does not share it can cancel it. */
const readOf = ({ read, askers }: Waiting): Read => (askers.length === 1 ? read : { ...read, budget: undefined });

function give({ askers }: Waiting, found: Found): void {
  for (const { resolve } of askers) resolve(found);
}

function fail({ askers }: Waiting, error: unknown): void {
  for (const { reject } of askers) reject(error);
}

/** Gives each request of a read its outcome. */
function settle(member: Waiting, outcome: Promise<Found>): void {
  outcome.then(
    (found) => give(member, found),
    (error: unknown) => fail(member, error),
  );
}

const newGroup = (): Group => ({
  running: 0,
  waiting: [],
  recent: new Map(),
  gathers: false,
  combinable: undefined,
  combined: undefined,
  types: [],
  columns: [],
});

function isLong(rows: unknown[][]): boolean {
  const [first] = rows;
  return rows.length === 1 && typeof first?.[0] === 'string' && first[0].length > charactersMax;
}
