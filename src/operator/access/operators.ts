import { and, desc, eq, isNull, or, sql } from 'drizzle-orm';
import { newOperatorToken } from '../../auth/tokens.js';
import { fromRow } from '../../db/read/row-mapper.js';
import { type OperatorDesk, OperatorError } from '../session.js';
import { sharedName } from './credential.js';
import { operator, type OperatorRole, type OperatorRow } from '../table.js';

const p = sql.placeholder;
const operatorsMax = 200;
/** Names that are safe in logs and on command lines, and cannot be mistaken for those of `logged` actors. */
const namePattern = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,63}$/u;

/** Creates an operator with a key of its own, which is returned once. */
export async function createOperator(
  desk: OperatorDesk,
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
  const { secret, digest, prefix, pepperId } = newOperatorToken('opk', desk.secrets);
  const [row] = await desk.call('create_operator', [name, role, prefix, digest, pepperId, by]);
  return { operator: fromRow(operator, row!) as OperatorRow, key: secret };
}

/** Revokes the operator with this id, or with this name. Its key and its sessions end. */
export async function revokeOperator(desk: OperatorDesk, nameOrId: string): Promise<OperatorRow> {
  const [found] = await desk.read<{ id: string }>(
    'operator_by_name',
    (db) =>
      db
        .select({ id: operator.id })
        .from(operator)
        .where(
          or(
            eq(operator.id, p('text')),
            and(sql`lower(${operator.name}) = lower(${p('text')}::text)`, isNull(operator.revokedAt)),
          ),
        ),
    { text: nameOrId },
  );
  if (!found) throw new OperatorError('There is no such operator. Check the name.', 'resource_missing', 'operator.id');
  const [row] = await desk.call('revoke_operator', [found.id]);
  return fromRow(operator, row!) as OperatorRow;
}

/** The operators, those that are revoked last, and then the newest first: 200 at most. */
export function listOperators(desk: OperatorDesk): Promise<OperatorRow[]> {
  return desk.read<OperatorRow>(
    'operator_list',
    (db) =>
      db
        .select()
        .from(operator)
        .orderBy(sql`(${operator.revokedAt} is not null)`, desc(operator.created), desc(operator.id))
        .limit(operatorsMax),
    {},
  );
}

/** How long a session of an operator in a browser lasts: a working day. */
export const sessionSeconds = 8 * 3_600;

/** Makes a session for an operator, or for the holder of OPERATOR_KEY; returns its token and when it ends. */
export async function createSession(
  desk: OperatorDesk,
  { id, keyDigest }: { id: string | null; keyDigest: string | null },
): Promise<{ token: string; expiresAt: number }> {
  const { secret, digest } = newOperatorToken('ops', desk.secrets);
  const [row] = await desk.call('create_operator_session', [id, keyDigest, digest, sessionSeconds]);
  return { token: secret, expiresAt: Number(row!.create_operator_session) };
}

/** Ends a session. */
export async function endSession(desk: OperatorDesk, digest: string): Promise<void> {
  await desk.call('end_operator_session', [digest]);
}
