import os from 'node:os';
import { parseArgs } from 'node:util';
import { type Buffers, buffers, buffersTable } from './buffers.ts';
import { type DepositCost, depositCost, depositCostTable } from './deposit-cost.ts';
import { type Growth, growing, growth } from './growth.ts';
import { connections, flaws, generator, load, median, type Round } from './load.ts';
import { bench, ledger, pgbench, statements as sqlOf, transfers } from './pgbench.ts';
import { counting, cpuOf, cpuOfServer, headersFor, parentOf, residentOf, type Running, start } from './processes.ts';
import { type FairSoak, fairSoak, fairSoakTable, settings } from './fair-soak.ts';
import { type LiveWrites, liveWrites, liveWritesTable } from './live.ts';
import { type Neighbours, neighbours, neighboursTable } from './neighbours.ts';
import { type Measured, type Report, table, targets } from './report.ts';
import { seed, type Seeded, seedNeighbour } from './seed.ts';
import { type Soak, soak, soakTable } from './soak.ts';
import { connect, openServer } from './server.ts';
import { type Ask, contenders, requestsOf, titles, type Workload, workloads } from './workloads.ts';

const help = `Measures the product and its peers over the same rows of one PostgreSQL.

  npm run bench -- [options]

  --quick            fewer and shorter rounds: at most 4 minutes
  --json             one JSON document on standard output; progress goes to standard error
  --scale <n>        n times 200,000 deposits; 50 for ten million
  --data <folder>    keeps the rows in this folder and uses them again the next time
  --only <names>     workloads, separated by commas
  --against <names>  contenders, of ${contenders.slice(1).join(', ')}; none for the product alone
  --rounds <n>       rounds of each
  --seconds <n>      seconds of a round
  --growth           the buffers of each kind of read at three sizes of tenant, over 5,000,000 deposits times --scale
  --deposit-cost     the bytes and the CPU that a deposit costs, over 8,000 deposits times --scale
  --to-partners      the same of deposits to the partners of users, which are on no list of their platform
  --live             the writes of live mode, and an import of 10,000 rows, beside M1
  --neighbours       the product alone: a tenant alone and beside another that sends too much
  --pgledger <dir>   also transfers between two balances, compared with those of pgledger: its repository's folder
  --soak <minutes>   the product alone, every workload in turn, with its memory in each minute
  --soak <minutes> --neighbours  honest tenants alone and beside a greedy one, minute by minute

At the end the product runs as one process and as several on one port, as WORKERS starts them, if
${growing.join(' or ')} is selected.

With DATABASE_URL, that database is filled and used instead of the product's own PostgreSQL; it should be empty.
`;

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean' },
    scale: { type: 'string', default: '1' },
    data: { type: 'string' },
    only: { type: 'string' },
    against: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    soak: { type: 'string' },
    growth: { type: 'boolean' },
    'deposit-cost': { type: 'boolean' },
    'to-partners': { type: 'boolean' },
    live: { type: 'boolean' },
    neighbours: { type: 'boolean' },
    pgledger: { type: 'string' },
  },
});
const rounds = Number(flags.rounds ?? (flags.quick ? 3 : 5));
const seconds = Number(flags.seconds ?? (flags.quick ? 1 : 3));
const begun = Date.now();
/** A quick run starts no further round after this time. */
const quickMilliseconds = 155_000;
/** The time that a quick run spends on the processes that share a port. */
const quickGrowthMilliseconds = 12_000;

function progress(step: string): void {
  process.stderr.write(`${String(Math.round((Date.now() - begun) / 1000)).padStart(4)} s  ${step}\n`);
}

/** The figures of a round of one contender under one workload. */
interface Cell extends Round {
  cpu: { gateway: number | undefined; postgresql: number | undefined };
}

