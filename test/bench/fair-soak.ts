import type postgres from 'postgres';
import { connections, generator, load, median, type Round } from './load.ts';
import { anonymousOfServer, headersFor, residentOf, type Running } from './processes.ts';
import type { Seeded } from './seed.ts';
import { requestsOf, workloads } from './workloads.ts';

/** A minute of honest tenants, alone and then beside a greedy one. Times are milliseconds, rates are per second. */
interface Minute {
  greedy: string;
  /** Of the honest tenant that waited longest. Null when it got no answer. */
  alone: { p50: number | null; p99: number | null };
  beside: { p50: number | null; p99: number | null };
  honestRequests: number;
  /** Of the honest tenants' requests beside the greedy one, those that were refused or failed. */
  honestFailed: number;
  /** What the gateway answered with success to all of them together. */
  goodput: number;
  /** The answers of the gateway in this minute, by their status. */
  statuses: Record<string, number>;
  /** Requests without an answer: lost connections and time-outs of the load. */
  lost: number;
  /** The longest delay of the event loop that was seen. */
  loopDelay: number;
  /** Resident megabytes of the gateway, and of private memory of PostgreSQL's processes. */
  gateway: number;
  postgresql: number;
  /** Due jobs and events without a number at the end of the minute. */
  backlog: number;
}

export interface FairSoak {
  /** The program that made the load. */
  generator: string;
  minutes: Minute[];
  honest: number;
  /** The most good answers a second before the first minute. */
  peak: number;
  loadAverages: number[];
  /** Seconds after the end of the load until no due job and no event without a number was left; null if some were. */
  drained: number | null;
  /** What the audit of the ledger found. */
  violations: { rule: string; what: string }[];
}

const aloneSeconds = 20;
const besideSeconds = 34;
const honestPause = 40;
const floodConnections = 1_500;
const drainSeconds = 300;
const peakSeconds = 16;

/** The gateway's settings: as in production, with its metrics. */
export const metricsPort = 4890;
export const settings = { RATE_LIMIT: 'enforce', METRICS_PORT: String(metricsPort), METRICS_HOST: '127.0.0.1' };

const asksOf = (seeded: Seeded, address: string, names: string[]) => {
  const all = workloads(seeded, address).filter(({ name }) => names.includes(name));
  return requestsOf(
    Array.from({ length: 40 }, (_, i) => {
      const asks = all[i % all.length]!.asks.tidegate!;
      return asks[Math.floor(i / all.length) % asks.length]!;
    }),
  );
};

/**
 * Runs honest tenants for the given minutes. In each, they are alone at first and then beside another tenant that sends
 * too much, each minute in another way.
 */
