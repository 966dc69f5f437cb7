import { argsOf } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { session } from './table.js';

export const sessionListing = listingOf('session', {
  filters: { accountId: session.accountId },
  byAccount: ['accountId'],
  own: session.accountId,
});

export const [SessionArgs] = argsOf('Session', sessionListing, {
  accountId: 'Sessions of this account; the acting account or a connected user.',
});
