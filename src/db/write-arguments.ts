import type { Table, TableConfig } from 'drizzle-orm';
import type { StoredEnvelope, WriteFunctions } from './write-functions.js';

/** What a write carries besides its arguments: whose it is, its key, and what it was asked. */
export interface WriteEnvelope {
  /** The effective account, which scopes the key. */
  account: string;
  key: string;
  /** Whether the client chose the key; otherwise the gateway made one for its own retries. */
  sent: boolean;
  operation: string;
  /** A hash per parameter, by its path. */
  request: Record<string, string>;
  /** The same under the key of an earlier call's hashes; undefined when that key is not configured any more. */
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

/** Makes a key that a function does not declare a compile error, also where it comes with the members of another object. */
export type NoOthers<A, F extends WriteFunction> = { [K in Exclude<keyof A, keyof ArgumentsOf<F>>]: never };

/** What the functions read of a write envelope. */
export function storedEnvelope(envelope: WriteEnvelope | UnkeyedEnvelope | null): StoredEnvelope {
  if (!envelope) return {};
  if (!('key' in envelope)) return { requestId: envelope.requestId };
  const { account, key, operation, request, requestId } = envelope;
  return { account, key, operation, request, requestId };
}
