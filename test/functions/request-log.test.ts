import { expect, it } from 'vitest';
import { useFunctions, useRoot } from './fixture.js';

const fixture = useFunctions();
const { world, of, call } = fixture;
const root = useRoot(fixture, 'platform', 2);

let ids = 0;
const request = (more: object = {}) => ({
  id: `req_${String(++ids).padStart(24, '0')}`,
  accountId: root.id,
  age: 0.5,
  api: 'graphql',
  operation: 'createDeposit',
  status: 200,
  outcome: 'refused',
  codes: ['parameter_invalid', 'parameter_missing'],
  milliseconds: 12,
  apiKeyId: 'key_1',
  sessionId: null,
  onBehalfOf: 'account_2',
  ...more,
});
const store = (...requests: object[]) => call('store_requests', root.tenantId, false, JSON.stringify(requests));
const stored = () => world.sql`select * from request_log where context_id = ${root.id} order by id`;

of('store_requests', () => {
  it('stores each request once, at the time of the database minus its age', async () => {
    const [now, old] = [request({ age: 0 }), request({ age: 3600, onBehalfOf: null })];
    const clock = async () => Number((await world.sql`select extract(epoch from clock_timestamp()) as at`)[0]!.at);
    const before = await clock();
    await store(now, old);
    const after = await clock();
    await store(old);
    const rows = await stored();
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({
      ...{ id: now.id, livemode: false, api: 'graphql', operation: 'createDeposit', status: 200, outcome: 'refused' },
      ...{ codes: now.codes, milliseconds: 12, api_key_id: 'key_1', session_id: null, on_behalf_of: 'account_2' },
      on_root_list: true,
    });
    expect(Number(rows[0]!.created)).toBeGreaterThanOrEqual(Math.floor(before));
    expect(Number(rows[0]!.created)).toBeLessThanOrEqual(Math.ceil(after));
    expect(Number(rows[0]!.created) - Number(rows[1]!.created)).toBeGreaterThanOrEqual(3599);
  });
});

of('delete_old_requests', () => {
  it('deletes what is older than some seconds, at most some rows, the oldest first', async () => {
    await world.sql`delete from request_log`;
    await store(...[100, 90, 80, 0].map((age) => request({ age })));
    const forget = async (limit: number) =>
      (await call('delete_old_requests', root.tenantId, false, 60, limit))[0]!.delete_old_requests;
    expect(await forget(2)).toBe(2);
    expect(await forget(2)).toBe(1);
    expect(await forget(2)).toBe(0);
    expect(await stored()).toHaveLength(1);
  });
});
