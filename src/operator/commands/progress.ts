/**
 * How much work is worth lines where there is no terminal: less is done before anybody reads them. Each migration has
 * its own line there.
 */
const least = { bytes: 64 * 1024 ** 2, lines: 1_000, shards: 1, migrations: Number.POSITIVE_INFINITY };

/** Receives how far a step of long work has come. */
export type Progress = (step: string, done: number, of: number, unit: keyof typeof least) => void;

/**
 * Shows how far long work has come: on a terminal in one line, which is written anew for each percent; elsewhere in a
 * line for each tenth, of work that is worth it.
 */
export class ProgressLine {
  #shown = '';
  #isOpen = false;

  constructor(private readonly stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>) {}

  readonly show: Progress = (step, done, of, unit) => {
    const { isTTY } = this.stream;
    if (!isTTY && of < least[unit]) return;
    const percent = of === 0 ? 100 : Math.min(100, Math.floor((100 * done) / of));
    const text = `${step}: ${isTTY ? percent : percent - (percent % 10)} %`;
    if (text === this.#shown) return;
    this.#shown = text;
    this.stream.write(isTTY ? `\r${text}\u001b[K` : `${text}\n`);
    this.#isOpen = isTTY;
    if (percent === 100) this.end();
  };

  /** Ends the line of a terminal, before something else is written. */
  end(): void {
    if (this.#isOpen) this.stream.write('\n');
    this.#isOpen = false;
  }
}
