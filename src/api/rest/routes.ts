import { accountV1 } from '../../resources/account/v1.js';
import { accountSettingV1 } from '../../resources/account-setting/v1.js';
import { addressV1 } from '../../resources/address/v1.js';
import { fileV1 } from '../../resources/file/v1.js';
import { balanceAggregateV1, balanceV1 } from '../../resources/balance/v1.js';
import { balanceTransactionV1 } from '../../resources/balance-transaction/v1.js';
import { checkoutV1 } from '../../resources/checkout/v1.js';
import { clockV1 } from '../../resources/clock/v1.js';
import { depositV1 } from '../../resources/deposit/v1.js';
import { eventV1 } from '../../resources/event/v1.js';
import { paymentV1 } from '../../resources/payment/v1.js';
import { payoutV1 } from '../../resources/payout/v1.js';
import { receivableV1 } from '../../resources/receivable/v1.js';
import { transactionV1 } from '../../resources/transaction/v1.js';
import { personV1 } from '../../resources/person/v1.js';

/**
 * One row of the endpoint table: a method and a path, the root field that answers it, and the shape of the answer.
 * `answers` says where in the field's answer the object is: the query's own value, a page, or a payload's member.
 */
export interface Route {
  method: 'GET' | 'POST';
  path: string;
  field: string;
  answers: 'object' | 'list' | 'payload';
  // biome-ignore lint: each shape takes the row of its own table, which the field's answer is.
  shape: (row: never) => object;
  /** The argument that a parameter of the path stands for, where they are named differently. */
  params?: Record<string, string>;
  /** Arguments of the field that the path does not take. */
  without?: readonly string[];
  /** The answer is a checkout, and the header `Link` says where its page is. */
  page?: true;
  /** An extension: a path that the specification does not show. */
  extension?: true;
}

const object = 'object';
const list = 'list';
const payload = 'payload';

