import { words } from '../../format/words';
import type { ResultOf } from '../../graph/graphql';
import { graphql } from '../graphql';

export const AccountQuery = graphql(`
  query Account($id: ID!, $mode: Mode) {
    account(id: $id, mode: $mode) {
      id created livemode tenantId ownerId edition type subType status statusSince nickname address
      root { id livemode nickname businessDetails { legalName } }
      owner { id livemode nickname businessDetails { legalName } }
      businessDetails {
        legalName dba email website dateOfIncorporation type merchantCategoryCode merchantSize
        productCategory productDescription
        ids { business tax taxDeduction taxGst taxTrade }
        physicalAddress { line1 line2 city state postalCode country }
        estimatedMonthlyVolume { amount currency }
      }
      persons {
        id fullName
        relationship { director owner representative }
        identification { taxCardNumber taxCardImage passportImage }
      }
      files { id purpose filename contentType size sha256 contentPath }
      supportingDocumentation { idDocument ownershipStructureDocument physicalAddressDocument }
      requirements { fieldName message }
      addresses {
        id created category type status currency name payoutProblem
        bankAccount { bankName number iban domesticCredit domesticWire globalWire }
        vpa { id }
      }
      payoutsBlockedBy { reasonCode currency }
      setting { id serviceHold platformHold payoutsEnabled payoutsReason payoutsInterval }
    }
  }
`);

export type Account = NonNullable<ResultOf<typeof AccountQuery>['account']>;
export type File = Account['files'][number];

/** What a document is: which one of the business or of a person, or what its purpose says. */
export function titleOf({ persons, supportingDocumentation: business }: Account, { id, purpose }: File): string {
  if (business.idDocument === id) return 'Identity of the business';
  if (business.ownershipStructureDocument === id) return 'Ownership';
  if (business.physicalAddressDocument === id) return 'Address';
  for (const { fullName, identification } of persons) {
    if (identification.taxCardImage === id) return `Tax card of ${fullName}`;
    if (identification.passportImage === id) return `Passport of ${fullName}`;
  }
  return words(purpose);
}
