import { flaws, load } from './load.ts';
import { anonymousOfServer, headersFor, residentOf, type Running } from './processes.ts';
import type { Seeded } from './seed.ts';
import { requestsOf, type Workload } from './workloads.ts';

/** The memory of the product under load, minute by minute. */
export interface Soak {
  minutes: number;
  requests: number;
  failures: number;
  /** Resident megabytes of the gateway, the median of each minute. */
  gateway: number[];
  /** Megabytes of private memory of PostgreSQL's processes, the median of each minute. */
  postgresql: number[];
}

const secondsOfTurn = 5;

/** Runs every workload in turn at full load for the given minutes. */
export async function soak(
  product: Running,
  server: number | undefined,
  workloads: Workload[],
  seeded: Seeded,
  minutes: number,
  progress: (step: string) => void,
): Promise<Soak> {
  const headers = headersFor(seeded);
  const all: Soak = { minutes, requests: 0, failures: 0, gateway: [], postgresql: [] };
  let turn = 0;
  for (let minute = 0; minute < minutes; minute++) {
    const [gateway, postgresql]: [number[], number[]] = [[], []];
    for (const until = performance.now() + 60_000; performance.now() < until; ) {
      const workload = workloads[turn++ % workloads.length]!;
      const requests = requestsOf(workload.asks.tidegate!);
      const round = await load({ origin: product.origin, headers, requests, seconds: secondsOfTurn });
      all.requests += round.requests;
      all.failures += flaws(round).length > 0 ? Math.max(1, round.failures) : 0;
      gateway.push(residentOf(product.pid) ?? 0);
      postgresql.push(anonymousOfServer(server) ?? 0);
    }
    all.gateway.push(middle(gateway));
    all.postgresql.push(middle(postgresql));
    progress(`minute ${minute + 1} of ${minutes}: ${all.gateway.at(-1)} MB, PostgreSQL ${all.postgresql.at(-1)} MB`);
  }
  return all;
}

const middle = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;

/** The soak as text: compares the last quarter with the second one, by which all caches are filled. */
export function soakTable({ minutes, requests, failures, gateway, postgresql }: Soak): string {
  const quarter = Math.max(1, Math.floor(minutes / 4));
  const line = (name: string, each: number[]) => {
    const [before, after] = [middle(each.slice(quarter, 2 * quarter)), middle(each.slice(-quarter))];
    return (
      `  ${name}: ${before} MB in the second quarter, ${after} MB in the last (× ` +
      `${(after / before).toFixed(2)})\n    ${each.join(' ')}`
    );
  };
  return [
    `${minutes} minutes of load, ${requests} requests, of which ${failures} failed.`,
    line('gateway', gateway),
    line('PostgreSQL, private memory', postgresql),
    '',
  ].join('\n');
}
