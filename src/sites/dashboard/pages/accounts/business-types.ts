import { words } from '../../format/words';

const types = ['COMPANY', 'LIMITED_LIABILITY_PARTNERSHIP', 'SOLE_PROPRIETOR', 'INDIVIDUAL', 'PARTNERSHIP', 'BUSINESS'];

/** The legal forms of a business, to choose from. */
export const businessTypes = types.map((value) => ({ value, name: words(value) }));
