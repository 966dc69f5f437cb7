import { isNull, sql } from 'drizzle-orm';
import { apiKey } from '../resources/key/table.js';
import { person } from '../resources/person/table.js';
import type { OperatorDesk } from './desk.js';
import { operator } from './table.js';

/**
 * A pepper or encryption key by its public name. `setting` is null when it is not configured; `name` is null when it is
 * unknown.
 */
export interface SecretInUse {
  setting: string | null;
  name: string | null;
  keys: number;
  tax_card_numbers: number;
  operators: number;
}

/**
 * Counts the uses of each pepper and encryption key, by its public name: the API keys and operators' keys that it
 * hashes and that still work, and the tax card numbers that it encrypts. A secret that rows name but that is not
 * configured is listed without a setting.
 */
export async function secretsInUse(desk: OperatorDesk): Promise<SecretInUse[]> {
  const keys = await desk.auditQuery<{ id: string | null; n: number }>('operator_peppers', (db) =>
    db
      .select({ id: apiKey.pepperId, n: sql<number>`count(*)::int` })
      .from(apiKey)
      .where(
        sql`${apiKey.revokedAt} is null and (${apiKey.expiresAt} is null or ${apiKey.expiresAt} > extract(epoch
          from clock_timestamp()))`,
      )
      .groupBy(apiKey.pepperId),
  );
  const operators = await desk.auditQuery<{ id: string | null; n: number }>('operator_pepper_uses', (db) =>
    db
      .select({ id: operator.pepperId, n: sql<number>`count(*)::int` })
      .from(operator)
      .where(isNull(operator.revokedAt))
      .groupBy(operator.pepperId),
  );
  const sealer = sql<string | null>`split_part(${person.identification} ->> 'taxCardSealed', '.', 2)`;
  const cards = await desk.auditQuery<{ id: string | null; n: number }>('operator_tax_cards', (db) =>
    db
      .select({ id: sealer.as('sealer'), n: sql<number>`count(*)::int` })
      .from(person)
      .where(sql`coalesce(${person.identification} ->> 'taxCardNumber', '') <> ''`)
      .groupBy(sql`1`),
  );
  const of = (list: { id: string | null; n: number }[], id: string | null) => list.find((one) => one.id === id)?.n ?? 0;
  const { pepperIds, encryptionIds } = desk.secrets;
  const derived = encryptionIds.slice(-pepperIds.length);
  const listed = [
    ...pepperIds.map((id, i) => ({
      setting: 'API_KEY_PEPPER',
      name: id,
      keys: of(keys, id),
      tax_card_numbers: of(cards, derived[i]!),
      operators: of(operators, id),
    })),
    ...encryptionIds
      .slice(0, -pepperIds.length)
      .map((id) => ({ setting: 'ENCRYPTION_KEY', name: id, keys: 0, tax_card_numbers: of(cards, id), operators: 0 })),
  ];
  const known = [...pepperIds, ...encryptionIds];
  const others = [...new Set([...keys, ...cards, ...operators].map(({ id }) => id))].filter(
    (id) => id === null || !known.includes(id),
  );
  return [
    ...listed,
    ...others.map((id) => ({
      setting: null,
      name: id,
      keys: of(keys, id),
      tax_card_numbers: of(cards, id),
      operators: of(operators, id),
    })),
  ];
}
