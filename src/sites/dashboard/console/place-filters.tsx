import { Choice } from '../parts/chips';
import { modes } from './parts';
import { TenantFilter } from './tenant-filter';

/** The filters by mode and tenant that lists over all tenants have. */
export function PlaceFilters() {
  return (
    <>
      <Choice label="Mode" name="mode" values={modes} />
      <TenantFilter />
    </>
  );
}
