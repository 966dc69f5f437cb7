import { words } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';

/** What an address says of itself. */
export const AddressFragment = graphql(`
  fragment AddressDetails on Address {
    id category status currency name
    bankAccount { bankName number iban domesticCredit domesticWire globalWire }
    vpa { id }
  }
`);

export type AddressDetails = ResultOf<typeof AddressFragment>;

/** What is needed to pay to an address, with the name of each; `copied` is what is entered elsewhere, sign by sign. */
export function detailsOf({ name, bankAccount, vpa, currency }: Omit<AddressDetails, 'id' | 'category' | 'status'>) {
  const details: { label: string; text: string | null | undefined; copied: boolean }[] = [
    { label: 'Name', text: name, copied: false },
    { label: 'Bank', text: bankAccount?.bankName, copied: false },
    { label: 'Account number', text: bankAccount?.number, copied: true },
    { label: 'IBAN', text: bankAccount?.iban, copied: true },
    { label: currency === 'INR' ? 'IFSC' : 'Routing code', text: bankAccount?.domesticCredit, copied: true },
    { label: 'Wire routing code', text: bankAccount?.domesticWire, copied: true },
    { label: 'SWIFT/BIC', text: bankAccount?.globalWire, copied: true },
    { label: words('UPI_ID'), text: vpa?.id, copied: true },
  ];
  return details.flatMap(({ text, ...detail }) => (text ? [{ ...detail, text }] : []));
}

/** Where a customer pays: its own receiving addresses, or those of the account that it belongs to. */
export function payableAt(
  own: readonly AddressDetails[] | undefined,
  ofOwner: readonly AddressDetails[] | undefined,
): readonly AddressDetails[] {
  const usable = (all: readonly AddressDetails[] = []) =>
    all.filter(({ category, status }) => category === 'SERVICE_RECEIVE' && status === 'ACTIVATED');
  const mine = usable(own);
  return mine.length > 0 ? mine : usable(ofOwner);
}
