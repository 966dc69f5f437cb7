import { and, asc, eq, sql } from 'drizzle-orm';
import { job, pollsEnded } from '../../jobs/table.js';
import { amountProblems } from '../../operation/amount-problems.js';
import { problem, type Problem } from '../../errors/problems.js';
import { type TransactionRow, transaction } from '../../resources/transaction/table.js';
import { type Operator, OperatorError, refuse } from '../operator.js';
import { type ListPage, listedMax, pageOf, valuesOf } from '../paging.js';

/** What an acquirer has told the operator about an attempt. */
export interface AttemptDecision {
  status: 'succeeded' | 'failed';
  /** What was really taken; by default the amount of the attempt. */
  amount?: bigint | undefined;
  currency?: string | undefined;
}

/** An attempt that is not decided, and when the acquirer is asked about it next: null when it no longer is. */
export type PendingAttempt = TransactionRow & { nextPollAt: number | null };

/**
 * Lists the attempts in live mode whose time is over and of which no acquirer has said how they ended, oldest first.
 * They are asked about for 30 days, and stay in the list until somebody says how they ended; while no adapter is
 * connected they wait. Silent: all of it.
 */
export async function listPendingAttempts(
  operator: Operator,
  after?: string,
  limit = listedMax,
): Promise<ListPage<PendingAttempt>> {
  const from = after === undefined ? {} : valuesOf(after, 'transaction', 3);
  const rows = await operator.read<{ transaction: TransactionRow; polledSince: number; poll: string; due: number }>(
    `operator_pending_attempts${after === undefined ? '' : ':after'}`,
    (db) =>
      db
        .select({ transaction, polledSince: job.created, poll: job.id, due: job.due })
        .from(job)
        .innerJoin(
          transaction,
          and(
            eq(transaction.tenantId, job.tenantId),
            eq(transaction.livemode, job.livemode),
            eq(transaction.id, job.subjectId),
          ),
        )
        .where(
          and(
            sql`${job.kind} = 'inquire_transaction' and ${job.livemode}`,
            sql`${transaction.expiresAt} < extract(epoch from statement_timestamp())`,
            after === undefined
              ? undefined
              : sql`(${job.created}, ${job.id}) > (${placeholder('v0')}::bigint, ${placeholder('v1')}::text)`,
          ),
        )
        .orderBy(asc(job.created), asc(job.id))
        .limit(placeholder('limit')),
    { ...from, limit: limit + 1 },
  );
  const { nodes, next } = pageOf(rows, limit, ({ polledSince, poll }) => [polledSince, poll, true]);
  const nextPollAt = (due: number) => (due === pollsEnded ? null : due);
  return { nodes: nodes.map((row) => ({ ...row.transaction, nextPollAt: nextPollAt(row.due) })), next };
}

const { placeholder } = sql;

/**
 * Records what the acquirer says of an attempt in live mode, as a report of it would: once the worker does not ask any
 * more, or while no adapter is connected. The same again changes nothing. Silent: all of it.
 */
export async function decideTransaction(
  operator: Operator,
  id: string,
  { status, amount, currency }: AttemptDecision,
): Promise<TransactionRow> {
  refuse([...takenProblems(status, { amount, currency }), ...amountProblems({ amount, currency }, 'transaction')]);
  const row = await liveAttempt(operator, id);
  const taken = { amount: amount ?? row.amount, currency: currency ?? row.currency };
  refuse(amountProblems(taken, 'transaction'));
  const end = status === 'succeeded' ? taken : { reasonCode: 'declined' as const };
  return operator.write('decide_transaction', row, 'decideTransaction', { id, status, ...end }, transaction);
}

/** The attempt in live mode with this id. */
export async function liveAttempt(operator: Operator, id: string): Promise<TransactionRow> {
  const rows: TransactionRow[] = await operator.byId('operator_transaction', transaction, id);
  const row = rows.find(({ livemode }) => livemode);
  if (row) return row;
  throw new OperatorError('There is no such attempt in live mode. Check the id.', 'resource_missing', 'transaction.id');
}

function takenProblems(status: string, { amount, currency }: Partial<AttemptDecision>): Problem[] {
  if (status === 'failed' && (amount !== undefined || currency !== undefined))
    return [problem('parameter_invalid', 'transaction.amount', 'must be left out for an attempt that has failed')];
  if (currency !== undefined && amount === undefined)
    return [problem('parameter_missing', 'transaction.amount', 'must be sent with a currency')];
  if (amount === undefined || amount > 0n) return [];
  return [problem('parameter_invalid', 'transaction.amount', 'must be greater than zero')];
}
