import { sql } from 'drizzle-orm';
import { Field, ObjectType, registerEnumType } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { grouped } from '../balance/range.js';
import { Money } from '../balance/type.js';
import type { DepositRow } from './table.js';

const p = sql.placeholder;

/** How many matches of a deposit are shown. The SQL function finds no more. */
export const matchesMax = 3;

/** Why a receivable may be what a deposit pays. Silent: all values. */
export const MatchReason = { REFERENCE: 'reference', AMOUNT: 'amount', PAYER: 'payer' } as const;
export type MatchReason = (typeof MatchReason)[keyof typeof MatchReason];
registerEnumType(MatchReason, {
  name: 'MatchReason',
  description: 'Why a receivable may be what a deposit pays.',
  valuesConfig: {
    REFERENCE: {
      description: "The descriptor of the deposit, or the bank's text, has the reference number of the invoice.",
    },
    AMOUNT: { description: 'What is still open is what is left of the deposit.' },
    PAYER: { description: 'The invoice bills the account that paid.' },
  },
});

/** An open receivable that a deposit may pay. Silent: all fields. */
@ObjectType({ simpleResolvers: true, description: 'An open receivable that a deposit may pay, and why.' })
export class ReceivableMatch {
  receivableId: string;
  @Field(() => Money, {
    description: 'What of the deposit counts towards it: the smaller one of what is left of it and of what is open.',
  })
  amount: Money;
  @Field(() => Boolean, {
    description:
      'Whether it is the one open receivable with both the REFERENCE and the AMOUNT. False where too many ' +
      'receivables have words of the reference to compare them all.',
  })
  exact: boolean;
  @Field(() => [MatchReason], { description: 'Why it may be the right one, in the order of the enum.' })
  reasons: MatchReason[];
}

interface Row {
  depositId: string;
  currency: string;
  receivableId: string;
  amount: string;
  exact: boolean;
  named: boolean;
  equal: boolean;
  billed: boolean;
}

/**
 * The open receivables that a deposit may pay, the best first: by the reference in its texts, by what is left of it,
 * and by its payer. One statement reads those of all deposits that are requested in one tick; the job that matches
 * exact ones by itself calls the same function. Silent: all of it.
 */
export async function receivableMatches({ id }: DepositRow, { scope }: Context): Promise<ReceivableMatch[] | null> {
  const batch = async (ids: readonly string[]) => {
    const rows = await scope.read<Row>(
      'receivable_matches',
      (db) =>
        db
          .select({
            depositId: sql<string>`z.deposit_id`,
            receivableId: sql<string>`z.receivable_id`,
            currency: sql<string>`z.currency`,
            amount: sql<string>`z.amount::text`,
            exact: sql<boolean>`z.exact`,
            named: sql<boolean>`z.named`,
            equal: sql<boolean>`z.equal`,
            billed: sql<boolean>`z.billed`,
          })
          .from(
            sql`receivable_matches(${p('tenantId')}, ${p('livemode')}, ${p('ids')}::text[], ${p('visibleTo')}::text) z`,
          ),
      { ids, visibleTo: scope.visibleTo },
    );
    return grouped(
      ids,
      rows.map((row) => [row.depositId, matchOf(row)]),
    );
  };
  return scope.many('receivable_matches', id, batch);
}

function matchOf({ receivableId, amount, currency, exact, named: byName, equal, billed }: Row) {
  const reasons: [boolean, MatchReason][] = [
    [byName, MatchReason.REFERENCE],
    [equal, MatchReason.AMOUNT],
    [billed, MatchReason.PAYER],
  ];
  return {
    receivableId,
    amount: { amount: BigInt(amount), currency },
    exact,
    reasons: reasons.flatMap(([holds, reason]) => (holds ? reason : [])),
  };
}
