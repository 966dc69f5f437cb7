import { masked } from './encryption.js';
import type { PersonRow } from './table.js';
import { noun, value, valueOrNull } from '../shape.js';

/** Formats a person for /v1. Silent: all fields. */
export function personV1(p: PersonRow) {
  const { director, owner, representative } = relationshipOf(p);
  const identification = identificationOf(p);
  return {
    id: value(p.id),
    object: noun('person'),
    created: value(p.created),
    livemode: value(p.livemode),
    account_id: value(p.accountId),
    full_name: value(p.fullName),
    relationship: { director: value(director), owner: value(owner), representative: value(representative) },
    identification: {
      tax_card_number: valueOrNull(identification.taxCardNumber),
      tax_card_image: valueOrNull(identification.taxCardImage),
      passport_image: valueOrNull(identification.passportImage),
    },
    metadata: valueOrNull(p.metadata),
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
