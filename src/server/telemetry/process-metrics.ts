import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, Counter, Registry } from 'prom-client';

/** How long the metrics of a process are waited for. A scrape may take longer. */
const answerMilliseconds = 2_000;

/** A metric as processes hand it to each other. */
interface Metric {
  name: string;
  type: unknown;
}

/** Asks a process for its metrics; the answer has the same number. */
interface Question {
  metricsOf: number;
}
interface Answer extends Question {
  metrics: Metric[];
}

/** Lets the first process ask this one for its metrics. */
export function answerForMetrics(registry: Registry): void {
  process.on('message', (message: Partial<Question>) => {
    const { metricsOf } = message;
    if (metricsOf !== undefined)
      void registry.getMetricsAsJSON().then((metrics) => process.send?.({ metricsOf, metrics }, () => {}));
  });
}

/**
 * The metrics of all processes of `WORKERS`, as their first process serves them. A process that does not answer in time
 * keeps no other from being seen: its counters stay as they were last known, and its present values are left out. So do
 * the counters of processes that have ended, because a sum that goes back would look like a restart to Prometheus, and
 * everything that was counted so far like an increase.
 */
export class ProcessMetrics {
  /** What the first process counts by itself. */
  readonly own = new Registry();
  readonly #replaced = new Counter({
    name: 'tidegate_processes_replaced_total',
    help: 'Processes of WORKERS that were replaced: those that ended by themselves, and those that hung.',
    labelNames: ['reason'],
    registers: [this.own],
  });
  /** What each process has said last, by the number of its worker. */
  readonly #last = new Map<number, Metric[]>();
  #ended: Metric[] = [];
  #asked = 0;
  readonly #waiting = new Map<number, (metrics: Metric[]) => void>();

  constructor() {
    for (const reason of ['ended', 'hung']) this.#replaced.inc({ reason }, 0);
    cluster.on('message', ({ id }, message: Partial<Answer>) => {
      if (message.metricsOf === undefined || !message.metrics) return;
      this.#last.set(id, message.metrics);
      this.#waiting.get(message.metricsOf)?.(message.metrics);
    });
    cluster.on('exit', ({ id }) => {
      this.#ended = summed([this.#ended, countersOf(this.#last.get(id) ?? [])]);
      this.#last.delete(id);
    });
  }

  /** A process is replaced. */
  replaced(reason: 'ended' | 'hung'): void {
    this.#replaced.inc({ reason });
  }

  async text(): Promise<string> {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected()) as Worker[];
    const answers = await Promise.all(workers.map((worker) => this.#metricsOf(worker)));
    const own = (await this.own.getMetricsAsJSON()) as Metric[];
    return AggregatorRegistry.aggregate([own, this.#ended, ...answers]).metrics();
  }

  #metricsOf(worker: Worker): Promise<Metric[]> {
    const metricsOf = ++this.#asked;
    return new Promise<Metric[]>((resolve) => {
      const end = (metrics: Metric[]) => {
        clearTimeout(timer);
        this.#waiting.delete(metricsOf);
        resolve(metrics);
      };
      const timer = setTimeout(() => end(countersOf(this.#last.get(worker.id) ?? [])), answerMilliseconds);
      this.#waiting.set(metricsOf, end);
      worker.send({ metricsOf } satisfies Question, () => {});
    });
  }
}

const countersOf = (metrics: Metric[]) => metrics.filter(({ type }) => type !== 'gauge');

function summed(all: Metric[][]): Metric[] {
  const sums: Metric[] = [];
  const registry = AggregatorRegistry.aggregate(all);
  // The registry of an aggregation has its metrics at once.
  for (const metric of registry.getMetricsAsArray()) sums.push((metric as unknown as { get(): Metric }).get());
  return sums;
}
