import type { StoredBankDetails } from '../../resources/deposit/table.js';
import { type Problem, problem } from '../../errors/problems.js';
import { lengthFault } from '../../types/text-length.js';

/** What a bank says of a transfer beside its amount. */
export interface BankDetails {
  payer?:
    | {
        name?: string | null | undefined;
        addressLines?: readonly string[] | null | undefined;
        /** An ISO 3166-1 code in capitals. */
        country?: string | null | undefined;
      }
    | null
    | undefined;
  text?: string | null | undefined;
}

/** The lengths are those of ISO 20022, which banks send; all of it together is less than 1 KiB beside a deposit. */
export const bankDetailsMax = { name: 140, addressLines: 4, addressLine: 70, text: 140 } as const;

/** Control characters and those that change the lines or the direction of a text, so that it looks like another one. */
const misleading = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;

/** The problems of what a bank says. */
export function bankDetailsProblems({ payer, text }: BankDetails): Problem[] {
  const lines = payer?.addressLines ?? [];
  const most = bankDetailsMax.addressLines;
  return [
    ...problemsOf(payer?.name, 'deposit.payer.name', bankDetailsMax.name),
    ...(lines.length > most
      ? [problem('parameter_invalid', 'deposit.payer.address_lines', `must have at most ${most} lines`)]
      : lines.flatMap((line, i) => problemsOf(line, `deposit.payer.address_lines[${i}]`, bankDetailsMax.addressLine))),
    ...problemsOf(text, 'deposit.text', bankDetailsMax.text),
  ];
}

function problemsOf(given: string | null | undefined, field: string, lengthMax: number): Problem[] {
  if (given == null) return [];
  const fault = misleading.test(given)
    ? 'contains a control character or an invisible one. Remove it.'
    : lengthFault(given, lengthMax);
  return fault === undefined ? [] : [problem('parameter_invalid', field, fault)];
}

/** What is stored of it: the texts without white space around them, and no empty ones; undefined if there are none. */
export function storedDetails({ payer, text }: BankDetails): Omit<StoredBankDetails, 'reference'> | undefined {
  const lines = (payer?.addressLines ?? []).map((line) => line.trim()).filter((line) => line !== '');
  const stored = {
    ...filled('payerName', payer?.name),
    ...(lines.length > 0 && { payerLines: lines }),
    ...filled('payerCountry', payer?.country),
    ...filled('text', text),
  };
  return Object.keys(stored).length > 0 ? stored : undefined;
}

function filled<K extends string>(key: K, given: string | null | undefined): Partial<Record<K, string>> {
  const bare = given?.trim() ?? '';
  return bare === '' ? {} : ({ [key]: bare } as Record<K, string>);
}
