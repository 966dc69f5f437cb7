import { connections, load, median, type Round, socketLoad } from './load.ts';
import { headersFor, type Running } from './processes.ts';
import type { Seeded } from './seed.ts';
import { requestsOf, workloads } from './workloads.ts';

/** What an honest tenant gets alone and beside a greedy one. Times are milliseconds, rates are per second. */
export interface Neighbours {
  rounds: number;
  secondsOfRound: number;
  /** Load average of the machine in each round, which others may use too. */
  loadAverages: number[];
  /** The most that the gateway answers: the mix by one tenant over 16 connections. */
  peak: number;
  /** The honest tenant's p99, median of the rounds. */
  alone: number;
  /** The same of a prober of /healthz. */
  aloneHealth: number;
  floods: Flood[];
}

interface Flood {
  name: string;
  /** What the greedy tenant sends, by the peak. */
  sent: number | null;
  /** The honest tenant's p99, and by its p99 alone in the same round; null when it got no answer in a round. */
  p99: number | null;
  ratio: number | null;
  /** The p99 of a prober of /healthz; null when it got no answer in a round. */
  health: number | null;
  /** The honest tenant's requests; without any, its p99 says nothing. */
  honestRequests: number;
  /** Of the honest tenant's requests, those that were refused or failed. */
  honestRefused: number;
  /** What the gateway answers with success to both tenants, by the peak in the same round. */
  goodput: number | null;
  /** The share of the greedy tenant's requests that were refused. */
  refused: number | null;
  /** Seconds after the end of the flood until the honest tenant's requests take no longer than twice its p99 alone. */
  normalAfter: number;
}

const honestConnections = 4;
const honestPause = 20;
/** A flood that waits for no answer: many connections that send one request in this time. */
const floodConnections = 1_500;
const probeSeconds = 5;

const healthPause = 20;
const bySockets = '20 WebSockets that subscribe without a pause';
const byHttp = '64 connections, each sends when it has its answer';

const mix = ['REST by id', 'REST list', 'first page', 'Q3'];

/** Measures an honest tenant alone and beside a greedy one, in interleaved rounds. */
export async function neighbours(
  product: Running,
  greedy: Seeded,
  honest: Seeded,
  { rounds, seconds, loadAverage }: { rounds: number; seconds: number; loadAverage: () => number },
  progress: (step: string) => void,
): Promise<Neighbours> {
  const asksOf = (seeded: Seeded) => {
    const all = workloads(seeded, '').filter(({ name }) => mix.includes(name));
    return Array.from({ length: 40 }, (_, i) => {
      const asks = all[i % all.length]!.asks.tidegate!;
      return asks[Math.floor(i / all.length) % asks.length]!;
    });
  };
  const base = (seeded: Seeded) => ({
    origin: product.origin,
    headers: headersFor(seeded),
    requests: requestsOf(asksOf(seeded)),
    seconds,
  });
  const probe = () =>
    load({
      ...{ origin: product.origin, headers: headersFor(honest), requests: [{ method: 'GET', path: '/healthz' }] },
      ...{ seconds, connections: 1, pauseMilliseconds: healthPause },
    });
  const honestLoad = { ...base(honest), connections: honestConnections, pauseMilliseconds: honestPause };
  const slow = {
    ...base(greedy),
    requests: [
      { method: 'GET', path: '/v1/deposits?currency=AED' },
      { method: 'GET', path: '/v1/deposits?status=cancelled' },
      {
        method: 'POST',
        path: '/graphql',
        body: JSON.stringify({ query: '{ deposits(currency: ["AED"]) { totalCount nodes { id } } }' }),
      },
    ],
    connections,
  };
  const good = ({ requests, failures, seconds: took }: Round) => (requests - failures) / took;
  const [peaks, alone, aloneHealth]: [number[], number[], number[]] = [[], [], []];
  const measured = new Map<string, Omit<Flood, 'name'>[]>();
  const loadAverages: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
    const peak = good(await load({ ...base(greedy), connections }));
    const [alonely, healthy] = await Promise.all([load(honestLoad), probe()]);
    const floods: [string, Parameters<typeof load>[0] | undefined][] = [
      [byHttp, { ...base(greedy), connections: 4 * connections }],
      ['4 times the peak', { ...base(greedy), ...at(4 * peak) }],
      ['slow questions over 16 connections', slow],
      [bySockets, undefined],
    ];
    for (const [name, flood] of floods) {
      const flooding = flood
        ? load({ ...flood, seconds: seconds + 2 })
        : socketLoad(product.origin, greedy.key, seconds + 2);
      await new Promise((resume) => setTimeout(resume, 1_000));
      const [beside, health] = await Promise.all([load(honestLoad), probe()]);
      const sent = await flooding;
      const normalAfter = await normal(product.origin, honestLoad, 2 * alonely.p99);
      if (round === 0) continue;
      // Its answers are no part of the peak.
      const slowly = flood === slow || flood === undefined;
      measured.set(name, [
        ...(measured.get(name) ?? []),
        {
          sent: slowly ? null : sent.requests / sent.seconds / peak,
          p99: beside.requests > 0 ? beside.p99 : null,
          ratio: beside.requests > 0 ? beside.p99 / alonely.p99 : null,
          health: health.requests > 0 ? health.p99 : null,
          honestRequests: beside.requests,
          honestRefused: beside.failures,
          goodput: slowly ? null : (good(sent) + good(beside)) / peak,
          refused: sent.requests > 0 ? (sent.refused ?? 0) / sent.requests : null,
          normalAfter,
        },
      ]);
    }
    if (round === 0) continue;
    peaks.push(peak);
    alone.push(alonely.p99);
    aloneHealth.push(healthy.p99);
    loadAverages.push(loadAverage());
  }
  const each = (rows: Omit<Flood, 'name'>[], of: (row: Omit<Flood, 'name'>) => number | null) =>
    median(rows.map(of).filter((n) => n !== null));
  return {
    rounds,
    secondsOfRound: seconds,
    loadAverages,
    peak: median(peaks)!,
    alone: median(alone)!,
    aloneHealth: median(aloneHealth)!,
    floods: [...measured].map(([name, rows]) => ({
      name,
      sent: each(rows, (row) => row.sent),
      p99: rows.some((row) => row.p99 === null) ? null : each(rows, (row) => row.p99),
      ratio: rows.some((row) => row.ratio === null) ? null : each(rows, (row) => row.ratio),
      health: rows.some((row) => row.health === null) ? null : each(rows, (row) => row.health),
      honestRequests: rows.reduce((sum, row) => sum + row.honestRequests, 0),
      honestRefused: rows.reduce((sum, row) => sum + row.honestRefused, 0),
      goodput: each(rows, (row) => row.goodput),
      refused: each(rows, (row) => row.refused),
      normalAfter: each(rows, (row) => row.normalAfter)!,
    })),
  };
}

