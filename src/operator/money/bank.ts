import { and, asc, desc, eq, exists, getTableColumns, inArray, isNotNull, isNull, ne, or, sql } from 'drizzle-orm';
import { alias, type PgColumn } from 'drizzle-orm/pg-core';
import { account } from '../../resources/account/table.js';
import { type AddressRow, address } from '../../resources/address/table.js';
import type { ReconciledReceivableInput } from '../../resources/deposit/inputs.js';
import { payerProblems, receiverOf } from '../../resources/deposit/rules.js';
import { type DepositRow, deposit } from '../../resources/deposit/table.js';
import { editions } from '../../editions/editions.js';
import { editionProblems } from '../../operation/input-problems.js';
import { amountProblems } from '../../operation/amount-problems.js';
import { textProblems } from '../../operation/text-problems.js';
import { problem, DomainError } from '../../errors/problems.js';
import { type TransactionRow, transaction } from '../../resources/transaction/table.js';
import { bareReference, type BankNoticeRow, bankNotice, isPadded, type UnexplainedRow } from '../table.js';
import { type Operator, OperatorError, refuse } from '../operator.js';
import { tenantOf } from '../paging.js';
import { storedDetails } from './bank-details.js';
import { type BankNotice, type NoticeEvent, noticeProblems, withoutSpaceAround } from './notice.js';
import { unexplainedUnder } from './taken-back.js';

/** A recorded bank notice with its deposit; null while a reversal waits for its deposit. */
export interface RecordedBankNotice {
  notice: NoticeOfDeposit;
  deposit: DepositRow | null;
  /** What a recall took of a transfer of which refunds and disputes had left nothing. */
  unexplained: UnexplainedRow | null;
}

/** A notice of any event. That of a recall is stored with its deposit, which has the negative amount. */
export type NoticeOfDeposit = Omit<BankNoticeRow, 'event'> & { event: NoticeEvent };

const waitingNoticesMax = 200;

const duplicatesMax = 200;

const mismatchesMax = 200;

/**
 * Records a bank's notice about a transfer. Recording the same notice again has no effect, and notices may come in any
 * order, but for a recall, which comes after the receipt. White space around the reference is left out.
 * Refuses a payment method of the other edition, and a currency that is not the address's unless the operator allows
 * it.
 */
export async function recordBankNotice(operator: Operator, given: BankNotice): Promise<RecordedBankNotice> {
  refuse([...textProblems(given, 'deposit'), ...amountProblems(given, 'deposit'), ...noticeProblems(given)]);
  const to = await receivingAddress(operator, given.addressId);
  if (!to.livemode)
    throw new OperatorError(
      'In test mode the sandbox bank makes deposits; this records those of live mode. Name an address of live mode.',
      'parameter_invalid',
      'deposit.address_id',
    );
  // Transfers arrive only at addresses where the service receives money. An address out of use may still get some.
  if (to.category !== 'service_receive' && to.category !== 'service_fee_advance')
    throw new DomainError(
      problem(
        'address_unusable',
        'deposit.address_id',
        'A bank sends money to a receiving address only. Name one of category SERVICE_RECEIVE or SERVICE_FEE_ADVANCE.',
      ),
    );
  const scope = operator.scope(to);
  const receiver = await scope.one(account, to.linkedId);
  const edition = editions[receiver.edition];
  const { paymentMethod } = given;
  if (paymentMethod !== undefined) refuse(editionProblems('recordBankNotice', 'deposit', { paymentMethod }, edition));
  if (given.fromAccountId !== undefined) {
    // The payer must be an account of the same tenant; otherwise the deposit would silently have no payer.
    const field = 'deposit.from_account_id';
    const payer = await scope.find(account, given.fromAccountId);
    if (!payer) throw new OperatorError('There is no such account. Check the id.', 'resource_missing', field);
    refuse(payerProblems(payer, receiver, field));
  }
  if (given.event === 'recalled') return recordRecall(operator, given, to);
  const details = storedDetails(given);
  const content = {
    toAccountId: to.linkedId,
    toAddressId: to.id,
    amount: given.amount,
    currency: given.currency,
    fromAccountId: given.fromAccountId ?? null,
    paymentMethod: paymentMethod ?? edition.bankMethod,
    statementDescriptor: given.statementDescriptor ?? null,
  };
  const args = {
    ...{ reference: given.reference, event: given.event, content, ...(details && { details }) },
    // A member that the notice leaves out cannot conflict with the notice recorded earlier under its reference.
    ...(paymentMethod === undefined && { open: ['paymentMethod'] }),
    ...(given.allowCurrency === true && { allowCurrency: true }),
  };
  const notice = await operator.write('record_bank_notice', to, 'bankNotice', args, bankNotice);
  return { notice, deposit: await scope.find(deposit, notice.depositId), unexplained: null };
}

