import { stringify } from 'csv-stringify/sync';
import { harmless } from '../../types/csv-cell.js';
import type { PayoutRow } from '../../resources/payout/table.js';
import { amountText, currencyDigits } from '../../types/scalars.js';
import { accountKey } from '../bank-file/line.js';
import { type Operator, OperatorError } from '../operator.js';
import { ownAccountOf } from './accounts.js';
import { payoutsOf } from './claims.js';
import { countedOrder } from './orders.js';
import { forbidden, type Payee, payeesOf } from './payee.js';
import { type OwnAccountRow, type PaymentOrderRow, PaymentOrderStatus } from './table.js';

/** The formats of the file of an order. */
export const orderFormats = ['pain.001', 'csv'] as const;
export type OrderFormat = (typeof orderFormats)[number];

const batchMax = 500;

/** The reference by which a bank's answer is found again: 32 digits of the payout's id, since messages have 35. */
export const endToEndIdOf = ({ id }: { id: string }): string => id.replace(/^payout_/, '');

/** The payout that a reference of a file names; undefined for another reference. */
export const payoutIdOf = (endToEndId: string | undefined): string | undefined =>
  endToEndId !== undefined && /^[0-9a-f]{32}$/i.test(endToEndId) ? `payout_${endToEndId.toLowerCase()}` : undefined;

const messageIdOf = ({ id }: PaymentOrderRow): string => id.replace('payment_order_', '');

/**
 * A file for a bank, in pieces. The same order has the same file whenever it is made, with the names that the payees'
 * accounts have then: an operator may have accepted another one since the approval. Accounts and amounts are fixed.
 */
export interface OrderFile {
  name: string;
  contentType: string;
  content: AsyncGenerator<string, void, void>;
}

/** Makes the file of an approved order. Spec: decisions, 8.15. */
export async function orderFile(operator: Operator, id: string, format: OrderFormat): Promise<OrderFile> {
  const order = await countedOrder(operator, id);
  if (order.status !== PaymentOrderStatus.APPROVED && order.status !== PaymentOrderStatus.SENT)
    throw new OperatorError(
      'Only an approved order has a file. Have it approved by another operator first.',
      'status_invalid',
      'payment_order.status',
    );
  const from = await ownAccountOf(operator, order.ownAccountId);
  const write = { 'pain.001': pain001, csv }[format];
  const [ending, contentType] = format === 'csv' ? ['csv', 'text/csv'] : ['xml', 'application/xml'];
  return {
    name: `payouts-${order.valueDate}-${messageIdOf(order).slice(0, 8)}.${ending}`,
    contentType: `${contentType}; charset=utf-8`,
    content: write(order, from, paymentsOf(operator, order)),
  };
}

/** A payout with what the bank has to know of its payee. */
interface Payment {
  payout: PayoutRow;
  to: Payee;
}

/**
 * The payments of an order, in the order of tenants and ids. Ends with an error when they are not those that were
 * approved, so that nobody takes the file for whole.
 */
async function* paymentsOf(operator: Operator, order: PaymentOrderRow): AsyncGenerator<Payment, void, void> {
  let after: PayoutRow | undefined;
  let [count, total] = [0, 0n];
  for (;;) {
    const rows = await payoutsOf(operator, order.id, after, batchMax);
    const payees = await payeesOf(operator, rows);
    for (const [i, payout] of rows.entries()) {
      const to = payees[i]!;
      if (typeof to === 'string') throw new Error(`${payout.id} of ${order.id} can be in no file: ${to}`);
      count++;
      total += payout.amount;
      yield { payout, to };
    }
    after = rows.at(-1);
    if (rows.length < batchMax) break;
  }
  if (count !== order.payouts || total !== order.total) throw new Error(`The payouts of ${order.id} have changed.`);
}