/** Connections and pauses that send at a rate, as long as answers take much less than a pause. */
function at(rate: number): { connections: number; pauseMilliseconds: number } {
  return { connections: floodConnections, pauseMilliseconds: Math.max(1, (floodConnections / rate) * 1_000) };
}

/** Seconds until the last of the honest tenant's requests that took longer than `most`, within a few seconds. */
async function normal(
  origin: string,
  {
    headers,
    requests,
  }: { headers: Record<string, string>; requests: { method: string; path: string; body?: string }[] },
  most: number,
): Promise<number> {
  const begun = performance.now();
  let [last, lastAt] = [0, 0];
  for (let i = 0; performance.now() - begun < probeSeconds * 1_000; i++) {
    const { method, path, body } = requests[i % requests.length]!;
    const before = performance.now();
    const response = await fetch(origin + path, { method, headers, ...(body !== undefined && { body }) });
    await response.arrayBuffer();
    // Twenty in a row that are quick enough end the wait.
    const late = performance.now() - before > most || response.status !== 200;
    if (late) [last, lastAt] = [i, performance.now() - begun];
    if (i - last >= 20) break;
    await new Promise((resume) => setTimeout(resume, 10));
  }
  return lastAt / 1_000;
}

/** The measurement as text, with the targets. */
export function neighboursTable(measured: Neighbours): string {
  const { rounds, secondsOfRound, loadAverages, peak, alone, aloneHealth, floods } = measured;
  const [http, sockets] = [byHttp, bySockets].map((name) => floods.find((flood) => flood.name === name)?.p99 ?? null);
  const figure = (n: number | null, digits = 2) => (n === null ? '' : n.toFixed(digits));
  const columns = [
    'sent by peak',
    'p99 ms',
    'by alone',
    'healthz p99',
    'refused',
    'goodput by peak',
    'honest',
    'of them refused',
    'normal after s',
  ];
  const row = (name: string, cells: string[]) =>
    name.padEnd(52) + cells.map((cell, i) => cell.padStart(columns[i]!.length + 2)).join('');
  return [
    `An honest tenant beside a greedy one; medians of ${rounds} interleaved rounds of ${secondsOfRound} s; ` +
      `load averages ${loadAverages.map((n) => n.toFixed(1)).join(', ')}.`,
    `The peak of one tenant is ${Math.round(peak)} requests/s; the honest tenant alone has a p99 of ` +
      `${figure(alone, 1)} ms, and a prober of /healthz ${figure(aloneHealth, 1)} ms.`,
    '',
    row('', columns),
    ...floods.map((flood) =>
      row(flood.name, [
        figure(flood.sent),
        flood.p99 === null ? 'none' : figure(flood.p99, 1),
        figure(flood.ratio),
        flood.health === null ? 'none' : figure(flood.health, 1),
        flood.refused === null ? '' : `${Math.round(flood.refused * 100)} %`,
        figure(flood.goodput),
        String(flood.honestRequests),
        String(flood.honestRefused),
        figure(flood.normalAfter, 1),
      ]),
    ),
    '',
    'Targets',
    `  ${http !== null && sockets !== null && sockets! <= http! ? 'met   ' : 'missed'}  p99 beside WebSockets: ` +
      `${figure(sockets!, 1)}, wanted at most that beside 64 connections: ${figure(http!, 1)}`,
    ...floods.flatMap(({ name, ratio, goodput, normalAfter }) => [
      `  ${ratio !== null && ratio <= 2 ? 'met   ' : 'missed'}  p99 by alone, ${name}: ` +
        `${ratio === null ? 'no answer' : figure(ratio)}, wanted at most 2`,
      ...(goodput === null
        ? []
        : [
            `  ${goodput >= 0.8 ? 'met   ' : 'missed'}  goodput by peak, ${name}: ${figure(goodput)}, wanted ` +
              'at least 0.8',
          ]),
      `  ${normalAfter <= 5 ? 'met   ' : 'missed'}  seconds until normal, ${name}: ${figure(normalAfter, 1)}, ` +
        'wanted at most 5',
    ]),
    '',
  ].join('\n');
}
