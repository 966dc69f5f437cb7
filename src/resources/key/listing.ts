import { argsOf } from '../../types/list-arguments.js';
import { listingOf } from '../../types/pagination.js';
import { apiKey } from './table.js';

export const apiKeyListing = listingOf('api_key', {
  filters: { accountId: apiKey.accountId },
  byAccount: ['accountId'],
  own: apiKey.accountId,
});

export const [ApiKeyArgs] = argsOf('ApiKey', apiKeyListing, {
  accountId: 'Only keys of this account: the acting account, or a connected user of the platform.',
});
