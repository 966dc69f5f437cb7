import type { Listing } from '../../types/pagination.js';

/** How transactions are listed: only of the objects that they belong to. */
export const transactionListing: Listing = { object: 'transaction', filters: {}, byAccount: [] };
