import { masked } from './encryption.js';
import type { PersonRow } from './table.js';
import { declareKeys } from '../shape.js';

/** Formats a person for /v1. Silent: all fields. */
export function personV1(p: PersonRow) {
  const identification = identificationOf(p);
  return {
    id: p.id,
    object: 'person',
    created: p.created,
    livemode: p.livemode,
    account_id: p.accountId,
    full_name: p.fullName,
    relationship: relationshipOf(p),
    identification: {
      tax_card_number: identification.taxCardNumber,
      tax_card_image: identification.taxCardImage,
      passport_image: identification.passportImage,
    },
    metadata: p.metadata,
  };
}

/** The roles of a person; absent roles are false. */
export function relationshipOf({ relationship: r }: PersonRow) {
  return { director: r.director ?? false, owner: r.owner ?? false, representative: r.representative ?? false };
}

/**
 * The identification of a person with the number masked, because clients can write the number but never read it.
 * Events and stored responses from before migration 0016 may have null instead of an object without members.
 */
export function identificationOf({ identification }: { identification: PersonRow['identification'] | null }) {
  const { taxCardNumber, taxCardImage, passportImage } = identification ?? {};
  return {
    taxCardNumber: taxCardNumber == null ? null : masked(taxCardNumber),
    taxCardImage: taxCardImage ?? null,
    passportImage: passportImage ?? null,
  };
}

declareKeys(personV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  account_id: 'value',
  full_name: 'value',
  relationship: { director: 'value', owner: 'value', representative: 'value' },
  identification: {
    tax_card_number: 'value or null',
    tax_card_image: 'value or null',
    passport_image: 'value or null',
  },
  metadata: 'value or null',
});
