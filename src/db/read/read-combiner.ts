import type { PendingQuery } from 'postgres';
import type { RequestBudget } from '../../limits/budget.js';
import { DomainError } from '../../errors/problems.js';
import {
  combinedOf,
  combinedValues,
  type Form,
  formOf,
  hasForm,
  keyOf,
  type Texts,
  textsOf,
} from './combined-statement.js';
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
  /** The tenant that it reads for; undefined for reads that are not combined. */
  tenant: string | undefined;
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
  /** Runs a combined statement; its parameters are the tenant, and arrays of text as PostgreSQL writes them. */
  together(text: string, values: string[]): Promise<unknown[][]>;
  /** Whether a further statement may be prepared. */
  mayPrepare(text: string): boolean;
}

/** How many statements of one text and tenant run at once; further reads of both wait for the end of one of them. */
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

/** What is known of a statement text. */
interface Statement {
  /** How its reads are combined; undefined before their first answer, and null when they are not. */
  form: Form | null | undefined;
  /** The combined statement, made when it is needed for the first time. */
  combined: string | undefined;
  columns: string[];
  /** Its reads now, by their tenants. */
  readonly groups: Map<string, Group>;
}

/** The reads of one statement text for one tenant. */
interface Group {
  readonly statement: Statement;
  readonly tenant: string;
  running: number;
  readonly waiting: Waiting[];
  /** The reads that came since the last statements began, by their values. */
  recent: Map<string, Waiting>;
  /** Whether the reads that wait are sent at the end of this turn of the event loop. */
  gathers: boolean;
}

/**
 * Combines reads of different requests of one tenant. Its reads of one text wait until the end of their turn of the
 * event loop, and while `runningMax` of their statements run. Those that wait then go to PostgreSQL as one statement,
 * which runs the text of the single statement for the values of each read and numbers its rows. So every read keeps its
 * own mode and visibility, and gets only the rows of its own number. No statement reads for two tenants. Requests whose
 * reads have all values in common share one read and its rows, which no caller may change. A read that is alone in its
 * turn runs by the single statement. When a combined statement fails, each of its reads runs alone and gets its own
 * result.
 */
export class ReadCombiner {
  #statements = new Map<string, Statement>();

  constructor(private readonly runs: Runs) {}

  /** Forgets all statements, because the statements that PostgreSQL may keep are counted anew. */
  renew(): void {
    this.#statements = new Map();
  }

  read(read: Read): Promise<Found> {
    let statement = this.#statements.get(read.text);
    if (!statement) {
      statement = { form: undefined, combined: undefined, columns: [], groups: new Map() };
      // The statements that PostgreSQL keeps are limited in number, and so are these.
      if (read.prepare) this.#statements.set(read.text, statement);
    }
    const { budget, tenant, values } = read;
    const { form, groups } = statement;
    if (!budget || !form || tenant === undefined || !hasForm(form, values, tenant)) return this.#alone(statement, read);
    let group = groups.get(tenant);
    if (!group) groups.set(tenant, (group = newGroup(statement, tenant)));
    return this.#wait(group, read, budget);
  }

  async #alone(statement: Statement, read: Read): Promise<Found> {
    const rows = await this.runs.alone(read);
    if (statement.form === undefined) {
      statement.columns = rows.columns.map(({ name }) => name);
      const { prepare, tenant, values } = read;
      const types = rows.statement.types.slice(0, values.length);
      if (tenant !== undefined) statement.form = (prepare && formOf(types, values, tenant)) || null;
    }
    if (isLong(rows)) statement.form = null;
    return { rows, columns: statement.columns };
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
    if (group.gathers || group.running >= runningMax) return;
    if (group.waiting.length === 0) {
      if (group.running === 0) group.statement.groups.delete(group.tenant);
      return;
    }
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
      const { form } = group.statement;
      const text =
        form && members.length > 1 ? this.#combinedOf(group.statement, form, members[0]!.read.text) : undefined;
      if (form && text !== undefined) void this.#together(group, form, text, members);
      else for (const member of members) end(member, this.#counted(group, readOf(member)));
    }
    this.#gather(group);
  }

  /** Runs a read alone, as one of the statements of its group. */
  async #counted(group: Group, read: Read): Promise<Found> {
    group.running++;
    try {
      return await this.#alone(group.statement, read);
    } finally {
      group.running--;
      this.#gather(group);
    }
  }

  /** The combined statement; undefined when PostgreSQL keeps no further one. */
  #combinedOf(statement: Statement, form: Form, text: string): string | undefined {
    if (statement.combined === undefined) {
      const combined = combinedOf(text, form);
      if (this.runs.mayPrepare(combined)) statement.combined = combined;
      else statement.form = null;
    }
    return statement.combined;
  }

  async #together(group: Group, form: Form, text: string, members: Waiting[]): Promise<void> {
    group.running++;
    try {
      const texts = members.map((member) => member.texts);
      const parameters = combinedValues(form, texts);
      const found: unknown[][][] = members.map(() => []);
      for (const row of await this.runs.together(text, parameters)) found[(row.pop() as number) - 1]!.push(row);
      members.forEach((member, i) => give(member, { rows: found[i]!, columns: group.statement.columns }));
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
    const found = this.runs.alone(readOf(member)).then((rows) => ({ rows, columns: group.statement.columns }));
    end(member, found);
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
function end(member: Waiting, outcome: Promise<Found>): void {
  outcome.then(
    (found) => give(member, found),
    (error: unknown) => fail(member, error),
  );
}

const newGroup = (statement: Statement, tenant: string): Group => ({
  ...{ statement, tenant, running: 0, waiting: [] },
  ...{ recent: new Map(), gathers: false },
});

function isLong(rows: unknown[][]): boolean {
  const [first] = rows;
  return rows.length === 1 && typeof first?.[0] === 'string' && first[0].length > charactersMax;
}
