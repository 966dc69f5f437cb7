import { currenciesOf, decimal, hundredths, sum } from '../../format/money';
import { daysLate, stateOf } from '../../format/receivables';
import { counted } from '../../format/words';
import type { Ages } from '../receivables/ageing';
import { type AddressDetails, detailsOf } from './address-details';

/** An open invoice, as far as a reminder needs it. */
interface Owed {
  currency: string;
  status: string;
  amountReconcilable: string;
  invoice: { referenceNumber: string; dueDate: string };
}

interface Given {
  customer: string;
  seller: string;
  /** Whether no real money is asked for. */
  isTest: boolean;
  ages: Pick<Ages, 'asOf'> & {
    currencies: readonly {
      currency: string;
      buckets: readonly { bucket: string; count: number; amount: { amount: string } }[];
    }[];
  };
  /** The open invoices, those due first at the beginning; of very many the first ones. */
  invoices: readonly Owed[];
  addresses: readonly AddressDetails[];
}

// A text in English has amounts and days as English writes them, whatever the locale of the viewer is.
const amounts = new Intl.NumberFormat('en', { minimumFractionDigits: 2 });
const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const moneyText = (amount: string, currency: string) => `${currency} ${amounts.format(decimal(hundredths(amount)))}`;

/** A text that reminds a customer of its overdue invoices; undefined where none is overdue. */
export function reminderOf({ customer, seller, isTest, ages, invoices, addresses }: Given): string | undefined {
  const overdue = invoices.filter((each) => stateOf(each, ages.asOf) === 'OVERDUE');
  if (overdue.length === 0) return undefined;
  const late = ages.currencies.flatMap(({ currency, buckets }) =>
    buckets.flatMap(({ bucket, count, amount: { amount } }) =>
      bucket === 'NOT_DUE' || count === 0 ? [] : [{ currency, count, amount }],
    ),
  );
  const more = late.reduce((all, each) => all + each.count, 0) - overdue.length;
  // The figures of all of them count where not all are in the list.
  const summed = more > 0 ? late : overdue.map((each) => ({ ...each, amount: each.amountReconcilable }));
  const sums = currenciesOf(summed).map((currency) =>
    moneyText(sum(summed.filter((each) => each.currency === currency).map(({ amount }) => amount)), currency),
  );
  const one = overdue.length === 1;
  return [
    ...(isTest ? ['(Test mode: no real money is asked for.)', ''] : []),
    `Dear ${customer},`,
    '',
    `${one ? 'This invoice' : 'These invoices'} of ${seller} ${one ? 'is' : 'are'} overdue on ` +
      `${days.format(new Date(ages.asOf))}:`,
    '',
    ...overdue.map((each) => lineOf(each, ages.asOf)),
    ...(more > 0 ? [`and ${counted(more, 'more invoice')}`] : []),
    '',
    `Overdue in total: ${sums.join(' and ')}.`,
    ...addresses.flatMap((address) => ['', ...addressLines(address)]),
    '',
    `Please give the ${one ? 'invoice number' : 'invoice numbers'} as the reference of your payment. If you ` +
      'have paid in the meantime, please ignore this message.',
    '',
    'Kind regards,',
    seller,
  ].join('\n');
}

const lineOf = (each: Owed, today: string) =>
  `- Invoice ${each.invoice.referenceNumber}: ${moneyText(each.amountReconcilable, each.currency)}, due ` +
  `${days.format(new Date(each.invoice.dueDate))}, ${counted(daysLate(each, today), 'day')} late`;

const addressLines = (address: AddressDetails) => [
  `Please pay ${address.currency} to:`,
  ...detailsOf(address).map(({ label, text }) => `${label}: ${text}`),
];
