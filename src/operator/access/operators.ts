import { and, desc, eq, isNull, or, sql } from 'drizzle-orm';
import { newOperatorToken } from '../../auth/tokens.js';
import { fromRow } from '../../db/read/row-mapper.js';
import { type Operator, OperatorError } from '../operator.js';
import { sharedName } from './credential.js';
import { operator as operatorTable, OperatorRole, type OperatorRow } from '../table.js';

const p = sql.placeholder;
const operatorsMax = 200;
/** Names that are safe in logs and on command lines, and cannot be mistaken for those of `logged` actors. */
const namePattern = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,63}$/u;

/** Creates an operator with a key of its own, which is returned once. */
export async function createOperator(
  operator: Operator,
  name: string,
  role: OperatorRole,
  by: string,
): Promise<{ operator: OperatorRow; key: string }> {
  if (!namePattern.test(name) || name.toLowerCase() === sharedName.toLowerCase())
    throw new OperatorError(
      'A name has 1 to 64 letters, digits, spaces and . _ @ -, begins with a letter or digit, and is not OPERATOR_KEY.',
      'parameter_invalid',
      'operator.name',
    );
  const { secret, digest, prefix, pepperId } = newOperatorToken('opk', operator.secrets);
  const [row] = await operator.call('create_operator', [name, role, prefix, digest, pepperId, by]);
  return { operator: fromRow(operatorTable, row!) as OperatorRow, key: secret };
}

/** Revokes the operator with this id, or with this name. Its key and its sessions end. */
export async function revokeOperator(operator: Operator, nameOrId: string): Promise<OperatorRow> {
  const [found] = await operator.read<{ id: string }>(
    'operator_by_name',
    (db) =>
      db
        .select({ id: operatorTable.id })
        .from(operatorTable)
        .where(
          or(
            eq(operatorTable.id, p('text')),
            and(sql`lower(${operatorTable.name}) = lower(${p('text')}::text)`, isNull(operatorTable.revokedAt)),
          ),
        ),
    { text: nameOrId },
  );
  if (!found) throw new OperatorError('There is no such operator. Check the name.', 'resource_missing', 'operator.id');
  const [row] = await operator.call('revoke_operator', [found.id]);
  return fromRow(operatorTable, row!) as OperatorRow;
}

/** The operators, those that are revoked last, and then the newest first: 200 at most. */
export function listOperators(operator: Operator): Promise<OperatorRow[]> {
  return operator.read<OperatorRow>(
    'operator_list',
    (db) =>
      db
        .select()
        .from(operatorTable)
        .orderBy(sql`(${operatorTable.revokedAt} is not null)`, desc(operatorTable.created), desc(operatorTable.id))
        .limit(operatorsMax),
    {},
  );
}

/** How many operators have a name and may change something. */
export async function namedOperators(operator: Operator): Promise<number> {
  const [row] = await operator.read<{ count: number }>(
    'operator_count',
    (db) =>
      db
        .select({ count: sql<number>`count(*)::int` })
        .from(operatorTable)
        .where(and(eq(operatorTable.role, OperatorRole.OPERATE), isNull(operatorTable.revokedAt))),
    {},
  );
  return row!.count;
}

/** How long a session of an operator in a browser lasts: a working day. */
export const sessionSeconds = 8 * 3_600;

/** Makes a session for an operator, or for the holder of OPERATOR_KEY; returns its token and when it ends. */
export async function createSession(
  operator: Operator,
  { id, keyDigest }: { id: string | null; keyDigest: string | null },
): Promise<{ token: string; expiresAt: number }> {
  const { secret, digest } = newOperatorToken('ops', operator.secrets);
  const [row] = await operator.call('create_operator_session', [id, keyDigest, digest, sessionSeconds]);
  return { token: secret, expiresAt: Number(row!.create_operator_session) };
}

/** Ends a session. */
export async function endSession(operator: Operator, digest: string): Promise<void> {
  await operator.call('end_operator_session', [digest]);
}