async function main(): Promise<Report | Soak | FairSoak | Neighbours | Buffers | DepositCost | LiveWrites> {
  const server = await openServer(flags.data);
  if (flags.growth)
    return await buffers(server, 5_000_000 * Number(flags.scale), progress).finally(() => server.close());
  if (flags['deposit-cost']) {
    const receiver = flags['to-partners'] ? 'partner' : 'user';
    return await depositCost(server, 8_000 * Number(flags.scale), receiver, progress).finally(() => server.close());
  }
  const running: Running[] = [];
  const sql = connect(server.login);
  try {
    const seeded = await seed(server, Number(flags.scale), progress);
    const [{ pid: backend }] = (await sql`select pg_backend_pid() as pid`) as unknown as [{ pid: number }];
    const postgresql = parentOf(backend);
    const [receiving] = await sql`
      select id from address where tenant_id = ${seeded.tenant} and livemode = false and linked_id = ${seeded.receiver}
      and category = 'service_receive'`;
    const address = String(receiving?.id);
    const every = workloads(seeded, address);
    const names = every.map(({ name }) => name);
    const only = flags.only === undefined ? undefined : chosen(flags.only, names);
    const all = every.filter(({ name }) => !only || only.includes(name));
    if (flags.live) {
      const m1 = every.find(({ name }) => name === 'M1')!;
      return await liveWrites(server, seeded, m1, { rounds, seconds }, progress);
    }
    if (flags.soak !== undefined && flags.neighbours) {
      const honest = [await seedNeighbour(server, progress), await seedNeighbour(server, progress, 1)];
      const product = await start('tidegate', server.login, seeded, 0, 1, settings);
      running.push(product);
      const load = () => os.loadavg()[0]!;
      return await fairSoak(product, postgresql, sql, [seeded, ...honest], Number(flags.soak), load, progress);
    }
    if (flags.soak !== undefined) {
      const alone = await start('tidegate', server.login, seeded);
      running.push(alone);
      return await soak(alone, postgresql, all, seeded, Number(flags.soak), progress);
    }
    if (flags.neighbours) {
      const honest = await seedNeighbour(server, progress);
      const alone = await start('tidegate', server.login, seeded);
      running.push(alone);
      return await neighbours(
        alone,
        seeded,
        honest,
        { rounds, seconds, loadAverage: () => os.loadavg()[0]! },
        progress,
      );
    }
    const peers = contenders.slice(1);
    const against = flags.against === 'none' ? '' : flags.against;
    const named = against === undefined ? peers : chosen(against, peers);
    const present = contenders.filter(
      (c) => (c === 'tidegate' || named.includes(c)) && all.some(({ asks }) => asks[c]),
    );
    const headers = headersFor(seeded);
    const wrong: string[] = [];

    progress('comparing the answers, and counting the statements behind them');
    const expected = new Map<string, unknown>();
    const sizes = new Map<string, number>();
    const statements = new Map<string, number>();
    for (const contender of present) {
      const relay = await counting(server.login);
      const one = await start(contender, relay.login, seeded, 20);
      try {
        for (const workload of all) {
          const asks = workload.asks[contender];
          if (!asks) continue;
          const cell = `${workload.name} ${contender}`;
          const size = await check(one, workload, asks, headers, expected, wrong);
          sizes.set(cell, size);
          statements.set(cell, await statementsOf(one, asks, headers, relay.count));
        }
      } finally {
        await one.stop();
        relay.close();
      }
    }

    progress('starting the product, to measure the time and the memory of a start');
    const starts: number[] = [];
    let residentAtRest: number | undefined;
    for (let i = 0; i < 3; i++) {
      const one = await start('tidegate', server.login, seeded, 20);
      starts.push(one.milliseconds);
      await new Promise((resume) => setTimeout(resume, i === 2 ? 3_000 : 100));
      residentAtRest = residentOf(one.pid);
      await one.stop();
    }

    progress(`starting ${present.map((c) => titles[c]).join(', ')}`);
    for (const contender of present) running.push(await start(contender, server.login, seeded));
    const product = running[0]!;
    const measured = new Map<string, Cell[]>();
    const scripts = pgbench && named.length > 0 ? await sqlOf(server.login, seeded, address) : {};

    let done = 0;
    for (let round = 0; round <= rounds; round++) {
      if (flags.quick && done > 0 && Date.now() - begun > quickMilliseconds) break;
      done = round;
      for (const workload of all) {
        progress(`${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}: ${workload.name}`);
        const those = running.filter(({ contender }) => workload.asks[contender]);
        // Rotate the order, so that no contender is always the first after another workload.
        const turned = those.map((_, i) => those[(i + round) % those.length]!);
        for (const one of turned) {
          const name = `${workload.name} ${one.contender}`;
          const before = workload.writes ? await depositsOf(seeded) : 0;
          const cell = await cpuAround(one.pid, postgresql, () =>
            ask(one, workload, headers, round === 0 ? 1 : seconds),
          );
          // A contender that is still warming up need not answer within the round, but its answers must be right.
          if (round > 0 || cell.requests + cell.failures > 0)
            await judge(workload, one, cell, sizes.get(name)!, before, seeded, wrong);
          if (workload.writes) await numbered();
          if (round > 0) measured.set(name, [...(measured.get(name) ?? []), cell]);
        }
        const script = scripts[workload.name];
        if (script && round > 0) {
          const cell = await cpuAround(undefined, postgresql, () => bench(server.login, script, seconds));
          wrong.push(...flaws(cell).map((flaw) => `${workload.name} of pgbench: ${flaw}`));
          measured.set(`${workload.name} pgbench`, [...(measured.get(`${workload.name} pgbench`) ?? []), cell]);
          if (workload.writes) await numbered();
        }
      }
    }
    const residentAfterLoad = residentOf(product.pid);

    progress('comparing the answers again');
    expected.clear();
    for (const one of running)
      for (const workload of all) {
        const asks = workload.asks[one.contender];
        if (asks) await check(one, workload, asks, headers, expected, wrong);
      }
    for (const one of running.splice(0)) await one.stop();

    const grown = all.filter(({ name }) => growing.includes(name));
    let growthOf: Growth | null = null;
    if (grown.length > 0) {
      progress(`one process and several on one port: ${grown.map(({ name }) => name).join(', ')}`);
      const milliseconds = flags.quick ? quickGrowthMilliseconds : Number.POSITIVE_INFINITY;
      growthOf = await growth(server.login, seeded, grown, sizes, { rounds, seconds, milliseconds }, wrong);
    }

    const ledgerRuns = Object.entries({
      ...(pgbench && named.length > 0 && !only && ledger(seeded)),
      ...(pgbench && flags.pgledger !== undefined && transfers(seeded, flags.pgledger)),
    });
    for (const [, { prepare }] of ledgerRuns) if (prepare) await sql.unsafe(prepare);
    for (let round = 0; round <= rounds && ledgerRuns.length > 0; round++) {
      progress(`${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}: postings and plain updates`);
      for (const [name, { script, schema }] of ledgerRuns) {
        const cell = await cpuAround(undefined, postgresql, () =>
          bench(server.login, { text: script, ...(schema && { schema }) }, seconds),
        );
        wrong.push(...flaws(cell).map((flaw) => `${name}: ${flaw}`));
        if (round > 0) measured.set(`${name} pgbench`, [...(measured.get(`${name} pgbench`) ?? []), cell]);
      }
    }
    if (flags.data && ledgerRuns.length > 0) {
      progress('sealing the postings');
      for (let n = 1; n > 0; ) n = Number((await sql`select seal_postings(${seeded.tenant}, false, 20000) as n`)[0]?.n);
    }

    const titlesOf = Object.fromEntries(all.map(({ name, title }) => [name, title]));
    for (const [name, { title }] of ledgerRuns) titlesOf[name] = title;
    const results = [...measured].map(([cell, rows]): Measured => {
      const [workload, contender] = [cell.slice(0, cell.lastIndexOf(' ')), cell.slice(cell.lastIndexOf(' ') + 1)];
      const ours = measured.get(`${workload} tidegate`);
      const each = (of: (row: Cell) => number | undefined) => median(rows.map(of).filter((n) => n !== undefined));
      return {
        workload,
        contender,
        requestsPerSecond: each(rate)!,
        p50: each((row) => row.p50)!,
        p99: each((row) => row.p99)!,
        cpu: {
          gateway: each((row) => row.cpu.gateway && (row.cpu.gateway * 1000) / row.requests),
          postgresql: each((row) => row.cpu.postgresql && (row.cpu.postgresql * 1000) / row.requests),
        },
        statements: statements.get(cell) ?? null,
        ratio:
          contender === 'tidegate' || !ours || wrong.length > 0
            ? null
            : median(rows.map((row, i) => rate(ours[i]!) / rate(row))),
      };
    });
    const startOf = {
      readyMilliseconds: median(starts)!,
      residentAtRest: residentAtRest ?? null,
      residentAfterLoad: residentAfterLoad ?? null,
    };
    const report: Report = {
      node: process.versions.node,
      postgresql: server.version,
      generator,
      cores: os.availableParallelism(),
      connections,
      rounds: done,
      secondsOfRound: seconds,
      deposits: seeded.deposits,
      workloads: titlesOf,
      results,
      growth: growthOf && wrong.length > 0 ? withoutRatios(growthOf) : growthOf,
      start: startOf,
      targets: wrong.length > 0 ? [] : targets({ results, start: startOf }),
      absent: [
        ...(pgbench
          ? []
          : [
              'pgbench was not found: there are no figures for plain SQL and for the ledger. Debian has it in ' +
                'the package postgresql-contrib or postgresql.',
            ]),
        ...(generator === 'wrk'
          ? []
          : [
              'wrk was not found, so autocannon generated the load; it uses much of a core itself, which ' +
                'brings all ratios nearer to 1.',
            ]),
      ],
      wrong,
    };
    return report;
  } finally {
    for (const one of running) await one.stop();
    await sql.end();
    await server.close();
  }

  async function depositsOf({ tenant, receiver }: Seeded): Promise<number> {
    const [row] = await sql`select count(*)::int as n from deposit where tenant_id = ${tenant} and livemode = false
        and to_account_id = ${receiver}`;
    return Number(row?.n);
  }

  /** Adds the reasons why a round's figures do not count: failures, answers of a wrong size, missing rows. */
  async function judge(
    workload: Workload,
    one: Running,
    cell: Cell,
    size: number,
    before: number,
    seeded: Seeded,
    wrong: string[],
  ) {
    const name = `${workload.name} of ${titles[one.contender]}`;
    wrong.push(...flaws(cell, size).map((flaw) => `${name}: ${flaw}`));
    if (workload.writes) {
      const made = (await depositsOf(seeded)) - before;
      if (made < cell.requests) wrong.push(`${name}: ${cell.requests} answers, but ${made} deposits`);
    }
  }

  /**
   * Waits until the product's worker has numbered the events of a round, so that this work does not fall into the next
   * round.
   */
  async function numbered(): Promise<void> {
    for (let i = 0; i < 100; i++) {
      const [row] = await sql`select exists (select from event where number is null) as more`;
      if (!row?.more) return;
      await new Promise((resume) => setTimeout(resume, 50));
    }
  }
}

