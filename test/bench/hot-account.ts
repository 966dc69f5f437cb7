import type postgres from 'postgres';
import { flaws, load, median, type Round } from './load.ts';
import { accountOf, bench, ledger } from './pgbench.ts';
import { cpuOfServer, headersFor, start } from './processes.ts';
import type { Seeded } from './seed.ts';
import type { Login } from './server.ts';
import { requestsOf, type Workload } from './workloads.ts';

/** What one account reaches that receives everything, one at a time and many in a call. */
export interface HotAccount {
  rounds: number;
  hot: {
    name: string;
    /** The median of the rounds. */
    perSecond: number;
    /** Milliseconds of CPU of PostgreSQL for each. */
    cpu: number | null;
    /** By single postings in the same round. */
    ratio: { median: number; least: number; most: number };
  }[];
  /** The least ratio that is wanted of several postings in a call. */
  wanted: number;
  wrong: string[];
}

interface Cell {
  perSecond: number;
  cpu: number | null;
}

/** How many postings a call makes in the rounds that make several. */
const inACall = [8, 16, 32];
/** How many deposits the worker completes in a round, and how many of their jobs a call of its function does. */
const [deposits, jobsInACall] = [400, 50];
const single = 'postings, one in a call, 16 clients';
const wanted = 4;

/** Postings to one account, several in a call of the function by which the worker makes them. */
function several({ tenant }: Seeded, account: string, count: number): string {
  const lines = [
    `select post_credits('${tenant}', false, 'bench', array_agg(gen_random_uuid()::text),`,
    `array_agg('payment_bench'::text),`,
    `array_agg(jsonb_build_array(leg(a, 'available', 'USD', 100), contra_leg('bank', 'USD', -100))))`,
    `from (select ${account} as a) x, generate_series(1, ${count}), lateral lock_balances('${tenant}', false,`,
    `jsonb_build_array(jsonb_build_object('account', a, 'currency', 'USD'))) group by a;`,
  ];
  return lines.join(' ');
}

/**
 * Measures in interleaved rounds: postings one in a call by 16 clients, several in a call with one call in flight,
 * completions of deposits by the worker's function with one call in flight, and creations by REST.
 */
export async function hotAccount(
  { login, sql, postgresql }: { login: Login; sql: postgres.Sql; postgresql: number | undefined },
  seeded: Seeded,
  address: string,
  workloads: Workload[],
  { rounds, seconds }: { rounds: number; seconds: number },
  progress: (step: string) => void,
): Promise<HotAccount> {
  const wrong: string[] = [];
  const found = new Map<string, Cell[]>();
  const { script } = ledger(seeded)['posting hot']!;
  const hot = accountOf('1');
  const measure = async (round: number, name: string, each: number, work: () => Promise<Round>) => {
    const before = cpuOfServer(postgresql);
    const done = await work();
    const after = cpuOfServer(postgresql);
    wrong.push(...flaws(done).map((flaw) => `${name}: ${flaw}`));
    const count = done.requests * each;
    const spent = before === undefined || after === undefined ? null : ((after - before) * 1_000) / count;
    if (round > 0) found.set(name, [...(found.get(name) ?? []), { perSecond: count / done.seconds, cpu: spent }]);
  };
  for (let round = 0; round <= rounds; round++) {
    progress(round === 0 ? 'warming up: one hot account' : `round ${round} of ${rounds}: one hot account`);
    await measure(round, single, 1, () => bench(login, { text: script }, seconds));
    for (const count of inACall) {
      const text = several(seeded, hot, count);
      const name = `postings, ${count} in a call, one in flight`;
      await measure(round, name, count, () => bench(login, { text, clients: 1 }, seconds));
    }
    const due = await processing(sql, seeded, address);
    await measure(round, 'completions by the worker, one call in flight', 1, () => complete(sql, seeded, due));
    const product = await start('tidegate', login, seeded);
    try {
      for (const { title, asks, connections } of workloads) {
        const requests = requestsOf(asks.tidegate!);
        const some = { origin: product.origin, headers: headersFor(seeded), requests };
        const many = { ...some, ...(connections !== undefined && { connections }) };
        await load({ ...many, seconds: 1 });
        await measure(round, title, 1, () => load({ ...many, seconds }));
      }
    } finally {
      await product.stop();
    }
    for (let n = 1; n > 0; ) n = Number((await sql`select seal_postings(${seeded.tenant}, false, 20000) as n`)[0]?.n);
  }
  const singles = found.get(single)!;
  const rows = [...found].map(([name, cells]) => {
    const ratios = cells.map(({ perSecond }, i) => perSecond / singles[i]!.perSecond);
    const cpus = cells.flatMap(({ cpu }) => (cpu === null ? [] : [cpu]));
    return {
      name,
      perSecond: median(cells.map(({ perSecond }) => perSecond))!,
      cpu: median(cpus) ?? null,
      ratio: { median: median(ratios)!, least: Math.min(...ratios), most: Math.max(...ratios) },
    };
  });
  return { rounds, wanted, wrong, hot: rows };
}

