import { businessNumbers, maskedPan, type NumberFormat, typesWithCompanyNumber } from '../types/india.js';
import { awaitsActivation, type Prerequisite, type Rule } from './prerequisites.js';

/**
 * The numbers of an account in India that have not the form of such numbers: a typing error, which a bank or an
 * authority would find weeks later. Only what is given is looked at; other rules say what has to be given.
 * Silent: the forms.
 */
export const indianNumbers: Rule = (profile) => {
  const { account, persons } = profile;
  const { type, ids, physicalAddress } = account.businessDetails;
  if (physicalAddress?.country !== 'IN' || !awaitsActivation(profile)) return [];
  const company = type && typesWithCompanyNumber.includes(type) ? ids?.business : null;
  return [
    wrong('business_details.ids.business', businessNumbers['businessDetails.ids.business'], company),
    wrong('business_details.ids.tax', businessNumbers['businessDetails.ids.tax'], ids?.tax),
    wrong('business_details.ids.tax_gst', businessNumbers['businessDetails.ids.taxGst'], ids?.taxGst),
    ...persons.map(({ fullName, identification: { taxCardNumber } }) =>
      wrong('persons.identification.tax_card_number', maskedPan, taxCardNumber, `The tax card of ${fullName}: `),
    ),
  ].flat();
};

/** The prerequisite that a number which is given has its form, or none where it has. */
function wrong(path: string, { holds, message }: NumberFormat, number: string | null | undefined, whose = '') {
  if (number == null || number.trim() === '' || holds(number)) return [];
  return [{ field: `account.${path}`, message: `${whose}${message}`, met: () => false } satisfies Prerequisite];
}
