import { makePgArray } from 'drizzle-orm/pg-core';
import type { PendingQuery } from 'postgres';
import type { RequestBudget } from '../request/budget.js';
import { DomainError } from '../request/problems.js';
import type { Pool } from './connections.js';
import { outageOf } from './outage.js';

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

/** The types of parameters that a text can carry, by PostgreSQL's OID: the others are not combined. */
const castOf = new Map([
  [16, 'bool'],
  [20, 'int8'],
  [23, 'int4'],
  [25, 'text'],
  [1043, 'text'],
]);

interface Waiting extends Read {
  resolve: (found: Found) => void;
  reject: (error: unknown) => void;
  forget: (() => void) | undefined;
}

/** The reads of one statement text. */
interface Group {
  running: number;
  readonly waiting: Waiting[];
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
 * and visibility, and gets only the rows of its own number. A read that is alone in its turn runs by the single
 * statement. When a combined statement fails, each of its reads runs alone and gets its own result.
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
    const waits = group.combinable === true && read.budget !== undefined;
    return waits ? this.#wait(group, read) : this.#alone(group, read);
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

  #wait(group: Group, read: Read): Promise<Found> {
    return new Promise((resolve, reject) => {
      const { text, values, prepare, budget } = read;
      const forget = budget?.onEnd(() => reject(budget.ended as Error));
      group.waiting.push({ text, values, prepare, budget, resolve, reject, forget });
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
    while (group.running < runningMax && group.waiting.length > 0) {
      const members = group.waiting.splice(0, membersMax).filter(({ budget }) => !budget?.ended);
      for (const { forget } of members) forget?.();
      const text = members.length > 1 ? this.#combinedOf(group, members[0]!.text) : undefined;
      if (text !== undefined) void this.#together(group, text, members);
      else for (const member of members) this.#alone(group, member).then(member.resolve, member.reject);
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
      const parameters = members[0]!.values.map((_, i) => makePgArray(members.map(({ values }) => asText(values[i]))));
      const found: unknown[][][] = members.map(() => []);
      for (const row of await this.runs.together(text, parameters)) found[(row.pop() as number) - 1]!.push(row);
      members.forEach(({ resolve }, i) => resolve({ rows: found[i]!, columns: group.columns }));
    } catch (error) {
      // Nothing would be different for each alone when PostgreSQL is unavailable.
      if (error instanceof DomainError || outageOf(error) === 'lost') for (const { reject } of members) reject(error);
      else for (const member of members) this.#again(group, member);
    } finally {
      group.running--;
      this.#gather(group);
    }
  }

  /** Runs a read alone, after the combined statement failed. */
  #again(group: Group, member: Waiting): void {
    this.runs
      .alone(member)
      .then((rows) => member.resolve({ rows, columns: group.columns }))
      .catch(member.reject);
  }
}

const newGroup = (): Group => ({
  running: 0,
  waiting: [],
  gathers: false,
  combinable: undefined,
  combined: undefined,
  types: [],
  columns: [],
});

/** Whether arrays of text can carry the parameters of a statement: it has some, and all are of the types above. */
const canCombine = (types: readonly number[]) => types.length > 0 && types.every((type) => castOf.has(type));

/**
 * The statement that runs a text once for each number of its arrays, and returns the number as the last column. Each
 * array comes from a subquery, so PostgreSQL never plans for its length, finds the kept plan no dearer than a new one,
 * and plans the statement only five times on a connection. Measured: docs/decisions/waiting-reads-are-combined.md.
 */
function combinedOf(text: string, types: readonly number[]): string {
  const inner = text.replace(
    /\$(\d+)/g,
    (_, number: string) => `member.p${number}::${castOf.get(types[Number(number) - 1]!)}`,
  );
  const arrays = types.map((_, i) => `(select $${i + 1}::text[])`).join(', ');
  const names = types.map((_, i) => `p${i + 1}`).join(', ');
  return (
    `select x.*, member.n::int4 from unnest(${arrays}) with ordinality member(${names}, n) cross join lateral ` +
    `(${inner}) x`
  );
}

/** A value as PostgreSQL reads it from text; null stays null. */
const asText = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

function isLong(rows: unknown[][]): boolean {
  const [first] = rows;
  return rows.length === 1 && typeof first?.[0] === 'string' && first[0].length > charactersMax;
}
