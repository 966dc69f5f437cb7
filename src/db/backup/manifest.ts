import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';

/** A backup that cannot be made, or one that cannot be restored. The message is a sentence for the operator. */
export class BackupError extends Error {}

const format = 1;
const manifestFile = 'manifest.json';
const sumFile = 'manifest.json.sha256';
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** One table of a backup: a file with the text of COPY, compressed by gzip. */
const table = z.object({
  schema: z.enum(['public', 'drizzle']),
  name: z.string(),
  columns: z.array(z.string()).min(1),
  rows: z.number().int().min(0),
  file: z.string().regex(/^[a-z_]+\.[a-z_0-9]+\.copy\.gz$/),
  bytes: z.number().int().min(0),
  sha256,
});

const manifest = z.object({
  format: z.literal(format),
  id: z.uuid(),
  /** The time of the snapshot, by the clock of the database. */
  created: z.string(),
  postgres: z.string(),
  schema: z.object({ version: z.number().int(), servesFrom: z.number().int(), sha256 }),
  /** The migrations that made the tables, in their order. */
  migrations: z.array(z.object({ hash: sha256, at: z.number().int() })).min(1),
  /** The public names of the secrets that the data depend on; the secrets themselves are in no backup. */
  secrets: z.object({ peppers: z.array(z.string()), encryption_keys: z.array(z.string()) }),
  /** Which demo the data contain, so that its keys can be printed again. */
  demo: z.object({ attempt: z.number().int(), complete: z.boolean() }).optional(),
  tables: z.array(table),
});

/** What a backup contains, with a checksum of every file. */
export type Manifest = z.infer<typeof manifest>;
export type TableEntry = z.infer<typeof table>;

/** Writes the manifest, and its checksum beside it. */
export function writeManifest(folder: string, content: Manifest): void {
  const text = `${JSON.stringify(content, null, 1)}\n`;
  const sum = createHash('sha256').update(text).digest('hex');
  for (const [name, body] of [
    [manifestFile, text],
    [sumFile, `${sum}  ${manifestFile}\n`],
  ] as const) {
    fs.writeFileSync(path.join(folder, name), body, { mode: 0o600 });
    sync(path.join(folder, name));
  }
}

/** Makes sure that a file, or the names in a folder, are on the disk. */
export function sync(place: string): void {
  const descriptor = fs.openSync(place, 'r');
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/**
 * Reads a backup and compares each of its bytes with the checksums. Throws a BackupError that names what is missing or
 * damaged.
 */
export async function readBackup(folder: string): Promise<Manifest> {
  const content = readManifest(folder);
  for (const { file, bytes, sha256: wanted } of content.tables) {
    const place = path.join(folder, file);
    const found = fs.statSync(place, { throwIfNoEntry: false });
    if (!found) throw new BackupError(`The backup is incomplete: it has no file ${file}.`);
    if (found.size !== bytes)
      throw new BackupError(`The backup is damaged: ${file} has ${found.size} bytes instead of ${bytes}.`);
    const hash = createHash('sha256');
    await pipeline(fs.createReadStream(place), hash);
    if (hash.digest('hex') !== wanted)
      throw new BackupError(`The backup is damaged: the content of ${file} does not match its checksum.`);
  }
  return content;
}

function readManifest(folder: string): Manifest {
  const [text, sum] = [manifestFile, sumFile].map((name) => {
    try {
      return fs.readFileSync(path.join(folder, name), 'utf8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new BackupError(`${folder} is no complete backup: its ${name} cannot be read (${code}).`);
    }
  }) as [string, string];
  if (sum.split(' ', 1)[0] !== createHash('sha256').update(text).digest('hex'))
    throw new BackupError(`The backup is damaged: ${manifestFile} does not match its checksum.`);
  const content = JSON.parse(text) as { format?: unknown };
  if (content.format !== format)
    throw new BackupError(
      `The backup has the format ${String(content.format)}, and this program knows the format ${format} only: ` +
        'restore it with a newer program.',
    );
  const parsed = manifest.safeParse(content);
  if (!parsed.success) throw new BackupError(`The backup is damaged: its ${manifestFile} has no valid content.`);
  return parsed.data;
}
