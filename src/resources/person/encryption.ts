import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import { and, eq, gt, sql } from 'drizzle-orm';
import type { CredentialCalls, CrossTenantReads } from '../../db/doors.js';
import { sumOfTenants } from '../../db/cluster/sum-of-tenants.js';
import { problem, DomainError } from '../../errors/problems.js';
import { refuseAltered, type SealedPlace, type Secrets } from '../../config/secrets.js';
import { type IdentificationObject, person } from './table.js';

const batchSize = 100;
const answersMax = 5_000;
const mask = '•';

/**
 * The identification of a person in its stored form: the tax card number encrypted for this person, and the masked
 * number, which is the only one that clients see. An identification without a number does not change.
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
        'must be the complete number, not a masked one',
      ),
    );
  return { ...identification, taxCardNumber: masked(number), taxCardSealed: secrets.seal(number, place) };
}

/** The tax card number in the clear; undefined when its encryption key is not configured, or it was altered. */
export function taxCardNumberOf(
  secrets: Secrets,
  place: SealedPlace,
  { taxCardNumber, taxCardSealed }: IdentificationObject,
): string | null | undefined {
  return taxCardSealed ? secrets.readable(taxCardSealed, place) : (taxCardNumber ?? null);
}

/** Masks a number except for its last four characters. An already masked number does not change. */
export function masked(number: string): string {
  const characters = [...number];
  const shown = characters.length > 4 ? characters.slice(-4) : [];
  return mask.repeat(characters.length - shown.length) + shown.join('');
}

/**
 * Encrypts, in batches, the numbers that are in the clear or under an encryption key that is no longer the first, and
 * masks them in events and stored responses. A gateway runs it at each start; it is idempotent. Returns how many
 * numbers it has encrypted. When one tenant fails, it continues with the others and throws the error at the end.
 */
export async function sealTaxCards(
  database: CrossTenantReads & CredentialCalls,
  secrets: Secrets,
  stopped: () => boolean,
): Promise<number> {
  const tenantsAndModes = await database.auditQuery<TenantAndMode>('tenants_with_tax_cards', (db) =>
    db.selectDistinct({ tenantId: person.tenantId, livemode: person.livemode }).from(person).where(staleUnder(secrets)),
  );
  return sumOfTenants(tenantsAndModes, (each) => sealedBatches(database, secrets, each, stopped));
}

/** The condition that a person's number is in the clear, or encrypted under another key than the first. */
function staleUnder({ encryptionIds }: Secrets) {
  const number = sql`${person.identification} ->> 'taxCardNumber'`;
  const sealed = sql`${person.identification} ->> 'taxCardSealed'`;
  return sql`coalesce(${number}, '') <> '' and coalesce(not starts_with(${sealed}, ${`v1.${encryptionIds[0]}.`}),
    true)`;
}

/**
 * Encrypts the stale numbers of a tenant and mode, one batch per iteration; then masks the numbers in the clear in its
 * stored responses.
 */
async function* sealedBatches(
  database: CrossTenantReads & CredentialCalls,
  secrets: Secrets,
  tenantAndMode: TenantAndMode,
  stopped: () => boolean,
) {
  const { tenantId, livemode } = tenantAndMode;
  let cleared = false;
  const altered: string[] = [];
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
      const { taxCardSealed: before, taxCardNumber } = identification;
      if (before && secrets.altered(before, place)) altered.push(id);
      const number = taxCardNumberOf(secrets, place, identification);
      // It does not change; `tidegate secrets` counts it.
      if (!number) return [];
      const { taxCardNumber: shown, taxCardSealed } = sealedIdentification(secrets, place, { taxCardNumber: number });
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
  refuseAltered('tax card numbers', altered);
}
