import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { type GraphQLSchema, parse, validate } from 'graphql';
import { z } from 'zod';
import { type Config, ConfigError } from '../../config/config.js';
import { cut } from '../../errors/problems.js';

/** Documents by the SHA-256 of their text, in hexadecimal digits. */
export type TrustedDocuments = ReadonlyMap<string, string>;

/**
 * The two common forms of a manifest: that of Apollo, and a map from hashes to texts, as Relay and codegen write it.
 */
const manifest = z.union([
  z
    .object({
      format: z.literal('apollo-persisted-query-manifest'),
      version: z.literal(1),
      operations: z.array(z.object({ id: z.string(), body: z.string() })),
    })
    .transform(({ operations }) => operations.map(({ id, body }) => [id, body] as const)),
  z.record(z.string(), z.string()).transform((documents) => Object.entries(documents)),
]);

/** The hash of a document, by which clients may ask for it. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Reads the manifest of trusted documents. Refuses one that cannot be used, by an error that names the setting. */
export function trustedDocuments(config: Config, schema: GraphQLSchema): TrustedDocuments {
  const file = config.TRUSTED_DOCUMENTS_FILE;
  if (file === undefined) return new Map();
  const fault = (message: string) => new ConfigError(`TRUSTED_DOCUMENTS_FILE: ${message}.`);
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    throw fault(`the file cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  const parsed = manifest.safeParse(jsonOf(text));
  if (!parsed.success)
    throw fault('the file must be a manifest in JSON: one of Apollo, or a map from hashes to documents');
  const documents = new Map<string, string>();
  for (const [id, body] of parsed.data) {
    const hash = id.replace(/^sha256:/, '');
    if (hash !== hashOf(body)) throw fault(`the id ${cut(id)} is not the SHA-256 of its document`);
    const [problem] = problemsOf(schema, body);
    if (problem !== undefined) throw fault(`the document ${cut(id)} is not valid: ${problem}`);
    documents.set(hash, body);
  }
  return documents;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function problemsOf(schema: GraphQLSchema, text: string): string[] {
  try {
    return validate(schema, parse(text)).map(({ message }) => message.replace(/\.$/, ''));
  } catch (error) {
    return [(error as Error).message.replace(/\.$/, '')];
  }
}
