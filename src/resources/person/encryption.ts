import type { TenantAndMode } from '../../db/tenant-and-mode.js';
import { and, eq, gt, sql } from 'drizzle-orm';
import type { Database } from '../../db/database.js';
import { problem, DomainError } from '../../request/problems.js';
import type { SealedPlace, Secrets } from '../../db/secrets.js';
import { type IdentificationObject, person } from './table.js';

const batchSize = 100;
const answersMax = 5_000;
const mask = '•';

/**
 * How a person is identified, as it is stored: the number of the tax card is encrypted for this person, and beside it
 * stands the masked one, which is all that is ever shown. What does not name the number is stored as it is.
 */
export function sealedIdentification(
  secrets: Secrets,
  place: SealedPlace,
  identification: IdentificationObject,
): IdentificationObject {
  if (!('taxCardNumber' in identification)) return identification;
  const { taxCardNumber: number } = identification;
  if (!number) return { ...identification, taxCardSealed: null };
  if (number.includes(mask))
    throw new DomainError(
      problem(
        'parameter_invalid',
        'person.identification.tax_card_number',
        'must be the whole number, not a masked one',
      ),
    );
  return { ...identification, taxCardNumber: masked(number), taxCardSealed: secrets.seal(number, place) };
}

/** The number of the tax card in the clear; undefined when its encryption key is not configured any more. */
export function taxCardNumberOf(
  secrets: Secrets,
  place: SealedPlace,
  { taxCardNumber, taxCardSealed }: IdentificationObject,
): string | null | undefined {
  return taxCardSealed ? secrets.open(taxCardSealed, place) : (taxCardNumber ?? null);
}

/** A number masked but for its last four characters; one that is masked already stays as it is. */
export function masked(number: string): string {
  const characters = [...number];
  const shown = characters.length > 4 ? characters.slice(-4) : [];
  return mask.repeat(characters.length - shown.length) + shown.join('');
}

/**
 * Encrypts the numbers that stand in the clear or under an encryption key that is no longer the first, batch by batch,
 * and masks them in events and stored answers. Run at each start of a gateway, and idempotent. Returns how many it has
 * encrypted. A fault of one tenant is thrown when all the others have been done.
 */
export async function sealTaxCards(database: Database, secrets: Secrets, stopped: () => boolean): Promise<number> {
  const tenantsAndModes = await database.auditQuery<TenantAndMode>('tenants_with_tax_cards', (db) =>
    db.selectDistinct({ tenantId: person.tenantId, livemode: person.livemode }).from(person).where(staleUnder(secrets)),
  );
  let count = 0;
  const faults: unknown[] = [];
  for (const tenantAndMode of tenantsAndModes) {
    try {
      for await (const sealed of sealedBatches(database, secrets, tenantAndMode, stopped)) count += sealed;
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
  return count;
}

/** The persons whose number is in the clear, or encrypted under another key than the first. */
function staleUnder({ encryptionIds }: Secrets) {
  const number = sql`${person.identification} ->> 'taxCardNumber'`;
  const sealed = sql`${person.identification} ->> 'taxCardSealed'`;
  return sql`coalesce(${number}, '') <> '' and coalesce(not starts_with(${sealed}, ${`v1.${encryptionIds[0]}.`}), true)`;
}

/**
 * Encrypts the stale numbers of a tenant and mode, a batch a turn; then masks those that stood in the clear in its
 * stored answers.
 */
async function* sealedBatches(
  database: Database,
  secrets: Secrets,
  tenantAndMode: TenantAndMode,
  stopped: () => boolean,
) {
  const { tenantId, livemode } = tenantAndMode;
  let cleared = false;
  for (let after = ''; !stopped(); ) {
    const rows = await database.auditQuery<{ id: string; identification: IdentificationObject }>('tax_cards', (db) =>
      db
        .select({ id: person.id, identification: person.identification })
        .from(person)
        .where(
          and(eq(person.tenantId, tenantId), eq(person.livemode, livemode), gt(person.id, after), staleUnder(secrets)),
        )
        .orderBy(person.id)
        .limit(batchSize),
    );
    const cards = rows.flatMap(({ id, identification }) => {
      const place = { tenantId, livemode, id };
      const number = openedOr(undefined, () => taxCardNumberOf(secrets, place, identification));
      if (!number) return [];
      const { taxCardNumber: shown, taxCardSealed } = sealedIdentification(secrets, place, { taxCardNumber: number });
      const { taxCardSealed: before, taxCardNumber } = identification;
      return [{ id, was: before ?? taxCardNumber, mask: shown, sealed: taxCardSealed, clear: !before }];
    });
    cleared ||= cards.some(({ clear }) => clear);
    if (cards.length > 0) await database.call('seal_tax_cards', [tenantId, livemode, JSON.stringify(cards)]);
    yield cards.length;
    if (rows.length < batchSize) break;
    after = rows.at(-1)!.id;
  }
  for (let from: number | null = cleared ? 0 : null; from !== null && !stopped(); ) {
    const [row] = await database.call('mask_stored_answers', [tenantId, livemode, from, answersMax]);
    const next = row!.mask_stored_answers;
    from = next === null ? null : Number(next);
  }
}

/** A number whose key is not configured, or whose text was altered, stays as it is; `tidegate secrets` counts it. */
function openedOr<T>(otherwise: T, open: () => T): T {
  try {
    return open();
  } catch {
    return otherwise;
  }
}
