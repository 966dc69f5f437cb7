import { expect, inject, it } from 'vitest';
import { account } from '../../src/resources/account/table.js';
import { TenantScan } from '../../src/jobs/tenant-scan.js';
import { givenIn, tenantOf } from '../support/world.js';
import { useFunctions } from './fixture.js';

const { world, of, call } = useFunctions();
const given = givenIn(world);

of('cross_tenant_query', () => {
  it('runs a query over all tenants, on the node of a tenant', async () => {
    const platform = await given.platform(1);
    const query =
      'select jsonb_build_array(c0) from (select "tenant_id" from "account" where "tenant_id" = ' +
      `'${tenantOf(platform)}' limit 1) s (c0)`;
    expect(await call('cross_tenant_query', tenantOf(platform), query)).toEqual([{ found: [tenantOf(platform)] }]);
  });

  it('is needed by no other database than a distributed one', async () => {
    expect(await world.database.crossTenant.distributed()).toBe(inject('distributed') !== undefined);
    const { rows } = await new TenantScan(world.database, 'tenants_with_accounts', { table: account }).next();
    expect(rows.length).toBeGreaterThan(0);
    expect([...world.database.preparedStatements.keys()]).toContain('tenants_with_accounts');
  });
});
