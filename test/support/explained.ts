import type postgres from 'postgres';

/** What PostgreSQL says of a part of a plan that it has run. */
export interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Join Filter'?: number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

/** The pages that a plan read or found in memory. */
export const buffersIn = (plan: Plan): number => plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];

const run = 'analyze, buffers, timing off, summary off, format json';
const planIn = (row: unknown): Plan => (row as any)['QUERY PLAN'][0].Plan;

/** Runs a statement, and gives its plan with the rows of each part. The pages are those of all that it looked at. */
export async function ran(sql: postgres.Sql, statement: string, values: unknown[] = []): Promise<Plan> {
  const [row] = await sql.unsafe(`explain (${run}) ${statement}`, values as never[]);
  return planIn(row);
}

/**
 * Runs a statement twice on a connection of its own, and gives its second plan: the first time, the connection reads
 * the first page of each index, too. The pages of the whole plan are those of tables and indexes: how much of the
 * catalog a connection reads once more depends on what others change in the whole cluster. Those that planning reads
 * are not among them: it looks at the ends of indexes, as far as rows are there that vacuum has not removed yet.
 */
export async function explained(sql: postgres.Sql, statement: string, values: unknown[] = []): Promise<Plan> {
  return sql.begin(async (tx) => {
    const pagesSoFar = async () => {
      const [row] = await tx<{ pages: number }[]>`
        select sum(pg_stat_get_xact_blocks_fetched(oid))::int as pages from pg_class
        where oid >= 16384 and relkind in ('r', 'i', 't', 'm')`;
      return row!.pages;
    };
    const explain = (options: string) => tx.unsafe(`explain (${options}) ${statement}`, values as never[]);
    await explain(run);
    const before = await pagesSoFar();
    await explain('costs off');
    const planned = await pagesSoFar();
    const [row] = await explain(run);
    const planning = planned - before;
    const pages = (await pagesSoFar()) - planned - planning;
    return { ...planIn(row), 'Shared Hit Blocks': pages, 'Shared Read Blocks': 0 };
  }) as Promise<Plan>;
}
