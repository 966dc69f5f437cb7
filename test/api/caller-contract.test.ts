import { createConfig, lintFromString } from '@redocly/openapi-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Audience, audienceOf } from '../../src/api/rest/contract/audience.js';
import { recordedExamples } from '../../src/api/rest/contract/examples.js';
import { Comparison, contract, contractFor, editionsOfExamples } from '../support/contract.js';
import type { Caller } from '../../src/request/caller.js';
import { pdf } from '../support/bodies.js';
import { covering } from '../support/scale.js';
import { type Edition, givenIn, must, type Reply, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

type Json = any;

/** A kind of caller, what its contract is made for, and the contract as the gateway answers it. */
interface Cast {
  me: Speaker;
  audience: Audience;
  document: Json;
}
const kinds = ['platform', 'direct_user', 'connected_user'] as const;
const callers = ([1, 2] as const).flatMap((edition) =>
  kinds.flatMap((kind) =>
    (['key', 'reader', 'session', 'operator', 'live', 'live reader', 'live session', 'live operator'] as const).map(
      (credential) => ({ edition, kind, credential }),
    ),
  ),
);
type Who = (typeof callers)[number];
const tried = covering(callers, ({ edition, kind, credential }) => [edition, kind, credential]);
const nameOf = ({ edition, kind, credential }: Who) => `${edition} ${kind} ${credential}`;
const casts = new Map<string, Cast>();

async function speakersOf(edition: Edition, kind: Who['kind']): Promise<Record<Who['credential'], Speaker>> {
  const root = await (kind === 'direct_user' ? given.directUserBoth(edition) : given.platformBoth(edition));
  const isRoot = kind !== 'connected_user';
  const [key, live] = isRoot
    ? [root.test, root.live]
    : [await root.test.connectedUser(), await root.live.connectedUser()];
  const reader = async (me: Speaker) => {
    const made = await me.graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    return me.using(made.body.data.createApiKey.secret);
  };
  const session = async (me: Speaker, role: string) => me.using((await must(me.post('/v1/sessions', { role }))).token);
  return {
    ...{ key, live, reader: await reader(key), 'live reader': await reader(live) },
    ...{ session: await session(key, 'read'), operator: await session(key, 'operate') },
    ...{ 'live session': await session(live, 'read'), 'live operator': await session(live, 'operate') },
  };
}

beforeAll(async () => {
  for (const edition of [1, 2] as const)
    for (const kind of kinds) {
      const speakers = await speakersOf(edition, kind);
      for (const [credential, me] of Object.entries(speakers) as [Who['credential'], Speaker][]) {
        const reply = await me.get('/openapi.json');
        const audience: Audience = {
          ...{ edition, kind, livemode: credential.startsWith('live') },
          permission: /reader|session/.test(credential) ? 'read' : 'full',
          session: /session|operator/.test(credential) ? {} : undefined,
        };
        casts.set(nameOf({ edition, kind, credential }), { me, audience, document: reply.body });
      }
    }
});
const castOf = (who: Who) => casts.get(nameOf(who))!;

/** The operations of a contract by their method and path. */
const operationsOf = (document: Json): Map<string, Json> =>
  new Map(
    Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Json>(methods).map(
        ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
      ),
    ),
  );

/** What a caller has besides its audience. */
const ids = {
  ...{ tenantId: 't', keyId: 'k', accountId: 'a' },
  ...{ actingAccountId: 'b', actingAccountKind: 'platform' as const },
} as const;

describe('GET /openapi.json', () => {
  it('answers a caller its own contract, for its own cache alone', async () => {
    const { me } = castOf({ edition: 2, kind: 'platform', credential: 'key' });
    const reply = await me.get('/openapi.json');
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'private, no-cache']);
    expect(reply.headers.get('vary')).toContain('Authorization');
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const again = await me.get('/openapi.json', { 'if-none-match': reply.headers.get('etag')! });
    expect([again.status, again.text]).toEqual([304, '']);
    const everyones = await fetch(`${world.origin}/openapi.json`);
    expect(everyones.headers.get('vary')).toContain('authorization');
    expect(everyones.headers.get('ratelimit')).toBeNull();
  });

  it.each([
    ['a wrong key', { authorization: 'Bearer sk_test_wrong' }],
    ['a header without a key', { authorization: 'Bearer' }],
  ])('refuses %s as every path does', async (_, headers) => {
    const { me } = castOf({ edition: 1, kind: 'platform', credential: 'key' });
    const [reply, elsewhere] = [await me.get('/openapi.json', headers), await me.get('/v1/balance', headers)];
    expect([reply.status, reply.text, reply.codes]).toEqual([401, elsewhere.text, ['api_key_invalid']]);
    expect(reply.headers.get('www-authenticate')).toBe(elsewhere.headers.get('www-authenticate'));
  });

  it('has nothing of the account in it: another account of the kind gets the same bytes', async () => {
    const [one, other] = [await given.platform(2), await given.platform(2)];
    const [first, second] = [await one.get('/openapi.json'), await other.get('/openapi.json')];
    expect(first.text).toBe(second.text);
    expect(first.text).not.toContain(one.id);
  });

  it('is asked here by every audience that there is, by each once', () => {
    const names = [...casts.values()].map(({ audience }) => audienceOf({ ...ids, ...audience } as Caller)[1]);
    expect([names.length, new Set(names).size]).toEqual([48, 48]);
  });

  it('is the same in each encoding, and from what is kept compressed', async () => {
    const { me, document } = castOf({ edition: 2, kind: 'platform', credential: 'live reader' });
    for (const encoding of ['identity', 'gzip', 'br', 'identity']) {
      const headers = { authorization: `Bearer ${me.key}`, 'accept-encoding': encoding };
      const reply = await fetch(`${world.origin}/openapi.json`, { headers });
      expect(reply.headers.get('content-encoding') ?? 'identity').toBe(encoding);
      expect(await reply.json()).toEqual(document);
    }
  });

  it('names the audience by no more than what decides the contract', () => {
    const rights = { edition: 2, kind: 'platform', livemode: true, permission: 'full' } as const;
    expect(audienceOf({ ...rights, ...ids })).toEqual([
      { ...rights, session: undefined },
      '2 platform true full false',
    ]);
  });
});

