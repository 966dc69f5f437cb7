import type { Listing } from '../../types/pagination.js';

/** How allocations are listed: only of the objects that they belong to. */
export const allocationListing: Listing = { object: 'allocation', filters: {}, byAccount: [] };
