import { type Command, Option } from 'commander';
import type { Operator } from '../operator.js';

/** What a command gives back: one JSON document with --json, a table for people otherwise. */
export type Result = object;

/** The options of a command, as commander has read them. */
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

/** The mode of what a command is about. */
export const mode = () => new Option('--mode <mode>', 'test or live').choices(['test', 'live']);
/** Lists are shown page by page: each but the last tells as `next` what to go on with. */
export const after = () => new Option('--after <next>', 'go on from where a page ended, as it was told there');
/** Whether --mode says live; undefined where it says nothing. */
export const liveOf = (options: Options) => (options.mode === undefined ? undefined : options.mode === 'live');

/** Those of the options that were given, by the names of the properties that they are for. */
export function given(options: Options, names: Record<string, string>): Record<string, never> {
  const entries = Object.entries(names).map(([property, option]) => [property, options[option]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Record<string, never>;
}
