import { and, inArray, sql } from 'drizzle-orm';
import { type PgColumn, type PgTable, unionAll } from 'drizzle-orm/pg-core';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { Scope } from '../../db/scope.js';
import { account } from '../../resources/account/table.js';
import { address, bankAccountKey } from '../../resources/address/table.js';
import { adjustment } from '../../resources/adjustment/table.js';
import { allocationsOf } from '../../resources/allocation/pages.js';
import { checkoutNow } from '../../resources/checkout/now.js';
import { checkout } from '../../resources/checkout/table.js';
import { deposit } from '../../resources/deposit/table.js';
import { dispute } from '../../resources/dispute/table.js';
import { payout } from '../../resources/payout/table.js';
import { receivable } from '../../resources/receivable/table.js';
import { changeRequest } from '../../resources/change-request/table.js';
import { refund } from '../../resources/refund/table.js';
import { requestLog } from '../../resources/request-log/table.js';
import { transaction } from '../../resources/transaction/table.js';
import { searchedAccounts } from '../account/search.js';
import { paymentOrder } from '../payment-order/table.js';
import { bankLine } from '../bank-file/table.js';
import type { Operator } from '../operator.js';
import { bankNotice, clawback, unexplained } from '../table.js';
import { type FoundObject, ofPlaceMax, type Place, shown } from './objects.js';
import { readText, type TextToFind } from './text.js';
import { foundInTenant, kindsInTenant } from './tenant.js';

/** What was found, and where it was sought. */
export interface Found {
  objects: FoundObject[];
  /** Whether a place has more than is returned. */
  hasMore: boolean;
  /** The places that were searched, in words. */
  searched: string[];
  /** What to add to the text, so that more places are searched; null where all were. */
  hint: string | null;
}

/**
 * Finds the objects of all tenants that have a text: an id, a bank's reference, a number of a bank account, the address
 * of a checkout's page, or words of the name of an account. Each place is one look-up by an index over all tenants, or
 * by the key of the tenant where the text tells it. Amounts, invoice numbers and the texts of payments have indexes by
 * tenant alone: they are sought when the text has the id of an account of it, too. Silent: all of it.
 */
export async function find(operator: Operator, given: string): Promise<Found> {
  const text = readText(given, operator.secrets, isNoun);
  const asked: Promise<Place>[] = [];
  if (text.id && isOfAll(text.id.noun)) asked.push(byId(operator, text.id.noun, text.id.text));
  if (text.checkout) asked.push(checkoutOfPage(operator, text.checkout));
  if (text.references) asked.push(...byReference(operator, text.references));
  if (text.accountNumber !== undefined) asked.push(byAccountNumber(operator, text.accountNumber));
  if (text.words !== undefined && text.withinId === undefined) asked.push(byName(operator, text.words));
  const within = text.withinId === undefined ? [] : await foundInTenant(operator, text.withinId, text);
  const places = [...(await Promise.all(asked)), ...within];
  const objects = new Map(
    places.flatMap((place) => place.objects.slice(0, ofPlaceMax)).map((one) => [keyOf(one), one]),
  );
  return {
    objects: await withDeposits(operator, [...objects.values()]),
    hasMore: places.some((place) => place.objects.length > ofPlaceMax),
    searched: places.map(({ name }) => name),
    hint: hintOf(text),
  };
}

/** Objects of which an invoice has the deposit that the newest money of it came from: one look-up for each tenant. */
function withDeposits(operator: Operator, objects: FoundObject[]): Promise<FoundObject[]> {
  const scopes = new Map<string, Scope>();
  return Promise.all(
    objects.map(async (object) => {
      const { type, id, tenantId, livemode } = object;
      if (type !== 'receivable' || tenantId === null) return object;
      const place = `${tenantId} ${livemode}`;
      const scope = scopes.get(place) ?? operator.scope({ tenantId, livemode });
      scopes.set(place, scope);
      const { nodes } = await allocationsOf(scope, 'receivable', id, { first: 1 });
      return { ...object, depositId: nodes[0]?.depositId ?? null };
    }),
  );
}

const keyOf = ({ type, id, tenantId, livemode, created, status }: FoundObject) =>
  JSON.stringify([type, id, tenantId, livemode, ...(type === 'bank_line' ? [created, status] : [])]);

/** What to add to a text, so that more is searched. */
function hintOf({ words, amount, withinId, id }: TextToFind): string | null {
  if (id && !isOfAll(id.noun) && withinId === undefined)
    return `This id is sought within a tenant: add the id of an account: ${id.noun}_… account_….`;
  if (words === undefined) return null;
  if (amount && (amount.currency === undefined || withinId === undefined))
    return 'An amount is sought within a tenant: add its currency and the id of an account: 393.27 USD account_….';
  if (withinId !== undefined) return null;
  return 'Invoice numbers and the texts of payments are sought within a tenant: add the id of an account.';
}

/** The kinds of object that are found by their ids over all tenants. */
const kinds = {
  account: { name: 'Accounts by id', table: account, of: shown.account },
  address: { name: 'Addresses by id', table: address, of: shown.address },
  adjustment: { name: 'Adjustments by id', table: adjustment, of: shown.adjustment },
  change_request: { name: 'Change requests by id', table: changeRequest, of: shown.changeRequest },
  deposit: { name: 'Payments by id', table: deposit, of: shown.deposit },
  dispute: { name: 'Disputes by id', table: dispute, of: shown.dispute },
  payment_order: { name: 'Payment orders by id', table: paymentOrder, of: shown.order },
  payout: { name: 'Payouts by id', table: payout, of: shown.payout },
  receivable: { name: 'Invoices by id', table: receivable, of: shown.receivable },
  refund: { name: 'Refunds by id', table: refund, of: shown.refund },
  req: { name: 'Logged requests by id', table: requestLog, of: shown.request },
  transaction: { name: 'Attempts by id', table: transaction, of: shown.transaction },
  unexplained: { name: 'Unexplained money by id', table: unexplained, of: shown.unexplained },
} as const;

