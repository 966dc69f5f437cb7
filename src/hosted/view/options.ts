import type { CardErrors } from '../card.js';

/** The data of a page in addition to its session. */
export interface PageOptions {
  /** The path of the page. */
  path: string;
  /** The addresses of the style and the script, which change with the content of these files. */
  assets: { css: string; js: string };
  /** A new key for the attempt that a form of this page begins. */
  attemptKey: string;
  /** Whether this mode has an acquirer. */
  takesMoney: boolean;
  /** The errors of a form that was sent, and those of its values that the page may show again. */
  card?: { errors: CardErrors; expiry: string; name: string };
  /** Whether the page has the forms of the sandbox. */
  sandbox: boolean;
  /** Whether UPI codes can be shown: the account that is paid has a UPI address, or the acquirer may give it one. */
  upi: boolean;
  /** The address of the acquirer's card fields. */
  cardFields?: string | undefined;
  /** What was wrong with the card of these fields. */
  cardFieldsError?: string;
  vpaError?: string;
  /** Whether the payer has an unpaid code and asks for another way to pay. */
  again?: boolean;
  /** Whether the browser says that it is on a phone. */
  phone?: boolean;
  /** Whether the checkout has reached the most attempts that it may have. */
  capped?: boolean;
}