/** The names of an option. An unknown name would measure nothing and look like success, so it is an error. */
function chosen(names: string, known: string[]): string[] {
  const list = names.split(',').filter(Boolean);
  const unknown = list.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`Unknown: ${unknown.join(', ')}. Known: ${known.join(', ')}.`);
  return list;
}

/**
 * Sends every tenth request of a workload once and compares the answers with those of earlier contenders. Returns the
 * mean size of an answer.
 */
async function check(
  one: Running,
  workload: Workload,
  asks: Ask[],
  headers: Record<string, string>,
  expected: Map<string, unknown>,
  wrong: string[],
): Promise<number> {
  let bytes = 0;
  const some = asks.filter((_, i) => i % 10 === 0);
  for (const [i, each] of some.entries()) {
    const name = `${workload.name} of ${titles[one.contender]}`;
    const { status, text } = await once(one, each, headers);
    bytes += Buffer.byteLength(text);
    try {
      const answer = each.canonical(JSON.parse(text));
      const key = `${workload.name} ${i}`;
      if (status !== 200) wrong.push(`${name}: status ${status}`);
      else if (!expected.has(key)) expected.set(key, answer);
      else wrong.push(...differences(answer, expected.get(key)).map((where) => `${name}: ${where}`));
    } catch {
      wrong.push(`${name}: ${status} ${text.slice(0, 300)}`);
    }
  }
  return Math.round(bytes / some.length);
}

