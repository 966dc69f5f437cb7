import { and, asc, desc, eq, getTableColumns, sql } from 'drizzle-orm';
import { deposit } from '../../resources/deposit/table.js';
import { payout } from '../../resources/payout/table.js';
import type { Related } from '../graph/related.js';
import { type Operator, OperatorError } from '../operator.js';
import { signed } from './line.js';
import { bankFile, bankLine, type BankLineRow, BankLineState, bankStatement, type BankStatementRow } from './table.js';

const { placeholder } = sql;
const statementsMax = 200;
const batchMax = 500;

/** How a bank's statement of an account for a day compares with the ledger. Amounts are minor units. */
interface ReportRow {
  file: string;
  fileId: string;
  account: string | null;
  currency: string;
  day: string;
  opening: bigint;
  closing: bigint;
  /** The day of the last closing balance of the account before, and by how much the opening differs from it. */
  previousDay: string | null;
  gap: bigint | null;
  /** What the lines of this account and day are together, of all files, each transfer once. */
  lines: bigint;
  /** What the ledger received from these lines and had to give back, by its own deposits. */
  ledger: bigint;
  /** What waits to be booked, fits no address, and was sent back. */
  waiting: bigint;
  unmatched: bigint;
  returned: bigint;
  /** What the bank's balance has moved by in the day, less the ledger. Zero means that both agree. */
  difference: bigint;
}

type Found = BankStatementRow & { file: string };

/** The statements of a day, and whether there are more of them. */
export interface Report {
  statements: ReportRow[];
  hasMore: boolean;
}

/**
 * Compares the closing balances of a day with the ledger, for each account of which a bank has sent a statement with
 * both balances: 200 at most. What the ledger has is read from its deposits, not from the lines. A transfer that
 * several files have is counted once.
 */
export async function bankReport(operator: Operator, day: string): Promise<Report> {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day))
    throw new OperatorError('Give the day as YYYY-MM-DD.', 'parameter_invalid', 'bank_report.day');
  const statements = await operator.read<Found>(
    'operator_bank_statements',
    (db) =>
      db
        .select({ ...getTableColumns(bankStatement), file: bankFile.name })
        .from(bankStatement)
        .innerJoin(bankFile, eq(bankFile.id, bankStatement.fileId))
        .where(
          and(
            eq(bankStatement.day, placeholder('day')),
            sql`closing is not null and opening is not null and stored_at is not null`,
          ),
        )
        .orderBy(asc(bankStatement.account), asc(bankStatement.currency), asc(bankStatement.fileId))
        .limit(statementsMax + 1),
    { day },
  );
  const rows: ReportRow[] = [];
  for (const statement of statements.slice(0, statementsMax)) {
    const sameDay = statements.filter(
      ({ account, currency }) => account === statement.account && currency === statement.currency,
    );
    const before = await closingBefore(operator, statement, day);
    const gap = before && gapOf(statement, sameDay, before.closing);
    const from = { previousDay: before?.day ?? null, gap };
    rows.push({ ...(await rowOf(operator, statement, day, movementOf(statement, sameDay))), ...from });
  }
  return { statements: rows, hasMore: statements.length > statementsMax };
}

/** The last closing balance of the account of a statement before a day; null where none is known, or several are. */
async function closingBefore(
  operator: Operator,
  { account, currency }: Found,
  day: string,
): Promise<{ day: string; closing: bigint } | null> {
  const of = and(
    account === null ? sql`account is null` : eq(bankStatement.account, placeholder('account')),
    eq(bankStatement.currency, placeholder('currency')),
    sql`${bankStatement.day} < ${placeholder('day')}`,
    sql`closing is not null and stored_at is not null`,
  );
  const found = await operator.read<BankStatementRow>(
    `operator_bank_statements_before${account === null ? ':none' : ''}`,
    (db) =>
      db
        .select(getTableColumns(bankStatement))
        .from(bankStatement)
        .innerJoin(bankFile, eq(bankFile.id, bankStatement.fileId))
        .where(of)
        .orderBy(desc(bankStatement.day), desc(bankStatement.fileId), desc(bankStatement.number))
        .limit(batchMax),
    { account: account ?? undefined, currency, day },
  );
  const last = found.filter((each) => each.day === found[0]!.day);
  const ends = [...new Set(last.map(({ closing }) => closing!))];
  const [closing, another] = ends.length > 1 ? [chainOf(last)?.last.closing] : ends;
  return closing == null || another !== undefined ? null : { day: last[0]!.day!, closing };
}

/** By how much a statement begins with another balance than the one before it has ended with. */
function gapOf(statement: Found, sameDay: readonly Found[], before: bigint): bigint | null {
  const openings = new Set(sameDay.map(({ opening }) => opening!));
  if (openings.size === 1) return statement.opening! - before;
  const chain = chainOf(sameDay);
  if (!chain) return null;
  return statement.opening === chain.first.opening ? statement.opening! - before : 0n;
}

/**
 * By how much the balance has moved in a day. Statements of parts of the day follow one another, each from the closing
 * balance of the one before, and are one movement; any other is one by itself.
 */
