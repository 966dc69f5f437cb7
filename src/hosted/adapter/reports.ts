import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { Webhook } from 'standardwebhooks';
import type { ScopeSource } from '../../db/doors.js';
import type { Scope } from '../../db/scope.js';
import { DomainError, problem } from '../../errors/problems.js';
import { payerScope } from '../session.js';
import { dispute } from '../../resources/dispute/table.js';
import { type RefundRow, refund } from '../../resources/refund/table.js';
import { type UnexplainedRow, unexplained } from '../../operator/table.js';
import { TransactionReasonCode, type TransactionRow, transaction } from '../../resources/transaction/table.js';
import { Amount } from '../../types/scalars.js';
import { decisionOf, faultOf } from './client.js';
import { endOfRefund, type Report, report } from './protocol.js';

/** Does the work of a report in a turn of its tenant. */
type InTurn = <T>(scope: Scope, work: () => Promise<T>) => Promise<T>;

type ById = <T extends PgTable & { id: PgColumn }>(name: string, table: T, id: string) => Promise<T['$inferSelect'][]>;

/** What reports are recorded with. */
export interface ReportParts {
  database: ScopeSource;
  /** The rows with an id, of all tenants. */
  byId: ById;
  inTurn: InTurn;
}

const unsigned = 'The signature of the report is missing, wrong or too old. Sign it as Standard Webhooks describe.';

/** The report in a signed body. Refuses one that none of the secrets has signed within the tolerance. */
export function signedReport(secrets: readonly string[], body: string, headers: Record<string, unknown>): Report {
  const given = Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name] ?? '')]),
  );
  if (!secrets.some((secret) => isSignedBy(secret, body, given)))
    throw new DomainError(problem('authentication_required', undefined, unsigned));
  const read = report.safeParse(jsonOf(body));
  if (!read.success)
    throw new DomainError(problem('body_invalid', undefined, `The report is invalid: ${faultOf(read)}.`));
  return read.data;
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new DomainError(problem('body_invalid'));
  }
}

function isSignedBy(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch (error) {
    // The library reads the body once its signature is right.
    return error instanceof SyntaxError;
  }
}

/**
 * Records a report. The same report again changes nothing; one about what is not known is refused. A write is refused
 * when another one came first, such as the same report sent at once. What that one has stored then decides.
 */
export async function recordReport(
  parts: ReportParts,
  livemode: boolean,
  given: Report,
  requestId: string,
): Promise<void> {
  try {
    await record(parts, livemode, given, requestId);
  } catch (error) {
    if (!isRefusedByStatus(error)) throw error;
    await record(parts, livemode, given, requestId).catch((again: unknown) => {
      throw isRefusedByStatus(again) ? contradicting() : again;
    });
  }
}

const isRefusedByStatus = (error: unknown): boolean =>
  error instanceof DomainError && error.problems[0]!.code === 'status_invalid';

function record(parts: ReportParts, livemode: boolean, given: Report, requestId: string): Promise<void> {
  switch (given.type) {
    case 'attempt.decided':
      return recordAttempt(parts, livemode, given.data, requestId);
    case 'refund.decided':
      return recordRefund(parts, livemode, given.data, requestId);
    case 'dispute.opened':
      return openDispute(parts, livemode, given.data, requestId);
    case 'dispute.decided':
      return decideDispute(parts, livemode, given.data, requestId);
  }
}

type DataOf<T extends Report['type']> = Extract<Report, { type: T }>['data'];

async function recordAttempt(
  parts: ReportParts,
  livemode: boolean,
  { id, ...state }: DataOf<'attempt.decided'>,
  requestId: string,
): Promise<void> {
  const scope = payerScope(parts.database, await attemptOf(parts, livemode, id));
  await parts.inTurn(scope, () =>
    scope.write('decide_transaction', transaction, { requestId }, { id, ...decisionOf(state) }),
  );
}

async function attemptOf({ byId }: ReportParts, livemode: boolean, id: string): Promise<TransactionRow> {
  const rows: TransactionRow[] = await byId('reported_attempt', transaction, id);
  const row = rows.find((each) => each.livemode === livemode);
  if (!row) throw new DomainError(problem('resource_missing', 'attempt.id', 'There is no such attempt in this mode.'));
  return row;
}

async function recordRefund(
  { byId, database, inTurn }: ReportParts,
  livemode: boolean,
  data: DataOf<'refund.decided'>,
  requestId: string,
): Promise<void> {
  const rows: RefundRow[] = await byId('reported_refund', refund, data.id);
  const row = rows.find((each) => each.livemode === livemode && each.checkoutId !== null);
  if (!row) throw new DomainError(problem('resource_missing', 'refund.id', 'There is no such refund in this mode.'));
  if (row.status === data.status) return;
  if (row.status !== 'pending')
    throw conflict('refund.status', `The refund is ${row.status} already. The operator decides about it.`);
  const scope = payerScope(database, row);
  await inTurn(scope, () => scope.write('move_refund', refund, { requestId }, endOfRefund(data.id, data)));
}

