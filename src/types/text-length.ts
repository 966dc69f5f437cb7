/** The most characters of a text, unless an operation has another limit. */
export const textLengthMaxDefault = 5_000;

/** The fault of a text that is too long; undefined for any other. A character is a code point of Unicode. */
export function lengthFault(text: string, lengthMax = textLengthMaxDefault): string | undefined {
  const long = text.length > 2 * lengthMax || (text.length > lengthMax && [...text].length > lengthMax);
  return long ? `must have at most ${lengthMax} characters` : undefined;
}