export async function fairSoak(
  product: Running,
  server: number | undefined,
  sql: postgres.Sql,
  [greedy, ...honest]: [Seeded, ...Seeded[]],
  minutes: number,
  loadAverage: () => number,
  progress: (step: string) => void,
): Promise<FairSoak> {
  // The benchmark postpones jobs; here the sandbox completes deposits. It also leaves debts of points, because it only
  // measures the allowance, which is enforced here.
  await sql.unsafe('drop trigger if exists bench_defer on job; delete from allowance');
  const addressOf = async ({ tenant, receiver }: Seeded) => {
    const [row] = await sql`
      select id from address where tenant_id = ${tenant} and not livemode and linked_id = ${receiver}
      and category = 'service_receive'`;
    return String(row?.id);
  };
  const greedyAddress = await addressOf(greedy);
  const reads = ['REST by id', 'REST list', 'first page', 'Q3'];
  const honestLoads: Omit<Parameters<typeof load>[0], 'seconds'>[] = [];
  for (const one of honest)
    honestLoads.push({
      origin: product.origin,
      headers: headersFor(one),
      requests: asksOf(one, await addressOf(one), [...reads, 'REST create']),
      ...{ connections: 4, pauseMilliseconds: honestPause },
    });
  const base = { origin: product.origin, headers: headersFor(greedy), seconds: besideSeconds + 2 };
  const slow = ['/v1/deposits?currency=AED', '/v1/deposits?status=cancelled', '/v1/events?type=deposit.failed'];
  progress('measuring the peak');
  const peak = await peakOf({ ...base, requests: asksOf(greedy, '', reads), connections: 64, seconds: peakSeconds });
  if (peak === 0) throw new Error('The greedy tenant got no answer while its peak was measured.');
  const floods: [string, () => Parameters<typeof load>[0]][] = [
    ['64 connections that read', () => ({ ...base, requests: asksOf(greedy, '', reads), connections: 64 })],
    [
      '64 connections that create deposits',
      () => ({ ...base, requests: asksOf(greedy, greedyAddress, ['REST create']), connections: 64 }),
    ],
    [
      'slow questions over 16 connections',
      () => ({ ...base, requests: slow.map((path) => ({ method: 'GET', path })), connections }),
    ],
    [
      '4 times the peak over 1,500 connections',
      () => ({
        ...{ ...base, requests: asksOf(greedy, '', reads), connections: floodConnections },
        pauseMilliseconds: Math.max(1, (floodConnections / (4 * peak)) * 1_000),
      }),
    ],
  ];
  const all: FairSoak = {
    ...{ generator, minutes: [], honest: honest.length, peak },
    ...{ loadAverages: [], drained: null, violations: [] },
  };
  for (let minute = 0; minute < minutes; minute++) {
    const [name, flood] = floods[minute % floods.length]!;
    const before = await metrics();
    const each = (seconds: number) => Promise.all(honestLoads.map((one) => load({ ...one, seconds })));
    const alone = await each(aloneSeconds);
    const began = await metrics();
    const flooding = load(flood());
    const delays: number[] = [];
    const looking = setInterval(
      () =>
        void metrics().then(
          (seen) => delays.push(seen.loopDelay),
          () => {},
        ),
      2_000,
    );
    const [beside, sent] = await Promise.all([
      new Promise<Round[]>((resolve, reject) => setTimeout(() => each(besideSeconds).then(resolve, reject), 1_000)),
      flooding,
    ]);
    clearInterval(looking);
    const after = await metrics();
    const statuses = difference(after.statuses, before.statuses);
    const goodput = (difference(after.statuses, began.statuses)['2xx'] ?? 0) / (besideSeconds + 2);
    const sum = (rounds: Round[], of: (round: Round) => number) => rounds.reduce((total, one) => total + of(one), 0);
    const row: Minute = {
      ...{ greedy: name, alone: slowest(alone), beside: slowest(beside), goodput, statuses },
      honestRequests: sum(beside, ({ requests }) => requests),
      honestFailed: sum(beside, ({ failures }) => failures),
      lost: sum([...alone, ...beside, sent], ({ failures, refused = 0 }) => failures - refused),
      loopDelay: Math.max(after.loopDelay, ...delays) * 1_000,
      gateway: residentOf(product.pid) ?? 0,
      postgresql: anonymousOfServer(server) ?? 0,
      backlog: await backlogOf(sql),
    };
    all.minutes.push(row);
    all.loadAverages.push(loadAverage());
    progress(`minute ${minute + 1} of ${minutes}\n${line(row)}`);
  }
  const ended = performance.now();
  while ((await backlogOf(sql)) > 0 && performance.now() - ended < drainSeconds * 1_000)
    await new Promise((resume) => setTimeout(resume, 250));
  if ((await backlogOf(sql)) === 0) all.drained = (performance.now() - ended) / 1_000;
  progress('auditing the ledger');
  all.violations = await sql<FairSoak['violations']>`select rule, what from violations limit 20`;
  return all;
}

/**
 * The most good answers that the gateway gives in a second: of a load that lasts until the gateway is warm, and before
 * the allowance is used up, the best two seconds.
 */
async function peakOf(round: Parameters<typeof load>[0]): Promise<number> {
  let ended = false;
  const loading = load(round).finally(() => (ended = true));
  let best = 0;
  let [before, at] = [await metrics(), performance.now()];
  while (!ended) {
    await new Promise((resume) => setTimeout(resume, 2_000));
    const [after, now] = [await metrics(), performance.now()];
    const good = difference(after.statuses, before.statuses)['2xx'] ?? 0;
    best = Math.max(best, (good / (now - at)) * 1_000);
    [before, at] = [after, now];
  }
  await loading;
  return best;
}

const slowest = (rounds: Round[]) => {
  const answered = rounds.every(({ requests }) => requests > 0);
  const most = (of: (round: Round) => number) => (answered ? Math.max(...rounds.map(of)) : null);
  return { p50: most(({ p50 }) => p50), p99: most(({ p99 }) => p99) };
};

/** Due jobs, and events without a number. */
async function backlogOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql`
    select (select count(*) from job where due <= extract(epoch from clock_timestamp()))
      + (select count(*) from event where number is null) as n`;
  return Number(row?.n);
}

