import { type Command, Option } from 'commander';
import type { Operator } from '../operator.js';

/** The result of a command, printed as one JSON document with --json and as a table otherwise. */
export type Result = object;

/** The options of a command, as commander has parsed them. */
export interface Options {
  json?: boolean;
  [name: string]: unknown;
}

/** Adds a command that opens the store, does one thing for the operator and prints its result. */
export type AddCommand = (
  parent: Command,
  name: string,
  description: string,
  run: (operator: Operator, options: Options, argument: string) => Promise<Result>,
) => Command;

/** The option for the mode of a command's object. */
export const mode = () => new Option('--mode <mode>', 'test or live').choices(['test', 'live']);
/** The option that continues a list after a page. Each page but the last shows its cursor as `next`. */
export const after = () => new Option('--after <next>', 'the cursor that the previous page printed as next');
/** Whether --mode is live; undefined when --mode is not given. */
export const liveOf = (options: Options) => (options.mode === undefined ? undefined : options.mode === 'live');

/** The options that were given, under the names of the properties that they set. */
export function given(options: Options, names: Record<string, string>): Record<string, never> {
  const entries = Object.entries(names).map(([property, option]) => [property, options[option]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Record<string, never>;
}
