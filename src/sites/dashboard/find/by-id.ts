import { graphql } from '../graph/graphql';
import { AccountFound, CheckoutFound, DepositFound, PayoutFound, ReceivableFound } from './query';

const RequestFound = graphql(`
  fragment RequestFound on RequestLog { __typename id created operation requestOutcome: outcome codes }
`);

const RefundFound = graphql(`
  fragment RefundFound on Refund { __typename id created amount currency refundStatus: status reason depositId }
`);
const DisputeFound = graphql(`
  fragment DisputeFound on Dispute { __typename id created amount currency disputeStatus: status reasonCode depositId }
`);
const PaymentFound = graphql(`
  fragment PaymentFound on Payment {
    __typename id created amount currency paymentStatus: status paymentType: type paymentAccount: account { id }
    source {
      ... on Checkout { id }
      ... on Deposit { id }
      ... on Dispute { depositId }
      ... on Payout { id }
      ... on Refund { depositId }
    }
  }
`);
const WebhookFound = graphql(`
  fragment WebhookFound on WebhookEndpoint { __typename id created url description }
`);
const ImportFound = graphql(`
  fragment ImportFound on Import { __typename id created importStatus: status importKind: kind dryRun }
`);
const ExportFound = graphql(`
  fragment ExportFound on Export { __typename id created exportStatus: status list accountId }
`);
const AddressFound = graphql(`
  fragment AddressFound on Address { __typename id created currency addressStatus: status category name linkedId }
`);
const PersonFound = graphql(`
  fragment PersonFound on Person { __typename id created fullName accountId }
`);
const ChangeRequestFound = graphql(`
  fragment ChangeRequestFound on ChangeRequest {
    __typename id created changeStatus: status changeReason: reason accountId
  }
`);
const TransactionFound = graphql(`
  fragment TransactionFound on Transaction {
    __typename id created amount currency transactionStatus: status method checkoutId
  }
`);
const FileFound = graphql(`
  fragment FileFound on File {
    __typename id created purpose filename
    account { id }
    usedByReceivables(first: 1) { nodes { id } }
    imports(first: 1) { nodes { id } }
  }
`);

/** An object by its id, whatever its type. */
export const NodeQuery = graphql(
  `
    query FoundById($id: ID!) {
      node(id: $id) {
        __typename
        ... on Deposit { ...DepositFound }
        ... on Receivable { ...ReceivableFound }
        ... on Payout { ...PayoutFound }
        ... on Checkout { ...CheckoutFound }
        ... on Account { ...AccountFound }
        ... on RequestLog { ...RequestFound }
        ... on Refund { ...RefundFound }
        ... on Dispute { ...DisputeFound }
        ... on Payment { ...PaymentFound }
        ... on WebhookEndpoint { ...WebhookFound }
        ... on Import { ...ImportFound }
        ... on Export { ...ExportFound }
        ... on Address { ...AddressFound }
        ... on Person { ...PersonFound }
        ... on ChangeRequest { ...ChangeRequestFound }
        ... on Transaction { ...TransactionFound }
        ... on File { ...FileFound }
      }
    }
  `,
  [
    DepositFound,
    ReceivableFound,
    PayoutFound,
    CheckoutFound,
    AccountFound,
    RequestFound,
    RefundFound,
    DisputeFound,
    PaymentFound,
    WebhookFound,
    ImportFound,
    ExportFound,
    AddressFound,
    PersonFound,
    ChangeRequestFound,
    TransactionFound,
    FileFound,
  ],
);
