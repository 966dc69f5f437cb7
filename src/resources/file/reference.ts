import { pgTable, text } from 'drizzle-orm/pg-core';
import { type FilePurpose, file, type FileRow } from './table.js';
import type { Scope } from '../../db/scope.js';
import { DomainError, problem, listedValues } from '../../errors/problems.js';
import type { Link } from '../../db/list/statement.js';
import { keyColumns } from '../../db/schema/columns.js';

/** The purposes of documents that support an account or identify a person. */
export const verificationPurposes = [
  'additional_verification',
  'identity_document',
  'tax_document',
] as const satisfies readonly FilePurpose[];

/**
 * Refuses file ids that the caller cannot see, or whose purpose the parameter does not accept. Reports all problems
 * together.
 */
export async function checkFiles(
  scope: Scope,
  references: { id: string | null | undefined; field: string; purposes: readonly FilePurpose[] }[],
): Promise<void> {
  const given = references.filter((reference) => reference.id);
  const found = await Promise.all(
    given.map(async (reference) => ({ ...reference, row: await scope.find(file, reference.id) })),
  );
  const misfits = found.filter(({ row, purposes }) => row && !purposes.includes((row as FileRow).purpose));
  if (misfits.length > 0) {
    throw new DomainError(
      ...misfits.map(({ field, purposes }) =>
        problem(
          'parameter_invalid',
          field,
          listedValues(purposes, (listed) => `must be a file of purpose ${listed.join(' or ')}`),
        ),
      ),
    );
  }
  const missing = found.filter(({ row }) => !row);
  if (missing.length > 0) throw new DomainError(...missing.map(({ field }) => problem('resource_missing', field)));
}

/**
 * Which objects of a kind use a file: a view of `drizzle/functions/person/file-use.sql`, with a row per object and
 * file. The views are not in the files of the tables, because the migrations are generated from those files.
 */
function useOf(view: string): Link {
  const links = pgTable(view, { ...keyColumns(), fileId: text('file_id').notNull() });
  return { links, parent: links.fileId, child: links.id, selective: true };
}

export const usedByAccount = useOf('account_file');
export const usedByAddress = useOf('address_file');
export const usedByPerson = useOf('person_file');
export const usedByReceivable = useOf('receivable_file');