/**
 * Opens a dispute of what an attempt has paid. What no balance has is unexplained, so all of an attempt that was taken
 * in another currency. Spec: decisions, 8.13.
 */
async function openDispute(
  parts: ReportParts,
  livemode: boolean,
  data: DataOf<'dispute.opened'>,
  requestId: string,
): Promise<void> {
  const attempt = await attemptOf(parts, livemode, data.attempt);
  // The second payment of a checkout has a deposit, too.
  const { depositId } = attempt;
  const args = {
    ...{ reference: data.id, reasonCode: data.reason_code },
    ...{ amount: Amount.parseValue(data.amount), currency: data.currency },
    ...(data.reason !== undefined && { acquirerReason: data.reason }),
  };
  const respondBy = data.respond_by !== undefined && { respondBy: Math.floor(Date.parse(data.respond_by) / 1_000) };
  const tookAnother = attempt.takenCurrency !== null && attempt.takenCurrency !== attempt.currency;
  // It is not credited yet, or the report of its success is still to come.
  if (depositId === null && !tookAnother && mayBePaid(attempt)) throw early();
  const scope = payerScope(parts.database, attempt);
  await parts.inTurn(scope, async () => {
    await scope.refuseBesideOtherReleases();
    if (depositId === null)
      await scope.write('dispute_attempt', unexplained, { requestId }, { id: attempt.id, ...args });
    else await scope.writeOrNone('open_dispute', dispute, { requestId }, { id: depositId, ...args, ...respondBy });
  });
}

/**
 * Decides a dispute. The same decision again changes nothing, and a lost one is what was accepted. One that has taken
 * nothing from an account is unexplained money: that of a won one comes back as it was taken.
 */
async function decideDispute(
  parts: ReportParts,
  livemode: boolean,
  { id, attempt: attemptId, status }: DataOf<'dispute.decided'>,
  requestId: string,
): Promise<void> {
  const attempt = await attemptOf(parts, livemode, attemptId);
  const scope = payerScope(parts.database, attempt);
  await parts.inTurn(scope, async () => {
    const disputes = attempt.depositId ? await scope.all(dispute, dispute.depositId, attempt.depositId) : [];
    const row = disputes.find(({ reference }) => reference === id.trim());
    const kept = row ? undefined : await unexplainedOf(scope, id, attempt);
    if (kept) {
      await scope.refuseBesideOtherReleases();
      await scope.write('decide_unexplained', unexplained, { requestId }, { id: kept.id, to: status });
      return;
    }
    if (!row && mayBePaid(attempt)) throw early();
    if (!row) throw new DomainError(problem('resource_missing', 'dispute.id', 'The attempt has no such dispute.'));
    if (row.status === status || (row.status === 'accepted' && status === 'lost')) return;
    if (row.decidedAt !== null)
      throw conflict('dispute.status', `The dispute is ${row.status} already. The operator decides about it.`);
    await scope.refuseBesideOtherReleases();
    await scope.write('decide_dispute', dispute, { requestId }, { id: row.id, to: status });
  });
}

/** What a dispute took of an attempt and is unexplained, because no balance had it. */
async function unexplainedOf(scope: Scope, id: string, attempt: TransactionRow): Promise<UnexplainedRow | undefined> {
  const kept = await scope.all(unexplained, unexplained.reference, id.trim());
  const { depositId } = attempt;
  return kept.find((each) => (depositId === null ? each.transactionId === attempt.id : each.depositId === depositId));
}

/** Whether an attempt has taken money, or may be found to have: one that has expired can still have succeeded. */
const mayBePaid = ({ status, reasonCode, takenCurrency }: TransactionRow): boolean =>
  takenCurrency !== null || status !== 'failed' || reasonCode === TransactionReasonCode.EXPIRED;

/** The refusal of a report that comes before the one which it follows: the adapter sends it again. */
const early = () =>
  new DomainError({
    ...problem(
      'service_unavailable',
      undefined,
      'What the report is about is not recorded yet. Send it again until it is taken.',
    ),
    retryAfter: 2,
  });
const conflict = (field: string, text: string) => new DomainError(problem('state_conflict', field, text));
const contradicting = () =>
  conflict(
    'report.type',
    'The object has a status that does not allow what the report says. The operator decides about it.',
  );
