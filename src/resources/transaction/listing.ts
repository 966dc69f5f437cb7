import { listingOf } from '../../types/pagination.js';

/** How transactions are listed: only of the objects that they belong to. */
export const transactionListing = listingOf('transaction', { filters: {}, byAccount: [] });
