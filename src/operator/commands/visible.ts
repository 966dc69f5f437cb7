/**
 * What a terminal obeys instead of showing it: control characters of C0 and C1, and characters that change the
 * direction or the lines of a text.
 */
const obeyed = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A text with escapes such as `\u001b` for what a terminal obeys, but for newlines and tabs. Tenants choose names, and
 * could send commands to the operator's terminal. JSON stays JSON with the same content.
 */
export function visible(text: string): string {
  return text.replace(obeyed, (one) => (one === '\n' || one === '\t' ? one : escaped(one)));
}

/** A text for one line: visible, with escapes for newlines and tabs, too. */
export function onOneLine(text: string): string {
  return text.replace(obeyed, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
