import { and, eq, sql } from 'drizzle-orm';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import type { Operator } from '../operator.js';
import { type UnexplainedRow, unexplained } from '../table.js';
import { withoutSpaceAround } from './notice.js';

/** What was taken back of a deposit under this reference and is unexplained. */
export async function unexplainedUnder(
  operator: Operator,
  { tenantId, livemode }: TenantAndMode,
  reference: string,
): Promise<UnexplainedRow | undefined> {
  const [row] = await operator.read<UnexplainedRow>(
    'operator_unexplained_of_reference',
    (db) =>
      db
        .select()
        .from(unexplained)
        .where(
          and(
            eq(unexplained.tenantId, sql.placeholder('tenantId')),
            eq(unexplained.livemode, sql.placeholder('livemode')),
            eq(unexplained.reference, sql.placeholder('reference')),
          ),
        ),
    { tenantId, livemode, reference: withoutSpaceAround(reference) },
  );
  return row;
}
