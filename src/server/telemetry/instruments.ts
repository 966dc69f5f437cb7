import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The upper ends of the buckets for durations, in seconds. */
const seconds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** How the values of several processes make one. */
type Aggregator = 'sum' | 'max' | 'min' | 'first';

/** A registry of metrics, and how they are made in it. */
export class Instruments {
  readonly registry = new Registry();

  protected histogram<L extends string>(name: string, help: string, labelNames: L[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets: seconds, registers: [this.registry] });
  }

  protected counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** A counter whose values are counted elsewhere: `counts` gives the sums since the start. */
  protected counted<L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    counts: () => readonly (readonly [labels: Partial<Record<L, string>>, count: number])[],
  ): void {
    const before = new Map<string, number>();
    new Counter({
      ...{ name, help, labelNames, registers: [this.registry] },
      collect(this: Counter<L>) {
        for (const [labels, count] of counts()) {
          const key = Object.values(labels).join(' ');
          this.inc(labels, count - (before.get(key) ?? 0));
          before.set(key, count);
        }
      },
    });
  }

  /** A value of now. */
  protected gauge<L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    measure?: (gauge: Gauge<L>) => void,
    aggregator: Aggregator = 'sum',
  ): Gauge<L> {
    const collect = measure && {
      collect(this: Gauge<L>) {
        measure(this);
      },
    };
    return new Gauge({ name, help, labelNames, aggregator, registers: [this.registry], ...collect });
  }
}
