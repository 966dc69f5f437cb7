import { sql, type SQL } from 'drizzle-orm';
import { ArgsType, Field, ID, Int, ObjectType } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { DomainError, problem } from '../../errors/problems.js';
import { connectionOf, type Page, pageSizeMax, readOf } from '../../types/pagination.js';
import { Currency, DateTime } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import type { AccountRow } from '../account/table.js';
import { PaymentType } from '../payment/table.js';
import { inTotal, ofEach } from './funds.js';
import { grouped } from './range.js';
import { boundsSql, movementsSql, totalsSql } from './statement-sql.js';
import { totalSeconds } from './table.js';
import { FundsInCurrency, Money } from './type.js';
import { readNowOnce } from '../clock/now.js';

/** The longest range of a statement in days. */
const daysMax = 400;
/** The most entries of the ledger from which a statement adds up what each type of payment moved. */
export const statementEntriesMax = 100_000;
const sizeDefault = 25;
/** How many entries are read for one movement of a page: a payment is booked, reconciled and paid out in a few. */
const entriesPerMovement = 8;

@ArgsType()
export class BalanceStatementArgs {
  @Field(() => DateTime, { description: 'The beginning of the range.' })
  from: number;
  @Field(() => DateTime, { description: `The end of the range, which is excluded; at most ${daysMax} days later.` })
  to: number;
  @Field(() => Currency, { description: 'The currency of the statement.' })
  currency: string;
}

@ArgsType()
export class MovementArgs {
  @Field(() => Int, {
    defaultValue: sizeDefault,
    description: `How many movements at most: 1 to ${pageSizeMax}. A page may have fewer although others follow it.`,
  })
  first: number;
  @Field(() => ID, { nullable: true, description: 'The `endCursor` of the page before.' })
  after?: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'What an account has in a currency at a time.' })
export class BalanceOfStatement extends FundsInCurrency {}

@ObjectType({ simpleResolvers: true, description: 'What one type of payment moved in the range of a statement.' })
export class BalanceMovementTotal {
  @Field(() => PaymentType, { description: 'What the payments are of.' })
  type: PaymentType;
  @Field(() => Int, { description: 'How many movements there were.' })
  count: number;
  @Field(() => Money, { description: 'The sum of what came in.' })
  in: Money;
  @Field(() => Money, { description: 'The sum of what went out: negative, or zero.' })
  out: Money;
}

@ObjectType({
  simpleResolvers: true,
  description:
    'Money that came into a balance or left it. Moves within the balance, as of a reconciliation, are none. A payout ' +
    'leaves it when it is completed, or when it is converted into another currency.',
})
export class BalanceMovement {
  paymentId: string;
  version: number;
  @Field(() => DateTime, { description: 'When it was booked.' })
  created: number;
  @Field(() => PaymentType, { description: 'What its payment is of.' })
  type: PaymentType;
  @Field(() => Money, { description: 'The amount; negative if it left the balance.' })
  amount: Money;
  @Field(() => Money, { description: 'What the account has afterwards: the sum of all compartments.' })
  balanceAfter: Money;
}
export const BalanceMovementConnection = connectionOf('BalanceMovement', () => BalanceMovement);

/** A statement of account. Silent: all fields. */
@ObjectType({
  simpleResolvers: true,
  description:
    'A statement of account in one currency: `opening`, and every movement up to `closing`. It is of this account ' +
    "alone: what a customer's address received is part of it once it is reconciled.",
})
export class BalanceStatement {
  accountId: string;
  /** The versions of the ledger of the account before the first entry of the range, and of the last one. */
  first: number;
  last: number;
  @Field(() => DateTime, { description: 'When it was read. A range that ends later has the movements until then.' })
  asOf: number;
  @Field(() => DateTime, { description: 'The beginning of the range.' })
  from: number;
  @Field(() => DateTime, { description: 'The end of the range, which is excluded.' })
  to: number;
  @Field(() => Currency, { description: texts.currency })
  currency: string;
  @Field(() => BalanceOfStatement, { description: 'What the account has just before the range.' })
  opening: BalanceOfStatement;
  @Field(() => BalanceOfStatement, { description: 'What the account has just before the end of the range.' })
  closing: BalanceOfStatement;
}

type BoundRow = Record<'accountId' | 'category' | 'name' | 'amount' | 'version' | 'now', string>;

/** The statement of an account. One statement of SQL reads any number of accounts. Silent: all of it. */
export async function balanceStatement(
  { id }: AccountRow,
  { scope }: Context,
  { from, to, currency }: BalanceStatementArgs,
): Promise<BalanceStatement> {
  if (to <= from) throw new DomainError(problem('parameter_invalid', 'account.to', 'must be later than from'));
  if (to - from > daysMax * totalSeconds.day)
    throw new DomainError(
      problem('parameter_invalid', 'account.to', `must be at most ${daysMax} days later than from`),
    );
  const rows =
    (await scope.many(`balance_statement:${from}:${to}:${currency}`, id, async (ids) => {
      const columns = ['account_id', 'category', 'name', 'amount', 'version', 'now'];
      const found = await scope.read<BoundRow>(
        'balance_statement',
        selected(columns, boundsSql),
        { ids, from, to, currency },
        bounds,
      );
      return grouped(
        ids,
        found.map((row) => [row.accountId, row]),
      );
    })) ?? [];
  const at = (name: string) => rows.filter((row) => row.name === name);
  const versionOf = (name: string) => Math.max(0, ...at(name).map(({ version }) => Number(version)));
  return {
    ...{ accountId: id, from, to, currency },
    asOf: rows[0] ? Number(rows[0].now) : await readNowOnce(scope),
    ...{ first: versionOf('opening'), last: versionOf('closing') },
    ...{ opening: fundsAt(at('opening'), currency), closing: fundsAt(at('closing'), currency) },
  };
}

