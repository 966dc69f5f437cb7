import type { Growth } from './growth.ts';
import { many, titles } from './workloads.ts';

/** The figures of one contender under one workload: medians over the rounds. */
export interface Measured {
  workload: string;
  contender: string;
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /**
   * Milliseconds of CPU for each request, of the gateway and of all of PostgreSQL; null if the kernel does not report
   * them.
   */
  cpu: { gateway: number | null; postgresql: number | null };
  /** SQL statements for each request; null if they were not counted. */
  statements: number | null;
  /** The product's requests/s divided by this contender's, the median of the rounds' ratios. */
  ratio: number | null;
}

export interface Target {
  name: string;
  wanted: string;
  value: number | null;
  met: boolean | null;
}

export interface Report {
  node: string;
  postgresql: string;
  generator: string;
  cores: number;
  connections: number;
  rounds: number;
  secondsOfRound: number;
  deposits: number;
  workloads: Record<string, string>;
  results: Measured[];
  /** The product alone with several processes; null if none of the workloads that measure growth was selected. */
  growth: Growth | null;
  start: { readyMilliseconds: number; residentAtRest: number | null; residentAfterLoad: number | null };
  targets: Target[];
  absent: string[];
  wrong: string[];
}

/** The least ratio to each contender. */
const least: [workload: string, contender: string, ratio: number][] = [
  ...eachOf(['Q1', 'Q2'], 'stock', 4),
  ['Q3', 'stock', 6],
  ...eachOf(['Q1', 'Q2'], 'postgraphile', 2.5),
  ['Q3', 'postgraphile', 5],
  ...eachOf(['Q1', 'Q2'], 'mercurius', 1),
  ['Q3', 'mercurius', 5],
  ['Q3 differing', 'mercurius', 3],
  ...eachOf(['REST by id', 'REST list', 'first page', 'balance'], 'rest', 1.2),
  ...eachOf(
    ['REST by id', 'REST list', 'first page', 'balance'].map((name) => `${name} at ${many}`),
    'rest',
    1.5,
  ),
];

function eachOf(names: string[], contender: string, ratio: number): [string, string, number][] {
  return names.map((name) => [name, contender, ratio]);
}

/** The performance targets of the product, and whether it meets them. */
export function targets({ results, start }: Pick<Report, 'results' | 'start'>): Target[] {
  const found = (workload: string, contender: string) =>
    results.find((r) => r.workload === workload && r.contender === contender);
  const by = (a: string, b: string, contender: string) => {
    const [x, y] = [found(a, contender), found(b, contender)];
    return x && y ? x.requestsPerSecond / y.requestsPerSecond : null;
  };
  const atLeast = (name: string, wanted: number, value: number | null | undefined): Target => ({
    name,
    wanted: `at least ${wanted}`,
    value: value ?? null,
    met: value == null ? null : value >= wanted,
  });
  const atMost = (name: string, wanted: number, value: number | null | undefined): Target => ({
    name,
    wanted: `at most ${wanted}`,
    value: value ?? null,
    met: value == null ? null : value <= wanted,
  });
  return [
    ...least.map(([workload, contender, ratio]) =>
      atLeast(
        `${workload} by ${titles[contender as keyof typeof titles] ?? contender}`,
        ratio,
        found(workload, contender)?.ratio,
      ),
    ),
    atLeast('a posting by an update of one row', 0.5, by('posting spread', 'plain spread', 'pgbench')),
    atLeast('a posting on one hot account by an update of one hot row', 0.5, by('posting hot', 'plain hot', 'pgbench')),
    atLeast("a transfer between two balances by pgledger's", 2, by('transfer spread', 'pgledger spread', 'pgbench')),
    atLeast("a transfer from one balance by pgledger's", 2, by('transfer hot', 'pgledger hot', 'pgbench')),
    atMost('time of a deep page by the first page', 1.2, by('first page', 'deep page', 'tidegate')),
    atMost('SQL statements of Q3', 6, found('Q3', 'tidegate')?.statements),
    atMost('milliseconds to ready', 1000, start.readyMilliseconds),
    atMost('megabytes at rest', 150, start.residentAtRest),
  ].filter(({ value }) => value !== null);
}

/** The report as text. */
export function table(report: Report): string {
  const { results, workloads, start, wrong } = report;
  const lines = [
    `Node ${report.node}, PostgreSQL ${report.postgresql}, ${report.generator} with ${report.connections} ` +
      `connections, ${report.cores} cores shared by all;`,
    `${report.deposits} deposits; medians of ${report.rounds} interleaved rounds of ${report.secondsOfRound} ` +
      's. Only the ratios can be compared with other machines.',
    '',
  ];
  const columns = ['', 'requests/s', 'p50 ms', 'p99 ms', 'CPU ms', 'of PostgreSQL', 'statements', 'Tidegate is'];
  const widths = [36, 10, 8, 8, 8, 13, 10, 11];
  const row = (cells: string[]) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ');
  lines.push(row(columns));
  for (const [name, title] of Object.entries(workloads)) {
    const rows = results.filter((r) => r.workload === name);
    if (rows.length === 0) continue;
    lines.push('', `${name}: ${title}`);
    for (const r of rows) {
      const ratio = wrong.length > 0 || r.ratio === null ? '' : `× ${r.ratio.toFixed(2)}`;
      const figure = (n: number | null, digits: number) => (n === null ? '' : n.toFixed(digits));
      lines.push(
        row([
          `  ${titles[r.contender as keyof typeof titles] ?? r.contender}`,
          String(Math.round(r.requestsPerSecond)),
          ...[figure(r.p50, 1), figure(r.p99, 1), figure(r.cpu.gateway, 2), figure(r.cpu.postgresql, 2)],
          ...[figure(r.statements, 0), ratio],
        ]),
      );
    }
  }
  if (report.growth) {
    const { note, connections, results: grown } = report.growth;
    lines.push(
      '',
      `Processes that share one port (WORKERS): ${connections} connections, medians of interleaved rounds.`,
      note,
      row(['', 'requests/s', 'rounds', 'by one']),
    );
    for (const { workload, processes, rounds, requestsPerSecond, ratio, idle } of grown)
      lines.push(
        row([
          `  ${workload}, ${processes === 1 ? '1 process' : `${processes} processes`}`,
          String(Math.round(requestsPerSecond)),
          String(rounds),
          idle > 0 ? `${idle} idle` : processes === 1 || ratio === null ? '' : `× ${ratio.toFixed(2)}`,
        ]),
      );
  }
  lines.push(
    '',
    `Ready after ${start.readyMilliseconds} ms; ${start.residentAtRest ?? '?'} MB at rest, ` +
      `${start.residentAfterLoad ?? '?'} MB after the load.`,
  );
  for (const what of report.absent) lines.push(what);
  lines.push('');
  if (wrong.length > 0)
    return [...lines, 'No ratios, because answers were wrong:', ...wrong.map((w) => `  ${w}`), ''].join('\n');
  lines.push('Targets');
  for (const { name, wanted, value, met } of report.targets)
    lines.push(
      `  ${met ? 'met   ' : 'missed'}  ${name}: ${value! >= 10 ? Math.round(value!) : value!.toFixed(2)}, ` +
        `wanted ${wanted}`,
    );
  return `${lines.join('\n')}\n`;
}
