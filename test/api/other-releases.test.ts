import { describe, expect, it } from 'vitest';
import { refuseBesideOtherReleases } from '../../src/db/write/other-releases.js';
import { version } from '../../src/config/version.js';
import { useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const reported = (id: string, of: string) =>
  world.database.work('report_gateway_process', [id, 'pay-1', 4_242, of] as never);

describe('a write of objects that the release before cannot read', () => {
  it('is refused while a gateway of another release runs, and not after it has ended', async () => {
    await reported('gateway_own', version);
    await refuseBesideOtherReleases(world.database);

    await reported('gateway_old', '0.1.0');
    await expect(refuseBesideOtherReleases(world.database)).rejects.toMatchObject({
      status: 503,
      problems: [{ code: 'service_unavailable', retryAfter: 30 }],
      message: expect.stringContaining('Another version of the service still runs beside this one'),
    });

    // Its process was killed, and could not say that it ends.
    await world.sql`update gateway_process set seen_at = seen_at - 60 where id = 'gateway_old'`;
    await refuseBesideOtherReleases(world.database);
  });
});
