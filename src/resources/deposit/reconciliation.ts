import type { Scope } from '../../db/scope.js';
import { fromRow } from '../../db/read/row-mapper.js';
import type { ProblemCode } from '../../errors/catalogue.js';
import { DomainError, type Problem, problem, sentenceOfGraph } from '../../errors/problems.js';
import { amountProblems } from '../../operation/amount-problems.js';
import { pathInGraph } from '../../types/problem.js';
import { account } from '../account/table.js';
import { receivable } from '../receivable/table.js';
import type { ReconcileDepositInput, ReconcileDepositsInput } from './inputs.js';
import { depositProblems, receiverOf } from './rules.js';
import { deposit } from './table.js';
import type { DepositReconciliation, ReconcileDepositsPayload } from './type.js';

/** The most deposits of one call, and the most receivables of all of them. */
const [depositsMax, sharesMax] = [100, 500];

/** The problems of several reconciliations that need no look at the database, named by their places. */
export function reconciliationProblems({ deposits = [] }: Partial<ReconcileDepositsInput>): Problem[] {
  const field = 'deposit.deposits';
  if (deposits.length > depositsMax)
    return [problem('parameter_invalid', field, `must have at most ${depositsMax} entries`)];
  if (deposits.reduce((sum, { receivables }) => sum + (receivables?.length ?? 0), 0) > sharesMax)
    return [problem('parameter_invalid', field, `must have at most ${sharesMax} receivables in all`)];
  const named = new Set<string>();
  return deposits.flatMap((row, i) => {
    const own = depositProblems(row).map((p): Problem => ({ ...p, field: inBatch(p.field, i) }));
    if (named.has(row.id))
      own.push(problem('parameter_invalid', `${field}[${i}].id`, 'must not name a deposit that another entry names'));
    if (row.id) named.add(row.id);
    return own;
  });
}

/** How many deposits a call names: each is a write, and an object of its answer. A call that is refused counts one. */
export function depositsOf(argument: (name: string) => unknown): number {
  const deposits = (argument('input') as Partial<ReconcileDepositsInput> | null | undefined)?.deposits;
  return Array.isArray(deposits) ? Math.max(deposits.length, 1) : 1;
}

/** Refuses receivables that do not fit a deposit, and those of which one is not visible to the caller. */
export async function refuseMisfits(scope: Scope, { id, receivables }: ReconcileDepositInput): Promise<void> {
  const row = await scope.one(deposit, id);
  const holder = await scope.one(account, row.toAccountId);
  const receiver = receiverOf(holder);
  const rows = await Promise.all(
    receivables.map((share, i) => scope.one(receivable, share.id, `deposit.receivables[${i}].id`)),
  );
  const misfits = rows.flatMap((r, i) => {
    const field = `deposit.receivables[${i}].id`;
    if (r.accountId !== receiver)
      return [problem('parameter_invalid', field, 'must belong to the account that receives the deposit')];
    return r.currency === row.currency
      ? []
      : [problem('parameter_invalid', field, "must be in the deposit's currency")];
  });
  if (misfits.length > 0) throw new DomainError(...misfits);
}

/** A problem as it is stored; without a message it has the one of its code. */
interface StoredProblem {
  code: ProblemCode;
  field?: string | null | undefined;
  message?: string | null | undefined;
}

/** One of several reconciliations as the write takes it. What is refused before the write reaches it as problems. */
export async function reconciliationOf(scope: Scope, input: ReconcileDepositInput) {
  const row = await scope.find(deposit, input.id);
  try {
    const misfits = row ? amountProblems(input, 'deposit', row.currency) : [];
    if (misfits.length > 0) throw new DomainError(...misfits);
    await refuseMisfits(scope, input);
    return { ...input, problems: [] };
  } catch (error) {
    if (!(error instanceof DomainError) || error.status >= 500) throw error;
    const problems = error.problems.map(({ code, field, text }): StoredProblem => {
      return { code, field, message: typeof text === 'string' ? text : text.graph };
    });
    return { id: row?.id ?? null, receivables: [], problems };
  }
}

/** The results of several reconciliations, from the stored answer. */
export const reconciliationResults = ({ deposit: { answer } }: ReconcileDepositsPayload): DepositReconciliation[] =>
  (answer as { deposit: Record<string, unknown> | null; problems: StoredProblem[] }[]).map((result, i) => ({
    deposit: result.deposit && fromRow(deposit, result.deposit),
    problems: result.problems.map(({ code, field, message }) => {
      const place = inBatch(field ?? undefined, i);
      const path = place === undefined ? null : pathInGraph(place);
      return { code, message: sentenceOfGraph(problem(code, place, message ?? undefined)), path, column: null };
    }),
  }));

/** The name that a parameter of a reconciliation has among several: `deposit.id` is `deposit.deposits[2].id`. */
const inBatch = (field: string | undefined, place: number): string | undefined =>
  field?.replace(/^deposit\b/, `deposit.deposits[${place}]`);