/**
 * Records a bank's recall of a received transfer, which makes a deposit with a negative amount. Where nothing is left
 * of the transfer, what the bank took is unexplained.
 */
async function recordRecall(operator: Operator, given: BankNotice, to: AddressRow): Promise<RecordedBankNotice> {
  const { reference, originalReference, reasonCode, amount, currency } = given;
  const { tenantId, livemode } = to;
  const content = { toAccountId: to.linkedId, toAddressId: to.id, amount, currency };
  const args = {
    ...{ reference, originalReference: originalReference!, content },
    ...(reasonCode !== undefined && { reasonCode }),
  };
  const taken = await operator.writeOrNone('record_bank_recall', to, 'bankNotice', args, deposit);
  const kept = taken ? null : (await unexplainedUnder(operator.scope(to), reference))!;
  const { created } = (taken ?? kept)!;
  const { paymentMethod } = taken ?? (await operator.scope(to).one(deposit, kept!.depositId!));
  const of = { ...content, amount: String(amount), fromAccountId: null, paymentMethod, statementDescriptor: null };
  const notice: NoticeOfDeposit = {
    ...{ tenantId, livemode, created, depositId: taken?.id ?? null, event: 'recalled', content: of },
    reference: withoutSpaceAround(reference),
  };
  return { notice, deposit: taken ?? null, unexplained: kept };
}

/** The reversals that wait for their deposits, of all tenants, oldest first: 200 at most. */
export function waitingNotices(operator: Operator): Promise<BankNoticeRow[]> {
  return operator.read<BankNoticeRow>(
    'operator_waiting_notices',
    (db) =>
      db
        .select()
        .from(bankNotice)
        .where(isNull(bankNotice.depositId))
        .orderBy(asc(bankNotice.created), asc(bankNotice.tenantId), asc(bankNotice.livemode), asc(bankNotice.reference))
        .limit(waitingNoticesMax),
    {},
  );
}

/**
 * Notices of received money whose references differ in white space around them alone, of all tenants: 200 at most, the
 * notices of one transfer one after the other, the oldest first. Earlier releases credited each of them. One that was
 * reversed is left out.
 */