/** Deposits of the receiver whose completion is due, made by the product's own functions. */
async function processing(sql: postgres.Sql, { tenant, receiver }: Seeded, address: string): Promise<string[]> {
  const args = {
    ...{ toAccountId: receiver, toAddressId: address, fromAccountId: null, fromAddressId: null },
    ...{ amount: '12500', currency: 'USD', paymentMethod: 'domestic_credit' },
  };
  const rows = await sql`select d.id from generate_series(1, ${deposits}) i,
    lateral create_deposit(${tenant}, false, jsonb_build_object('requestId', 'req_' || i),
    ${JSON.stringify(args)}::text::jsonb) d`;
  const ids = rows.map(({ id }) => String(id));
  await runDue(sql, tenant, ids);
  return ids;
}

/** The seeded database puts jobs off, so that none runs by itself. */
async function runDue(sql: postgres.Sql, tenant: string, ids: string[]): Promise<number> {
  await sql`update job set due = 0 where tenant_id = ${tenant} and livemode = false and subject_id = any(${ids})`;
  let failed = 0;
  for (let n = 1; n > 0; ) {
    const rows = await sql`select job_error from run_due_jobs(${tenant}, false, ${jobsInACall})`;
    n = rows.length;
    failed += rows.filter((row) => row.job_error !== null).length;
  }
  return failed;
}

async function complete(sql: postgres.Sql, { tenant }: Seeded, ids: string[]): Promise<Round> {
  const begun = performance.now();
  const failures = await runDue(sql, tenant, ids);
  const seconds = (performance.now() - begun) / 1_000;
  const [row] = await sql`select count(*)::int as n from deposit
    where tenant_id = ${tenant} and livemode = false and status = 'completed' and id = any(${ids})`;
  return { requests: Number(row?.n), seconds, p50: 0, p99: 0, bytes: 0, failures };
}

/** The figures as text. */
export function hotAccountTable({ rounds, wanted: least, wrong: flawed, hot }: HotAccount): string {
  if (flawed.length > 0) return ['No figures, because rounds failed:', ...flawed.map((w) => `  ${w}`), ''].join('\n');
  const best = Math.max(...hot.filter(({ name }) => name.startsWith('postings')).map(({ ratio }) => ratio.median));
  return [
    `One hot account: medians of ${rounds} interleaved rounds; × by single postings (least to most)`,
    ...hot.map(({ name, perSecond, cpu, ratio: { median: middle, least: low, most } }) => {
      const spent = cpu === null ? '' : `  ${cpu.toFixed(3)} ms of PostgreSQL's CPU each`;
      return (
        `  ${name}: ${Math.round(perSecond)}/s  × ${middle.toFixed(2)} (${low.toFixed(2)} to ` +
        `${most.toFixed(2)})${spent}`
      );
    }),
    `${best >= least ? 'met   ' : 'missed'}  postings on one hot account, several in a call by one in each: ` +
      `${best.toFixed(2)}, wanted at least ${least}`,
    '',
  ].join('\n');
}
