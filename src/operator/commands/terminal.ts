import { readable } from './output.js';
import { ProgressLine } from './progress.js';
import type { Terminal } from './rows.js';
import { visible } from './visible.js';

/** The reader of standard output has ended, such as `head` after its lines. */
export class ReaderGone extends Error {}

// A reader that has ended is an event of the stream, too, and without a listener the process would end with a stack.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const line = new ProgressLine(process.stderr);
/** Shows how far long work has come. */
export const progressOf = line.show;

/** Prints a text on standard output. All output of commands passes here or through `say`. */
export function print(text: string): Promise<void> {
  return write(visible(text));
}

function write(text: string): Promise<void> {
  line.end();
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (!error) resolve();
      else reject((error as NodeJS.ErrnoException).code === 'EPIPE' ? new ReaderGone() : error);
    });
  });
}

/** How a result is printed. */
export interface PrintOptions {
  /** As one JSON document. */
  json?: boolean | undefined;
  /** Whole rows with exact times, also on a terminal. */
  wide?: boolean | undefined;
}

/** Prints the result of a command: one JSON document, or a table, whose texts are visible and may have colours. */
export function printResult(result: object, { json, wide }: PrintOptions): Promise<void> {
  return json ? print(`${JSON.stringify(result)}\n`) : write(readable(result, wide ? undefined : terminal()));
}

function terminal(): Terminal | undefined {
  const { stdout } = process;
  if (!stdout.isTTY) return undefined;
  return { width: stdout.columns, colour: stdout.hasColors(), now: Math.floor(Date.now() / 1_000) };
}

/** Prints a line on standard error, for the operator. */
export function say(text: string): void {
  line.end();
  process.stderr.write(`${visible(text)}\n`);
}