/** The first place where an answer differs from the expected one. */
function differences(answer: unknown, expected: unknown, at = 'answer'): string[] {
  const deep = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
  if (!deep(answer) || !deep(expected))
    return answer === expected ? [] : [`${at} is ${JSON.stringify(answer)}, not ${JSON.stringify(expected)}`];
  const names = new Set([...Object.keys(answer), ...Object.keys(expected)]);
  return [...names].flatMap((name) => differences(answer[name], expected[name], `${at}.${name}`)).slice(0, 1);
}

/** The number of statements of one request: the least of several measurements, since a worker may add its own. */
async function statementsOf(
  one: Running,
  asks: Ask[],
  headers: Record<string, string>,
  count: () => number,
): Promise<number> {
  const seen: number[] = [];
  for (let i = 0; i < 12; i++) {
    const before = count();
    await once(one, asks[i % asks.length]!, headers);
    seen.push(count() - before);
  }
  return Math.min(...seen);
}

async function once(one: Running, { method, path, body }: Ask, headers: Record<string, string>) {
  const response = await fetch(one.origin + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

function ask(
  one: Running,
  { asks, connections: own }: Workload,
  headers: Record<string, string>,
  seconds: number,
): Promise<Round> {
  const requests = requestsOf(asks[one.contender]!);
  return load({ origin: one.origin, headers, requests, seconds, ...(own && { connections: own }) });
}

async function cpuAround(
  pid: number | undefined,
  server: number | undefined,
  work: () => Promise<Round>,
): Promise<Cell> {
  const now = () => ({ gateway: pid === undefined ? undefined : cpuOf(pid), postgresql: cpuOfServer(server) });
  const before = now();
  const round = await work();
  const after = now();
  const spent = (name: 'gateway' | 'postgresql') =>
    before[name] === undefined || after[name] === undefined ? undefined : after[name] - before[name];
  return { ...round, cpu: { gateway: spent('gateway'), postgresql: spent('postgresql') } };
}

const withoutRatios = (growth: Growth): Growth => ({
  ...growth,
  results: growth.results.map((each) => ({ ...each, ratio: null })),
});

/** A report as text. */
function textOf(report: Report | Soak | FairSoak | Neighbours | Buffers | DepositCost | LiveWrites): string {
  if ('importSeconds' in report) return liveWritesTable(report);
  if ('rebuilt' in report) return depositCostTable(report);
  if ('questions' in report) return buffersTable(report);
  if ('drained' in report) return fairSoakTable(report);
  if ('failures' in report) return soakTable(report);
  return 'floods' in report ? neighboursTable(report) : table(report);
}

const rate = ({ requests, seconds: s }: Round) => requests / s;

if (flags.help) process.stdout.write(help);
else {
  const report = await main();
  const text = textOf(report);
  process.stdout.write(flags.json ? `${JSON.stringify(report, null, 2)}\n` : `\n${text}`);
  progress('done');
  const failed =
    ('failures' in report && report.failures > 0) ||
    ('wrong' in report && report.wrong.length > 0) ||
    ('drained' in report && (report.drained === null || report.violations.length > 0));
  if (failed) process.exitCode = 1;
}
