import { Choice } from '../parts/chips';
import { TextFilter } from '../parts/text-filter';
import { modes } from './parts';

/** The filters by mode and tenant that lists over all tenants have. */
export function PlaceFilters() {
  return (
    <>
      <Choice label="Mode" name="mode" values={modes} />
      <TextFilter label="Tenant" name="tenant" placeholder="account_…" />
    </>
  );
}