const fundsAt = (rows: readonly BoundRow[], currency: string): BalanceOfStatement =>
  inTotal({
    currency,
    ...ofEach((_, { name }) => BigInt(rows.find(({ category }) => category === name)?.amount ?? 0)),
  });

/** The key of a statement in a batch; see `statements` of the SQL. */
const keyOf = ({ accountId, first, last }: BalanceStatement) => `${accountId}/${first}/${last}`;

type TotalRow = Record<'key' | 'paidIn' | 'paidOut', string> & { type: PaymentType; count: number };

/** What each type of payment moved in the range of a statement. */
export async function movementTotals(
  statement: BalanceStatement,
  { scope }: Pick<Context, 'scope'>,
): Promise<BalanceMovementTotal[]> {
  const { currency, first, last } = statement;
  if (last - first > statementEntriesMax)
    throw new DomainError(
      problem(
        'parameter_invalid',
        'account.to',
        `gives a range with more than ${statementEntriesMax} entries, too many to add up; choose a shorter one`,
      ),
    );
  const rows = await scope.many(`balance_totals:${currency}`, keyOf(statement), async (ids) => {
    const columns = ['key', 'type', 'count', 'paid_in', 'paid_out'];
    const found = await scope.read<TotalRow>('balance_totals', selected(columns, totalsSql), { ids, currency }, figure);
    return grouped(
      ids,
      found.map((row) => [row.key, row]),
    );
  });
  const order = Object.values(PaymentType);
  return (rows ?? [])
    .toSorted((a, b) => order.indexOf(a.type) - order.indexOf(b.type))
    .map(({ type, count, paidIn, paidOut }) => ({
      ...{ type, count },
      ...{ in: { amount: BigInt(paidIn), currency }, out: { amount: BigInt(paidOut), currency } },
    }));
}

type MovementRow = Record<'key' | 'paymentId' | 'created' | 'amount' | 'balanceAfter' | 'version', string> & {
  type: PaymentType;
  /** How many entries were read, and whether the page before has the beginning of its posting. */
  found: number;
  cut: boolean | null;
};

/** A page of the movements of a statement, in the order of its ledger. */
export async function movementsOf(
  statement: BalanceStatement,
  { scope }: Pick<Context, 'scope'>,
  { first: size, after }: MovementArgs,
): Promise<Page<BalanceMovement>> {
  if (size < 1 || size > pageSizeMax)
    throw new DomainError(problem('parameter_invalid', 'account.first', `must be from 1 to ${pageSizeMax}`));
  if (after != null && !/^\d{1,15}$/.test(after))
    throw new DomainError(problem('parameter_invalid', 'account.after', 'must be the endCursor of a page before'));
  const { currency, last } = statement;
  const begin = after == null ? 0 : Number(after);
  const scanned = readOf(size + 1) * entriesPerMovement;
  const name = `balance_movements:${scanned}:${currency}:${begin}`;
  const rows = await scope.many(name, keyOf(statement), async (ids) => {
    const columns = ['key', 'payment_id', 'type', 'created', 'amount', 'balance_after', 'version', 'found', 'cut'];
    const found = await scope.read<MovementRow>(
      `balance_movements:${scanned}`,
      selected(columns, movementsSql(scanned)),
      { ids, currency, after: begin },
      figure,
    );
    return grouped(
      ids,
      found.map((row) => [row.key, row]),
    );
  });
  return pageOf(rows ?? [], { size, scanned, last, behind: begin > statement.first, currency });
}

interface PageFacts {
  size: number;
  scanned: number;
  /** The last version of the statement. */
  last: number;
  behind: boolean;
  currency: string;
}

function pageOf(rows: MovementRow[], { size, scanned, last, behind, currency }: PageFacts): Page<BalanceMovement> {
  // The last posting of entries that reach the limit may go on behind it.
  const whole = rows[0]?.found === scanned && Number(rows.at(-1)!.version) < last ? rows.slice(0, -1) : rows;
  const all = whole.filter(({ amount, cut }) => amount !== '0' && !cut);
  const nodes = all.slice(0, size).map(({ paymentId, version, created, type, amount, balanceAfter }) => ({
    ...{ paymentId, type, version: Number(version), created: Number(created) },
    amount: { amount: BigInt(amount), currency },
    balanceAfter: { amount: BigInt(balanceAfter), currency },
  }));
  const end = all.length > size ? nodes.at(-1)!.version : Number(whole.at(-1)?.version ?? last);
  const hasNext = all.length > size || end < last;
  return {
    nodes,
    hasNext,
    edges: () => nodes.map((node) => ({ cursor: String(node.version), node })),
    pageInfo: {
      hasNextPage: hasNext,
      hasPreviousPage: behind,
      startCursor: nodes[0] ? String(nodes[0].version) : null,
      endCursor: rows.length > 0 ? String(end) : null,
    },
    totalCount: () => Promise.resolve(null),
  };
}

/** The bounds are a few look-ups; what lies between them may be many rows. Both are of the same moment, or older. */
const bounds = { expensive: false, replicaOk: true, boundedBy: [], avoid: [] };
const figure = { expensive: true, replicaOk: true, boundedBy: ['from', 'to'], avoid: [] };

/** Selects the columns of a text of SQL under the names of a row. */
const selected =
  (columns: readonly string[], text: SQL) => (db: Parameters<Parameters<Context['scope']['read']>[1]>[0]) =>
    db
      .select(
        Object.fromEntries(
          columns.map((column) => [
            column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
            sql`x.${sql.raw(column)}`.as(column),
          ]),
        ),
      )
      .from(sql`(${text}) x`);
