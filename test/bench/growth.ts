import os from 'node:os';
import { flaws, load, median, type Round } from './load.ts';
import { childrenOf, cpuOf, headersFor, type Running, start } from './processes.ts';
import type { Seeded } from './seed.ts';
import type { Login } from './server.ts';
import { requestsOf, type Workload } from './workloads.ts';

/** How the product's throughput grows with the processes that share its port, as `WORKERS` starts them. */
export interface Growth {
  /** The number of cores and what shares them: without it the ratios mean nothing. */
  note: string;
  connections: number;
  results: {
    workload: string;
    processes: number;
    rounds: number;
    requestsPerSecond: number;
    /**
     * Requests/s divided by those of one process, the median of the rounds' ratios; null if answers were wrong or a
     * process idle.
     */
    ratio: number | null;
    /** The number of processes that were almost idle, in the worst round. */
    idle: number;
  }[];
}

interface Cell extends Round {
  idle: number;
}

/** The workloads that measure growth: one that hardly uses PostgreSQL, and one that keeps it busy. */
export const growing = ['REST by id', 'Q3'];

/** The maximum of `WORKERS`. */
const processesMax = 12;
const connectionsOfEach = 8;
const warmingsMax = 6;

/**
 * Measures the product with one, two and four processes and with one for each core, all over the same rows, in
 * interleaved rounds. After the first round it starts no measurement that would not end within `milliseconds`.
 */
export async function growth(
  login: Login,
  seeded: Seeded,
  workloads: Workload[],
  sizes: Map<string, number>,
  { rounds, seconds, milliseconds }: { rounds: number; seconds: number; milliseconds: number },
  wrong: string[],
): Promise<Growth> {
  const begun = performance.now();
  const cores = os.availableParallelism();
  const most = Math.min(Math.max(2, cores), processesMax);
  const counts = [...new Set([1, 2, 4, most])].filter((n) => n <= most).sort((a, b) => a - b);
  // The same for all: enough that with the most processes none of them waits for requests.
  const connections = connectionsOfEach * most;
  const headers = headersFor(seeded);
  const started = await Promise.allSettled(counts.map((n, i) => start('tidegate', login, seeded, 30 + i, n)));
  const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  try {
    for (const one of started) if (one.status === 'rejected') throw one.reason;
    const ask = (one: Running, { asks }: Workload, lasting: number) =>
      load({ origin: one.origin, headers, requests: requestsOf(asks.tidegate!), seconds: lasting, connections });

    // The last of many processes may start too late to accept connections of the first rounds.
    let late = false;
    const warm = () => performance.now() - begun > milliseconds / 2;
    for (let n = 0; n < workloads.length || (late && n < warmingsMax && !warm()); n++) {
      const workload = workloads[n % workloads.length]!;
      const warmed = running.map((one, i) => roundOf(one, counts[i]!, () => ask(one, workload, 1)));
      late = (await Promise.all(warmed)).some(({ idle }) => idle > 0);
    }

    const results: Growth['results'] = [];
    const measured = new Map<Workload, Cell[][]>(workloads.map((workload) => [workload, counts.map(() => [])]));
    const size = ({ name }: Workload) => sizes.get(`${name} tidegate`);
    let lasted = 0;
    const turns = Array.from({ length: rounds }, (_, turn) => [...measured].map((each) => ({ turn, each }))).flat();
    for (const { turn, each } of turns) {
      const [workload, cells] = each;
      const before = performance.now();
      if (turn > 0 && before - begun + lasted > milliseconds) break;
      // Rotate the order, so that no process count is always the first after another workload.
      for (const i of counts.keys()) {
        const which = (i + turn) % counts.length;
        const [one, processes] = [running[which]!, counts[which]!];
        const cell = await roundOf(one, processes, () => ask(one, workload, seconds));
        const name = `${workload.name} of ${processes} processes`;
        wrong.push(...flaws(cell, size(workload)).map((flaw) => `${name}: ${flaw}`));
        cells[which]!.push(cell);
      }
      lasted = performance.now() - before;
    }

    const rate = (cell: Cell) => cell.requests / cell.seconds;
    for (const [{ name: workload }, cells] of measured)
      for (const [i, processes] of counts.entries()) {
        const those = cells[i]!;
        const idle = Math.max(...those.map((cell) => cell.idle));
        const ratio = median(those.map((cell, turn) => rate(cell) / rate(cells[0]![turn]!)));
        const requestsPerSecond = median(those.map(rate))!;
        results.push({
          workload,
          processes,
          rounds: those.length,
          requestsPerSecond,
          ratio: idle > 0 ? null : ratio,
          idle,
        });
      }
    const note =
      `${cores} cores, which the processes share with PostgreSQL and the load generator: if these leave no core ` +
      'free, more processes cannot do more.';
    return { note, connections, results };
  } finally {
    await Promise.all(running.map((one) => one.stop()));
  }
}

/**
 * Runs a round and counts the processes that did less than a quarter of an equal share of its work; 0 if the kernel
 * does not report it.
 */
async function roundOf({ pid }: Running, processes: number, work: () => Promise<Round>): Promise<Cell> {
  const children = () => new Map(childrenOf(pid)?.map((child) => [child, cpuOf(child) ?? 0]));
  const before = children();
  const round = await work();
  const spent = [...children()].map(([child, seconds]) => seconds - (before.get(child) ?? 0));
  const share = spent.reduce((sum, seconds) => sum + seconds, 0) / processes;
  const busy = spent.filter((seconds) => seconds > share / 4).length;
  return { ...round, idle: processes === 1 || spent.length === 0 ? 0 : processes - busy };
}