describe('the examples', () => {
  it('name the edition where one alone can have them', () => {
    const { only, ...examples } = recordedExamples();
    expect(editionsOfExamples(examples)).toEqual(only);
  });

  it('have one of the other edition, too, where both can have the operation or event', () => {
    const { only, others } = recordedExamples();
    for (const edition of [1, 2] as const) {
      const names = Object.keys(only).filter((name) => only[name] !== edition);
      const { document } = castOf({ edition, kind: 'platform', credential: 'key' });
      const methods = Object.values<Json>(document.paths).flatMap((each) => Object.values<Json>(each));
      const has = new Set([...methods.map(({ operationId }) => operationId), ...Object.keys(document.webhooks)]);
      const missing = names.filter((name) => has.has(name) && !others.operations[name] && !others.events[name]);
      expect([edition, missing]).toEqual([edition, []]);
    }
  });
});

describe('the contract of Edition 2', () => {
  it('has nothing of Edition 1 and no mark of editions', () => {
    const { document } = castOf({ edition: 2, kind: 'platform', credential: 'key' });
    const text = JSON.stringify(document);
    expect(text).not.toMatch(/Edition 1|x-edition|multicurrency_exports_v1|estimated_monthly_volume/);
    const { Deposit, Address } = document.components.schemas;
    expect(Deposit.properties.payment_method.enum).toEqual(['card', 'upi', 'domestic_wire']);
    expect(Address.properties.type.enum).toContain('vpa');
    // The specification gives wallets of these providers to both editions.
    const places = [...text.matchAll(/"klarna"/g)].length;
    const ofWallets = JSON.stringify([
      document.paths['/v1/addresses'].get.parameters.find(({ name }: Json) => name === 'wallet.provider'),
      document.paths['/v1/test_helpers/accounts/{id}/wallet'].post,
      Address.properties.wallet,
    ]);
    expect([...ofWallets.matchAll(/"klarna"/g)].length).toBe(places);
  });

  it('requires what the edition requires', () => {
    const { document } = castOf({ edition: 2, kind: 'direct_user', credential: 'key' });
    const bodyOf = (path: string) => document.paths[path].post.requestBody.content['application/json'].schema;
    expect(bodyOf('/v1/deposits').required).toEqual(expect.arrayContaining(['to', 'payment_method']));
    expect(bodyOf('/v1/accounts').properties.type.enum).toEqual(['partner']);
    expect(bodyOf('/v1/webhook_endpoints').properties.scope.enum).toEqual(['self', null]);
  });
});

describe.each(tried)('the contract of Edition $edition, $kind, $credential', (who) => {
  it('is what the declarations say', () => {
    const { document, audience } = castOf(who);
    const withoutExamples = (value: Json): Json => {
      if (Array.isArray(value)) return value.map(withoutExamples);
      if (typeof value !== 'object' || value === null) return value;
      const kept = Object.entries(value).filter(([name]) => name !== 'example' && name !== 'examples');
      return Object.fromEntries(kept.map(([name, member]) => [name, withoutExamples(member)]));
    };
    expect(withoutExamples(document)).toEqual(withoutExamples(contractFor(audience)));
  });

  it('has exactly the operations that are not refused to the caller, and each answer follows it', async () => {
    const { me, document } = castOf(who);
    const [own, all] = [operationsOf(document), operationsOf(contract)];
    const comparison = new Comparison(document);
    const wrong: string[] = [];
    for (const name of all.keys()) {
      const [method = '', path = ''] = name.split(' ');
      // A stream would go on.
      if (path === '/v1/events/stream') continue;
      const url = path.replace(/\{\w+\}/, 'nothing_0');
      // A form whose body is refused unread would end the connection for the next request.
      const sendForm = path === '/v1/files' && method === 'POST';
      const sent = () => (sendForm ? me.upload('logo', pdf, 'logo.pdf') : me.post(url, {}));
      const reply = method === 'GET' ? await me.get(url) : await sent();
      const refused = reply.status === 403 || reply.codes.includes('route_missing');
      if (refused === own.has(name)) wrong.push(`${name}: ${reply.status} ${reply.text.slice(0, 100)}`);
      wrong.push(...comparison.contradictions({ method, path: url, ...reply }).map((each) => `${name}: ${each}`));
    }
    expect(wrong).toEqual([]);
  });
});