/** An amount with as many decimals as its currency has, and two at most. */
const amountIn = (amount: bigint, currency: string): string =>
  currencyDigits(currency) === 0 ? amountText(amount).replace(/\.00$/, '') : amountText(amount);

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** An element with a text; none without one. */
const text = (name: string, value: string | null | undefined): string =>
  value == null || value === ''
    ? ''
    : `<${name}>${value.replaceAll(forbidden, '').replaceAll(/[&<>"]/g, (each) => escapes[each]!)}</${name}>`;
const element = (name: string, ...content: string[]): string => `<${name}>${content.join('')}</${name}>`;

const accountElement = (iban: string | null | undefined, number: string | null | undefined, currency = ''): string =>
  element('Id', iban ? text('IBAN', accountKey(iban)) : element('Othr', text('Id', number && accountKey(number)))) +
  text('Ccy', currency);

/** The bank of an account: by its BIC, or else by the code that it has in a system of clearing. */
const bankElement = (bic: string | null | undefined, system: string | undefined, code: string | null | undefined) =>
  element(
    'FinInstnId',
    bic
      ? text('BICFI', bic)
      : code
        ? element('ClrSysMmbId', system ? element('ClrSysId', text('Cd', system)) : '', text('MmbId', code))
        : element('Othr', text('Id', 'NOTPROVIDED')),
  );

/** Customer credit transfers of ISO 20022, pain.001.001.09. */
async function* pain001(
  order: PaymentOrderRow,
  from: OwnAccountRow,
  payments: AsyncIterable<Payment>,
): AsyncGenerator<string, void, void> {
  const sums = text('NbOfTxs', String(order.payouts)) + text('CtrlSum', amountIn(order.total!, order.currency));
  const messageId = messageIdOf(order);
  const made = new Date(order.created * 1000).toISOString().slice(0, 19);
  yield '<?xml version="1.0" encoding="UTF-8"?>\n' +
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">\n<CstmrCdtTrfInitn>\n' +
    element(
      'GrpHdr',
      ...[text('MsgId', messageId), text('CreDtTm', made), sums, element('InitgPty', text('Nm', from.holder))],
    ) +
    `\n<PmtInf>${text('PmtInfId', messageId)}${text('PmtMtd', 'TRF')}${sums}` +
    element('ReqdExctnDt', text('Dt', order.valueDate)) +
    element('Dbtr', text('Nm', from.holder)) +
    element('DbtrAcct', accountElement(from.iban, from.number, from.currency)) +
    element('DbtrAgt', bankElement(from.bic, 'INFSC', from.ifsc));
  for await (const { payout, to } of payments) {
    yield '\n' +
      element(
        'CdtTrfTxInf',
        element('PmtId', text('EndToEndId', endToEndIdOf(payout))),
        `<Amt><InstdAmt Ccy="${payout.currency}">${amountIn(payout.amount, payout.currency)}</InstdAmt></Amt>`,
        element('CdtrAgt', bankElement(to.bic, to.system, to.code)),
        element('Cdtr', text('Nm', to.name)),
        element('CdtrAcct', accountElement(to.iban, to.number)),
        element('RmtInf', text('Ustrd', payout.id)),
      );
  }
  yield '\n</PmtInf>\n</CstmrCdtTrfInitn>\n</Document>\n';
}

const csvColumns = [
  ...['reference', 'amount', 'currency', 'value_date', 'payee', 'account', 'bank_code', 'bic', 'bank', 'from_account'],
];
const row = (cells: string[]): string => stringify([cells], { record_delimiter: '\r\n' });

/** One line per payout. No cell is a formula of a spreadsheet. */
async function* csv(
  order: PaymentOrderRow,
  from: OwnAccountRow,
  payments: AsyncIterable<Payment>,
): AsyncGenerator<string, void, void> {
  yield row(csvColumns);
  for await (const { payout, to } of payments) {
    yield row([
      ...[
        endToEndIdOf(payout),
        amountIn(payout.amount, payout.currency),
        payout.currency,
        order.valueDate,
        harmless(to.name),
      ],
      ...[to.iban ?? to.number ?? '', to.code ?? '', to.bic ?? '', to.bankName].map(harmless),
      ...[from.iban ?? from.number ?? ''],
    ]);
  }
}
