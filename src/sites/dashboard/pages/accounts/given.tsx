import { placeOf } from '../../format/countries';
import { formatDay } from '../../format/time';
import { words } from '../../format/words';
import type { RowOf } from '../../graph/pages';
import { Facts } from '../../parts/facts';
import type { AccountDetail } from './query';

/** What an account says of its business. */
export function businessOf({ businessDetails: business }: Pick<AccountDetail, 'businessDetails'>) {
  const { ids, type, dateOfIncorporation: day, physicalAddress: at } = business;
  return [
    ['Legal name', business.legalName],
    ['Trades as', business.dba],
    ['Legal form', type && words(type)],
    ['E-mail', business.email],
    ['Website', business.website],
    ['Incorporated', day && formatDay(day)],
    ['Address', at && placeOf(at)],
    ['Business ID', ids?.business],
    ['Tax ID', ids?.tax],
    ['GST ID', ids?.taxGst],
    ['Trade ID (IEC)', ids?.taxTrade],
    ['Merchant category', business.merchantCategoryCode],
    ['Products', [business.productCategory, business.productDescription].filter(Boolean).join(', ')],
  ] as const;
}

/** What was given of a business. */
export function Business({ account }: { account: AccountDetail }) {
  const files = [account.idDocument, account.ownershipStructureDocument, account.physicalAddressDocument];
  return (
    <Facts
      className="given"
      facts={[
        ['Name', account.nickname],
        ...businessOf(account),
        ['Documents', files.flatMap((file) => file?.filename ?? []).join(', ')],
      ]}
    />
  );
}

/** The bank accounts to which an account is paid out. */
export function Banks({ addresses }: { addresses: readonly RowOf<AccountDetail['addresses']>[] }) {
  return (
    <ul className="persons">
      {addresses.map(({ id, name, currency, bankAccount }) => {
        const number = bankAccount?.number ?? bankAccount?.iban;
        return (
          <li key={id}>
            <strong>{[bankAccount?.bankName, number && `…\u2060${number.slice(-4)}`].filter(Boolean).join(' ')}</strong>
            <span className="hint">{[name, currency, bankAccount?.domesticCredit].filter(Boolean).join(' · ')}</span>
          </li>
        );
      })}
    </ul>
  );
}
