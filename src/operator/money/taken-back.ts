import type { Scope } from '../../db/scope.js';
import { type UnexplainedRow, unexplained } from '../table.js';
import { withoutSpaceAround } from './notice.js';

/** What was taken back of a deposit under this reference and is unexplained. A scope reads it once. */
export async function unexplainedUnder(scope: Scope, reference: string): Promise<UnexplainedRow | undefined> {
  const [row] = await scope.all(unexplained, unexplained.reference, withoutSpaceAround(reference));
  return row;
}
