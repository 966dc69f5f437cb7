import { and, eq, sql } from 'drizzle-orm';
import type { Scope } from '../../db/scope.js';
import { fileContent } from './table.js';

/** The bytes of a file that the scope has found. */
export async function contentOf(scope: Scope, id: string): Promise<Buffer> {
  const p = sql.placeholder;
  const [found] = await scope.read<{ content: Uint8Array }>(
    'file_content',
    (db) =>
      db
        .select({ content: fileContent.content })
        .from(fileContent)
        .where(
          and(
            eq(fileContent.tenantId, p('tenantId')),
            eq(fileContent.livemode, p('livemode')),
            eq(fileContent.id, p('id')),
          ),
        ),
    { id },
  );
  return Buffer.from(found?.content ?? []);
}

/** The most bytes of a file. */
export const fileBytesMax = 10 * 1024 * 1024;
/** The accepted types of documents, which are detected from the content and never from the name. */
export const documentTypes = ['application/pdf', 'image/png', 'image/jpeg'];
/** The types of all files: documents, and the text of imports. */
export const contentTypes = [...documentTypes, 'text/csv'];