/** The parameters of a body with their paths, those of a hash behind it. */
const propertiesOf = (schema: Json, at = ''): [path: string, schema: Json][] =>
  Object.entries<Json>(schema?.properties ?? {}).flatMap(([name, own]) => [
    [`${at}${name}`, own],
    ...propertiesOf(own, `${at}${name}.`),
  ]);

/** The parameters of an operation: of its body, or of its query. */
function parametersOf(operation: Json): Map<string, Json> {
  const body = operation?.requestBody?.content['application/json']?.schema;
  if (body) return new Map(propertiesOf(body));
  const query = (operation?.parameters ?? []).filter((each: Json) => each.in === 'query');
  return new Map(query.map(({ name, schema }: Json) => [name, schema]));
}

const valuesOf = (schema: Json): string[] =>
  (schema?.items?.enum ?? schema?.enum ?? []).filter((value: unknown) => typeof value === 'string');

describe.each(callers.filter(({ credential }) => credential === 'key'))(
  'a parameter of Edition $edition, $kind',
  (who) => {
    /** The codes of the problems of a parameter, when it alone is sent, and the values that their messages list. */
    async function problemsOf(method: string, path: string, name: string, value: unknown) {
      const { me } = castOf(who);
      const url = path.replace(/\{\w+\}/, 'nothing_0');
      const body = name.split('.').reduceRight<unknown>((inner, step) => ({ [step]: inner }), value);
      const query = new URLSearchParams([[name, String(value)]]);
      const reply = method === 'GET' ? await me.get(`${url}?${query}`) : await me.post(url, body);
      const about = (reply.body.errors ?? []).filter(({ metadata }: Json) =>
        (metadata.field_name ?? '').replace(/\[\d+\]$/, '').endsWith(`.${name}`),
      );
      const codes: Reply['codes'] = about.map(({ code }: Json) => code);
      const [, named] = /must be one of (.+)\.$/.exec(about[0]?.message ?? '') ?? [];
      return { codes, listed: named?.split(', ') };
    }

    it('that its contract does not have is refused, and so is each value that it does not have', async () => {
      const { document } = castOf(who);
      const [own, all] = [operationsOf(document), operationsOf(contract)];
      const wrong: string[] = [];
      /** What messages say that a parameter must be, and the values in the contract. */
      const told: [parameter: string, named: string[], accepted: string[]][] = [];
      let compared = 0;
      for (const [name, operation] of own) {
        const [method = '', path = ''] = name.split(' ');
        if (path === '/v1/events/stream') continue;
        const has = parametersOf(operation);
        for (const [parameter, schema] of parametersOf(all.get(name))) {
          const listed = [schema.type].flat().includes('array');
          const sent = (value: unknown) => (listed && method !== 'GET' ? [value] : value);
          if (!has.has(parameter)) {
            compared += 1;
            const isWithin = [...parametersOf(all.get(name)).keys()].some(
              (outer) => parameter.startsWith(`${outer}.`) && !has.has(outer),
            );
            const { codes } = await problemsOf(method, path, parameter, sent('x'));
            if (!isWithin && !codes.includes('parameter_unknown')) wrong.push(`${name} ${parameter} is taken`);
            continue;
          }
          const accepted = valuesOf(has.get(parameter));
          const isNarrower = accepted.length < valuesOf(schema).length;
          for (const value of valuesOf(schema)) {
            if (!isNarrower && value !== accepted[0]) continue;
            compared += 1;
            const { codes, listed: named } = await problemsOf(method, path, parameter, sent(value));
            const refused = codes.includes('parameter_invalid');
            if (named) told.push([`${name} ${parameter}`, named, accepted]);
            if (refused === accepted.includes(value) && !combined.has(parameter))
              wrong.push(`${name} ${parameter}=${value} is ${refused ? 'refused' : 'taken'}`);
          }
        }
      }
      expect(wrong).toEqual([]);
      expect(compared).toBeGreaterThan(30);
      expect(told.map(([parameter, named]) => [parameter, named.toSorted()])).toEqual(
        told.map(([parameter, , accepted]) => [parameter, accepted.toSorted()]),
      );
      expect(told.length).toBeGreaterThan(4);
    });
  },
);

/** Parameters that are refused without others beside them. */
const combined = new Set(['order_by']);

// At the end, because it takes the process for seconds, in which kept connections end.
describe.each(tried)('the contract of Edition $edition, $kind, $credential', (who) => {
  it('has no problem in the strict rules of the linter', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const source = JSON.stringify(castOf(who).document);
    const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  });
});
