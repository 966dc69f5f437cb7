import { useQuery } from 'urql';
import { useFilters } from '../../parts/filters';
import { graphql, type ResultOf } from '../../graph/graphql';
import { NameFragment } from '../../session';

const PayerQuery = graphql(
  `
    query PaymentToBill($id: ID!) {
      deposit(id: $id) {
        id currency pendingRest statementDescriptor
        bankDetails { text payer { name country } }
        fromAccount { type ...Name }
        toAccount { type ...Name owner { ...Name } }
      }
    }
  `,
  [NameFragment],
);

type Paid = NonNullable<ResultOf<typeof PayerQuery>['deposit']>;

/** A payment that waits for its receivable: the form of the receivable is filled in from it, and leads back to it. */
export interface PaymentToBill extends Paid {
  /** The address to which a form leads, with further parameters. */
  back: (more: Record<string, string>) => string;
}

/** The payment that the address of a form names; null where it names none, undefined while it is asked for. */
export function usePaymentToBill(): PaymentToBill | null | undefined {
  const { params } = useFilters();
  const id = params.get('payment');
  const [{ data, error }] = useQuery({ query: PayerQuery, variables: { id: id ?? '' }, pause: id === null });
  if (id === null || error) return null;
  if (!data) return undefined;
  if (!data.deposit) return null;
  // Who came from the list of what is to be reconciled goes on there.
  const back = (more: Record<string, string>) =>
    params.get('from') === 'list'
      ? `/payments?${new URLSearchParams({ show: 'unreconciled', payment: id, ...more })}`
      : `/payments/${id}?${new URLSearchParams(more)}`;
  return { ...data.deposit, back };
}

/** The account that is owed what a payment pays, and the customer that has paid, as far as it is known. */
export function sidesOf({ fromAccount, toAccount }: Paid) {
  const isCustomer = toAccount?.type === 'PARTNER';
  const payer = isCustomer ? toAccount : fromAccount?.type === 'PARTNER' ? fromAccount : null;
  return { payee: isCustomer ? toAccount.owner : toAccount, payer };
}

/** What the bank says of a payment. */
export const textOf = ({ statementDescriptor, bankDetails }: Paid): string =>
  [statementDescriptor, bankDetails?.text].filter(Boolean).join(' · ');

/** The longest text in which a number is sought. */
const textLengthMax = 200;

/** The first word of the bank's text that may be the number of an invoice: `INV-5001` of `Payment for INV-5001`. */
export function referenceIn(payment: Paid): string {
  const words = textOf(payment)
    .slice(0, textLengthMax)
    .split(/[\s,;:·]+/);
  const isNumber = (word: string) => word.length > 2 && /^[\w#/.-]+$/.test(word) && /\d/.test(word);
  // A number with letters is more likely that of an invoice than a date or an amount.
  const found = words.find((word) => isNumber(word) && /[A-Za-z]/.test(word)) ?? words.find(isNumber);
  return found ?? '';
}