function movementOf(statement: Found, sameDay: readonly Found[]): bigint {
  const chain = chainOf(sameDay);
  return chain ? chain.last.closing! - chain.first.opening! : statement.closing! - statement.opening!;
}

/** The first and the last of the statements of a day that follow one another; undefined if they do not. */
function chainOf<S extends BankStatementRow>(sameDay: readonly S[]): { first: S; last: S } | undefined {
  const parts = [...new Map(sameDay.map((each) => [`${each.opening} ${each.closing}`, each])).values()];
  const starts = new Map(parts.map((each) => [each.opening, each]));
  const closings = new Set(parts.map(({ closing }) => closing));
  const [first, another] = parts.filter(({ opening }) => !closings.has(opening));
  if (!first || another || starts.size < parts.length) return undefined;
  let [last, count] = [first, 1];
  for (let next = starts.get(last.closing); next && count < parts.length; next = starts.get(last.closing)) {
    last = next;
    count++;
  }
  return count === parts.length ? { first, last } : undefined;
}

type Compared = Omit<ReportRow, 'previousDay' | 'gap'>;

async function rowOf(operator: Operator, statement: Found, day: string, movement: bigint): Promise<Compared> {
  const { file, fileId, account } = statement;
  const [opening, closing, currency] = [statement.opening!, statement.closing!, statement.currency!];
  const sums = { lines: 0n, ledger: 0n, waiting: 0n, unmatched: 0n, returned: 0n };
  const before = new Set<string>();
  let after: BankLineRow | undefined;
  for (;;) {
    const lines = await linesOf(operator, day, account, currency, after);
    const related = operator.related();
    const moved = lines.map((line) => movedBy(related, line));
    for (const [i, line] of lines.entries()) {
      if (line.state === BankLineState.SEEN_BEFORE || line.state === BankLineState.BOOKED || isPaid(line)) {
        // Files may repeat a transfer, whether any of them has booked it or not, and a payout is paid once.
        const key = `${line.direction} ${line.depositId ?? line.payoutId!}`;
        if (before.has(key)) continue;
        before.add(key);
      }
      sums.lines += signed(line);
      if (line.state === BankLineState.MATCHED) sums.waiting += signed(line);
      else if (line.state === BankLineState.UNMATCHED) sums.unmatched += signed(line);
      else if (line.state === BankLineState.RETURNED) sums.returned += signed(line);
      else sums.ledger += await moved[i]!;
    }
    after = lines.at(-1);
    if (lines.length < batchMax) break;
  }
  const difference = movement - sums.ledger;
  return { file, fileId, account, currency, day, opening, closing, ...sums, difference };
}

/** Whether a line is the payment of a payout. */
const isPaid = ({ payoutId, direction }: BankLineRow): boolean => payoutId !== null && direction === 'debit';

/**
 * What the deposit of a line has moved: a receipt its amount, a recall a negative one, a reversal the receipt's. A
 * payout that has arrived has left the ledger, and one that was returned has come back.
 */
async function movedBy(related: Related, { tenant, depositId, payoutId, direction }: BankLineRow): Promise<bigint> {
  const place = { tenantId: tenant ?? '', livemode: true };
  if (payoutId !== null) {
    const paid = await related.one(payout, payout.id, place, payoutId);
    if (paid?.status !== 'completed' && paid?.status !== 'returned') return 0n;
    return direction === 'debit' ? -paid.amount : paid.status === 'returned' ? paid.amount : 0n;
  }
  const found = depositId === null ? null : await related.one(deposit, deposit.id, place, depositId);
  if (!found || (found.status !== 'completed' && found.status !== 'reversed')) return 0n;
  if (direction === 'credit' || found.amount < 0n) return found.amount;
  return found.status === 'reversed' ? -found.amount : 0n;
}

/** The lines of an account and day, of all files, without those that were seen before. */
function linesOf(
  operator: Operator,
  day: string,
  account: string | null,
  currency: string,
  after: BankLineRow | undefined,
): Promise<BankLineRow[]> {
  return operator.read<BankLineRow>(
    `operator_bank_lines_of_day:${account === null ? 'none' : ''}:${after ? 'after' : ''}`,
    (db) =>
      db
        .select()
        .from(bankLine)
        .where(
          and(
            eq(bankLine.day, placeholder('day')),
            account === null ? sql`account is null` : eq(bankLine.account, placeholder('account')),
            eq(bankLine.currency, placeholder('currency')),
            sql`(state <> 'seen_before' or deposit_id is not null or payout_id is not null)`,
            sql`exists (select from bank_file f where f.id = file_id and f.stored_at is not null)`,
            after &&
              sql`(${bankLine.fileId}, ${bankLine.number}) >
                (${placeholder('fileId')}::text, ${placeholder('number')}::int)`,
          ),
        )
        .orderBy(asc(bankLine.fileId), asc(bankLine.number))
        .limit(batchMax),
    { day, account, currency, fileId: after?.fileId, number: after?.number },
  );
}