/** The endpoint table of the specification, as data, and the extensions after it. Spec: Endpoint table. */
export const routes: readonly Route[] = [
  { method: 'POST', path: '/v1/accounts', field: 'createAccount', answers: payload, shape: accountV1 },
  { method: 'GET', path: '/v1/accounts/:id', field: 'account', answers: object, shape: accountV1 },
  { method: 'POST', path: '/v1/accounts/:id', field: 'updateAccount', answers: payload, shape: accountV1 },
  { method: 'GET', path: '/v1/accounts', field: 'accounts', answers: list, shape: accountV1 },
  { method: 'POST', path: '/v1/accounts/:id/activate', field: 'activateAccount', answers: payload, shape: accountV1 },
  {
    method: 'POST',
    path: '/v1/accounts/:id/deactivate',
    field: 'deactivateAccount',
    answers: payload,
    shape: accountV1,
  },
  {
    method: 'GET',
    path: '/v1/account_settings/:id',
    field: 'accountSetting',
    answers: object,
    shape: accountSettingV1,
  },
  {
    method: 'POST',
    path: '/v1/account_settings/:id',
    field: 'updateAccountSetting',
    answers: payload,
    shape: accountSettingV1,
  },
  { method: 'GET', path: '/v1/account_settings', field: 'accountSettings', answers: list, shape: accountSettingV1 },
  {
    method: 'GET',
    path: '/v1/account_settings/connected',
    field: 'connectedAccountSettings',
    answers: list,
    shape: accountSettingV1,
  },
  { method: 'POST', path: '/v1/addresses', field: 'createAddress', answers: payload, shape: addressV1 },
  { method: 'GET', path: '/v1/addresses/:id', field: 'address', answers: object, shape: addressV1 },
  { method: 'POST', path: '/v1/addresses/:id', field: 'updateAddress', answers: payload, shape: addressV1 },
  { method: 'GET', path: '/v1/addresses', field: 'addresses', answers: list, shape: addressV1 },
  { method: 'GET', path: '/v1/balance', field: 'balance', answers: object, shape: balanceV1 },
  {
    method: 'GET',
    path: '/v1/balance/aggregate',
    field: 'balanceAggregate',
    answers: object,
    shape: balanceAggregateV1,
  },
  {
    method: 'GET',
    path: '/v1/balance_transactions/:id',
    field: 'balanceTransaction',
    answers: object,
    shape: balanceTransactionV1,
  },
  {
    method: 'GET',
    path: '/v1/balance_transactions',
    field: 'balanceTransactions',
    answers: list,
    shape: balanceTransactionV1,
    without: ['accountId'],
  },
  { method: 'POST', path: '/v1/deposits', field: 'createDeposit', answers: payload, shape: depositV1 },
  {
    method: 'POST',
    path: '/v1/checkouts',
    field: 'createCheckout',
    answers: payload,
    shape: checkoutV1,
    page: true,
  },
  { method: 'GET', path: '/v1/receivables/:id', field: 'receivable', answers: object, shape: receivableV1 },
  { method: 'POST', path: '/v1/receivables/:id', field: 'updateReceivable', answers: payload, shape: receivableV1 },

  { method: 'POST', path: '/v1/persons', field: 'createPerson', answers: payload, shape: personV1, extension: true },
  {
    method: 'POST',
    path: '/v1/persons/:id',
    field: 'updatePerson',
    answers: payload,
    shape: personV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/persons/:id/remove',
    field: 'removePerson',
    answers: payload,
    shape: personV1,
    extension: true,
  },
  { method: 'GET', path: '/v1/persons/:id', field: 'person', answers: object, shape: personV1, extension: true },
  { method: 'GET', path: '/v1/persons', field: 'persons', answers: list, shape: personV1, extension: true },
  { method: 'GET', path: '/v1/files/:id', field: 'file', answers: object, shape: fileV1, extension: true },
  { method: 'GET', path: '/v1/files', field: 'files', answers: list, shape: fileV1, extension: true },

  {
    method: 'GET',
    path: '/v1/accounts/:id/balance_transactions',
    field: 'balanceTransactions',
    answers: list,
    shape: balanceTransactionV1,
    params: { id: 'accountId' },
    extension: true,
  },
  { method: 'GET', path: '/v1/deposits/:id', field: 'deposit', answers: object, shape: depositV1, extension: true },
  { method: 'GET', path: '/v1/deposits', field: 'deposits', answers: list, shape: depositV1, extension: true },
  {
    method: 'POST',
    path: '/v1/deposits/:id/reconcile',
    field: 'reconcileDeposit',
    answers: payload,
    shape: depositV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/receivables',
    field: 'createReceivable',
    answers: payload,
    shape: receivableV1,
    extension: true,
  },
  { method: 'GET', path: '/v1/receivables', field: 'receivables', answers: list, shape: receivableV1, extension: true },
  {
    method: 'POST',
    path: '/v1/receivables/:id/void',
    field: 'voidReceivable',
    answers: payload,
    shape: receivableV1,
    extension: true,
  },
  {
    method: 'GET',
    path: '/v1/checkouts/:id',
    field: 'checkout',
    answers: object,
    shape: checkoutV1,
    page: true,
    extension: true,
  },
  { method: 'GET', path: '/v1/checkouts', field: 'checkouts', answers: list, shape: checkoutV1, extension: true },
  {
    method: 'POST',
    path: '/v1/checkouts/:id/cancel',
    field: 'cancelCheckout',
    answers: payload,
    shape: checkoutV1,
    page: true,
    extension: true,
  },
  {
    method: 'GET',
    path: '/v1/transactions/:id',
    field: 'transaction',
    answers: object,
    shape: transactionV1,
    extension: true,
  },
  { method: 'GET', path: '/v1/payments/:id', field: 'payment', answers: object, shape: paymentV1, extension: true },
  { method: 'GET', path: '/v1/payments', field: 'payments', answers: list, shape: paymentV1, extension: true },
  { method: 'GET', path: '/v1/payouts/:id', field: 'payout', answers: object, shape: payoutV1, extension: true },
  { method: 'GET', path: '/v1/payouts', field: 'payouts', answers: list, shape: payoutV1, extension: true },

  { method: 'GET', path: '/v1/events/:id', field: 'event', answers: object, shape: eventV1, extension: true },
  { method: 'GET', path: '/v1/events', field: 'events', answers: list, shape: eventV1, extension: true },
  {
    method: 'POST',
    path: '/v1/test_helpers/accounts/:id/verify',
    field: 'verifyTestAccount',
    answers: payload,
    shape: accountV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/accounts/:id/hold',
    field: 'holdTestAccount',
    answers: payload,
    shape: accountV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/accounts/:id/deactivate',
    field: 'deactivateTestAccount',
    answers: payload,
    shape: accountV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/accounts/:id/wallet',
    field: 'createTestWallet',
    answers: payload,
    shape: addressV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/addresses/:id/expire',
    field: 'expireTestAddress',
    answers: payload,
    shape: addressV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/addresses/:id/deactivate',
    field: 'deactivateTestAddress',
    answers: payload,
    shape: addressV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/deposits/:id/process',
    field: 'processTestDeposit',
    answers: payload,
    shape: depositV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/deposits/:id/complete',
    field: 'completeTestDeposit',
    answers: payload,
    shape: depositV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/deposits/:id/fail',
    field: 'failTestDeposit',
    answers: payload,
    shape: depositV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/deposits/:id/cancel',
    field: 'cancelTestDeposit',
    answers: payload,
    shape: depositV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/deposits/:id/reverse',
    field: 'reverseTestDeposit',
    answers: payload,
    shape: depositV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/deposits/:id/dispute',
    field: 'disputeTestDeposit',
    answers: payload,
    shape: depositV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/checkouts/:id/pay',
    field: 'payTestCheckout',
    answers: payload,
    shape: checkoutV1,
    page: true,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/checkouts/:id/decline',
    field: 'declineTestCheckout',
    answers: payload,
    shape: checkoutV1,
    page: true,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/checkouts/:id/expire',
    field: 'expireTestCheckout',
    answers: payload,
    shape: checkoutV1,
    page: true,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/payouts/:id/settle',
    field: 'settleTestPayout',
    answers: payload,
    shape: payoutV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/payouts/:id/fail',
    field: 'failTestPayout',
    answers: payload,
    shape: payoutV1,
    extension: true,
  },
  {
    method: 'POST',
    path: '/v1/test_helpers/clock',
    field: 'advanceTestClock',
    answers: payload,
    shape: clockV1,
    extension: true,
  },
];
