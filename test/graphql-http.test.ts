import { serverAudits } from 'graphql-http';
import { beforeAll, describe, expect, it } from 'vitest';
import { givenIn, type Speaker, useWorld } from './world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
let speaker: Speaker;

beforeAll(async () => {
  speaker = await given.directUser(1);
});

/** The official audits of the GraphQL over HTTP specification, asked by a client with a key. */
const audits = serverAudits({
  url: () => `${world.origin}/graphql`,
  fetchFn: (address: string, init: RequestInit = {}) =>
    fetch(address, { ...init, headers: { ...init.headers, authorization: `Bearer ${speaker.key}` } }),
});

const failedDocument =
  'A document that cannot be run is 400 whatever the media type, as its twin on /v1 is: load balancers, retries and monitors read the status. The specification discourages this for application/json and allows it; a client that wants its letter asks for application/graphql-response+json.';

/** The recommendations that we do not follow, and why. A MUST has no place here. */
const refusals: Record<string, string> = {
  '572B': failedDocument,
  FDE2: failedDocument,
  '7B9B': failedDocument,
};

describe('GraphQL over HTTP, by the audits of graphql-http', () => {
  it.each(audits.filter(({ id }) => !(id in refusals)).map(({ id, name, fn }) => [`${id} ${name}`, fn] as const))(
    '%s',
    async (_, audit) => {
      const result = await audit();
      const answer = result.status === 'ok' ? '' : `${result.reason}: ${await result.response.text()}`;
      expect([result.status, answer]).toEqual(['ok', '']);
    },
  );

  // One that has come to pass fails here until its row is gone, so the table never excuses what needs no excuse.
  it.each(audits.filter(({ id }) => id in refusals).map(({ id, name, fn }) => [`${id} ${name}`, fn] as const))(
    'refused: %s',
    async (_, audit) => {
      const result = await audit();
      // A `warn` is a recommendation that is not followed; a requirement would be an `error`.
      expect(result.status).toBe('warn');
      expect(result.status === 'ok' ? undefined : result.response.status).toBe(400);
    },
  );

  it('has a reason for every refusal, refuses recommendations alone, and misses none of the audits', () => {
    const level = new Map(audits.map(({ id, name }) => [id, name.split(' ', 1)[0]]));
    expect(Object.keys(refusals).map((id) => [id, level.get(id)])).toEqual([
      ['572B', 'SHOULD'],
      ['FDE2', 'SHOULD'],
      ['7B9B', 'SHOULD'],
    ]);
    for (const reason of Object.values(refusals)) expect(reason).toMatch(/^[A-Z].{40,}\.$/);
    // A release of the suite that has fewer would pass unnoticed.
    expect([audits.length, level.size]).toEqual([61, 61]);
  });
});
