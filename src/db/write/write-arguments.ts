import type { Table, TableConfig } from 'drizzle-orm';
import type { StoredEnvelope, WriteFunctions } from './write-functions.js';

/** The data that a write has besides its arguments: its account, its key, and its operation and request. */
export interface WriteEnvelope {
  /** The acting account. A key is unique within it. */
  account: string;
  key: string;
  /** Whether the client chose the key; otherwise the gateway made one for its own retries. */
  sent: boolean;
  operation: string;
  /** A hash per parameter, by its path. */
  request: Record<string, string>;
  /**
   * The same hashes, made with the key of an earlier write's hashes; undefined when that key is no longer configured.
   */
  requestLike?: (before: Record<string, string>) => Record<string, string> | undefined;
  requestId: string;
}

/** The envelope of a write that has no key. */
export type UnkeyedEnvelope = Pick<WriteEnvelope, 'requestId'>;

/** A function that writes, by its name. */
export type WriteFunction = keyof WriteFunctions;

/** The arguments that a function declares. */
export type ArgumentsOf<F extends WriteFunction> = WriteFunctions[F]['args'];

/** The table whose rows a function returns. */
export type TableOf<F extends WriteFunction> = Table<TableConfig & { name: WriteFunctions[F]['returns'] }>;

/** Makes an argument that a function does not declare a compile error, even if it comes from a spread object. */
export type NoOthers<A, F extends WriteFunction> = { [K in Exclude<keyof A, keyof ArgumentsOf<F>>]: never };

/** What a write is called with: the function, the table that it returns a row of, its envelope and its arguments. */
export type WriteOf<F extends WriteFunction, T, A> = [
  fn: F,
  table: T,
  envelope: WriteEnvelope | UnkeyedEnvelope,
  args: A & NoOthers<A, F>,
  content?: string,
];

/** The part of a write envelope that the functions read. */
export function storedEnvelope(envelope: WriteEnvelope | UnkeyedEnvelope | null): StoredEnvelope {
  if (!envelope) return {};
  if (!('key' in envelope)) return { requestId: envelope.requestId };
  const { account, key, operation, request, requestId } = envelope;
  return { account, key, operation, request, requestId };
}

/** Arguments as JSON text. A bigint of minor units becomes a string of digits, because a JSON number may lose cents. */
export function text(value: object): string {
  return JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? v.toString() : v));
}
