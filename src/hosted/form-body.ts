import { DomainError, problem } from '../errors/problems.js';

/**
 * The limits of a form of a payment page. Its largest field is the acquirer's token for a card, of 255 characters, and
 * the page sends at most six fields.
 */
export const formLimits = { bytes: 8_192, fields: 20, characters: 500 } as const;

/** The fields that the forms of the pages have. A refusal repeats no other name, because it may be a card number. */
const fieldNames = new Set(['attempt', 'number', 'expiry', 'code', 'name', 'token', 'vpa']);

/**
 * The fields of a form by their names. Refuses a form with more fields, or a longer name or value, than any form of the
 * pages has, before anything looks at the texts.
 * Silent: the forms.
 */
export function fieldsOfForm(text: string): Record<string, string> {
  const fields = [...new URLSearchParams(text)];
  const { fields: most, characters } = formLimits;
  if (fields.length > most)
    throw new DomainError(problem('parameter_invalid', 'form', `The form has more than ${most} fields.`));
  for (const [name, value] of fields)
    if (name.length > characters || value.length > characters) {
      const subject = fieldNames.has(name) ? `The field ${name}` : 'A field of the form';
      throw new DomainError(problem('parameter_invalid', 'form', `${subject} has more than ${characters} characters.`));
    }
  return Object.fromEntries(fields);
}
