import validator from 'validator';
import { LocalDate } from './scalars.js';

/**
 * The formats of the texts of business_details. The write checks whether a date is in the past, by the database's
 * clock.
 * Spec: Account. Silent: the forms.
 */
export const businessDetailsFormats = {
  website: {
    holds: (text: string) => validator.isURL(text, { protocols: ['http', 'https'] }),
    message: 'must be a web address, such as https://acme.example',
  },
  dateOfIncorporation: {
    holds: (text: string) => isDate(text),
    message: 'must be a date in the past, such as 2014-04-01',
  },
  merchantCategoryCode: { holds: (text: string) => /^\d{4}$/.test(text), message: 'must be four digits, such as 5131' },
} as const satisfies Record<string, { holds: (text: string) => boolean; message: string }>;

function isDate(text: string): boolean {
  try {
    return LocalDate.parseValue(text) === text;
  } catch {
    return false;
  }
}
