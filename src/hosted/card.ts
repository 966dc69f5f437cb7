import valid from 'card-validator';
import type { PaymentMethodDetails } from '../resources/transaction/table.js';

/** A card as the payer typed it. It goes only to the acquirer. */
export interface Card {
  number: string;
  month: number;
  year: number;
  code: string;
  name: string;
  brand: string | null;
}

export type CardField = 'number' | 'expiry' | 'code' | 'name';
export type CardErrors = Partial<Record<CardField, string>>;

const nameLengthMax = 100;

// The card scheme of India, which the library does not know.
valid.creditCardType.addCard({
  niceType: 'RuPay',
  type: 'rupay',
  patterns: [60, 508, 6521, 6522, 81, 82],
  gaps: [4, 8, 12],
  lengths: [16],
  code: { name: 'CVV', size: 3 },
});

/** The card of a form, or the errors of its fields in words for the payer. */
export function cardOf(form: Record<string, string>): { card: Card } | { errors: CardErrors } {
  const { number = '', expiry = '', code = '', name = '' } = form;
  const digits = number.replaceAll(/[\s-]/g, '');
  const known = valid.number(digits);
  const date = valid.expirationDate(expiry);
  const size = known.card?.code.size ?? 3;
  const errors: CardErrors = {};
  if (digits === '') errors.number = 'Enter the card number.';
  else if (!known.isValid) errors.number = 'Check the card number: a digit is wrong or missing.';
  if (expiry.trim() === '') errors.expiry = 'Enter the expiry date as MM/YY.';
  else if (!date.isValid) errors.expiry = 'Enter a date as MM/YY that has not passed.';
  if (!valid.cvv(code.trim(), size).isValid)
    errors.code = `Enter the ${size} digits on the ${size === 4 ? 'front' : 'back'} of the card.`;
  if (name.trim() === '') errors.name = 'Enter the name on the card.';
  else if (name.length > nameLengthMax || !valid.cardholderName(name).isValid)
    errors.name = 'Enter the name as printed on the card.';
  if (Object.keys(errors).length > 0) return { errors };
  const year = Number(date.year);
  return {
    card: {
      number: digits,
      month: Number(date.month),
      year: year < 100 ? 2_000 + year : year,
      code: code.trim(),
      name: name.trim(),
      brand: known.card?.type ?? null,
    },
  };
}

/** The details of a card that the database stores. */
export function cardDetails({ number, month, year, brand }: Card): PaymentMethodDetails {
  return { card: { brand, last4: number.slice(-4), expiry_month: month, expiry_year: year } };
}
