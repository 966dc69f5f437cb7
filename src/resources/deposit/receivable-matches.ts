import { type SQL, sql } from 'drizzle-orm';
import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { composite, isPair, joined, pairOf, pairValue } from '../../db/schema/filter-index.js';
import { searchEntry } from '../../db/schema/table.js';
import type { Context } from '../../operation/context.js';
import { account } from '../account/table.js';
import { grouped } from '../balance/range.js';
import { Money } from '../balance/type.js';
import { amountOf, dueDateOf, receivable } from '../receivable/table.js';
import { deposit, type DepositRow } from './table.js';

const p = sql.placeholder;

/** How many matches of a deposit are shown. */
export const matchesMax = 3;
/** How many receivables with the amount are looked at. With more, the amount alone tells none of them apart. */
const sameAmountMax = 4;
/** How much of each text is looked at: as much as is kept of what a bank says, which may have been longer. */
const textLengthMax = 140;
/** How many parts of the texts are looked up, and how many words each has at most. */
const [partsMax, partWordsMax] = [48, 4];
/** How many entries of the search are looked at. */
const entriesMax = 20;

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

const tenantAndMode = (table: string): SQL =>
  sql`${sql.raw(table)}.tenant_id = ${p('tenantId')} and ${sql.raw(table)}.livemode = ${p('livemode')}`;

/** The ids of some open receivables of an account or customer whose invoices have the amount that is left. */
function sameAmount(column: typeof receivable.accountId | typeof receivable.customerId, value: SQL): SQL {
  const key = composite([receivable.currency, receivable.status], '/');
  const wanted = joined([sql`d.currency`, sql`'open'`], '/');
  return sql`(select s.id from (select ${receivable.id} as id from ${receivable}
      where ${receivable.tenantId} = ${p('tenantId')} and ${receivable.livemode} = ${p('livemode')}
        and ${isPair(pairOf(column, key, '/'), pairValue(value, wanted, '/'))}
        and ${amountOf(receivable)} = d.pending_rest
      order by ${amountOf(receivable)}, ${receivable.id} limit ${sql.raw(String(sameAmountMax))}) s)`;
}

/** The words of a text as the search has them. The last word of a text that is cut may be a part of another one. */
const wordsOf = (text: SQL): SQL => sql`case when length(${text}) < ${sql.raw(String(textLengthMax))}
    then search_text(${text})
    else regexp_replace(search_text(left(${text}, ${sql.raw(String(textLengthMax))})), ' ?[^ ]*$', '') end`;

/** The parts of `t.said` that may be references, or the ends of such, the longest first. */
const parts = sql`array(select x.part from (
      select distinct left(array_to_string(w.words[n.first:n.first + l.length - 1], ' '), 32) as part
      from (select string_to_array(btrim(t.said), ' ') as words offset 0) w
      cross join lateral generate_series(1, cardinality(w.words)) n(first)
      cross join generate_series(1, ${sql.raw(String(partWordsMax))}) l(length)
      where n.first + l.length <= cardinality(w.words) + 1) x
    where x.part ~ '[0-9]' and length(x.part) >= 3 and strpos(x.part, '|') = 0
    order by length(x.part) desc, x.part)`;

/**
 * The ids of receivables whose reference is one of the parts, or ends with one, those of the longest parts first. They
 * may no longer be open.
 */
const named = sql`(select e.id from unnest(k.parts[1:${sql.raw(String(partsMax))}]) x(part)
    cross join lateral (select s.id, s.age from ${searchEntry} s where ${tenantAndMode('s')}
      and s.list = search_list('receivable', t.receiver) and s.start = x.part
      order by s.age, s.id limit ${sql.raw(String(entriesMax))}) e
    order by length(x.part) desc, x.part, e.age, e.id limit ${sql.raw(String(entriesMax))})`;

/** Whether everything with a reference in the texts was looked at: only then is it known that there is no other one. */
const complete = sql`(cardinality(k.parts) <= ${sql.raw(String(partsMax))}
    and cardinality(c.named) < ${sql.raw(String(entriesMax))}
    and length(d.statement_descriptor) < ${sql.raw(String(textLengthMax))})`;

/**
 * The open receivables that the deposits may pay. Each part looks up a few rows by an index, so that a deposit costs
 * the same beside few receivables and many.
 */
function matchesOf(): SQL {
  return sql`select d.id as deposit_id, d.currency, m.* from unnest(${p('ids')}::text[]) i(id)
    join ${deposit} d on ${tenantAndMode('d')} and d.id = i.id and d.status = 'completed' and d.pending_rest > 0
    join ${account} a on ${tenantAndMode('a')} and a.id = d.to_account_id
    cross join lateral (select case when a.kind = 'partner' then a.owner_id else a.id end as receiver,
      ' ' || ${wordsOf(sql`d.statement_descriptor`)} || ' | '
        || ${wordsOf(sql`coalesce(d.bank_details ->> 'text', '')`)} || ' ' as said offset 0) t
    cross join lateral (select ${parts} as parts offset 0) k
    cross join lateral (
      select y.*, y.named and y.equal and y.complete
        and count(*) filter (where y.named and y.equal) over () = 1 as exact
      from (
        select r.id as receivable_id, least(d.pending_rest, r.amount_reconcilable) as amount,
          ${dueDateOf({ invoice: sql`r.invoice` })} as due, r.amount_reconcilable = d.pending_rest as equal,
          coalesce(r.customer_id = d.from_account_id, false) as billed,
          length(n.reference) >= 3 and strpos(t.said, ' ' || n.reference || ' ') > 0 as named,
          c.same, ${complete} as complete
        from (select array${sameAmount(receivable.accountId, sql`t.receiver`)} as same,
            array${sameAmount(receivable.customerId, sql`d.from_account_id`)} as of_payer,
            array${named} as named) c
        cross join lateral (select distinct u as id from unnest(c.same || c.of_payer || c.named) u) f
        cross join lateral (select * from ${receivable} o where ${tenantAndMode('o')} and o.id = f.id limit 1) r
        cross join lateral (select search_text(r.invoice ->> 'referenceNumber') as reference offset 0) n
        where r.account_id = t.receiver and r.currency = d.currency and r.status = 'open'
          and (${p('visibleTo')}::text is null or r.context_id = ${p('visibleTo')}::text)
      ) y
      where y.named or (y.equal and (y.billed or cardinality(y.same) < ${sql.raw(String(sameAmountMax))}))
      order by y.named::int * 4 + y.equal::int * 2 + y.billed::int desc, y.due, y.receivable_id
      limit ${sql.raw(String(matchesMax))}) m`;
}

/**
 * The open receivables that a deposit may pay, the best first: by the reference in its texts, by what is left of it,
 * and by its payer. One statement reads those of all deposits that are requested in one tick. Silent: all of it.
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
          .from(sql`(${matchesOf()}) z`),
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
