import { type Column, isNull, type SQL, sql } from 'drizzle-orm';
import { apiKey } from '../../resources/key/table.js';
import { person } from '../../resources/person/table.js';
import { webhookEndpoint } from '../../resources/webhook-endpoint/table.js';
import type { Operator } from '../operator.js';
import { operator as operatorTable } from '../table.js';

/**
 * A pepper or encryption key by its public name. `setting` is null when it is not configured; `name` is null when it is
 * unknown.
 */
export interface SecretInUse {
  setting: string | null;
  name: string | null;
  keys: number;
  tax_card_numbers: number;
  webhook_secrets: number;
  operators: number;
}

/** How many stored values name a secret. */
type Uses = { id: string | null; n: number }[];

/**
 * Counts the uses of each pepper and encryption key, by its public name: the API keys and operators' keys that it
 * hashes and that still work, and the tax card numbers and secrets of webhook endpoints that it encrypts. A secret that
 * rows name but that is not configured is listed without a setting.
 */
export async function secretsInUse(operator: Operator): Promise<SecretInUse[]> {
  const [keys, operators] = await hashed(operator);
  const [cards, webhooks] = await sealed(operator);
  const of = (uses: Uses, id: string | null) => uses.reduce((sum, one) => (one.id === id ? sum + one.n : sum), 0);
  /** The uses of a secret that hashes under the name `id` and encrypts under the name `sealer`. */
  const used = (setting: string | null, id: string | null, sealer = id): SecretInUse => ({
    setting,
    name: id,
    keys: of(keys, id),
    tax_card_numbers: of(cards, sealer),
    webhook_secrets: of(webhooks, sealer),
    operators: of(operators, id),
  });
  const { pepperIds, encryptionIds } = operator.secrets;
  const derived = encryptionIds.slice(-pepperIds.length);
  const known = [...pepperIds, ...encryptionIds];
  const named = [...keys, ...cards, ...webhooks, ...operators].map(({ id }) => id);
  return [
    ...pepperIds.map((id, i) => used('API_KEY_PEPPER', id, derived[i]!)),
    ...encryptionIds.slice(0, -pepperIds.length).map((id) => used('ENCRYPTION_KEY', id)),
    ...[...new Set(named)].filter((id) => id === null || !known.includes(id)).map((id) => used(null, id)),
  ];
}

/** The uses of peppers: by API keys and by operators' keys that still work. */
async function hashed(operator: Operator): Promise<[Uses, Uses]> {
  const keys = await operator.auditQuery<Uses[number]>('operator_peppers', (db) =>
    db
      .select({ id: apiKey.pepperId, n: sql<number>`count(*)::int` })
      .from(apiKey)
      .where(
        sql`${apiKey.revokedAt} is null and (${apiKey.expiresAt} is null or ${apiKey.expiresAt} > extract(epoch
          from clock_timestamp()))`,
      )
      .groupBy(apiKey.pepperId),
  );
  const operators = await operator.auditQuery<Uses[number]>('operator_pepper_uses', (db) =>
    db
      .select({ id: operatorTable.pepperId, n: sql<number>`count(*)::int` })
      .from(operatorTable)
      .where(isNull(operatorTable.revokedAt))
      .groupBy(operatorTable.pepperId),
  );
  return [keys, operators];
}

/** The uses of encryption keys: by tax card numbers, and by secrets that sign the deliveries of webhook endpoints. */
async function sealed(operator: Operator): Promise<[Uses, Uses]> {
  const uses = { n: sql<number>`count(*)::int` };
  const cards = await operator.auditQuery<Uses[number]>('operator_tax_cards', (db) =>
    db
      .select({ id: sealer(sql`${person.identification} ->> 'taxCardSealed'`), ...uses })
      .from(person)
      .where(sql`coalesce(${person.identification} ->> 'taxCardNumber', '') <> ''`)
      .groupBy(sql`1`),
  );
  const { secretSealed, previousSecretSealed, previousSecretUntil } = webhookEndpoint;
  const current = await operator.auditQuery<Uses[number]>('operator_webhook_secrets', (db) =>
    db
      .select({ id: sealer(secretSealed), ...uses })
      .from(webhookEndpoint)
      .groupBy(sql`1`),
  );
  const previous = await operator.auditQuery<Uses[number]>('operator_previous_webhook_secrets', (db) =>
    db
      .select({ id: sealer(previousSecretSealed), ...uses })
      .from(webhookEndpoint)
      .where(sql`${previousSecretUntil} > extract(epoch from clock_timestamp())`)
      .groupBy(sql`1`),
  );
  return [cards, [...current, ...previous]];
}

/** The name of the key that has encrypted a value. */
const sealer = (value: SQL | Column) => sql<string | null>`split_part(${value}, '.', 2)`.as('sealer');
