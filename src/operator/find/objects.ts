import type { AdjustmentRow } from '../../resources/adjustment/table.js';
import type { AccountRow } from '../../resources/account/table.js';
import type { AccountSettingRow } from '../../resources/account-setting/table.js';
import type { AddressRow } from '../../resources/address/table.js';
import type { CheckoutRow } from '../../resources/checkout/table.js';
import type { DepositRow } from '../../resources/deposit/table.js';
import type { DisputeRow } from '../../resources/dispute/table.js';
import type { EventRow } from '../../resources/event/table.js';
import type { ExportRow } from '../../resources/export/table.js';
import type { FileRow } from '../../resources/file/table.js';
import type { ImportRow } from '../../resources/import/table.js';
import type { ImportRowRow } from '../../resources/import-row/table.js';
import type { ApiKeyRow } from '../../resources/key/table.js';
import type { EntryRow } from '../../resources/ledger/table.js';
import type { PayoutRow } from '../../resources/payout/table.js';
import type { ReceivableRow } from '../../resources/receivable/table.js';
import type { ChangeRequestRow } from '../../resources/change-request/table.js';
import type { RefundRow } from '../../resources/refund/table.js';
import type { RequestLogRow } from '../../resources/request-log/table.js';
import type { SessionRow } from '../../resources/session/table.js';
import type { TransactionRow } from '../../resources/transaction/table.js';
import type { PaymentRow } from '../../resources/payment/table.js';
import type { PersonRow } from '../../resources/person/table.js';
import type { WebhookDeliveryRow } from '../../resources/webhook-delivery/table.js';
import type { WebhookEndpointRow } from '../../resources/webhook-endpoint/table.js';
import type { PaymentOrderRow } from '../payment-order/table.js';
import type { BankLineRow } from '../bank-file/table.js';
import type { BankNoticeRow, UnexplainedRow } from '../table.js';

/** The kinds of object that the operator finds, by their words in the graph. */
export const FoundType = {
  ACCOUNT: 'account',
  ACCOUNT_SETTING: 'account_setting',
  ADDRESS: 'address',
  ADJUSTMENT: 'adjustment',
  API_KEY: 'api_key',
  BALANCE_TRANSACTION: 'balance_transaction',
  BANK_LINE: 'bank_line',
  BANK_NOTICE: 'bank_notice',
  CHANGE_REQUEST: 'change_request',
  CHECKOUT: 'checkout',
  DEPOSIT: 'deposit',
  DISPUTE: 'dispute',
  EVENT: 'event',
  EXPORT: 'export',
  FILE: 'file',
  IMPORT: 'import',
  IMPORT_ROW: 'import_row',
  PAYMENT: 'payment',
  PAYMENT_ORDER: 'payment_order',
  PAYOUT: 'payout',
  PERSON: 'person',
  RECEIVABLE: 'receivable',
  REFUND: 'refund',
  REQUEST: 'request',
  SESSION: 'session',
  TRANSACTION: 'transaction',
  UNEXPLAINED: 'unexplained',
  WEBHOOK_DELIVERY: 'webhook_delivery',
  WEBHOOK_ENDPOINT: 'webhook_endpoint',
} as const;
export type FoundType = (typeof FoundType)[keyof typeof FoundType];

/** An object that was found, of whatever kind, by what tells it apart from others. */
export interface FoundObject {
  type: FoundType;
  id: string;
  /** Null for a payment order, and for a line of a bank's file that is of no tenant yet. */
  tenantId: string | null;
  livemode: boolean;
  created: number;
  status: string | null;
  amount: bigint | null;
  currency: string | null;
  reference: string | null;
  accountId: string | null;
  depositId: string | null;
  payoutId: string | null;
}

/** One place: what it is called, and what it has. */
export interface Place {
  name: string;
  objects: FoundObject[];
}

/** How many objects of one place are returned. */
export const ofPlaceMax = 5;

type Row = { id: string; tenantId: string; livemode: boolean; created: number };
type Rest = Partial<Omit<FoundObject, 'type' | keyof Row>>;

function found(type: FoundType, { id, tenantId, livemode, created }: Row, rest: Rest): FoundObject {
  const nothing = { status: null, amount: null, currency: null, reference: null };
  return {
    ...{ type, id, tenantId, livemode, created, ...nothing, accountId: null, depositId: null, payoutId: null },
    ...rest,
  };
}

