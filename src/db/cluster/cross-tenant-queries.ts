import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { Connections } from '../connect/connections.js';
import type { Failures } from '../connect/failures.js';
import { observed, type StatementObserver } from '../connect/observer.js';
import { sent } from '../read/read-combiner.js';
import type { Mapped, Preparable } from '../read/row-mapper.js';
import type { Statements } from '../read/statements.js';

/** How the rows of several nodes become those of one statement: the order of its columns, and its limit. */
export interface Order<T> {
  by: readonly (keyof T)[];
  descending?: boolean;
  limit: number;
}

/** A node that holds shards. */
interface Node {
  group: number;
  /** Its host and port. */
  name: string;
  /** A text that belongs to one of its shards, as a tenant's id does. */
  key: string;
}

/** How long the placement of the shards, and that there are none, is taken as known. */
const knownMilliseconds = 10_000;
/** A node that has failed is left out for this long, and each time longer. */
const pauseMilliseconds = { min: 1_000, max: 10_000 };

const distributed = "select to_regclass('pg_catalog.pg_dist_partition') is not null";
const nodes = `
  select distinct on (p.groupid) p.groupid, n.nodename || ':' || n.nodeport, k.key
  from (select distinct on (shard) get_shard_id_for_distribution_column('account', 'node ' || i) as shard,
    'node ' || i as key
        from generate_series(1, 500) i) k
    join pg_dist_placement p on p.shardid = k.shard and p.shardstate = 1
    join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
  where exists (select from pg_dist_partition t where t.logicalrelid = to_regclass('public.account'))
  order by p.groupid`;

/**
 * Reads over all tenants of a database that may be distributed. There each node is asked by itself, about the shards
 * that it holds, so that a node that does not answer hides only its own tenants.
 */
export class CrossTenantQueries {
  #nodes: Node[] = [];
  #until = Number.NEGATIVE_INFINITY;
  #inspecting: Promise<void> | undefined;
  readonly #paused = new Map<number, { until: number; for: number; fault: unknown }>();

  constructor(
    private readonly connections: Connections,
    private readonly failures: Failures,
    private readonly observers: readonly StatementObserver[],
    private readonly statements: () => Statements,
  ) {}

  /**
   * The rows of a read over all tenants: those of the nodes that answer, in one order. Fails only when no node answers.
   */
  async read<T>(
    name: string,
    build: (db: PostgresJsDatabase) => Preparable,
    values: Record<string, unknown> = {},
    order: Order<T> = { by: [], limit: Number.MAX_SAFE_INTEGER },
  ): Promise<T[]> {
    const isDistributed = await this.distributed();
    const statement = this.statements().of(name, build);
    if (isDistributed) return this.#rows(statement, values, order);
    const rows = await this.#run(statement.text, statement.valuesOf(values), name).catch((error: unknown) => {
      throw this.failures.reported(error);
    });
    return rows.map((row) => statement.rowOf(row) as T);
  }

  /** Whether the tenants are distributed to nodes. */
  async distributed(): Promise<boolean> {
    if (performance.now() >= this.#until)
      this.#inspecting ??= this.#inspect().finally(() => (this.#inspecting = undefined));
    await this.#inspecting;
    return this.#nodes.length > 0;
  }

  /**
   * The nodes that hold tenants, by host and port, and whether each answered the last read that asked it. The worker of
   * each process asks several times a second. Without Citus there are none.
   */
  get nodes(): { name: string; answers: boolean }[] {
    return this.#nodes.map(({ group, name }) => ({ name, answers: !this.#paused.has(group) }));
  }

  async #inspect(): Promise<void> {
    const [[citus] = []] = await this.#run(distributed, []);
    const found = citus === true || citus === 't' ? await this.#run(nodes, []) : [];
    this.#nodes = found.map(([group, name, key]) => ({ group: Number(group), name: String(name), key: String(key) }));
    this.#until = performance.now() + knownMilliseconds;
  }

  async #rows<T>(statement: Mapped, values: Record<string, unknown>, order: Order<T>): Promise<T[]> {
    const text = written(statement, statement.valuesOf(values));
    const now = performance.now();
    const asked = this.#nodes.filter(({ group }) => (this.#paused.get(group)?.until ?? 0) <= now);
    // While all nodes are left out there is no answer, which is not the same as no rows.
    const [first] = this.#nodes;
    if (first && asked.length === 0) throw this.#paused.get(first.group)?.fault;
    const answers = await Promise.allSettled(asked.map((node) => this.#ask(node, text)));
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (failed && answers.every(({ status }) => status === 'rejected')) throw failed.reason as unknown;
    const rows = answers
      .flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
      .map((row) => statement.rowOf(row) as T);
    return rows.toSorted((a, b) => compared(a, b, order.by) * (order.descending ? -1 : 1)).slice(0, order.limit);
  }

  async #ask({ group, key }: Node, text: string): Promise<unknown[][]> {
    try {
      const rows = await this.#run('select * from cross_tenant_query($1, $2)', [key, text]);
      this.#paused.delete(group);
      return rows.map(([row]) => (typeof row === 'string' ? JSON.parse(row) : row) as unknown[]);
    } catch (error) {
      const before = this.#paused.get(group)?.for ?? pauseMilliseconds.min / 2;
      const pause = Math.min(before * 2, pauseMilliseconds.max);
      const fault = this.failures.reported(error);
      this.#paused.set(group, { until: performance.now() + pause, for: pause, fault });
      throw fault;
    }
  }

  /** Runs a statement on the connections for polls; its rows are arrays. */
  #run(text: string, values: unknown[], name = 'cross_tenant_query'): Promise<unknown[][]> {
    const { poll } = this.connections;
    return observed(this.observers, { name, pool: 'poll' }, () =>
      this.connections.retried(poll, (track) => track(sent(poll, { text, values, prepare: true }))),
    );
  }
}

/** A statement with its values in its text, whose rows are JSON arrays. */
function written({ text, width }: Mapped, values: unknown[]): string {
  const names = Array.from({ length: width }, (_, i) => `c${i}`).join(', ');
  const filled = text.replaceAll(/\$(\d+)/g, (_, n: string) => literal(values[Number(n) - 1]));
  return `select jsonb_build_array(${names}) from (${filled}) s (${names})`;
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'object') throw new TypeError('A cross-tenant query takes no lists and objects as values.');
  return `'${String(value).replaceAll("'", "''")}'`;
}

function compared<T>(a: T, b: T, by: readonly (keyof T)[]): number {
  for (const name of by) if (a[name] !== b[name]) return a[name] < b[name] ? -1 : 1;
  return 0;
}
