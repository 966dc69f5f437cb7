import type { Scope } from '../../db/scope.js';
import { listedValues, problem, DomainError } from '../../errors/problems.js';
import { type FilePurpose, type FileRow, file } from './table.js';

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
