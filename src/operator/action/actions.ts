import { randomUUID } from 'node:crypto';
import { and, desc, eq, lt, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { busy } from '../../db/connect/deadline.js';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import { DomainError } from '../../errors/problems.js';
import type { Operator } from '../operator.js';
import { noCursor, type ListPage } from '../paging.js';
import { ActionOutcome, operatorAction, type OperatorActionRow } from '../table.js';
import { modeOf } from '../../request/mode.js';
import { amountText } from '../../types/scalars.js';

/** Who acts: a named operator, the holder of OPERATOR_KEY, or a user of the command line. */
export interface Actor {
  name: string;
  id: string | null;
}

/** What an operator is about to do. */
export interface Action {
  operation: string;
  objectId?: string | undefined;
  /** The arguments, without secrets; see `detailsOf`. */
  details?: Record<string, unknown> | undefined;
}

/** What is known of an action that has succeeded. */
export interface Done {
  /** The object that it made, if it is another one than that of the action. */
  objectId?: string | undefined;
  of?: TenantAndMode | undefined;
  details?: Record<string, unknown> | undefined;
}

/** An action with its outcome; without one, its process has ended meanwhile, or it is still under way. */
export interface OperatorActionEntry extends OperatorActionRow {
  ended: number | null;
  resultId: string | null;
}

/**
 * Does something for an operator, with an entry in the audit log before it and one after it. If the first entry cannot
 * be written, nothing is done. If the second one cannot be, the action has taken effect all the same, and the log shows
 * it without an outcome.
 */
export async function logged<T>(
  operator: Operator,
  actor: Actor,
  action: Action,
  run: () => Promise<T>,
  done: (result: T) => Done = () => ({}),
): Promise<T> {
  const number = await appendOf(operator, actor, { ...action, outcome: ActionOutcome.ATTEMPTED });
  const end = (outcome: ActionOutcome, more: Partial<Entry>) =>
    appendOf(operator, actor, { operation: action.operation, action: number, outcome, ...more }).catch(() => undefined);
  operator.place = undefined;
  let result: T;
  try {
    result = await run();
  } catch (error) {
    const refused = error instanceof DomainError && error.status < 500;
    const code = error instanceof DomainError ? error.problems[0]!.code : 'service_fault';
    await end(refused ? ActionOutcome.REFUSED : ActionOutcome.FAILED, { code, of: operator.place });
    throw error;
  }
  const { objectId, of = operator.place, details } = done(result);
  await end(ActionOutcome.SUCCEEDED, { of, details, ...(objectId !== action.objectId && { objectId }) });
  return result;
}

/** An entry of the log. */
interface Entry extends Action {
  outcome: ActionOutcome;
  /** The number of the entry with which the action began. */
  action?: number;
  code?: string;
  of?: TenantAndMode | undefined;
}

async function appendOf(operator: Operator, { name, id }: Actor, entry: Entry): Promise<number> {
  const values = [name, JSON.stringify(entryJson(entry, id, operator.requestId))];
  return (await append(operator, 'append_operator_action', values))!;
}

/** The number of an appended entry; null if the function appends none. */
export async function append(operator: Operator, fn: string, values: (string | number)[]): Promise<number | null> {
  try {
    const [row] = await operator.call(fn, values);
    const number = row![fn];
    return number === null ? null : Number(number);
  } catch (error) {
    // The command line prints the cause.
    throw error instanceof DomainError && error.status === 503 ? error : Object.assign(busy(), { cause: error });
  }
}

/** An entry as the database function takes it. With its id, a repeated call appends it once. */
export function entryJson(
  { outcome, operation, objectId, action, code, of, details = {} }: Entry,
  operatorId: string | null,
  requestId: string,
) {
  return {
    id: `operator_action_${randomUUID().replaceAll('-', '')}`,
    ...{ outcome, operation: clean(operation), object_id: objectId && clean(objectId), action, code, details },
    ...(of && { tenant: of.tenantId, mode: modeOf(of.livemode) }),
    ...{ operator_id: operatorId, request_id: requestId },
  };
}

export const textLengthMax = 200;
const membersMax = 20;
/** Members of which an audit log needs to know no more than the end. */
const numbers = new Set(['number', 'iban']);
/** Members that are personal data, of which it needs to know only that they were given. */
const personal = new Set([
  ...['email', 'tosIp', 'tosUserAgent', 'payer', 'payerName', 'payerAddress', 'payerCountry', 'text'],
]);

/**
 * The arguments of an action as the log keeps them: long texts cut, long lists shortened, numbers of bank accounts
 * reduced to their last four characters, personal data left out. No operation of an operator has a secret or a document
 * among its arguments.
 */
export function detailsOf(value: unknown, name = ''): unknown {
  if (personal.has(name)) return '…';
  if (typeof value === 'string') return numbers.has(name) ? `…${[...clean(value)].slice(-4).join('')}` : clean(value);
  // Of the arguments, amounts alone are bigints; the log has them as they were given, not in minor units.
  if (typeof value === 'bigint') return amountText(value);
  if (Array.isArray(value)) {
    const kept = value.slice(0, membersMax).map((member) => detailsOf(member));
    return value.length > membersMax ? [...kept, `… ${value.length - membersMax} more`] : kept;
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return Object.fromEntries(members.map(([key, member]) => [key, detailsOf(member, key)]));
}

/** A text that PostgreSQL can store. */
function clean(text: string): string {
  const cut = text.length > textLengthMax ? `${text.slice(0, textLengthMax)}…` : text;
  return cut.replaceAll(/\p{Cc}|\p{Cs}/gu, '\uFFFD');
}

/** Which actions to list: `after` is the `next` of the page before. */
export interface ActionFilter {
  operator?: string | undefined;
  operation?: string | undefined;
  objectId?: string | undefined;
  after?: string | undefined;
  limit: number;
}

/**
 * Lists actions, newest first, each with its outcome. An index serves operator, operation and both together. Filtered
 * by an object, it reads all actions on the object, which are few: no index has the order of `number + 0`.
 */
export async function listActions(
  operator: Operator,
  { operator: name, operation, objectId, after, limit }: ActionFilter,
): Promise<ListPage<OperatorActionEntry>> {
  const p = sql.placeholder;
  const first = operatorAction;
  const last = alias(operatorAction, 'last');
  const filtered = objectId === undefined && (name !== undefined || operation !== undefined);
  const order = filtered
    ? sql`(-${first.number})`
    : desc(objectId === undefined ? first.number : sql`${first.number} + 0`);
  const ofObject = sql`${first.number} in (select x.action from ${operatorAction} x
    where x.object_id = ${p('objectId')})`;
  const conditions: Record<string, SQL | undefined> = {
    operator: name === undefined ? undefined : eq(first.operator, p('operator')),
    operation: operation === undefined ? undefined : eq(first.operation, p('operation')),
    objectId: objectId === undefined ? undefined : ofObject,
    after:
      after === undefined
        ? undefined
        : filtered
          ? sql`(-${first.number}) > (-${p('after')}::bigint)`
          : lt(first.number, p('after')),
  };
  const given = Object.entries(conditions).flatMap(([name, one]) => (one ? [name] : []));
  const rows = await operator.read<{ first: OperatorActionRow; last: OperatorActionRow | null }>(
    `operator_actions:${given.join(':')}`,
    (db) =>
      db
        .select({ first: operatorAction, last })
        .from(first)
        .leftJoin(last, and(eq(last.action, first.number), sql`${last.number} <> ${last.action}`))
        .where(and(sql`${first.number} = ${first.action}`, ...Object.values(conditions)))
        .orderBy(order)
        .limit(p('limit')),
    { operator: name, operation, objectId, after: after === undefined ? undefined : numberOf(after), limit: limit + 1 },
  );
  // Without an outcome, all members of `last` are null.
  const nodes = rows.slice(0, limit).map(({ first, last }) => ({
    ...first,
    ...(last?.outcome && { outcome: last.outcome, code: last.code, tenant: last.tenant, mode: last.mode }),
    details: { ...first.details, ...last?.details },
    ended: last?.created ?? null,
    resultId: last?.objectId ?? null,
  }));
  return { nodes, next: rows.length > limit ? String(nodes.at(-1)!.number) : null };
}

/** Reads a cursor, which is the number of the last action of a page. */
function numberOf(text: string): string {
  if (/^[1-9]\d{0,14}$/.test(text)) return text;
  throw noCursor('operator_action');
}

/** The result of checking the hash chain of the audit log. */
export interface ActionSeal {
  /** How many entries were checked. */
  entries: number;
  /** The hash of the last one; empty without entries. */
  lastHash: string;
  /** The first entry that is missing or does not match. */
  firstBroken: number | null;
}

/** How many entries one statement checks. */
const checkedMax = 10_000;

/**
 * Checks the hash chain of the audit log in pieces, up to the first entry that is broken: from its first entry on, or
 * from the last one of an earlier check, which must still be there.
 */
export async function verifyActions(
  operator: Operator,
  since: Omit<ActionSeal, 'firstBroken'> = { entries: 0, lastHash: '' },
): Promise<ActionSeal> {
  let seal: ActionSeal = { ...since, firstBroken: null };
  if (since.entries !== 0) {
    const [row] = await operator.auditQuery<{ hash: string }>(
      'operator_action_hash',
      (db) =>
        db.select({ hash: operatorAction.hash }).from(operatorAction).where(eq(operatorAction.number, since.entries)),
      { present: true },
    );
    if (row?.hash !== since.lastHash) return { ...since, firstBroken: since.entries };
  }
  for (;;) {
    const { entries, lastHash } = seal;
    const [row] = await operator.auditQuery<{ last: string; hash: string; broken: string | null }>(
      'operator_actions_seal',
      (db) =>
        db
          .select({
            last: sql<string>`c.last_number`,
            hash: sql<string>`c.last_hash`,
            broken: sql<string | null>`c.first_broken`,
          })
          .from(sql`check_operator_actions(${entries}::bigint, ${lastHash}::text, ${checkedMax}::int) c`),
      { present: true },
    );
    const broken = row!.broken === null ? null : Number(row!.broken);
    seal = { entries: Number(row!.last), lastHash: row!.hash, firstBroken: broken };
    if (broken !== null || seal.entries === entries) return seal;
  }
}
