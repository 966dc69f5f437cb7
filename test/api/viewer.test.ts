import { describe, expect, it } from 'vitest';
import { givenIn, must, type Speaker, useWorld } from '../support/world.js';

const given = givenIn(useWorld({ worker: false }));

const viewerOf = async (speaker: Speaker) =>
  (
    await must(
      speaker.graph('{ viewer { edition mode permission sessionRole onBehalf account { id } apiKey { prefix } } }'),
    )
  ).data.viewer;

describe('the viewer', () => {
  it('is the account of the key, in the mode of the key', async () => {
    const { test, live } = await given.platformBoth(2);
    const own = { edition: 2, permission: 'FULL', sessionRole: null, onBehalf: false, account: { id: test.id } };
    for (const [speaker, mode] of [
      [test, 'TEST'],
      [live, 'LIVE'],
    ] as const) {
      const { apiKey, ...viewer } = await viewerOf(speaker);
      expect(viewer).toEqual({ ...own, mode });
      expect(apiKey).toEqual({ prefix: `sk_${mode.toLowerCase()}_…${speaker.key.slice(-4)}` });
    }
  });

  it('is the connected user for which a platform acts', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    expect(await viewerOf(platform.actingFor(user.id))).toMatchObject({
      ...{ edition: 1, onBehalf: true, account: { id: user.id } },
    });
    expect(await viewerOf(user)).toMatchObject({ onBehalf: false, account: { id: user.id } });
  });

  it('has the permission of a reading key, and the role of a session, which has no key', async () => {
    const user = await given.directUser(1);
    const made = await must(user.graph('mutation { createApiKey(input: { permission: READ }) { secret } }'));
    expect(await viewerOf(user.using(made.data.createApiKey.secret))).toMatchObject({ permission: 'READ' });
    const { token } = await must(user.post('/v1/sessions', { role: 'read' }));
    expect(await viewerOf(user.using(token))).toMatchObject({
      ...{ permission: 'READ', sessionRole: 'READ', apiKey: null, account: { id: user.id } },
    });
  });
});
