import { serverAudits } from 'graphql-http';
import { beforeAll, describe, expect, it } from 'vitest';
import { givenIn, type Speaker, useWorld } from './world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
let speaker: Speaker;

beforeAll(async () => {
  speaker = await given.directUser(1);
});

/** The suite's own client, with the key that every request of ours needs. Its url is a function, because the port is not known yet. */
const audits = serverAudits({
  url: () => `${world.origin}/graphql`,
  fetchFn: (address: string, init: RequestInit = {}) =>
    fetch(address, { ...init, headers: { ...init.headers, authorization: `Bearer ${speaker.key}` } }),
});

describe('x', () => {
  it('all', async () => {
    for (const a of audits) {
      const r = await a.fn();
      if (r.status !== 'ok')
        console.log(r.id, r.status, r.name, r.reason, r.response.status, await r.response.text().catch(() => ''));
    }
    expect(1).toBe(1);
  });
});
