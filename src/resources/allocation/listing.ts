import { listingOf } from '../../types/pagination.js';

/** How allocations are listed: only of the objects that they belong to. */
export const allocationListing = listingOf('allocation', { filters: {}, byAccount: [] });
