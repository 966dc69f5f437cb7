import { expect, describe, it } from 'vitest';
import { type Transport, transports, givenIn, nickname, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const advanceSecondsMax = 400 * 86_400;
/** The largest GraphQL Int. */
const offsetSecondsMax = 2_147_483_647;

/** Advances the clock through one API: the status, the domain error, and the returned offset. */
async function advance(speaker: Speaker, transport: Transport, seconds: number) {
  if (transport === 'REST') {
    const reply = await speaker.post('/v1/test_helpers/clock', { advance_seconds: seconds });
    return { ...reply, offset: reply.body.offset_seconds as number | undefined };
  }
  const reply = await speaker.graph(
    'mutation ($input: AdvanceTestClockInput!) { advanceTestClock(input: $input) { clock { offsetSeconds } } }',
    { input: { advanceSeconds: seconds } },
  );
  const status: number = reply.body.errors?.[0]?.extensions.httpStatus ?? reply.status;
  return { ...reply, status, offset: reply.body.data?.advanceTestClock?.clock.offsetSeconds as number | undefined };
}

describe.each(transports)('the test clock over %s', (transport) => {
  it('advances up to the largest Int, and refuses a second more without any effect', async () => {
    const user = await given.directUser(1);
    for (let left = offsetSecondsMax; left > 0; left -= advanceSecondsMax) {
      const { status, offset } = await advance(user, transport, Math.min(left, advanceSecondsMax));
      expect([status, offset]).toEqual([200, offsetSecondsMax - Math.max(0, left - advanceSecondsMax)]);
    }
    const tenant = user.id.replace('account_', '');
    const stored = () => world.sql`
      select offset_seconds, now, (select count(*) from event e where e.tenant_id = ${tenant}) as events,
        (select count(*) from idempotency i where i.tenant_id = ${tenant}) as answers
      from test_clock where tenant_id = ${tenant}`;
    const before = await stored();

    const keyed = user.with({ 'idempotency-key': nickname() });
    for (const seconds of [1, advanceSecondsMax]) {
      const refused = await advance(keyed, transport, seconds);
      expect([refused.status, refused.codes, refused.fieldNames]).toEqual([
        400,
        ['parameter_invalid'],
        ['clock.advance_seconds'],
      ]);
      if (transport === 'GraphQL')
        expect(refused.body.errors[0].extensions.argumentPath).toEqual(['input', 'advanceSeconds']);
    }

    expect(await stored()).toEqual(before);
    // Both APIs can show the time of every object that is created there.
    const partner = await user.partner();
    const { body } = await user.graph(`{ account(id: "${partner.id}") { created } }`);
    expect(Date.parse(body.data.account.created)).toBe(partner.created * 1000);
  });
});
