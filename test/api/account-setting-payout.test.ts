import { describe, expect, it } from 'vitest';
import { assemble, complete } from '../support/onboarding-profile.js';
import { givenIn, must, useWorld } from '../support/world.js';
import { settingOf, update } from './account-setting-fixture.js';

// Without a worker, so that switching a kind on changes only the setting.
const world = useWorld({ worker: false });
const given = givenIn(world);

describe('payouts', () => {
  const schedule = async (body: object) => {
    const user = await given.directUser(1);
    const { id } = await settingOf(user, user.id);
    const reply = await update(user, id, { payouts: body });
    const { interval, weekly_anchor, monthly_anchor } = (await settingOf(user, user.id)).payouts;
    return { reply, shown: [interval, weekly_anchor, monthly_anchor] };
  };

  const accepted: [body: object, shown: [string, number | null, number | null]][] = [
    [{ interval: 'daily' }, ['daily', null, null]],
    [{ interval: 'weekly' }, ['weekly', 1, null]],
    [{ interval: 'monthly' }, ['monthly', null, 1]],
    ...Array.from({ length: 7 }, (_, i): [object, [string, number, null]] => [
      { interval: 'weekly', weekly_anchor: i + 1 },
      ['weekly', i + 1, null],
    ]),
    ...[1, 2, 15, 28, 29, 30, 31].map((day): [object, [string, null, number]] => [
      { interval: 'monthly', monthly_anchor: day },
      ['monthly', null, day],
    ]),
  ];
  it.concurrent.each(accepted)('take %j', async (body, shown) => {
    const outcome = await schedule(body);
    expect(outcome.reply.status).toBe(200);
    expect(outcome.shown).toEqual(shown);
  });

  const refused: [body: object, code: string, field: string][] = [
    [{ interval: 'weekly', weekly_anchor: 0 }, 'parameter_invalid', 'weekly_anchor'],
    [{ interval: 'weekly', weekly_anchor: 8 }, 'parameter_invalid', 'weekly_anchor'],
    [{ interval: 'weekly', weekly_anchor: -1 }, 'parameter_invalid', 'weekly_anchor'],
    [{ interval: 'weekly', weekly_anchor: 1.5 }, 'parameter_invalid', 'weekly_anchor'],
    [{ interval: 'weekly', weekly_anchor: '1' }, 'parameter_invalid', 'weekly_anchor'],
    [{ interval: 'weekly', weekly_anchor: 99999999999 }, 'parameter_invalid', 'weekly_anchor'],
    [{ interval: 'monthly', monthly_anchor: 0 }, 'parameter_invalid', 'monthly_anchor'],
    [{ interval: 'monthly', monthly_anchor: 32 }, 'parameter_invalid', 'monthly_anchor'],
    // An anchor belongs to its interval, as its description in the GraphQL schema says.
    [{ weekly_anchor: 2 }, 'parameter_invalid', 'weekly_anchor'],
    [{ interval: 'monthly', weekly_anchor: 2 }, 'parameter_invalid', 'weekly_anchor'],
    [{ interval: 'weekly', monthly_anchor: 2 }, 'parameter_invalid', 'monthly_anchor'],
    [{ interval: 'yearly' }, 'parameter_invalid', 'interval'],
    [{ interval: '' }, 'parameter_invalid_empty', 'interval'],
    [{ reason_code_not_enabled: 'service_hold' }, 'parameter_unknown', 'reason_code_not_enabled'],
  ];
  it.concurrent.each(refused)('refuse %j', async (body, code, field) => {
    const { reply, shown } = await schedule(body);
    expect([reply.status, reply.codes, reply.fieldNames]).toEqual([400, [code], [`account_setting.payouts.${field}`]]);
    expect(shown).toEqual(['daily', null, null]);
  });

  it('keep an anchor that is not sent, and drop it with its interval', async () => {
    const user = await given.directUser(1);
    const { id } = await settingOf(user, user.id);
    const seen = [];
    for (const payouts of [
      { interval: 'weekly', weekly_anchor: 5 },
      { interval: 'weekly' },
      { weekly_anchor: 3 },
      { interval: 'monthly', monthly_anchor: 31 },
      { interval: 'daily' },
      { interval: 'weekly' },
    ]) {
      const { payouts: shown } = await must(update(user, id, { payouts }));
      seen.push([shown.interval, shown.weekly_anchor, shown.monthly_anchor]);
    }
    expect(seen).toEqual([
      ['weekly', 5, null],
      ['weekly', 5, null],
      ['weekly', 3, null],
      ['monthly', null, 31],
      ['daily', null, null],
      ['weekly', 1, null],
    ]);
  });

  it('are not a parameter in Edition 2, for any setting, in either API', async () => {
    const platform = await given.platform(2);
    const user = await platform.connectedUser();
    const settings = await Promise.all([settingOf(platform, platform.id), settingOf(platform, user.id)]);

    const replies = await Promise.all(
      settings.flatMap(({ id }) => [
        update(platform, id, { payouts: { interval: 'weekly' } }),
        update(platform, id, { payouts: { enabled: false } }),
        platform.graph(
          'mutation ($input: UpdateAccountSettingInput!) { updateAccountSetting(input: $input) { ' +
            'accountSetting { id } } }',
          { input: { id, payouts: { interval: 'WEEKLY' } } },
        ),
      ]),
    );

    expect(replies.map(({ codes, fieldNames }) => [codes, fieldNames])).toEqual(
      replies.map(() => [['parameter_unknown'], ['account_setting.payouts']]),
    );
    expect(replies.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(2);
    expect(await Promise.all([settingOf(platform, platform.id), settingOf(platform, user.id)])).toEqual(settings);
  });

  describe('the permission to set them', () => {
    type Who = 'platform' | 'direct user' | 'connected user' | 'platform acting for the user';
    type Whose = 'its own' | "its user's" | "its partner's";
    /** Decisions 3.8: only a platform sets `enabled`, on its users; a direct user also sets its own schedule. */
    const rows: [who: Who, whose: Whose, enabled: 200 | 403, schedule: 200 | 403][] = [
      ['platform', "its user's", 200, 200],
      ['platform acting for the user', "its user's", 200, 200],
      ['direct user', 'its own', 403, 200],
      ['connected user', 'its own', 403, 403],
      ['direct user', "its partner's", 403, 403],
      ['platform', "its partner's", 403, 403],
      ['connected user', "its partner's", 403, 403],
    ];
    it.concurrent.each(rows)('%s on %s: enabled %i, schedule %i', async (who, whose, enabled, schedule) => {
      const root = await (who === 'direct user' ? given.directUser(1) : given.platform(1));
      const user = who === 'direct user' ? root : await root.connectedUser();
      const speaker =
        { platform: root, 'direct user': root, 'connected user': user }[who as 'platform'] ?? root.actingFor(user.id);
      const id =
        whose === "its partner's" ? (await speaker.partner()).id : whose === "its user's" ? user.id : speaker.id;
      const setting = await settingOf(speaker, id);

      const one = await update(speaker, setting.id, { payouts: { enabled: false } });
      const two = await update(speaker, setting.id, { payouts: { interval: 'weekly', weekly_anchor: 2 } });

      expect([one.status, two.status]).toEqual([enabled, schedule]);
      expect([one.codes, one.fieldNames]).toEqual(
        enabled === 200 ? [[], []] : [['permission_denied'], ['account_setting.payouts.enabled']],
      );
      expect(new Set(two.codes)).toEqual(new Set(schedule === 200 ? [] : ['permission_denied']));
      const { payouts } = await settingOf(speaker, id);
      expect([payouts.interval, payouts.weekly_anchor]).toEqual(schedule === 200 ? ['weekly', 2] : ['daily', null]);
    });

    it('is decided before anything is changed: metadata in the same body is not stored either', async () => {
      const user = await given.directUser(1);
      const before = await settingOf(user, user.id);
      const reply = await update(user, before.id, { metadata: { a: 'b' }, payouts: { enabled: true } });
      expect([reply.status, reply.codes]).toEqual([403, ['permission_denied']]);
      expect(await settingOf(user, user.id)).toEqual(before);
    });
  });

  it('show one reason why they are off: the service’s hold, then no activation, then the platform’s hold', async () => {
    const platform = await given.platform(1);
    const id = await assemble(platform, complete(1));
    const setting = await settingOf(platform, id);
    const shown = async () => {
      const { enabled, reason_code_not_enabled } = (await settingOf(platform, id)).payouts;
      return [enabled, reason_code_not_enabled];
    };
    // Only the operator sets a service hold; no API or command does it, so the test writes the row.
    const serviceHold = (held: boolean) =>
      world.sql`update account_setting set service_hold = ${held} where id = ${setting.id}`;
    const platformHold = (held: boolean) => must(update(platform, setting.id, { payouts: { enabled: !held } }));
    const activated = async () => {
      await must(platform.post(`/v1/accounts/${id}/activate`));
      await must(platform.post(`/v1/test_helpers/accounts/${id}/verify`));
    };

    const seen = [await shown()];
    for (const step of [
      () => platformHold(true),
      () => serviceHold(true),
      activated,
      () => serviceHold(false),
      () => platformHold(false),
      () => serviceHold(true),
      () => must(platform.post(`/v1/test_helpers/accounts/${id}/hold`)),
      () => serviceHold(false),
    ]) {
      await step();
      seen.push(await shown());
    }

    expect(seen).toEqual([
      [false, 'account_not_activated'],
      [false, 'account_not_activated'],
      [false, 'service_hold'],
      [false, 'service_hold'],
      [false, 'platform_hold'],
      [true, null],
      [false, 'service_hold'],
      [false, 'service_hold'],
      [false, 'account_not_activated'],
    ]);
  });

  // Decisions 5.9: every write records the object as it became, so a client that follows the events learns that payouts
  // are on.
  it('emit an event when an activation switches them on, and when a hold switches them off', async () => {
    const platform = await given.platform(1);
    const id = await assemble(platform, complete(1));
    const setting = await settingOf(platform, id);
    await must(platform.post(`/v1/accounts/${id}/activate`));
    await must(platform.post(`/v1/test_helpers/accounts/${id}/verify`));
    await must(platform.post(`/v1/test_helpers/accounts/${id}/hold`));

    const events = await world.sql`select type, data ->> 'payouts_enabled' as enabled from event
      where object_id = ${setting.id} and type = 'account_setting.updated' order by id`;

    expect(events.map(({ enabled }) => enabled)).toEqual(['true', 'false']);
  });

  it('are never enabled for an aggregator’s user, in any status', async () => {
    const platform = await given.platform(2, { subType: 'aggregator' });
    const id = await assemble(platform, complete(2));
    await must(platform.post(`/v1/accounts/${id}/activate`));
    const verifying = (await settingOf(platform, id)).payouts;
    await must(platform.post(`/v1/test_helpers/accounts/${id}/verify`));
    const activated = (await settingOf(platform, id)).payouts;

    const expected = {
      enabled: null,
      interval: 'daily',
      monthly_anchor: null,
      weekly_anchor: null,
      reason_code_not_enabled: null,
    };
    expect([verifying, activated]).toEqual([expected, expected]);
  });
});
