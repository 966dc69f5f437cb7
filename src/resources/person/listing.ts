import { argsOf, ofAccount } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { person } from './table.js';

export const personListing = listingOf('person', {
  filters: { accountId: person.accountId },
  byAccount: ['accountId'],
  own: person.accountId,
});

export const [PersonArgs] = argsOf('Person', personListing, { accountId: ofAccount('persons') });
