import { and, eq, gt, sql } from 'drizzle-orm';
import type { Database } from '../db/database.js';
import type { SealedPlace, Secrets } from '../secrets.js';
import { type IdentificationHash, person } from './table.js';

const batchSize = 100;

/**
 * How a person is identified, as it is stored: the number of the tax card is encrypted for this person, and beside it stands
 * the masked one, which is all that is ever shown. What does not name the number is stored as it is.
 */
export function sealedIdentification(
  secrets: Secrets,
  place: SealedPlace,
  identification: IdentificationHash,
): IdentificationHash {
  if (!('taxCardNumber' in identification)) return identification;
  const { taxCardNumber: number } = identification;
  if (!number) return { ...identification, taxCardSealed: null };
  return { ...identification, taxCardNumber: masked(number), taxCardSealed: secrets.seal(number, place) };
}

/** The number of the tax card in the clear; undefined when its encryption key is not configured any more. */
export function taxCardNumberOf(
  secrets: Secrets,
  place: SealedPlace,
  { taxCardNumber, taxCardSealed }: IdentificationHash,
): string | null | undefined {
  return taxCardSealed ? secrets.open(taxCardSealed, place) : (taxCardNumber ?? null);
}

/** A number masked but for its last four characters; one that is masked already stays as it is. */
export function masked(number: string): string {
  const characters = [...number];
  const shown = characters.length > 4 ? characters.slice(-4) : [];
  return '•'.repeat(characters.length - shown.length) + shown.join('');
}

/**
 * Encrypts the numbers that stand in the clear or under an encryption key that is no longer the first, batch by batch, and
 * masks them in events and stored answers. Run at each start of a gateway, and idempotent. Returns how many it has encrypted.
 */
export async function sealTaxCards(database: Database, secrets: Secrets, stopped: () => boolean): Promise<number> {
  const current = `v1.${secrets.encryptionIds[0]}.`;
  const number = sql`${person.identification} ->> 'taxCardNumber'`;
  const sealed = sql`${person.identification} ->> 'taxCardSealed'`;
  const stale = sql`coalesce(${number}, '') <> '' and coalesce(not starts_with(${sealed}, ${current}), true)`;
  const realms = await database.survey<{ tenantId: string; livemode: boolean }>('realms_with_tax_cards', (db) =>
    db.selectDistinct({ tenantId: person.tenantId, livemode: person.livemode }).from(person).where(stale),
  );
  let count = 0;
  for (const { tenantId, livemode } of realms) {
    for (let after = ''; !stopped(); ) {
      const rows = await database.survey<{ id: string; identification: IdentificationHash }>('tax_cards', (db) =>
        db
          .select({ id: person.id, identification: person.identification })
          .from(person)
          .where(and(eq(person.tenantId, tenantId), eq(person.livemode, livemode), gt(person.id, after), stale))
          .orderBy(person.id)
          .limit(batchSize),
      );
      const cards = rows.flatMap(({ id, identification }) => {
        const place = { tenantId, livemode, id };
        const clear = taxCardNumberOf(secrets, place, identification);
        // Without its key a number stays as it is; `tidegate secrets` counts it.
        if (!clear) return [];
        const { taxCardNumber: mask, taxCardSealed } = sealedIdentification(secrets, place, { taxCardNumber: clear });
        return [{ id, was: identification.taxCardSealed ?? identification.taxCardNumber, mask, sealed: taxCardSealed }];
      });
      if (cards.length > 0) await database.call('seal_tax_cards', [tenantId, livemode, JSON.stringify(cards)]);
      count += cards.length;
      if (rows.length < batchSize) break;
      after = rows.at(-1)!.id;
    }
  }
  return count;
}
