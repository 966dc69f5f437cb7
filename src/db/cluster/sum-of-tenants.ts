import type { TenantAndMode } from '../schema/tenant-and-mode.js';

/**
 * Does work for each tenant and mode, in batches that say how much they have done, and returns the sum. When one tenant
 * fails, it continues with the others and throws the error at the end.
 */
export async function sumOfTenants(
  tenantsAndModes: readonly TenantAndMode[],
  batchesOf: (tenantAndMode: TenantAndMode) => AsyncIterable<number>,
): Promise<number> {
  let sum = 0;
  const faults: unknown[] = [];
  for (const tenantAndMode of tenantsAndModes) {
    try {
      for await (const done of batchesOf(tenantAndMode)) sum += done;
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
  return sum;
}
