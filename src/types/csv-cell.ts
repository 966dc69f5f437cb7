const formula = /^[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/;
const number = /^[+-]?\d+(?:\.\d+)?$/;
/** The begin of what some spreadsheets take for another cell, if a formula is in it and no number. */
const cellWithin = /[;\t\r\n][ "]*(?=[=+\-@\uff0b\uff0d\uff1d\uff20])(?![+-]\d+(?:\.\d+)?(?:[;\t\r\n]|$))/g;

/**
 * A text that no spreadsheet takes for a formula: one that begins like a formula gets an apostrophe before it, and so
 * does what follows a semicolon, a tab or a line break in it, where some spreadsheets begin another cell. Amounts and
 * other numbers stay as they are, also with a sign.
 */
export function harmless(text: string): string {
  const guarded = text.replace(cellWithin, "$&'");
  return formula.test(text) && !number.test(text) ? `'${guarded}` : guarded;
}