/** What the ids begin with. */
type Noun = keyof typeof kinds | 'checkout';
const isOfAll = (text: string): text is Noun => text === 'checkout' || Object.hasOwn(kinds, text);
const isNoun = (text: string): text is string => isOfAll(text) || Object.hasOwn(kindsInTenant, text);

const names: Readonly<Record<string, string>> = { req: 'request_log' };

async function byId(operator: Operator, noun: Noun, text: string): Promise<Place> {
  if (noun === 'checkout') {
    const [place] = await operator.byId('operator_checkout', checkout, text);
    return place ? checkoutOfPage(operator, place) : { name: checkoutsById, objects: [] };
  }
  const kind = kinds[noun];
  const rows = await operator.byId(`operator_${names[noun] ?? noun}`, kind.table, text);
  // A table and the form of its rows stand in one line above.
  return { name: kind.name, objects: rows.map((row) => (kind.of as (row: unknown) => FoundObject)(row)) };
}

const checkoutsById = 'Checkouts by id';

/** A checkout in its present state. */
async function checkoutOfPage(
  operator: Operator,
  { tenantId, livemode, id }: NonNullable<TextToFind['checkout']>,
): Promise<Place> {
  const row = await operator.scope({ tenantId, livemode }).find(checkoutNow, id);
  return { name: checkoutsById, objects: row ? [shown.checkout(row)] : [] };
}

const { placeholder } = sql;

/** The rows of a table that have one of two texts in a column, of all tenants. */
function withReference<T extends PgTable>(
  operator: Operator,
  name: string,
  table: T,
  column: PgColumn,
  [typed, capitals]: readonly [string, string],
): Promise<T['$inferSelect'][]> {
  return operator.read<T['$inferSelect']>(
    name,
    (db) =>
      db
        .select()
        .from(table as PgTable)
        .where(inArray(column, [placeholder('typed'), placeholder('capitals')]))
        .limit(ofPlaceMax + 1),
    { typed, capitals },
  );
}

/** What banks report under a reference: notices, recalls, what no balance had of them, payouts and lines of files. */
function byReference(operator: Operator, references: readonly [string, string]): Promise<Place>[] {
  return [
    withReference(operator, 'operator_notices_of_reference', bankNotice, bankNotice.reference, references).then(
      (rows) => ({ name: 'Bank notices by reference', objects: rows.map(shown.notice) }),
    ),
    recallsOf(operator, references),
    withReference(operator, 'operator_unexplained_of_reference', unexplained, unexplained.reference, references).then(
      (rows) => ({ name: 'Unexplained money by reference', objects: rows.map(shown.unexplained) }),
    ),
    withReference(operator, 'operator_payouts_of_reference', payout, payout.bankReference, references).then((rows) => ({
      name: 'Payouts by reference',
      objects: rows.map(shown.payout),
    })),
    linesOf(operator, references),
  ];
}

/** The deposits with the negative amounts of recalls and chargebacks. */
async function recallsOf(operator: Operator, references: readonly [string, string]): Promise<Place> {
  const rows = await withReference(operator, 'operator_clawbacks', clawback, clawback.reference, references);
  const related = operator.related();
  const taken = await Promise.all(rows.map((row) => related.one(deposit, deposit.id, row, row.depositId)));
  const objects = taken.flatMap((row, i) => (row ? [{ ...shown.deposit(row), reference: rows[i]!.reference }] : []));
  return { name: 'Recalls and disputes by reference', objects };
}

async function linesOf(operator: Operator, [typed, capitals]: readonly [string, string]): Promise<Place> {
  const rows = await operator.read<{ line: typeof bankLine.$inferSelect; created: number }>(
    'operator_bank_lines_of_reference',
    (db) =>
      db
        .select({
          line: bankLine,
          // A subquery, and no join: PostgreSQL could go through all files.
          created: sql<number>`(select f.created from bank_file f where f.id = ${bankLine.fileId})`.mapWith(Number),
        })
        .from(bankLine)
        .where(inArray(bankLine.reference, [placeholder('typed'), placeholder('capitals')]))
        .limit(ofPlaceMax + 1),
    { typed, capitals },
  );
  return {
    name: 'Lines of bank files by reference',
    objects: rows.map(({ line, created }) => shown.line({ ...line, created })),
  };
}

/** The receiving addresses with a number of a bank account, in live mode: a bank has issued these. */
async function byAccountNumber(operator: Operator, number: string): Promise<Place> {
  const of = (db: PostgresJsDatabase, name: string) =>
    db
      .select()
      .from(address)
      .where(
        and(
          sql`livemode and category in ('service_receive', 'service_fee_advance')`,
          sql`${bankAccountKey(address, name)} = ${placeholder('number')}`,
        ),
      )
      .limit(ofPlaceMax + 1);
  const rows = await operator.read<typeof address.$inferSelect>(
    'operator_addresses_of_number',
    (db) => unionAll(of(db, 'iban'), of(db, 'number')).limit(ofPlaceMax + 1),
    { number },
  );
  return { name: 'Receiving addresses by account number', objects: rows.map(shown.address) };
}

async function byName(operator: Operator, words: string): Promise<Place> {
  const { nodes } = await searchedAccounts(operator, words, { limit: ofPlaceMax + 1 });
  return { name: 'Accounts by name', objects: nodes.map(shown.account) };
}