/** How the rows of each kind are shown as found objects. */
export const shown = {
  account: (row: AccountRow) => found('account', row, { status: row.status, accountId: row.id }),
  setting: (row: AccountSettingRow) => found('account_setting', row, { accountId: row.accountId }),
  address: (row: AddressRow) =>
    found('address', row, {
      ...{ status: row.status, currency: row.currency, accountId: row.linkedId },
      reference: row.bankAccount?.iban ?? row.bankAccount?.number ?? row.vpa?.id ?? null,
    }),
  adjustment: (row: AdjustmentRow) =>
    found('adjustment', row, {
      ...{ status: row.status, accountId: row.accountId, reference: row.reason },
      amount: row.creditAmount ?? (row.debitAmount === null ? null : -row.debitAmount),
      currency: row.creditCurrency ?? row.debitCurrency,
    }),
  apiKey: (row: ApiKeyRow) =>
    found('api_key', row, { ...revocationOf(row), accountId: row.accountId, reference: row.prefix }),
  changeRequest: (row: ChangeRequestRow) =>
    found('change_request', row, { status: row.status, accountId: row.accountId, reference: row.reason }),
  checkout: (row: CheckoutRow) =>
    found('checkout', row, { ...moneyOf(row), accountId: row.toAccountId, depositId: row.depositId }),
  deposit: (row: DepositRow) =>
    found('deposit', row, {
      ...{ ...moneyOf(row), accountId: row.toAccountId, depositId: row.id },
      reference: row.bankDetails?.reference ?? null,
    }),
  dispute: (row: DisputeRow) =>
    found('dispute', row, {
      ...{ ...moneyOf(row), accountId: row.accountId, depositId: row.depositId, reference: row.reference },
    }),
  entry: ({ amount, currency, accountId, paymentId, ...row }: EntryRow) =>
    found('balance_transaction', row, { amount, currency, accountId, reference: paymentId }),
  event: (row: EventRow) =>
    found('event', row, { accountId: row.actingAccountId, reference: `${row.type} ${row.objectId}` }),
  export: (row: ExportRow) =>
    found('export', row, { status: row.status, accountId: row.accountId, reference: row.list }),
  file: (row: FileRow) => found('file', row, { accountId: row.accountId, reference: row.filename }),
  import: (row: ImportRow) =>
    found('import', row, { status: row.status, accountId: row.accountId, reference: row.kind }),
  importRow: (row: ImportRowRow) =>
    found('import_row', row, { status: row.status, accountId: row.actingAccountId, reference: row.importId }),
  payment: (row: PaymentRow) =>
    found('payment', row, { ...moneyOf(row), accountId: row.accountId, depositId: row.depositId, reference: row.type }),
  order: (row: PaymentOrderRow): FoundObject => ({
    ...found('payment_order', { ...row, tenantId: '', livemode: true }, moneyOf({ ...row, amount: row.total })),
    tenantId: null,
  }),
  person: (row: PersonRow) => found('person', row, { accountId: row.accountId, reference: row.fullName }),
  session: (row: SessionRow) =>
    found('session', row, { ...revocationOf(row), accountId: row.accountId, reference: row.apiKeyId }),
  delivery: (row: WebhookDeliveryRow) =>
    found('webhook_delivery', row, {
      ...{ status: row.status, accountId: row.actingAccountId, reference: `${row.eventType} ${row.eventId}` },
    }),
  endpoint: (row: WebhookEndpointRow) =>
    found('webhook_endpoint', row, {
      ...{ status: row.enabled ? 'enabled' : 'disabled', accountId: row.accountId, reference: row.url },
    }),
  payout: (row: PayoutRow) =>
    found('payout', row, {
      ...{ ...moneyOf(row), accountId: row.accountId, payoutId: row.id, reference: row.bankReference },
    }),
  receivable: (row: ReceivableRow) =>
    found('receivable', row, {
      ...{ status: row.status, amount: BigInt(row.invoice.amount), currency: row.invoice.currency },
      ...{ accountId: row.accountId, reference: row.invoice.referenceNumber },
    }),
  refund: (row: RefundRow) =>
    found('refund', row, {
      ...{ ...moneyOf(row), accountId: row.accountId, depositId: row.depositId, reference: row.bankReference },
    }),
  request: (row: RequestLogRow) =>
    found('request', row, {
      ...{ status: row.outcome, accountId: row.actingAccountId },
      reference: [row.operation, String(row.status), ...row.codes].join(' '),
    }),
  transaction: (row: TransactionRow) =>
    found('transaction', row, { ...moneyOf(row), accountId: row.actingAccountId, depositId: row.depositId }),
  unexplained: (row: UnexplainedRow) =>
    found('unexplained', row, { ...moneyOf(row), depositId: row.depositId, reference: row.reference }),
  notice: (row: BankNoticeRow) =>
    found(
      'bank_notice',
      { ...row, id: row.reference },
      {
        ...{ status: row.event, amount: BigInt(row.content.amount), currency: row.content.currency },
        ...{ reference: row.reference, accountId: row.content.toAccountId, depositId: row.depositId },
      },
    ),
  line: (row: BankLineRow & { created: number }) => ({
    ...found(
      'bank_line',
      { id: row.fileId, tenantId: '', livemode: true, created: row.created },
      {
        ...{ status: row.state, amount: row.direction === 'debit' ? -row.amount : row.amount, currency: row.currency },
        ...{ reference: row.reference, depositId: row.depositId, payoutId: row.payoutId },
      },
    ),
    tenantId: row.tenant,
  }),
};

const moneyOf = ({ status, amount, currency }: { status: string; amount: bigint | null; currency: string }) => ({
  ...{ status, amount, currency },
});

/** Of a key or a session: whether it was revoked. What expired is read by the database's clock, so it is not said. */
const revocationOf = ({ revokedAt }: { revokedAt: number | null }) => ({
  status: revokedAt === null ? null : 'revoked',
});
