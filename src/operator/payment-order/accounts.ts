import { desc, eq, getTableColumns, sql } from 'drizzle-orm';
import { fromRow } from '../../db/read/row-mapper.js';
import { type Problem, problem } from '../../errors/problems.js';
import { textProblems } from '../../operation/text-problems.js';
import { isIban } from '../../resources/address/rules.js';
import type { PayoutRow } from '../../resources/payout/table.js';
import { lengthFault } from '../../types/text-length.js';
import { accountKey } from '../bank-file/line.js';
import { type Operator, OperatorError, refuse } from '../operator.js';
import { ownAccount, type OwnAccountRow, paymentOrder } from './table.js';

/** As many characters as a message of ISO 20022 has for a name. */
const holderLengthMax = 70;
const accountsMax = 200;
/** How much of an IBAN a number has at least that is taken for it. */
const partLengthMin = 6;

/** What a bank needs to know of an account of the operator. */
export interface OwnAccountContent {
  holder: string;
  currency: string;
  iban?: string | null | undefined;
  number?: string | null | undefined;
  bic?: string | null | undefined;
  ifsc?: string | null | undefined;
}

/** Adds an account of the operator, from which payouts are paid. Spec: decisions, 8.15. */
export async function addOwnAccount(operator: Operator, given: OwnAccountContent, by: string): Promise<OwnAccountRow> {
  const { holder, currency } = given;
  const codes = Object.entries({ iban: given.iban, number: given.number, bic: given.bic, ifsc: given.ifsc });
  const bare = Object.fromEntries(codes.map(([name, text]) => [name, text == null ? null : accountKey(text)]));
  refuse([...textProblems({ holder }, 'own_account'), ...ownAccountProblems({ holder, currency, ...bare })]);
  const key = operator.idempotencyKey ?? null;
  if (key !== null && (await hasAdded(operator, key))) operator.replays++;
  const [row] = await operator.call('add_own_account', [JSON.stringify({ holder, currency, ...bare }), by, key]);
  return fromRow(ownAccount, row!);
}

/** Closes an account of the operator: no order is made from it any more. Orders that exist stay as they are. */
export async function closeOwnAccount(operator: Operator, id: string): Promise<OwnAccountRow> {
  const [row] = await operator.call('close_own_account', [id]);
  return row ? fromRow(ownAccount, row) : missing();
}

/** The accounts of the operator, those in use first: 200 at most. */
export function listOwnAccounts(operator: Operator): Promise<OwnAccountRow[]> {
  return operator.read<OwnAccountRow>(
    'operator_own_accounts',
    (db) =>
      db
        .select()
        .from(ownAccount)
        .orderBy(sql`closed_at is not null`, desc(ownAccount.created), desc(ownAccount.id))
        .limit(accountsMax),
    {},
  );
}

/** The accounts from which the orders of payouts pay, by the ids of the orders. */
export async function accountsOfOrders(
  operator: Operator,
  payouts: readonly Pick<PayoutRow, 'orderId'>[],
): Promise<Map<string, OwnAccountRow>> {
  const ids = new Set(payouts.flatMap(({ orderId }) => orderId ?? []));
  if (ids.size === 0) return new Map();
  const rows = await operator.read<OwnAccountRow & { orderId: string }>(
    'operator_accounts_of_orders',
    (db) =>
      db
        .select({ ...getTableColumns(ownAccount), orderId: paymentOrder.id })
        .from(paymentOrder)
        .innerJoin(ownAccount, eq(ownAccount.id, paymentOrder.ownAccountId))
        .where(sql`${paymentOrder.id} = any(${sql.placeholder('ids')}::text[])`),
    { ids: [...ids] },
  );
  return new Map(rows.map(({ orderId, ...account }) => [orderId, account]));
}

/** Whether a file writes this account: as it is kept, or as the IBAN that ends with its number, or the other way. */
export function isAccount({ iban, number }: Pick<OwnAccountRow, 'iban' | 'number'>, written: string): boolean {
  const own = iban ?? number!;
  if (own === written) return true;
  const [whole, part] = own.length > written.length ? [own, written] : [written, own];
  return part.length >= partLengthMin && whole.endsWith(part) && isIban(whole);
}

/** The account of the operator with this id. */
export async function ownAccountOf(operator: Operator, id: string): Promise<OwnAccountRow> {
  const [row] = await operator.read<OwnAccountRow>(
    'operator_own_account',
    (db) =>
      db
        .select()
        .from(ownAccount)
        .where(eq(ownAccount.id, sql.placeholder('id'))),
    { id },
  );
  return row ?? missing();
}

/** Whether a call with this idempotency key has added an account. */
async function hasAdded(operator: Operator, key: string): Promise<boolean> {
  const rows = await operator.read<{ id: string }>(
    'operator_own_account_of_key',
    (db) =>
      db
        .select({ id: ownAccount.id })
        .from(ownAccount)
        .where(eq(ownAccount.idempotencyKey, sql.placeholder('key'))),
    { key },
  );
  return rows.length > 0;
}

function missing(): never {
  throw new OperatorError('You have no such account. Check the id.', 'resource_missing', 'own_account.id');
}

/** The problems of an account that no file could name. */
function ownAccountProblems({ holder, iban, number, bic, ifsc }: OwnAccountContent): Problem[] {
  const wrong = (field: string, text: string) => [problem('parameter_invalid', `own_account.${field}`, text)];
  const fault = holder.trim() === '' ? 'must not be empty' : lengthFault(holder, holderLengthMax);
  const form = (field: string, text: string | null | undefined, pattern: RegExp, what: string) =>
    text == null || (text.length <= 40 && pattern.test(text)) ? [] : wrong(field, `must be ${what}`);
  return [
    ...(fault === undefined ? [] : wrong('holder', fault)),
    ...((iban == null) === (number == null) ? wrong('iban', 'or `number` must be given, and not both') : []),
    ...(iban == null || (iban.length <= 40 && isIban(iban))
      ? []
      : wrong('iban', 'must be an IBAN: its country, length or checksum is wrong')),
    ...form('number', number, /^[A-Z0-9]{1,34}$/, 'at most 34 letters and digits'),
    ...form('bic', bic, /^[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/, 'a BIC of 8 or 11 characters'),
    ...form('ifsc', ifsc, /^[A-Z]{4}0[A-Z0-9]{6}$/, 'an IFSC of 11 characters, such as HDFC0000123'),
  ];
}
