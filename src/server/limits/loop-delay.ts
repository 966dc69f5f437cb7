import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolutionMilliseconds = 20;
const windowMilliseconds = 500;

/** Measures for how long the event loop keeps a timer waiting, over the last half of a second. */
export class LoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: resolutionMilliseconds });
  readonly #timer: NodeJS.Timeout;
  #milliseconds = 0;

  constructor() {
    this.#histogram.enable();
    this.#timer = setInterval(() => {
      const mean = this.#histogram.mean / 1e6 - resolutionMilliseconds;
      // Without a sample the mean is NaN.
      this.#milliseconds = mean > 0 ? mean : 0;
      this.#histogram.reset();
    }, windowMilliseconds);
    this.#timer.unref();
  }

  /** The mean delay of the last window. */
  get milliseconds(): number {
    return this.#milliseconds;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }
}
