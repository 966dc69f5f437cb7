import { and, eq, sql } from 'drizzle-orm';
import { readPart } from '../../db/read/content-part.js';
import type { Scope } from '../../db/scope.js';
import { fileContent } from './table.js';

/** The most bytes of a file. */
export const fileBytesMax = 10 * 1024 * 1024;
/** The accepted types of documents, which are detected from the content and never from the name. */
export const documentTypes = ['application/pdf', 'image/png', 'image/jpeg'];
/** The types of all files: documents, and the text of imports. */
export const contentTypes = [...documentTypes, 'text/csv'];
/** How much of a content one statement reads. Measured: docs/decisions/contents-are-read-in-parts.md. */
const partBytes = 512 * 1024;

const p = sql.placeholder;
const { content } = fileContent;
const part = sql<Uint8Array>`substring(${content} from ${p('at')} + 1 for ${sql.raw(String(partBytes))})`;

/** The headers with which a client's file is sent: a browser must download it, and never render it under our origin. */
export function downloadHeaders(filename: string): Record<string, string> {
  // These signs are no part of a parameter in RFC 5987, and encodeURIComponent leaves them.
  const encoded = encodeURIComponent(filename).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    'content-disposition': `attachment; filename*=UTF-8''${encoded}`,
    'content-security-policy': "default-src 'none'; sandbox",
  };
}

/** The bytes of a file that the scope has found. A part is read when the one before it has been taken. */
export async function* contentParts(scope: Scope, id: string): AsyncGenerator<Buffer, void, void> {
  for (let at = 0; ; at += partBytes) {
    const found = await readPart<{ content: Uint8Array }>(
      scope,
      'file_content',
      (db) =>
        db
          .select({ content: part })
          .from(fileContent)
          .where(
            and(
              eq(fileContent.tenantId, p('tenantId')),
              eq(fileContent.livemode, p('livemode')),
              eq(fileContent.id, p('id')),
            ),
          ),
      { id, at },
      at === 0,
    );
    const bytes = Buffer.from(found?.content ?? []);
    if (bytes.length > 0) yield bytes;
    if (bytes.length < partBytes) return;
  }
}

/** All bytes of a file that the scope has found. */
export async function contentOf(scope: Scope, id: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of contentParts(scope, id)) parts.push(part);
  return Buffer.concat(parts);
}
