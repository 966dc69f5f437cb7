const formula = /^[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/;
const number = /^[+-]?\d+(?:\.\d+)?$/;

/**
 * A text that no spreadsheet takes for a formula: one that begins like a formula gets an apostrophe before it. Amounts
 * and other numbers stay as they are, also with a sign.
 */
export const harmless = (text: string): string => (formula.test(text) && !number.test(text) ? `'${text}` : text);
