import { BalanceFragment } from '../../graph/balance';
import { graphql, type ResultOf } from '../../graph/graphql';
import { NameFragment } from '../../session';
import { InvoiceFragment } from './invoices';

/** One customer or user, for its page. */
export const AccountQuery = graphql(
  `
    query Account($id: ID!) {
      account(id: $id) {
        id created type status ...Name
        requirements { fieldName message alternatives }
        owner { id type ...Name }
        businessDetails {
          legalName email website type
          physicalAddress { line1 city state postalCode country }
        }
        balance { ...Compartments }
        owes { currencies { total { amount currency } } }
        idDocument { id filename }
        ownershipStructureDocument { id filename }
        physicalAddressDocument { id filename }
        persons(first: 20) {
          nodes {
            id fullName
            relationship { director owner representative }
          }
        }
        partners(first: 10) { nodes { ...Name status } }
        addresses(first: 20) {
          nodes {
            id category type status currency name payoutProblem
            bankAccount { bankName number iban domesticCredit domesticWire globalWire }
            vpa { id }
          }
        }
        depositsOut(first: 5) { nodes { id created amount currency status pendingRest } }
        billedReceivables(first: 100, filter: { status: [OPEN] }, orderBy: DUE_DATE_ASC) {
          nodes { ...BilledInvoice }
          pageInfo { hasNextPage }
        }
      }
    }
  `,
  [NameFragment, BalanceFragment, InvoiceFragment],
);

/** The account of the page, which the parts of the page read too. */
export type AccountDetail = NonNullable<ResultOf<typeof AccountQuery>['account']>;
