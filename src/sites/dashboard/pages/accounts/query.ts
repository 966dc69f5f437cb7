import { BalanceFragment } from '../../graph/balance';
import { graphql, type ResultOf } from '../../graph/graphql';
import { NameFragment } from '../../session';
import { AddressFragment } from './address-details';

/** One customer or user, for its page. */
export const AccountQuery = graphql(
  `
    query Account($id: ID!) {
      account(id: $id) {
        id created type status ...Name
        requirements { fieldName message alternatives }
        owner { id type ...Name }
        businessDetails {
          legalName dba email website dateOfIncorporation type merchantCategoryCode productCategory productDescription
          ids { business tax taxGst taxTrade }
          physicalAddress { line1 line2 city state postalCode country }
        }
        balance { ...Compartments }
        idDocument { id filename }
        ownershipStructureDocument { id filename }
        physicalAddressDocument { id filename }
        persons(first: 20) {
          nodes {
            id fullName
            relationship { director owner representative }
            identification { taxCardNumber taxCardImage }
          }
        }
        partners(first: 10) { nodes { ...Name status } }
        addresses(first: 20) {
          nodes { type payoutProblem billingDetails { line1 city state postalCode country } ...AddressDetails }
        }
        changeRequests(first: 1) {
          nodes { id created status reason answer answeredAt changes { path from to } }
        }
        depositsOut(first: 5) { nodes { id created amount currency status pendingRest } }
      }
    }
  `,
  [NameFragment, BalanceFragment, AddressFragment],
);

/** The account of the page, which the parts of the page read too. */
export type AccountDetail = NonNullable<ResultOf<typeof AccountQuery>['account']>;

/** Whether an account is a user's that is not activated yet, and so has the steps of its onboarding on its page. */
export const isOnboarding = ({ status, type }: AccountDetail) => status === 'DRAFT' && type !== 'PARTNER';
