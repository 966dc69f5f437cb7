/** A form of a number, and a sentence for a person who typed another one. */
export interface NumberFormat {
  /** Whether a text has the form; capitals and small letters, and blanks around it, make no difference. */
  holds: (text: string) => boolean;
  message: string;
}

/** Longer than any of the numbers, with the blanks that a copy brings along. */
const lengthMax = 60;

function format(pattern: RegExp, message: string, check: (number: string) => boolean = () => true): NumberFormat {
  const holds = (text: string) => {
    if (text.length > lengthMax) return false;
    const number = text.trim().toUpperCase();
    return pattern.test(number) && check(number);
  };
  return { holds, message };
}

/** The code of a branch of a bank, to which payouts in INR are sent. */
export const ifsc = format(
  /^[A-Z]{4}0[A-Z0-9]{6}$/,
  'An IFSC has 11 characters: four letters, a zero, and six letters or digits, such as HDFC0001234.',
);

export const pan = format(
  /^[A-Z]{5}\d{4}[A-Z]$/,
  'A PAN has 10 characters: five letters, four digits and a letter, such as AAACA1234A.',
);

/** A PAN of which all but the last four characters are dots, as reads show it. */
export const maskedPan = format(/^(?:•{6}|[A-Z]{5}\d)\d{3}[A-Z]$/, pan.message);

/** Its last character is computed from the others, so a wrong character is found, and two that changed places. */
export const gstin = format(
  /^\d{2}[A-Z]{5}\d{4}[A-Z][A-Z0-9]{3}$/,
  'A GSTIN has 15 characters: two digits, a PAN, and three more of which the last is computed from the others, ' +
    'such as 27AAPFU0939F1ZV. A character of this one is wrong.',
  (number) => checkCharacter(number.slice(0, -1)) === number.at(-1),
);

/** The number of a company (CIN; of a foreign one FCRN) or of a limited liability partnership (LLPIN). */
export const companyNumber = format(
  /^(?:[LU]\d{5}[A-Z]{2}\d{4}[A-Z]{3}\d{6}|F\d{5}|[A-Z]{3}-?\d{4})$/,
  'A CIN has 21 characters, such as U52100RJ2014PTC041234, and an LLPIN three letters and four digits, such as ' +
    'AAB-1234.',
);

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** The check character of a GSTIN: each second value counts twice, and the digits of a product to base 36 are added. */
function checkCharacter(number: string): string {
  const total = [...number].reduce((sum, character, index) => {
    const product = digits.indexOf(character) * (index % 2 === 0 ? 1 : 2);
    return sum + Math.floor(product / 36) + (product % 36);
  }, 0);
  return digits[(36 - (total % 36)) % 36]!;
}

/** The numbers of a business in India, by their paths in the input of the graph. */
export const businessNumbers = {
  'businessDetails.ids.business': companyNumber,
  'businessDetails.ids.tax': pan,
  'businessDetails.ids.taxGst': gstin,
} as const;

/** The types of business whose `ids.business` is the number of a company or of a limited liability partnership. */
export const typesWithCompanyNumber: readonly string[] = ['company', 'limited_liability_partnership'];
