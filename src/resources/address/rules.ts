import { validateIBAN, ValidationErrorsIBAN } from 'ibantools';
import type { CreateAddressInput, BankAccountInput } from './inputs.js';
import { type Problem, problem, listedValues, snake } from '../../errors/problems.js';

/** The problems of a new address: a category or type that clients cannot create, or an invalid bank account. */
export function addressProblems({ category, type, bankAccount }: Partial<CreateAddressInput>): Problem[] {
  const problems: Problem[] = [];
  if (category !== undefined && category !== 'user_payout') {
    problems.push(
      problem(
        'parameter_invalid',
        'address.category',
        listedValues(['user_payout'], ([category]) => `must be ${category}: the service creates the others`),
      ),
    );
  }
  if (type !== undefined && type !== 'bank_account')
    problems.push(
      problem(
        'parameter_invalid',
        'address.type',
        listedValues(['bank_account'], ([type]) => `must be ${type}`),
      ),
    );
  return [...problems, ...bankAccountProblems(bankAccount)];
}

const numberLength = { min: 4, max: 34 } as const;

/**
 * The problems of a bank account: an IBAN with a wrong country, length or checksum, a number of an implausible length,
 * or a control character within a text, as copies from files have them.
 * Silent: the forms.
 */
export function bankAccountProblems(bank: BankAccountInput | null | undefined): Problem[] {
  const problems = Object.entries(bank ?? {}).flatMap(([name, text]: [string, unknown]) =>
    typeof text === 'string' && /\p{Cc}/u.test(text.trim())
      ? [
          problem(
            'parameter_invalid',
            `address.bank_account.${snake(name)}`,
            'contains a control character. Remove it.',
          ),
        ]
      : [],
  );
  if (problems.length > 0) return problems;
  const given = (text: string | null | undefined): text is string => text != null && text.trim() !== '';
  if (given(bank?.number)) {
    const { length } = bank.number.trim().replaceAll(/[ -]/g, '');
    if (!/^[A-Za-z0-9 -]+$/.test(bank.number.trim()) || length < numberLength.min || length > numberLength.max)
      problems.push(
        problem(
          'parameter_invalid',
          'address.bank_account.number',
          `must have ${numberLength.min} to ${numberLength.max} letters and digits`,
        ),
      );
  }
  if (given(bank?.iban) && !isIban(bank.iban))
    problems.push(
      problem(
        'parameter_invalid',
        'address.bank_account.iban',
        'must be an IBAN: its country, length or checksum is wrong',
      ),
    );
  return problems;
}

/** Bank details as they are stored: without white space around them, and null where nothing is left. */
export function bankDetailsOf<T extends BankAccountInput>(bank: T): T {
  const texts = Object.entries(bank) as [string, string | null | undefined][];
  return {
    ...bank,
    ...Object.fromEntries(texts.map(([name, text]) => [name, text == null ? text : text.trim() || null])),
  };
}

/**
 * Whether a text is an IBAN, with the check digits, length and form of its country; blanks and hyphens between its
 * parts and small letters are fine. The check digits that some countries have inside are not checked.
 */
export function isIban(text: string): boolean {
  const { errorCodes } = validateIBAN(text.replaceAll(/[\s-]/g, '').toUpperCase());
  return errorCodes.every((code) => code === ValidationErrorsIBAN.WrongAccountBankBranchChecksum);
}

/**
 * The last four characters of a number. It counts code points, because PostgreSQL cannot store half of a surrogate
 * pair.
 */
export function lastFour(number: string | null | undefined): string | null {
  return number == null ? null : [...number].slice(-4).join('');
}