export function duplicateNotices(operator: Operator): Promise<BankNoticeRow[]> {
  const [n, other] = [alias(bankNotice, 'n'), alias(bankNotice, 'other')];
  return operator.read<BankNoticeRow>(
    'operator_duplicate_notices',
    (db) => {
      // Of several notices of one transfer all but one have white space around their references, and few others do.
      const padded = db
        .selectDistinct({
          tenantId: bankNotice.tenantId,
          livemode: bankNotice.livemode,
          bare: bareReference(bankNotice.reference).as('bare'),
        })
        .from(bankNotice)
        .where(isPadded(bankNotice))
        .as('padded');
      const counts = (notice: Record<'tenantId' | 'livemode' | 'reference' | 'event', PgColumn>) =>
        and(
          eq(notice.tenantId, padded.tenantId),
          eq(notice.livemode, padded.livemode),
          or(
            eq(notice.reference, padded.bare),
            and(isPadded(notice), eq(bareReference(notice.reference), padded.bare)),
          ),
          eq(notice.event, 'received'),
          sql`not exists (select from bank_notice r where r.tenant_id = ${notice.tenantId}
            and r.livemode = ${notice.livemode} and r.reference = ${notice.reference} and r.event = 'reversed')`,
        );
      const sameTransfer = (one: typeof n, two: typeof other) =>
        ['toAddressId', 'currency', 'amount'].map(
          (key) => sql`${one.content} ->> ${sql.raw(`'${key}'`)} = ${two.content} ->> ${sql.raw(`'${key}'`)}`,
        );
      const others = db
        .select({ reference: other.reference })
        .from(other)
        .where(and(counts(other), ne(other.reference, n.reference), ...sameTransfer(n, other)));
      return db
        .select(getTableColumns(n))
        .from(padded)
        .innerJoin(n, counts(n))
        .where(exists(others))
        .orderBy(asc(padded.tenantId), asc(padded.livemode), asc(padded.bare), asc(n.created), asc(n.reference))
        .limit(duplicatesMax);
    },
    {},
  );
}

/** Withdraws a reversal that waits for a deposit; with a wrong reference it would wait for ever. */
export async function withdrawNotice(operator: Operator, addressId: string, reference: string): Promise<BankNoticeRow> {
  return operator.write(
    'withdraw_bank_notice',
    await receivingAddress(operator, addressId),
    'withdrawNotice',
    { reference, addressId },
    bankNotice,
  );
}

/** The address that a bank's notice names. */
export async function receivingAddress(operator: Operator, addressId: string): Promise<AddressRow> {
  const [row] = await operator.byId('operator_address', address, addressId);
  if (!row)
    throw new OperatorError('There is no such address. Check the id.', 'resource_missing', 'deposit.address_id');
  return row;
}

/**
 * Attempts for which the acquirer reported a success that does not match them, of all tenants, newest first: 200 at
 * most.
 */
export function listMismatches(operator: Operator): Promise<TransactionRow[]> {
  return operator.read<TransactionRow>(
    'operator_mismatches',
    (db) =>
      db
        .select()
        .from(transaction)
        .where(isNotNull(transaction.mismatch))
        .orderBy(desc(transaction.created), desc(transaction.id))
        .limit(mismatchesMax),
    {},
  );
}

/**
 * The deposit with this id: with the tenant by the primary key, and without it by the index of all ids.
 */
export async function operatorDeposit(operator: Operator, id: string, tenantId?: string): Promise<DepositRow> {
  const [row] =
    tenantId === undefined
      ? await operator.byId('operator_deposit', deposit, id)
      : await operator.read<DepositRow>(
          'operator_deposit_of_tenant',
          (db) =>
            db
              .select()
              .from(deposit)
              .where(
                and(
                  eq(deposit.tenantId, sql.placeholder('tenantId')),
                  inArray(deposit.livemode, [false, true]),
                  eq(deposit.id, sql.placeholder('id')),
                ),
              ),
          { tenantId: tenantOf(tenantId), id },
        );
  if (!row) throw new OperatorError('There is no such deposit. Check the id.', 'resource_missing', 'deposit.id');
  return row;
}

/** Counts a deposit towards receivables, on behalf of the user who receives it. Spec: decisions, Reconciliation. */
export async function reconcileFor(
  operator: Operator,
  id: string,
  receivables: ReconciledReceivableInput[],
  tenantId?: string,
): Promise<DepositRow> {
  const row = await operatorDeposit(operator, id, tenantId);
  const holder = await operator.account(row.toAccountId, row.livemode);
  const receiver = await operator.account(receiverOf(holder), row.livemode);
  const answer = await operator.as<{ deposit: DepositRow }>(receiver, 'reconcileDeposit', { id, receivables });
  return answer.deposit;
}
