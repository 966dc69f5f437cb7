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
    const read = async (options: string) => {
      const before = await pagesSoFar();
      const [row] = await tx.unsafe(`explain (${options}, format json) ${statement}`, values as never[]);
      return { plan: (row as any)['QUERY PLAN'][0].Plan as Plan, pages: (await pagesSoFar()) - before };
    };
    const run = 'analyze, buffers, timing off, summary off';
    await read(run);
    const planning = await read('costs off');
    const { plan, pages } = await read(run);
    return { ...plan, 'Shared Hit Blocks': pages - planning.pages, 'Shared Read Blocks': 0 };
  }) as Promise<Plan>;
}
