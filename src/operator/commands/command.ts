import os from 'node:os';
import { type Command, Option } from 'commander';
import { detailsOf, logged } from '../action/actions.js';
import type { Mode } from '../../request/mode.js';
import { reasonText } from './arguments.js';
import type { Operator } from '../operator.js';

/** The result of a command, printed as one JSON document with --json and as a table otherwise. */
export type Result = object;

/** The options of a command, as commander has parsed them. */
export interface Options {
  json?: boolean;
  wide?: boolean;
  mode?: Mode;
  [name: string]: unknown;
}

/** Adds a command that opens the store, does one thing for the operator and prints its result. */
export type AddCommand = (
  parent: Command,
  name: string,
  description: string,
  run: (operator: Operator, options: Options, argument: string) => Promise<Result>,
) => Command;

/**
 * The commands that only read. Every other command has entries in the audit log, and so has one that shows the numbers
 * of tax cards.
 */
export const readingCommands = new Set([
  ...['account show', 'account list', 'key list', 'deposit show', 'deposit waiting', 'deposit duplicates'],
  ...['transaction mismatches', 'transaction pending', 'unexplained list'],
  ...['bank files', 'bank lines', 'bank report', 'bank mappings'],
  ...['order list', 'order show', 'order accounts'],
  ...[
    'payout list',
    'payout show',
    'payout rates',
    'dispute list',
    'dispute show',
    'change-request list',
    'change-request show',
    'refund list',
    'refund show',
    'adjustment list',
    'job list',
    'ledger audit',
    'ledger verify',
    'ledger checks',
  ],
  ...['operator list', 'operator actions', 'operator verify', 'tidegate secrets', 'tidegate doctor'],
]);

/** Runs a command, with entries in the audit log unless it only reads. `path` is its name with that of its group. */
export function loggedCommand(
  operator: Operator,
  path: string,
  options: Options,
  argument: string,
  run: () => Promise<Result>,
): Promise<Result> {
  if (readingCommands.has(path) && !options.numbers) return run();
  const { json: _, wide: __, ...details } = options;
  const named = [argument, options.account, options.address, options.platform].find((text) => text);
  const action = {
    operation: path.replace(/^tidegate /, ''),
    objectId: named === undefined ? undefined : String(named),
    details: detailsOf(details) as Record<string, unknown>,
  };
  return logged(operator, { name: commandUser(), id: null }, action, run, (result) => ({ objectId: idOf(result) }));
}

/** The id of the object that a command prints, or of the first one in what it prints. */
function idOf(result: Result): string | undefined {
  const { id } = result as { id?: unknown };
  if (typeof id === 'string') return id;
  const [first] = Object.values(result).filter((member) => typeof member === 'object' && member !== null);
  return (first as { id?: string } | undefined)?.id;
}

/** The user of the command line, as the audit log names them. No operator can have such a name. */
export function commandUser(): string {
  try {
    return `command line (${os.userInfo().username})`;
  } catch {
    // A container may run as a user without a name.
    return `command line (${process.getuid?.() ?? 'unknown'})`;
  }
}

/** The option for the mode of a command's object. */
export const mode = () => new Option('--mode <mode>', 'test or live').choices(['test', 'live']);
/** The option for why something is done. The entry in the audit log has it, as it has all options. */
export const reason = () => new Option('--reason <text>', 'why, for the audit log').argParser(reasonText);
/** The option that continues a list after a page. Each page but the last shows its cursor as `next`. */
export const after = () => new Option('--after <next>', 'the cursor that the previous page printed as next');

/** The options that were given, under the names of the properties that they set. */
export function given(options: Options, names: Record<string, string>): Record<string, never> {
  const entries = Object.entries(names).map(([property, option]) => [property, options[option]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Record<string, never>;
}
