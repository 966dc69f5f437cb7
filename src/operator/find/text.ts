import type { Secrets } from '../../config/secrets.js';
import { DomainError, problem } from '../../errors/problems.js';
import { type CheckoutPlace, placeOf } from '../../resources/checkout/link.js';
import { hasWord, searchLengthMax } from '../../types/list-search.js';
import { isCurrency } from '../../types/scalars.js';

/** The longest text to find: longer than the address of a checkout's page and the longest reference of a bank. */
const textLengthMax = 300;

/** What a text to find can be. Several members may be present: a reference may also be a number of an account. */
export interface TextToFind<Noun extends string = string> {
  /** The id of an account in whose tenant to look, which stands beside another text. */
  withinId?: string;
  /** An id, and the noun that it begins with. */
  id?: { noun: Noun; text: string };
  /** The checkout whose page has this address. */
  checkout?: CheckoutPlace;
  /** A bank's reference, as it was typed and in capitals. */
  references?: [string, string];
  /** A number of a bank account as addresses are compared by: without blanks and hyphens, in capitals. */
  accountNumber?: string;
  /** An amount in minor units, and its currency where the text names it. */
  amount?: { amount: bigint; currency: string | undefined };
  /** Words of a name, an invoice or a description. */
  words?: string;
}

const idOf = /^([a-z]+(?:_[a-z]+)*)_[0-9a-f]{1,64}$/;
const isAccountId = (word: string) => idOf.exec(word)?.[1] === 'account';

/**
 * What a text can be. Refuses one that is empty or too long before any pattern reads it. A text such as `inv_5001`
 * begins like no id, so it may be a bank's reference.
 */
export function readText<Noun extends string>(
  given: string,
  secrets: Secrets,
  isNoun: (text: string) => text is Noun,
): TextToFind<Noun> {
  const refused = (message: string) => new DomainError(problem('parameter_invalid', 'find.text', message));
  if (given.length > textLengthMax) throw refused(`must have at most ${textLengthMax} characters`);
  const all = given.trim().split(/\s+/);
  const withinId = all.length > 1 ? all.find(isAccountId) : undefined;
  const text = all.filter((word) => word !== withinId).join(' ');
  if (!hasWord(text)) throw refused('must contain a letter or a digit');
  const within = withinId === undefined ? {} : { withinId };
  const [, noun = ''] = idOf.exec(text) ?? [];
  if (isNoun(noun)) return { ...within, id: { noun, text } };
  const checkout = checkoutOf(text, secrets);
  if (checkout) return { checkout };
  const accountNumber = text.replaceAll(/[ -]/g, '').toUpperCase();
  const amount = amountOf(text);
  return {
    ...within,
    references: [text, text.toUpperCase()],
    ...(/^(?=.*\d)[0-9A-Z]{5,34}$/.test(accountNumber) && { accountNumber }),
    ...(amount && { amount }),
    ...([...text].length <= searchLengthMax && { words: text }),
  };
}

/** The checkout of the address of its page; undefined for another text. */
function checkoutOf(text: string, secrets: Secrets): CheckoutPlace | undefined {
  const [, token] = /\/checkout\/([\w-]+)/.exec(text) ?? [];
  return token === undefined ? undefined : placeOf(secrets, token);
}

/** An amount as people write it, with groups of digits or without, before or behind its currency. */
function amountOf(text: string): TextToFind['amount'] {
  const code = [text.slice(0, 3), text.slice(-3)].map((part) => part.toUpperCase()).find(isCurrency);
  const bare = code === undefined ? text : text.toUpperCase().replace(code, '');
  const [, whole = '', part = ''] = /^(\d[\d, ]{0,20})(?:\.(\d\d))?$/.exec(bare.trim()) ?? [];
  const digits = whole.replaceAll(/[, ]/g, '');
  // A number without a currency and without a fraction is a reference or a number of an account.
  if (digits === '' || digits.length > 13 || (code === undefined && part === '')) return undefined;
  return { amount: BigInt(digits + part.padEnd(2, '0')), currency: code };
}
