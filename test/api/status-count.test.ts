import { describe, expect, it } from 'vitest';
import { assemble, complete } from '../support/onboarding-profile.js';
import { givenIn, must, type Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

/** The statuses with a number, of the deposits of an account. */
async function depositsOf(speaker: Speaker, id: string, descendants: boolean): Promise<Record<string, number>> {
  const { account } = (
    await must(
      speaker.graph(
        'query ($id: ID!, $scope: AccountScope!) { account(id: $id) { statusCounts(scope: $scope) { ' +
          'deposits { total statuses { status count } } } } }',
        { id, scope: descendants ? 'DESCENDANTS' : 'SELF' },
      ),
    )
  ).data;
  const counts: { status: string; count: number }[] = account.statusCounts.deposits.statuses;
  expect(account.statusCounts.deposits.total).toBe(counts.reduce((sum, { count }) => sum + count, 0));
  expect(counts.map(({ status }) => status)).toContain('FAILED');
  return Object.fromEntries(counts.flatMap(({ status, count }) => (count > 0 ? [[status, count]] : [])));
}

describe('the numbers by status', () => {
  it('follow the deposits of an account, and include those of its users only when they are requested', async () => {
    const platform = await given.platform(1);
    const id = await assemble(platform, complete(1));
    await must(platform.post(`/v1/accounts/${id}/activate`));
    await must(platform.post(`/v1/test_helpers/accounts/${id}/verify`));
    // The jobs that give the user its receiving addresses.
    for (let round = 0; round < 3; round++) {
      await must(platform.post('/v1/test_helpers/clock', { advance_seconds: 61 }));
      await world.database.call('run_jobs', [tenantOf(platform), false, 50]);
    }
    const user = platform.actingFor(id);
    const made = async (speaker: Speaker) =>
      (await must(speaker.post('/v1/deposits', { amount: '1.00', currency: 'USD' }))).id as string;
    const own = await made(platform);
    await made(platform);
    expect(await depositsOf(platform, platform.id, false)).toEqual({ INITIALIZED: 2 });
    await must(platform.post(`/v1/test_helpers/deposits/${own}/complete`));
    expect(await depositsOf(platform, platform.id, false)).toEqual({ INITIALIZED: 1, COMPLETED: 1 });

    const other = await given.platform(1);
    await made(other);
    await made(user);
    expect(await depositsOf(platform, id, false)).toEqual({ INITIALIZED: 1 });
    expect(await depositsOf(platform, platform.id, false)).toEqual({ INITIALIZED: 1, COMPLETED: 1 });
    expect(await depositsOf(platform, platform.id, true)).toEqual({ INITIALIZED: 2, COMPLETED: 1 });
  });
});
