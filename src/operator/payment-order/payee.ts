import { type AccountRow, account } from '../../resources/account/table.js';
import { isIban } from '../../resources/address/rules.js';
import { type AddressRow, address } from '../../resources/address/table.js';
import type { PayoutRow } from '../../resources/payout/table.js';
import { accountKey } from '../bank-file/line.js';
import type { Operator } from '../operator.js';

/** As many characters as ISO 20022 has for a name, an account number and the code of a bank. */
const [nameLengthMax, numberLengthMax, codeLengthMax] = [140, 34, 35];
const bicPattern = /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/;

/** What no XML document may have. */
export const forbidden = /[^\P{Cc}\t\n\r]|\p{Cs}|[\uFFFE\uFFFF]/gu;

/** The systems of clearing whose codes addresses have as the routing code of domestic credits, by currency. */
const clearingSystems: Readonly<Record<string, string>> = {
  ...{ AUD: 'AUBSB', CAD: 'CACPA', GBP: 'GBDSC', INR: 'INFSC', NZD: 'NZNCC', USD: 'USABA', ZAR: 'ZANCC' },
};

/** How the file of an order names a payee: only by what ISO 20022 allows. */
export interface Payee {
  name: string;
  iban: string | undefined;
  number: string | undefined;
  bic: string | undefined;
  /** The code of the bank in a system of clearing, which may be unknown. */
  code: string | undefined;
  system: string | undefined;
  bankName: string;
}

/** The payees of payouts, in their order; for one that no file can name, the reason as a sentence. */
export async function payeesOf(operator: Operator, payouts: readonly PayoutRow[]): Promise<(Payee | string)[]> {
  const related = operator.related();
  return Promise.all(
    payouts.map(async (payout) => {
      const [to, holder] = await Promise.all([
        related.one(address, address.id, payout, payout.addressId),
        related.one(account, account.id, payout, payout.accountId),
      ]);
      return payeeOf(payout, to!, holder!);
    }),
  );
}

function payeeOf({ currency }: PayoutRow, { bankAccount }: AddressRow, holder: AccountRow): Payee | string {
  const bank = bankAccount ?? {};
  const iban = bank.iban ? accountKey(bank.iban) : undefined;
  const number = fitting(accountKey(bank.number ?? ''), numberLengthMax);
  if (iban === undefined ? number === undefined : iban.length > numberLengthMax || !isIban(iban))
    return `Its address has no IBAN and no account number of at most ${numberLengthMax} characters.`;
  const global = accountKey(bank.globalWire ?? '');
  const bic = global.length <= 11 && bicPattern.test(global) ? global : undefined;
  const routing = bank.domesticCredit ?? bank.domesticWire ?? bank.domesticFastCredit ?? '';
  const domestic = fitting(accountKey(routing), codeLengthMax);
  const code = domestic ?? (bic === undefined ? fitting(global, codeLengthMax) : undefined);
  if (bic === undefined && code === undefined && (routing !== '' || global !== ''))
    return `Its address names its bank neither by a BIC nor by a code of at most ${codeLengthMax} characters.`;
  return {
    ...{ name: nameOf(holder), bic, code, system: domestic && clearingSystems[currency] },
    ...(iban === undefined ? { iban, number } : { iban, number: undefined }),
    bankName: bank.bankName ?? '',
  };
}

/** A text that a file can have as it is, whose length has a bound. */
const fitting = (text: string, lengthMax: number): string | undefined =>
  text !== '' && [...text].length <= lengthMax && text.search(forbidden) < 0 ? text : undefined;

const nameOf = ({ businessDetails, nickname, id }: AccountRow): string => {
  const name = (businessDetails?.legalName ?? nickname ?? '').replaceAll(forbidden, '').trim();
  return [...(name || id)].slice(0, nameLengthMax).join('');
};