/** The gateway's answers so far, by their status, and the delay of its event loop in seconds. */
async function metrics(): Promise<{ statuses: Record<string, number>; loopDelay: number }> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const statuses: Record<string, number> = {};
  for (const [, status = '', count] of text.matchAll(/^tidegate_http_requests_total\{.*?status="(\d+)".*?\} (\d+)/gm)) {
    const name = status.startsWith('2') ? '2xx' : status;
    statuses[name] = (statuses[name] ?? 0) + Number(count);
  }
  const delay = /^tidegate_event_loop_delay_seconds(?:\{.*\})? (\S+)/m.exec(text)?.[1];
  return { statuses, loopDelay: Number(delay ?? 0) };
}

const difference = (after: Record<string, number>, before: Record<string, number>) =>
  Object.fromEntries(
    Object.entries(after)
      .map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
      .filter(([, count]) => count > 0),
  );

const figure = (n: number | null, digits = 1) => (n === null ? 'none' : n.toFixed(digits));
const ratioOf = ({ alone, beside }: Minute) =>
  alone.p99 === null || beside.p99 === null ? null : beside.p99 / alone.p99;

function line(minute: Minute): string {
  const { alone, beside, honestRequests, honestFailed, goodput, statuses, lost, loopDelay, backlog } = minute;
  const answers = Object.entries(statuses).map(([status, count]) => `${status} ${count}`);
  return [
    `  beside ${minute.greedy}`,
    `    p50 ${figure(alone.p50)} → ${figure(beside.p50)} ms, p99 ${figure(alone.p99)} → ${figure(beside.p99)} ` +
      `ms (× ${figure(ratioOf(minute), 2)}); honest ${honestRequests}, of which ${honestFailed} failed`,
    `    ${figure(goodput, 0)} good answers/s; answers ${answers.join(', ')}; lost ${lost}; event loop ` +
      `${figure(loopDelay, 0)} ms; gateway ${minute.gateway} MB, PostgreSQL ${minute.postgresql} MB; backlog ` +
      `${backlog}`,
  ].join('\n');
}

/** The soak as text. */
export function fairSoakTable(soak: FairSoak): string {
  const { minutes, honest, peak, loadAverages, drained, violations } = soak;
  const quarter = Math.max(1, Math.floor(minutes.length / 4));
  const trend = (name: string, of: (minute: Minute) => number) => {
    const all = minutes.map(of);
    const [early, late] = [median(all.slice(quarter, 2 * quarter)), median(all.slice(-quarter))];
    return `  ${name}: ${early} MB in the second quarter, ${late} MB in the last`;
  };
  const names = [...new Set(minutes.map(({ greedy }) => greedy))];
  const ratios = names.map((name) => {
    const these = minutes.filter(({ greedy }) => greedy === name).map(ratioOf);
    const ratio = these.includes(null) ? null : median(these as number[]);
    return (
      `  ${ratio !== null && ratio <= 2 ? 'met   ' : 'missed'}  p99 by alone, ${name}: ${figure(ratio, 2)} ` +
      `(median of ${these.length}), wanted at most 2`
    );
  });
  const total = (of: (minute: Minute) => number) => minutes.reduce((sum, minute) => sum + of(minute), 0);
  const faults = total(({ statuses }) =>
    Object.entries(statuses).reduce((sum, [status, n]) => sum + (/^5(?!03)/.test(status) ? n : 0), 0),
  );
  const target = (met: boolean, text: string) => `  ${met ? 'met   ' : 'missed'}  ${text}`;
  return [
    `${honest} honest tenants, alone for ${aloneSeconds} s of each minute and then beside a greedy one, by ` +
      `${soak.generator}; load ` +
      `averages ${figure(Math.min(...loadAverages))} to ${figure(Math.max(...loadAverages))}; the peak before was ` +
      `${figure(peak, 0)} good answers/s.`,
    ...minutes.map((minute, n) => `minute ${n + 1}\n${line(minute)}`),
    '',
    ...(minutes.length >= 4
      ? [trend('gateway', ({ gateway }) => gateway), trend('PostgreSQL', ({ postgresql }) => postgresql)]
      : []),
    'Targets',
    ...ratios,
    target(faults === 0, `answers with 5xx that are not 503: ${faults}, wanted none`),
    target(drained !== null, `backlog worked off after ${drained === null ? 'more than 300' : figure(drained)} s`),
    target(
      violations.length === 0,
      `audit of the ledger: ${violations.length === 0 ? 'nothing found' : JSON.stringify(violations)}`,
    ),
    '',
  ].join('\n');
}
