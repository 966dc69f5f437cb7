import { readable } from './output.js';
import { visible } from './visible.js';

/** The reader of standard output has ended, such as `head` after its lines. */
export class ReaderGone extends Error {}

// A reader that has ended is an event of the stream, too, and without a listener the process would end with a stack.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

/** Prints a text on standard output. All output of commands passes here or through `say`. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(visible(text), (error) => {
      if (!error) resolve();
      else reject((error as NodeJS.ErrnoException).code === 'EPIPE' ? new ReaderGone() : error);
    });
  });
}

/** Prints the result of a command: one JSON document, or a table. */
export function printResult(result: object, { json }: { json?: boolean | undefined }): Promise<void> {
  return print(json ? `${JSON.stringify(result)}\n` : readable(result));
}

/** Prints a line on standard error, for the operator. */
export function say(line: string): void {
  process.stderr.write(`${visible(line)}\n`);
}
