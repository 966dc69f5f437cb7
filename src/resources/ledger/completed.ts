import { and, eq, sql } from 'drizzle-orm';
import type { Scope } from '../../db/scope.js';
import { DateTime } from '../../types/scalars.js';
import { value } from '../edges.js';
import { posting } from './table.js';
import type { Context } from '../../operation/context.js';

/** The movements that complete an object. A cause posts once per kind, so the time of the posting is that moment. */
type Completion = 'deposit' | 'payout_end' | 'refund_end';

/**
 * When the movement of a cause was posted; null if it was not. One statement reads all causes requested in one tick.
 */
function postedAt(scope: Scope, kind: Completion, cause: string): Promise<number | null> {
  const p = sql.placeholder;
  return scope.many(`posted_at:${kind}`, cause, async (ids) => {
    const rows = await scope.read<{ cause: string; created: number }>(
      `posted_at:${kind}`,
      (db) =>
        db
          .select({ cause: posting.cause, created: posting.created })
          .from(posting)
          .where(
            and(
              eq(posting.tenantId, p('tenantId')),
              eq(posting.livemode, p('livemode')),
              eq(posting.kind, sql.raw(`'${kind}'`)),
              sql`${posting.cause} = any(${p('ids')})`,
            ),
          ),
      { ids },
    );
    return new Map(rows.map(({ cause, created }) => [cause, created]));
  });
}

/** A field such as `completedAt`: `of` gives the movement of an object, or the moment itself, or null before it. */
export const momentOf = <R>(of: (row: R) => readonly [Completion, string] | number | null, description: string) =>
  value(
    () => DateTime,
    (row: R, { scope }: Context) => {
      const found = of(row);
      return typeof found === 'object' && found !== null ? postedAt(scope, ...found) : found;
    },
    { nullable: true, description },
  );
