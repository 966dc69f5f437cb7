import { NameFragment, nameOf } from '../session';
import { graphql, type ResultOf } from './graphql';

/** Who made a payment, and what the bank and the payer say of it. */
export const PayerFragment = graphql(
  `
    fragment Payer on Deposit {
      statementDescriptor
      bankDetails { reference text payer { name } }
      fromAccount { ...Name }
    }
  `,
  [NameFragment],
);

type Paid = ResultOf<typeof PayerFragment>;

/** Who made a payment: the account that has, or whom the bank names. */
export const payerOf = (
  { fromAccount, bankDetails }: Pick<Paid, 'fromAccount' | 'bankDetails'>,
  unknown = 'Unknown payer',
): string => (fromAccount ? nameOf(fromAccount) : (bankDetails?.payer?.name ?? unknown));

/** What a payment is known by beside its payer: its own text, that of the bank, or else the bank's reference. */
export function textOfPayment({ statementDescriptor, bankDetails }: Omit<Paid, 'fromAccount'>): string | undefined {
  const text = statementDescriptor || bankDetails?.text || bankDetails?.reference;
  // That of a checkout is its id.
  return text?.startsWith('checkout_') ? 'Checkout' : text;
}
