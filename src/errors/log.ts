import { pino, type Logger } from 'pino';
import pretty from 'pino-pretty';

/** A logger that writes one JSON line per entry to standard output, or a readable line if that is a terminal. */
export function logger(level: string): Logger {
  const base = { level, base: null, timestamp: time };
  // The logger buffers lines and flushes them when the buffer is full, ten times a second, and when the process ends.
  // A write of up to 4 KiB to a pipe is atomic, so the lines of several processes do not mix.
  const pieces = { sync: false, minLength: 3_840, maxWrite: 4_096, periodicFlush: 100 };
  if (!process.stdout.isTTY) return pino(base, pino.destination({ dest: 1, ...pieces }));
  return pino(base, pretty({ colorize: true, ignore: 'hostname,pid', singleLine: true, messageFormat: '{msg}' }));
}

let [formattedAt, timeText] = [0, ''];

/** The time of a line, as ISO 8601. All lines of one millisecond share one text. */
function time(): string {
  const now = Date.now();
  if (now !== formattedAt) [formattedAt, timeText] = [now, `,"time":"${new Date(now).toISOString()}"`];
  return timeText;
}

/**
 * The parts of an error that may be logged. It omits Drizzle's own message, which contains a statement's parameters.
 */
export function faultLine(error: unknown) {
  const { name, message, code, stack } = ((error as Error).cause ?? error) as Error & { code?: string };
  return {
    name,
    message,
    code,
    stack: stack
      ?.split('\n')
      .slice(1, 8)
      .map((line) => line.trim()),
  };
}
