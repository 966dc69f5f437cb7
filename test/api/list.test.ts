import { getNamedType, getNullableType, type GraphQLField, type GraphQLObjectType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { snake } from '../../src/errors/problems.js';
import { givenIn, payoutAddressBody, type Reply, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

type Json = any;
const problems = ({ status, codes, fieldNames }: Reply) => [
  status,
  ...codes.map((code, i) => `${code} ${fieldNames[i]}`),
];

/** Every list of /v1, with its object and the same list in the graph. */
const lists = {
  accounts: { path: '/v1/accounts', object: 'account', field: 'accounts', table: 'account' },
  account_settings: {
    path: '/v1/account_settings',
    object: 'account_setting',
    field: 'accountSettings',
    table: 'account_setting',
  },
  connected: {
    path: '/v1/account_settings/connected',
    object: 'account_setting',
    field: 'connectedAccountSettings',
    table: 'account_setting',
  },
  addresses: { path: '/v1/addresses', object: 'address', field: 'addresses', table: 'address' },
  persons: { path: '/v1/persons', object: 'person', field: 'persons', table: 'person' },
  files: { path: '/v1/files', object: 'file', field: 'files', table: 'file' },
} as const;
type Name = keyof typeof lists;
const names = Object.keys(lists) as Name[];

const pdf = Buffer.from('%PDF-1.4\n%%EOF\n');
const person = (accountId: string) => ({
  account_id: accountId,
  full_name: 'Asha Rao',
  relationship: { director: true },
  identification: { tax_card_number: 'ABCDE1234F' },
});
const idOf = (reply: Reply): string => {
  if (reply.status !== 200) throw new Error(reply.text);
  return reply.body.id;
};
const idsOf = (reply: Reply): string[] => {
  expect(problems(reply)).toEqual([200]);
  expect(Object.keys(reply.body)).toEqual(['object', 'data', 'has_next']);
  expect(reply.body.object).toBe('list');
  return reply.body.data.map(({ id }: Json) => id);
};
const times = <T>(n: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => make(i)));

/** The ids of a list, which must be the same through both APIs. */
async function shown(speaker: Speaker, name: Name, query = '', args = ''): Promise<string[]> {
  const { path, field } = lists[name];
  const [rest, graph] = await Promise.all([
    speaker.get(`${path}?${query}`),
    speaker.graph(`{ ${field}${args === '' ? '' : `(${args})`} { nodes { id } } }`),
  ]);
  const ids = idsOf(rest);
  expect(graph.body.errors).toBeUndefined();
  expect(graph.body.data[field].nodes.map(({ id }: Json) => id)).toEqual(ids);
  return ids;
}

/** Which accounts' objects a list shows. Decisions 1.4: lists show the acting account's objects; ids find more. */
describe('the scope of a list', () => {
  let platform: Speaker;
  let one: Speaker;
  let two: Speaker;
  let direct: Speaker;
  const owned: Record<string, Record<Name, string[]>> = {};

  /** What an account owns: itself, its setting, an address, a person and a file, as far as its kind can. */
  async function furnish(owner: Speaker, id: string, kind: 'user' | 'partner'): Promise<void> {
    const settings = await world.sql`select id from account_setting where account_id = ${id} and not livemode`;
    const received = await world.sql`select id from address where linked_id = ${id} and not livemode`;
    const [payout, someone, file] =
      kind === 'partner'
        ? [[], [], []]
        : [
            [idOf(await owner.post('/v1/addresses', payoutAddressBody(id)))],
            [idOf(await owner.post('/v1/persons', person(id)))],
            [idOf(await owner.upload('identity_document', pdf))],
          ];
    const setting = settings.map((row) => row.id as string);
    owned[id] = {
      accounts: [id],
      account_settings: setting,
      connected: setting,
      addresses: [...received.map((row) => row.id as string), ...payout],
      persons: someone,
      files: file,
    };
  }

  const partners: Record<string, string> = {};
  beforeAll(async () => {
    [platform, direct] = await Promise.all([given.platform(1), given.directUser(1)]);
    [one, two] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
    const speakers = { platform, one, two, direct };
    await Promise.all(
      Object.entries(speakers).map(async ([name, speaker]) => {
        const partner: string = (await speaker.partner()).id;
        partners[name] = partner;
        await furnish(speaker, speaker.id, 'user');
        await furnish(speaker, partner, 'partner');
      }),
    );
    // All objects of another tenant, in the same database.
    const stranger = await given.platform(1);
    const theirs = await stranger.connectedUser();
    await Promise.all([stranger.partner(), theirs.partner(), furnish(stranger, stranger.id, 'user')]);
    const live = await given.platformBoth(1);
    await live.live.partner();
  });

  const callers: [caller: string, speaker: () => Speaker, shows: () => string[]][] = [
    ['a platform: itself and its connected users', () => platform, () => [platform.id, one.id, two.id]],
    ['a connected user: itself and its partners', () => one, () => [one.id, partners.one!]],
    ['another connected user: nothing of the first', () => two, () => [two.id, partners.two!]],
    ['a direct user: itself and its partners', () => direct, () => [direct.id, partners.direct!]],
    [
      'a platform acting for a connected user: as that user',
      () => platform.actingFor(one.id),
      () => [one.id, partners.one!],
    ],
  ];
  describe.each(callers)('of %s', (_, speaker, shows) => {
    it.each(names.filter((name) => name !== 'connected'))('%s', async (name) => {
      const expected = shows().flatMap((id) => owned[id]![name]);
      expect((await shown(speaker(), name)).sort()).toEqual(expected.sort());
    });
  });

  it("of a platform's connected settings shows only its connected users, and refuses other callers", async () => {
    const expected = [one.id, two.id].flatMap((id) => owned[id]!.account_settings);
    expect((await shown(platform, 'connected')).sort()).toEqual(expected.sort());
    for (const speaker of [one, direct]) {
      const reply = await speaker.get('/v1/account_settings/connected');
      expect([reply.status, reply.codes]).toEqual([403, ['permission_denied']]);
      const graph = await speaker.graph('{ connectedAccountSettings { nodes { id } } }');
      expect([graph.codes, graph.body.data]).toEqual([['permission_denied'], { connectedAccountSettings: null }]);
    }
  });

  // A list shows the acting account's objects; a filter that names an account selects that account's objects.
  it('can be widened to any account in the visibility, and no further', async () => {
    const named = async (speaker: Speaker, name: Name, parameter: string, id: string) => {
      const argument = parameter.replace(/_(.)/, (_, c: string) => c.toUpperCase());
      const value = name === 'account_settings' || name === 'connected' ? `["${id}"]` : `"${id}"`;
      return (await shown(speaker, name, `${parameter}=${id}`, `${argument}: ${value}`)).sort();
    };
    const filters: [Name, string][] = [
      ['account_settings', 'account_id'],
      ['addresses', 'linked_id'],
      ['persons', 'account_id'],
      ['files', 'account_id'],
    ];
    for (const [name, parameter] of filters) {
      for (const id of [platform.id, one.id, partners.platform!, partners.one!, partners.two!])
        expect(await named(platform, name, parameter, id)).toEqual(owned[id]![name].sort());
      for (const id of [one.id, partners.one!])
        expect(await named(one, name, parameter, id)).toEqual(owned[id]![name].sort());
      for (const [speaker, id] of [
        [one, two.id],
        [one, platform.id],
        [one, partners.two!],
        [platform, direct.id],
        [direct, platform.id],
        [platform.actingFor(one.id), two.id],
        [platform, 'account_0'],
      ] as const)
        expect(await named(speaker, name, parameter, id)).toEqual([]);
    }
    const settings = [one.id, partners.two!].flatMap((id) => owned[id]!.account_settings);
    const both = await platform.get(`/v1/account_settings?account_id=${one.id}&account_id=${partners.two}`);
    expect(idsOf(both).sort()).toEqual(settings.sort());
  });

  it('has one mode: the other mode shows its own objects of the same root', async () => {
    const both = await given.directUserBoth(1);
    const [test, live] = [await both.test.partner(), await both.live.partner()];
    expect((await shown(both.test, 'accounts')).sort()).toEqual([both.test.id, test.id].sort());
    expect((await shown(both.live, 'accounts')).sort()).toEqual([both.live.id, live.id].sort());
    const settings = await Promise.all([both.test, both.live].map((speaker) => shown(speaker, 'account_settings')));
    expect(settings[0]!.filter((id) => settings[1]!.includes(id))).toEqual([]);
  });
});

const total = 27;
const newest = 1_800_000_000;

/** An account with 27 objects in each list, nine in each of three seconds, with the ids in the order of lists. */
interface Crowd {
  speaker: Speaker;
  ids: string[];
}
const crowds = {} as Record<Name, Crowd>;
let stranger: Speaker;
let strangers: Record<Name, string>;

async function crowd(name: Name, speaker: Speaker, make: (i: number) => Promise<unknown>, count: number) {
  await times(count, make);
  const { table } = lists[name];
  const ofConnected = name === 'connected' ? world.sql`and of_connected_user` : world.sql``;
  const tenant = speaker.id.replace('account_', '');
  await world.sql`
    update ${world.sql(table)} t set created = ${newest}::bigint - n.n % 3
    from (select id, row_number() over (order by id) n from ${world.sql(table)} where tenant_id = ${tenant}
    and not livemode ${ofConnected}) n
    where t.id = n.id and not t.livemode and t.tenant_id = ${tenant}`;
  const rows = await world.sql<{ id: string; created: string }[]>`
    select id, created from ${world.sql(table)} where tenant_id = ${tenant} and not livemode ${ofConnected}`;
  // The specification's order, computed by the test and not by the database under test.
  const ids = rows
    .map(({ id, created }) => ({ id, created: Number(created) }))
    .sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
  expect(ids).toHaveLength(total);
  crowds[name] = { speaker, ids };
}

async function makeCrowds(): Promise<void> {
  const [user, settings, platform, other, people, papers] = await Promise.all([
    given.directUser(1),
    given.directUser(1),
    given.platform(1),
    given.directUser(1),
    given.directUser(1),
    given.directUser(1),
  ]);
  stranger = await given.platform(1);
  const theirs = await stranger.connectedUser();
  strangers = {
    accounts: theirs.id,
    account_settings: (await stranger.get('/v1/account_settings')).body.data[0].id,
    connected: (await stranger.get('/v1/account_settings/connected')).body.data[0].id,
    addresses: idOf(await stranger.post('/v1/addresses', payoutAddressBody(stranger.id))),
    persons: idOf(await stranger.post('/v1/persons', person(stranger.id))),
    files: idOf(await stranger.upload('logo', pdf)),
  };
  const connect = () =>
    platform.graph('mutation { createConnectedUser(input: { metadata: { a: "1" } }) { account { id } } }');
  await Promise.all([
    crowd('accounts', user, () => user.partner(), total - 1),
    crowd('account_settings', settings, () => settings.partner(), total - 1),
    crowd('connected', platform, connect, total),
    crowd(
      'addresses',
      other,
      async () => idOf(await other.post('/v1/addresses', payoutAddressBody(other.id))),
      total - 1,
    ),
    crowd('persons', people, async () => idOf(await people.post('/v1/persons', person(people.id))), total),
    crowd('files', papers, async () => idOf(await papers.upload('logo', pdf)), total),
  ]);
}

describe('a page', () => {
  beforeAll(makeCrowds);
  const sizes = Array.from({ length: 10 }, (_, i) => i + 1);

  /** All pages forward from the newest, with each page's statement about a next one. */
  async function onward(read: (after: string | undefined) => Promise<{ ids: string[]; next: boolean }>) {
    const ids: string[] = [];
    const next: boolean[] = [];
    for (let after: string | undefined; ; after = ids.at(-1)) {
      const page = await read(after);
      ids.push(...page.ids);
      next.push(page.next);
      if (!page.next || next.length > total) return { ids, next };
    }
  }

  /** All pages backward from the oldest; each is put before the previous ones. */
  async function back(oldest: string, read: (before: string) => Promise<{ ids: string[]; next: boolean }>) {
    let ids = [oldest];
    const next: boolean[] = [];
    for (;;) {
      const page = await read(ids[0]!);
      ids = [...page.ids, ...ids];
      next.push(page.next);
      if (!page.next || next.length > total) return { ids, next };
    }
  }

  const restPage = (name: Name, size: number) => async (parameter: string, id: string | undefined) => {
    const { speaker } = crowds[name];
    const reply = await speaker.get(
      `${lists[name].path}?limit=${size}${id === undefined ? '' : `&${parameter}=${id}`}`,
    );
    const ids = idsOf(reply);
    expect(reply.body.data.map((object: Json) => object.object)).toEqual(ids.map(() => lists[name].object));
    return { ids, next: reply.body.has_next as boolean };
  };
  const graphPage = (name: Name, size: number) => async (direction: 'onward' | 'back', id: string | undefined) => {
    const { speaker } = crowds[name];
    const { field } = lists[name];
    const [count, cursor] = direction === 'onward' ? ['first', 'after'] : ['last', 'before'];
    const args = `${count}: ${size}${id === undefined ? '' : `, ${cursor}: "${id}"`}`;
    const reply = await speaker.graph(
      `{ ${field}(${args}) { edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage ` +
        'startCursor endCursor } } }',
    );
    expect(reply.body.errors).toBeUndefined();
    const { edges, nodes, pageInfo } = reply.body.data[field];
    const ids: string[] = nodes.map((node: Json) => node.id);
    expect(edges).toEqual(ids.map((node) => ({ cursor: node, node: { id: node } })));
    expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([ids.at(0) ?? null, ids.at(-1) ?? null]);
    const { ids: all } = crowds[name];
    expect(pageInfo.hasNextPage).toBe(all.indexOf(ids.at(-1)!) < all.length - 1);
    expect(pageInfo.hasPreviousPage).toBe(all.indexOf(ids[0]!) > 0);
    return { ids, next: (direction === 'onward' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage) as boolean };
  };
  /** The values of has_next for pages of a size over the given number of objects: true on every page but the last. */
  const more = (count: number, size: number) =>
    Array.from({ length: Math.ceil(count / size) }, (_, i) => (i + 1) * size < count);

  // Nine objects share a second: a cursor made of a time, or an order that is not total, loses or repeats some of them.
  it.each(names)(
    'of %s continues the previous page, of every size, forward and backward, and equally through both APIs',
    async (name) => {
      const { ids } = crowds[name];
      await Promise.all(
        sizes.map(async (size) => {
          const rest = restPage(name, size);
          const graph = graphPage(name, size);
          const walks = await Promise.all([
            onward((after) => rest('starting_after', after)),
            onward((after) => graph('onward', after)),
            back(ids.at(-1)!, (before) => rest('ending_before', before)),
            back(ids.at(-1)!, (before) => graph('back', before)),
          ]);
          const [forth, further, ...home] = walks;
          for (const walk of [forth, further]) expect(walk).toEqual({ ids, next: more(total, size) });
          for (const walk of home) expect(walk).toEqual({ ids, next: more(total - 1, size) });
        }),
      );
    },
  );

  it.each(names)('of %s has ten objects when no limit is given', async (name) => {
    const { speaker, ids } = crowds[name];
    const { path, field } = lists[name];
    const first = await speaker.get(path);
    expect([idsOf(first), first.body.has_next]).toEqual([ids.slice(0, 10), true]);
    const nearest = await speaker.get(`${path}?ending_before=${ids[20]}`);
    expect([idsOf(nearest), nearest.body.has_next]).toEqual([ids.slice(10, 20), true]);
    const graph = await speaker.graph(`{ first: ${field} { nodes { id } } last: ${field}(last: 5) { nodes { id } } }`);
    expect(graph.body.data.first.nodes.map(({ id }: Json) => id)).toEqual(ids.slice(0, 10));
    expect(graph.body.data.last.nodes.map(({ id }: Json) => id)).toEqual(ids.slice(-5));
  });

  it.each(names)('of %s at the end of the list says so, also when it is empty', async (name) => {
    const { speaker, ids } = crowds[name];
    const { path } = lists[name];
    const pages = await Promise.all(
      [
        `limit=7&starting_after=${ids[19]}`,
        `limit=8&starting_after=${ids[17]}`,
        `limit=7&ending_before=${ids[7]}`,
        `limit=8&ending_before=${ids[9]}`,
        `starting_after=${ids.at(-1)}`,
        `ending_before=${ids[0]}`,
      ].map((query) => speaker.get(`${path}?${query}`)),
    );
    expect(pages.map((page) => [idsOf(page), page.body.has_next])).toEqual([
      [ids.slice(20), false],
      [ids.slice(18, 26), true],
      [ids.slice(0, 7), false],
      [ids.slice(1, 9), true],
      [[], false],
      [[], false],
    ]);
  });

  it.each(names)(
    'of %s is refused with two cursors, or with a cursor that is not visible to the caller',
    async (name) => {
      const { speaker, ids } = crowds[name];
      const { path, object } = lists[name];
      const get = (query: string) => speaker.get(`${path}?${query}`);
      expect(problems(await get(`starting_after=${ids[3]}&ending_before=${ids[9]}`))).toEqual([
        400,
        `parameter_invalid ${object}.ending_before`,
      ]);
      const elsewhere = name === 'files' ? crowds.persons.ids[0]! : crowds.files.ids[0]!;
      for (const parameter of ['starting_after', 'ending_before']) {
        const cursors = [`${object}_0`, strangers[name], elsewhere, 'x', '0', `${ids[0]}0`, '%F0%9F%98%80', 'null'];
        const replies = await Promise.all(cursors.map((cursor) => get(`${parameter}=${cursor}`)));
        for (const reply of replies) expect(problems(reply)).toEqual([400, `parameter_invalid ${object}.${parameter}`]);
        // A foreign object and an invented id must get the same response.
        expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
      }
    },
  );

  it.each(names)('of %s has a limit from 1 to 10', async (name) => {
    const { speaker, ids } = crowds[name];
    const { path, object } = lists[name];
    for (const limit of [1, 10])
      expect(idsOf(await speaker.get(`${path}?limit=${limit}`))).toEqual(ids.slice(0, limit));
    const wrong = [
      '0',
      '11',
      '-1',
      '100',
      '1.5',
      '1e1',
      'ten',
      '0x5',
      '%31%20',
      '+1',
      'true',
      'Infinity',
      '99999999999',
    ];
    const replies = await Promise.all(wrong.map((limit) => speaker.get(`${path}?limit=${limit}`)));
    for (const reply of replies) expect(problems(reply)).toEqual([400, `parameter_invalid ${object}.limit`]);
    expect(problems(await speaker.get(`${path}?limit=`))).toEqual([400, `parameter_invalid_empty ${object}.limit`]);
    expect(problems(await speaker.get(`${path}?limit=1&limit=2`))).toEqual([400, `parameter_invalid ${object}.limit`]);
  });

  it.each(names)('of %s accepts every bound of created, alone and combined', async (name) => {
    const { speaker, ids } = crowds[name];
    const seconds = [newest - 2, newest - 1, newest];
    const per = new Map(seconds.map((second, i) => [second, ids.slice(18 - 9 * i, 27 - 9 * i)]));
    const iso = (second: number) => new Date(second * 1000).toISOString();
    const bounds: [bounds: Record<string, number>, seconds: number[]][] = [
      [{ eq: newest - 1 }, [newest - 1]],
      [{ gt: newest - 1 }, [newest]],
      [{ gte: newest }, [newest]],
      [{ lt: newest - 1 }, [newest - 2]],
      [{ lte: newest - 2 }, [newest - 2]],
      [{ gt: newest }, []],
      [{ lt: newest - 2 }, []],
      [{ eq: newest + 1 }, []],
      [{ gt: newest - 2, lt: newest }, [newest - 1]],
      [{ gte: newest - 1, lte: newest - 1 }, [newest - 1]],
      [{ gte: newest, lte: newest - 1 }, []],
      [{ eq: newest, gte: newest, lte: newest }, [newest]],
      [{ gte: 0, lt: newest - 1 }, [newest - 2]],
    ];
    await Promise.all(
      bounds.map(async ([bound, within]) => {
        const query = Object.entries(bound).map(([name, second]) => `created.${name}=${second}`);
        const args = Object.entries(bound).map(([name, second]) => `${name}: "${iso(second)}"`);
        const found = await shown(speaker, name, query.join('&'), `created: { ${args.join(', ')} }`);
        expect([bound, found]).toEqual([bound, within.flatMap((second) => per.get(second)!)]);
      }),
    );
    const both = await speaker.get(`${lists[name].path}?created.lte=${newest - 1}&starting_after=${ids[12]}&limit=9`);
    expect([idsOf(both), both.body.has_next]).toEqual([ids.slice(13, 22), true]);
    // A cursor is a position in the order; its object need not pass the filter.
    const beyond = await speaker.get(`${lists[name].path}?created.eq=${newest - 1}&starting_after=${ids[3]}&limit=4`);
    expect([idsOf(beyond), beyond.body.has_next]).toEqual([ids.slice(9, 13), true]);
  });

  it.each(names)('of %s refuses unknown parameters', async (name) => {
    const { speaker } = crowds[name];
    const { path, object } = lists[name];
    for (const parameter of [
      'page',
      'offset',
      'order',
      'tenant_id',
      'context_id',
      'ofConnectedUser',
      'of_connected_user',
      'id',
    ])
      expect(problems(await speaker.get(`${path}?${parameter}=1`))).toEqual([
        400,
        `parameter_unknown ${object}.${parameter}`,
      ]);
  });

  // Objects that are created during paging are newer than the cursor: they shift nothing.
  it('shows each existing object exactly once while others are created', async () => {
    const user = await given.directUser(1);
    const before = [user.id, ...(await times(15, async () => (await user.partner()).id as string))];
    let walking = true;
    const writers = times(3, async () => {
      let made = 0;
      for (; walking || made < 3; made++) await user.partner();
      return made;
    });
    const walk = await onward(async (after) => {
      const reply = await user.get(`/v1/accounts?limit=2${after === undefined ? '' : `&starting_after=${after}`}`);
      return { ids: idsOf(reply), next: reply.body.has_next };
    });
    walking = false;
    expect((await writers).every((made) => made >= 3)).toBe(true);
    expect(new Set(walk.ids).size).toBe(walk.ids.length);
    const rows = await world.sql`
      select id from account where context_id = ${user.id} and not livemode order by created desc, id desc`;
    const order = rows.map((row) => row.id as string).filter((id) => before.includes(id));
    expect(walk.ids.filter((id) => before.includes(id))).toEqual(order);
    expect(order).toHaveLength(16);
  });
});

/** One row per filter of the specification: the query, the arguments of the graph, and the objects that pass. */
type Filter = [query: string, args: string, passes: string[]];

describe('filters of accounts', () => {
  let user: Speaker;
  const ids: Record<string, string> = {};
  const states = {
    a: ['draft', 'deactivated'],
    b: ['verifying', 'deactivated'],
    c: ['activated', 'requested'],
    d: ['activated', 'processing'],
    e: ['activated', 'activated'],
    f: ['hold', 'activated'],
    g: ['deactivated', 'deactivated'],
  } as const;
  beforeAll(async () => {
    user = await given.directUser(1);
    ids.self = user.id;
    await Promise.all(
      Object.entries(states).map(async ([name, [status, address]]) => {
        ids[name] = (await user.partner()).id;
        await world.sql`update account set status = ${status}, address = ${address} where id = ${ids[name]!}`;
      }),
    );
    await world.sql`update account set address = 'activated' where id = ${user.id} and not livemode`;
  });

  const partners = Object.keys(states);
  const filters: Filter[] = [
    ['status=draft', 'status: [DRAFT]', ['a']],
    ['status=verifying', 'status: [VERIFYING]', ['b']],
    ['status=activated', 'status: [ACTIVATED]', ['c', 'd', 'e', 'self']],
    ['status=hold', 'status: [HOLD]', ['f']],
    ['status=deactivated', 'status: [DEACTIVATED]', ['g']],
    ['status=draft,hold', 'status: [DRAFT, HOLD]', ['a', 'f']],
    ['address=deactivated', 'address: [DEACTIVATED]', ['a', 'b', 'g']],
    ['address=requested', 'address: [REQUESTED]', ['c']],
    ['address=processing', 'address: [PROCESSING]', ['d']],
    ['address=activated', 'address: [ACTIVATED]', ['e', 'f', 'self']],
    ['address=requested&address=processing', 'address: [REQUESTED, PROCESSING]', ['c', 'd']],
    ['type=partner', 'type: [PARTNER]', partners],
    ['type=user', 'type: [USER]', ['self']],
    ['type=platform', 'type: [PLATFORM]', []],
    ['type=user,partner', 'type: [USER, PARTNER]', [...partners, 'self']],
    ['capability.multicurrency_exports_v1=pending', 'capability: { multicurrencyExportsV1: PENDING }', ['a']],
    ['capability.multicurrency_exports_v1=verifying', 'capability: { multicurrencyExportsV1: VERIFYING }', ['b']],
    [
      'capability.multicurrency_exports_v1=activated',
      'capability: { multicurrencyExportsV1: ACTIVATED }',
      ['c', 'd', 'e', 'self'],
    ],
    ['capability.multicurrency_exports_v1=hold', 'capability: { multicurrencyExportsV1: HOLD }', ['f', 'g']],
    ['status=activated&address=activated', 'status: [ACTIVATED], address: [ACTIVATED]', ['e', 'self']],
    [
      'status=activated&address=activated&type=partner',
      'status: [ACTIVATED], address: [ACTIVATED], type: [PARTNER]',
      ['e'],
    ],
    ['status=draft&address=activated', 'status: [DRAFT], address: [ACTIVATED]', []],
  ];
  it.each(filters)('%s', async (query, args, passes) => {
    expect((await shown(user, 'accounts', query, args)).sort()).toEqual(passes.map((name) => ids[name]).sort());
  });

  it('also apply to a platform, whose connected users are users', async () => {
    const platform = await given.platform(2);
    const connected = await platform.connectedUser();
    await platform.partner();
    const list = (query: string, args: string) => shown(platform, 'accounts', query, args);
    expect(await list('type=platform', 'type: [PLATFORM]')).toEqual([platform.id]);
    expect(await list('type=user', 'type: [USER]')).toEqual([connected.id]);
    expect(await list('type=partner', 'type: [PARTNER]')).toEqual([]);
    expect(await list('status=draft', 'status: [DRAFT]')).toEqual([connected.id]);
    expect(await list('status=activated', 'status: [ACTIVATED]')).toEqual([platform.id]);
  });
});

describe('filters of settings', () => {
  let platform: Speaker;
  const accounts: Record<string, string> = {};
  const settings: Record<string, string> = {};
  const held = {
    a: { account_activated: true },
    b: { account_activated: true, platform_hold: true },
    c: { account_activated: false },
    d: { account_activated: true, service_hold: true },
  };
  beforeAll(async () => {
    platform = await given.platform(1);
    accounts.root = platform.id;
    for (const [name, columns] of Object.entries(held)) {
      accounts[name] = (await platform.connectedUser()).id;
      await world.sql`update account_setting set ${world.sql(columns)} where account_id = ${accounts[name]}`;
    }
    await platform.partner();
    for (const [name, id] of Object.entries(accounts)) {
      const [row] = await world.sql`select id from account_setting where account_id = ${id} and not livemode`;
      settings[name] = row!.id;
    }
    const off = await platform.post(`/v1/account_settings/${settings.root}`, {
      address: { connected_user_partner: false, platform: false },
    });
    expect(off.status).toBe(200);
  });

  // Only the root's setting determines addresses: on connected users' settings the five are null, and pass no filter.
  const filters: Filter[] = [
    ['address.connected_user=true', 'address: { connectedUser: true }', ['root']],
    ['address.connected_user=false', 'address: { connectedUser: false }', []],
    ['address.connected_user_partner=false', 'address: { connectedUserPartner: false }', ['root']],
    ['address.connected_user_partner=true', 'address: { connectedUserPartner: true }', []],
    ['address.partner=true', 'address: { partner: true }', ['root']],
    ['address.partner=false', 'address: { partner: false }', []],
    ['address.platform=false', 'address: { platform: false }', ['root']],
    ['address.platform=true', 'address: { platform: true }', []],
    ['address.user=true', 'address: { user: true }', []],
    ['address.user=false', 'address: { user: false }', []],
    ['payouts.enabled=true', 'payouts: { enabled: true }', ['root', 'a']],
    ['payouts.enabled=false', 'payouts: { enabled: false }', ['b', 'c', 'd']],
    ['payouts.reason_code_not_enabled=platform_hold', 'payouts: { reasonCodeNotEnabled: [PLATFORM_HOLD] }', ['b']],
    [
      'payouts.reason_code_not_enabled=account_not_activated',
      'payouts: { reasonCodeNotEnabled: [ACCOUNT_NOT_ACTIVATED] }',
      ['c'],
    ],
    ['payouts.reason_code_not_enabled=service_hold', 'payouts: { reasonCodeNotEnabled: [SERVICE_HOLD] }', ['d']],
    [
      'payouts.reason_code_not_enabled=service_hold,platform_hold',
      'payouts: { reasonCodeNotEnabled: [SERVICE_HOLD, PLATFORM_HOLD] }',
      ['b', 'd'],
    ],
    [
      'payouts.enabled=false&payouts.reason_code_not_enabled=service_hold',
      'payouts: { enabled: false, reasonCodeNotEnabled: [SERVICE_HOLD] }',
      ['d'],
    ],
    ['payouts.enabled=true&address.partner=true', 'payouts: { enabled: true }, address: { partner: true }', ['root']],
    ['', '', ['root', 'a', 'b', 'c', 'd']],
  ];
  it.each(filters)('%s', async (query, args, passes) => {
    const of = (passing: string[]) => passing.map((name) => settings[name]).sort();
    expect((await shown(platform, 'account_settings', query, args)).sort()).toEqual(of(passes));
    expect((await shown(platform, 'connected', query, args)).sort()).toEqual(of(passes.filter((n) => n !== 'root')));
  });

  it('account_id, with one and with several values', async () => {
    const list = (name: Name, ...of: string[]) =>
      shown(
        platform,
        name,
        of.map((n) => `account_id=${accounts[n]}`).join('&'),
        `accountId: [${of.map((n) => `"${accounts[n]}"`).join(', ')}]`,
      );
    expect(await list('account_settings', 'a')).toEqual([settings.a]);
    expect((await list('account_settings', 'root', 'a', 'c')).sort()).toEqual(
      [settings.root, settings.a, settings.c].sort(),
    );
    expect((await list('connected', 'root', 'a', 'c')).sort()).toEqual([settings.a, settings.c].sort());
  });

  it('address.user, of a direct user', async () => {
    const user = await given.directUser(2);
    const partner = await user.partner();
    const [own] = await world.sql`select id from account_setting where account_id = ${user.id} and not livemode`;
    expect(await shown(user, 'account_settings', 'address.user=true', 'address: { user: true }')).toEqual([own!.id]);
    const theirs = await shown(user, 'account_settings', `account_id=${partner.id}`, `accountId: ["${partner.id}"]`);
    expect(theirs).toHaveLength(1);
    expect(theirs).not.toContain(own!.id);
  });
});

describe.each([1, 2] as const)('filters of addresses, Edition %i', (edition) => {
  let user: Speaker;
  let partner: string;
  const ids: Record<string, string> = {};
  const common = { category: 'service_receive', type: 'bank_account', status: 'activated', currency: 'USD' };
  const rows: Record<string, object> = {
    receive: common,
    payout: { ...common, category: 'user_payout', currency: 'INR' },
    payment: { ...common, category: 'partner_payment', is_reusable: true },
    checkout: { ...common, category: 'service_checkout', currency: 'EUR' },
    advance: { ...common, category: 'service_fee_advance' },
    gone: { ...common, status: 'deactivated' },
    expired: { ...common, status: 'expired' },
    leaving: { ...common, status: 'pending_deactivation' },
    affirm: { ...common, type: 'wallet', wallet: { provider: 'affirm' } },
    afterpay: { ...common, type: 'wallet', wallet: { provider: 'afterpay' } },
    klarna: { ...common, type: 'wallet', wallet: { provider: 'klarna' } },
    paypal: { ...common, type: 'wallet', wallet: { provider: 'paypal_external' } },
    vpa: { ...common, type: 'vpa', vpa: { id: 'a@b', upi: { onetime: 'enabled', recurring: 'disabled' } } },
    autopay: { ...common, type: 'vpa', vpa: { id: 'c@d', upi: { onetime: 'disabled', recurring: 'enabled' } } },
  };
  beforeAll(async () => {
    user = await given.directUser(edition);
    partner = (await user.partner()).id;
    const tenant = user.id.replace('account_', '');
    await world.sql`delete from address where tenant_id = ${tenant}`;
    // Most kinds of addresses come from payments and the bank; the test inserts their rows as those would.
    for (const [name, row] of Object.entries(rows)) {
      ids[name] = `address_${tenant.slice(0, 20)}${Object.keys(rows).indexOf(name).toString().padStart(12, '0')}`;
      const stored: Record<string, unknown> = {
        ...row,
        tenant_id: tenant,
        livemode: false,
        id: ids[name],
        created: newest,
        linked_id: name === 'payment' || name === 'checkout' ? partner : user.id,
        context_id: user.id,
        on_root_list: true,
      };
      await world.sql`insert into address ${world.sql(stored as never)}`;
    }
  });

  const all = Object.keys(rows);
  const but = (...names: string[]) => all.filter((name) => !names.includes(name));
  const wallets = ['affirm', 'afterpay', 'klarna', 'paypal'];
  const filters: Filter[] = [
    ['category=service_receive', 'category: [SERVICE_RECEIVE]', but('payout', 'payment', 'checkout', 'advance')],
    ['category=user_payout', 'category: [USER_PAYOUT]', ['payout']],
    ['category=partner_payment', 'category: [PARTNER_PAYMENT]', ['payment']],
    ['category=service_checkout', 'category: [SERVICE_CHECKOUT]', ['checkout']],
    ['category=service_fee_advance', 'category: [SERVICE_FEE_ADVANCE]', ['advance']],
    ['category=user_payout,partner_payment', 'category: [USER_PAYOUT, PARTNER_PAYMENT]', ['payout', 'payment']],
    ['currency=INR', 'currency: ["INR"]', ['payout']],
    ['currency=INR,EUR', 'currency: ["INR", "EUR"]', ['payout', 'checkout']],
    ['currency=JPY', 'currency: ["JPY"]', []],
    ['is_reusable=true', 'isReusable: true', ['payment']],
    ['is_reusable=false', 'isReusable: false', but('payment')],
    ['status=activated', 'status: [ACTIVATED]', but('gone', 'expired', 'leaving')],
    ['status=deactivated', 'status: [DEACTIVATED]', ['gone']],
    ['status=expired', 'status: [EXPIRED]', ['expired']],
    ['status=pending_deactivation', 'status: [PENDING_DEACTIVATION]', ['leaving']],
    ['status[]=expired&status[]=deactivated', 'status: [EXPIRED, DEACTIVATED]', ['gone', 'expired']],
    ['type=wallet', 'type: [WALLET]', wallets],
    ['type=bank_account', 'type: [BANK_ACCOUNT]', but(...wallets, 'vpa', 'autopay')],
    ['wallet.provider=affirm', 'wallet: { provider: [AFFIRM] }', ['affirm']],
    ['wallet.provider=afterpay', 'wallet: { provider: [AFTERPAY] }', ['afterpay']],
    ['wallet.provider=klarna', 'wallet: { provider: [KLARNA] }', ['klarna']],
    ['wallet.provider=paypal_external', 'wallet: { provider: [PAYPAL_EXTERNAL] }', ['paypal']],
    ['wallet.provider=klarna,affirm', 'wallet: { provider: [KLARNA, AFFIRM] }', ['affirm', 'klarna']],
    ['status=activated&currency=USD&type=wallet', 'status: [ACTIVATED], currency: ["USD"], type: [WALLET]', wallets],
    ...((edition === 2
      ? [
          ['type=vpa', 'type: [VPA]', ['vpa', 'autopay']],
          ['vpa.upi.onetime=enabled', 'vpa: { upi: { onetime: ENABLED } }', ['vpa']],
          ['vpa.upi.onetime=disabled', 'vpa: { upi: { onetime: DISABLED } }', ['autopay']],
          ['vpa.upi.recurring=enabled', 'vpa: { upi: { recurring: ENABLED } }', ['autopay']],
          ['vpa.upi.recurring=disabled', 'vpa: { upi: { recurring: DISABLED } }', ['vpa']],
          [
            'vpa.upi.onetime=enabled&vpa.upi.recurring=enabled',
            'vpa: { upi: { onetime: ENABLED, recurring: ENABLED } }',
            [],
          ],
        ]
      : []) as Filter[]),
  ];
  /** More than ten may pass: the test reads the whole list in two pages. */
  const whole = async (query: string, args: string) => {
    const first = await shown(user, 'addresses', query, args);
    if (first.length < 10) return first;
    const after = first.at(-1);
    return [
      ...first,
      ...(await shown(user, 'addresses', `${query}&starting_after=${after}`, `${args}, after: "${after}"`)),
    ];
  };
  it.each(filters)('%s', async (query, args, passes) => {
    expect((await whole(query, args)).sort()).toEqual(passes.map((name) => ids[name]).sort());
  });

  it('linked_id', async () => {
    expect((await whole(`linked_id=${partner}`, `linkedId: "${partner}"`)).sort()).toEqual(
      [ids.payment, ids.checkout].sort(),
    );
    expect((await whole(`linked_id=${user.id}`, `linkedId: "${user.id}"`)).sort()).toEqual(
      but('payment', 'checkout')
        .map((name) => ids[name])
        .sort(),
    );
  });
});

describe('filters of files', () => {
  it('purpose, with one and with several values', async () => {
    const user = await given.directUser(1);
    const purposes = ['logo', 'invoice', 'tax_document', 'identity_document', 'additional_verification'];
    const ids: Record<string, string> = {};
    for (const purpose of purposes) ids[purpose] = idOf(await user.upload(purpose, pdf));
    for (const purpose of purposes)
      expect(await shown(user, 'files', `purpose=${purpose}`, `purpose: [${purpose.toUpperCase()}]`)).toEqual([
        ids[purpose],
      ]);
    expect((await shown(user, 'files', 'purpose=logo,invoice', 'purpose: [LOGO, INVOICE]')).sort()).toEqual(
      [ids.logo, ids.invoice].sort(),
    );
  });
});

/** What the graph adds to a list: counts, both ends, and nested pages. */
describe('a connection', () => {
  it('counts the whole list on every page, and only what passes the filter', async () => {
    const user = await given.directUser(1);
    await times(12, () => user.partner());
    const held = (await user.partner()).id;
    await world.sql`update account set status = 'hold' where id = ${held}`;
    const reply = await user.graph(`{
      all: accounts { totalCount nodes { id } }
      page: accounts(first: 3, after: "${held}") { totalCount }
      partners: accounts(type: [PARTNER], last: 1) { totalCount }
      held: accounts(status: [HOLD]) { totalCount nodes { id } }
      none: accounts(status: [VERIFYING]) { totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor
      endCursor } }
    }`);
    const { all, ...rest } = reply.body.data;
    expect([all.totalCount, all.nodes.length]).toEqual([14, 10]);
    expect(rest).toEqual({
      page: { totalCount: 14 },
      partners: { totalCount: 13 },
      held: { totalCount: 1, nodes: [{ id: held }] },
      none: {
        totalCount: 0,
        nodes: [],
        pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
      },
    });
  });

  it('returns up to a hundred objects at once', async () => {
    const { speaker, ids } = crowds.accounts;
    const reply = await speaker.graph(
      '{ accounts(first: 100) { nodes { id } pageInfo { hasNextPage hasPreviousPage } totalCount } }',
    );
    expect(reply.body.data.accounts).toEqual({
      nodes: ids.map((id) => ({ id })),
      pageInfo: { hasNextPage: false, hasPreviousPage: false },
      totalCount: total,
    });
  });

  it('reports whether objects precede and follow a page, also an empty one', async () => {
    const { speaker, ids } = crowds.accounts;
    const page = 'nodes { id } pageInfo { hasNextPage hasPreviousPage }';
    const reply = await speaker.graph(`{
      newest: accounts(first: 2) { ${page} }
      oldest: accounts(last: 2) { ${page} }
      between: accounts(first: 2, after: "${ids[4]}") { ${page} }
      back: accounts(last: 2, before: "${ids[4]}") { ${page} }
      beyond: accounts(first: 2, after: "${ids.at(-1)}") { ${page} }
      ahead: accounts(last: 2, before: "${ids[0]}") { ${page} }
    }`);
    const of = (nodes: string[], hasPreviousPage: boolean, hasNextPage: boolean) => ({
      nodes: nodes.map((id) => ({ id })),
      pageInfo: { hasNextPage, hasPreviousPage },
    });
    expect(reply.body.data).toEqual({
      newest: of(ids.slice(0, 2), false, true),
      oldest: of(ids.slice(-2), true, false),
      between: of(ids.slice(5, 7), true, true),
      back: of(ids.slice(2, 4), true, true),
      beyond: of([], true, false),
      ahead: of([], false, true),
    });
  });

  it.each<[args: string, problem: string, path: (string | number)[]]>([
    ['first: 0', 'parameter_invalid account.limit', ['first']],
    ['first: 101', 'parameter_invalid account.limit', ['first']],
    ['first: -1', 'parameter_invalid account.limit', ['first']],
    ['last: 0', 'parameter_invalid account.limit', ['last']],
    ['last: 101', 'parameter_invalid account.limit', ['last']],
    ['first: "ten"', 'parameter_invalid account.limit', ['first']],
    ['first: 99999999999', 'parameter_invalid account.limit', ['first']],
    ['after: "account_0"', 'parameter_invalid account.starting_after', ['after']],
    ['before: "account_0"', 'parameter_invalid account.ending_before', ['before']],
    ['after: ["account_0"]', 'parameter_invalid account.starting_after', ['after']],
    ['after: "a", before: "b"', 'parameter_invalid account.ending_before', ['before']],
    ['created: { gte: "yesterday" }', 'parameter_invalid account.created.gte', ['created', 'gte']],
    ['status: [GONE]', 'parameter_invalid account.status', ['status', 0]],
    ['colour: 1', 'parameter_unknown account.colour', ['colour']],
  ])('refuses %s as /v1 does', async (args, problem, path) => {
    const reply = await crowds.accounts.speaker.graph(`{ accounts(${args}) { nodes { id } } }`);
    expect(reply.codes.map((code, i) => `${code} ${reply.fieldNames[i]}`)).toEqual([problem]);
    const { code, argumentPath } = reply.body.errors[0].extensions;
    expect([code, argumentPath]).toEqual([problem.split(' ')[0]!.toUpperCase(), path]);
    expect(reply.body.data?.accounts ?? null).toBeNull();
  });

  it('pages, filters and counts inside another connection, separately for every parent', async () => {
    const platform = await given.platform(1);
    const users = await times(2, () => platform.connectedUser());
    const [one, two] = users as [Speaker, Speaker];
    const made = async (speaker: Speaker, count: number) => {
      const ids: string[] = [];
      for (let i = 0; i < count; i++)
        ids.unshift(idOf(await platform.post('/v1/addresses', payoutAddressBody(speaker.id))));
      return ids;
    };
    const [first, second] = [await made(one, 3), await made(two, 1)];
    const partner = (await one.partner()).id;
    const persons = await times(2, async () => idOf(await one.post('/v1/persons', person(one.id))));
    const reply = await platform.graph(`{
      accounts(type: [USER]) { nodes { id
        partners { totalCount nodes { id } }
        persons(first: 1) { totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage } }
        addresses(first: 2) { totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }
        usable: addresses(category: [USER_PAYOUT], status: [ACTIVATED]) { totalCount nodes { id } }
        past: addresses(category: [USER_PAYOUT], status: [PENDING_DEACTIVATION], last: 1) { totalCount nodes { id }
        pageInfo { hasNextPage hasPreviousPage } }
        never: addresses(created: { lt: "2001-01-01T00:00:00Z" }) { totalCount nodes { id } }
      } }
      account(id: "${platform.id}") { connectedUsers(last: 1) { totalCount nodes { id owner { id } } pageInfo {
      hasPreviousPage hasNextPage } } }
    }`);
    expect(reply.body.errors).toBeUndefined();
    const ordered = [one.id, two.id].sort().reverse();
    const nodes: Json[] = reply.body.data.accounts.nodes;
    const of = (id: string) => nodes.find((node) => node.id === id);
    expect(nodes.map(({ id }) => id)).toEqual(ordered);
    expect(of(one.id)).toEqual({
      id: one.id,
      partners: { totalCount: 1, nodes: [{ id: partner }] },
      persons: {
        totalCount: 2,
        nodes: [{ id: persons.sort().at(-1) }],
        pageInfo: { hasNextPage: true, hasPreviousPage: false },
      },
      addresses: {
        totalCount: 3,
        nodes: first.slice(0, 2).map((id) => ({ id })),
        pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: first[0], endCursor: first[1] },
      },
      usable: { totalCount: 1, nodes: [{ id: first[0] }] },
      past: { totalCount: 2, nodes: [{ id: first[2] }], pageInfo: { hasNextPage: false, hasPreviousPage: true } },
      never: { totalCount: 0, nodes: [] },
    });
    expect(of(two.id)).toEqual({
      id: two.id,
      partners: { totalCount: 0, nodes: [] },
      persons: { totalCount: 0, nodes: [], pageInfo: { hasNextPage: false, hasPreviousPage: false } },
      addresses: {
        totalCount: 1,
        nodes: [{ id: second[0] }],
        pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: second[0], endCursor: second[0] },
      },
      usable: { totalCount: 1, nodes: [{ id: second[0] }] },
      past: { totalCount: 0, nodes: [], pageInfo: { hasNextPage: false, hasPreviousPage: false } },
      never: { totalCount: 0, nodes: [] },
    });
    expect(reply.body.data.account.connectedUsers).toEqual({
      totalCount: 2,
      nodes: [{ id: ordered[1], owner: { id: platform.id } }],
      pageInfo: { hasPreviousPage: true, hasNextPage: false },
    });
  });

  it('continues inside another connection from a cursor, and refuses one that its caller cannot see', async () => {
    const { speaker, ids } = crowds.accounts;
    const partners = ids.filter((id) => id !== speaker.id);
    const inside = (args: string) =>
      speaker.graph(
        `{ account(id: "${speaker.id}") { partners(${args}) { nodes { id } pageInfo { hasNextPage ` +
          'hasPreviousPage } } } }',
      );
    const onward = await inside(`first: 5, after: "${partners[9]}"`);
    expect(onward.body.data.account.partners).toEqual({
      nodes: partners.slice(10, 15).map((id) => ({ id })),
      pageInfo: { hasNextPage: true, hasPreviousPage: true },
    });
    const back = await inside(`last: 5, before: "${partners[5]}"`);
    expect(back.body.data.account.partners).toEqual({
      nodes: partners.slice(0, 5).map((id) => ({ id })),
      pageInfo: { hasNextPage: true, hasPreviousPage: false },
    });
    for (const cursor of ['account_0', strangers.accounts]) {
      const reply = await inside(`after: "${cursor}"`);
      expect(reply.codes.map((code, i) => `${code} ${reply.fieldNames[i]}`)).toEqual([
        'parameter_invalid account.starting_after',
      ]);
      expect(reply.body.errors[0].extensions.argumentPath).toEqual(['after']);
    }
  });
});

describe('an empty id', () => {
  it('is refused as a filter of every list of the graph, instead of selecting everything', async () => {
    const user = await given.directUser(2);
    const schema = buildGraph();
    const idsOf = ({ args }: GraphQLField<unknown, unknown>) =>
      args.filter(({ name, type }) => /Ids?$/.test(name) && getNullableType(type) === getNamedType(type));
    const roots = Object.values(schema.getQueryType()!.getFields());
    const edges = Object.values((schema.getType('Account') as GraphQLObjectType).getFields());
    const asked = [
      ...roots.flatMap((field) => idsOf(field).map(({ name }) => [field, name, ''] as const)),
      ...edges.flatMap((field) => idsOf(field).map(({ name }) => [field, name, `account(id: "${user.id}")`] as const)),
    ];
    expect(asked.length).toBeGreaterThan(15);
    for (const [field, name, outer] of asked) {
      const more = field.args
        .filter(({ type }) => getNullableType(type) !== type)
        .map((each) => `${each.name}: "2026-01-01T00:00:00Z"`);
      const list = `${field.name}(${[`${name}: ""`, ...more].join(', ')}) { __typename }`;
      const reply = await user.graph(`{ ${outer === '' ? list : `${outer} { ${list} }`} }`);
      const named = snake(name);
      expect([list, reply.codes, reply.fieldNames.map((each) => each?.split('.')[1])]).toEqual([
        ...[list, ['parameter_invalid_empty'], [named]],
      ]);
    }
  });

  it('is refused as a filter of /v1', async () => {
    const user = await given.directUser(2);
    const paths = ['deposits', 'payments', 'receivables', 'payouts', 'checkouts', 'persons', 'files', 'balance'];
    for (const path of [...paths, 'balance/aggregate', 'webhook_endpoints', 'sessions']) {
      const reply = await user.get(`/v1/${path}?account_id=`);
      expect([path, problems(reply)]).toEqual([
        ...[path, [400, expect.stringMatching(/^parameter_invalid_empty \w+\.account_id$/)]],
      ]);
    }
    expect(problems(await user.get('/v1/addresses?linked_id='))).toEqual([
      400,
      'parameter_invalid_empty address.linked_id',
    ]);
  });
});

// Indexes of these lists have a hash of four bytes in place of the id; ids with one hash are not rare among many.
describe('the lists of two accounts whose ids have the same hash', () => {
  it('have the rows of their account alone', async () => {
    const platform = await given.platform(1);
    const tenant = platform.id.replace('account_', '');
    const [pair] = await world.sql`select min(id) as one, max(id) as other
      from (select 'account_' || md5(n::text) as id from generate_series(1, 300000) n) x
      group by hashtext(id) having count(*) > 1 limit 1`;
    const ids = [String(pair!.one), String(pair!.other)];
    for (const id of ids) {
      await world.sql`insert into account (tenant_id, livemode, id, created, kind, edition, status, address, nickname,
          business_details, supporting_documentation, tos_acceptance, owner_id, context_id, on_root_list)
        values (${tenant}, false, ${id}, 1, 'connected_user', 1, 'activated', 'activated', ${id}, '{}', '{}', '{}',
          ${platform.id}, ${id}, true)`;
      const args = { toAccountId: id, toAddressId: `address_${id.slice(8)}`, fromAccountId: null, fromAddressId: null };
      const made = { ...args, amount: '100', currency: 'USD', paymentMethod: 'domestic_credit' };
      const [row] = await world.sql.unsafe(
        `select d.id from create_deposit($1, false, '{}', $2::text::jsonb) c,
          move_deposit($1, false, '{}', jsonb_build_object('id', c.id, 'from', '["initialized", "processing"]'::jsonb,
          'to', 'completed')) d`,
        [tenant, JSON.stringify(made)],
      );
      expect(row).toBeDefined();
    }
    await world.sql`select number_events(${tenant}, false, 100)`;
    const own = '{ nodes { account { id } } }';
    for (const id of ids) {
      const reply = await platform.graph(`{ account(id: "${id}") {
        depositsIn { nodes { id to { accountId } payment { balanceTransactions ${own} } } } payments ${own}
        balanceTransactions ${own}
        events { nodes { type } } } }`);
      expect(reply.codes).toEqual([]);
      const { depositsIn, payments, balanceTransactions, events } = reply.body.data.account;
      const [deposit, ...more] = depositsIn.nodes;
      expect([deposit.to.accountId, more]).toEqual([id, []]);
      for (const list of [payments, balanceTransactions, deposit.payment.balanceTransactions])
        expect(list.nodes).toEqual([{ account: { id } }]);
      expect(events.nodes).toHaveLength(3);
      const byAccount = await platform.get(`/v1/deposits?account_id=${id}`);
      expect(byAccount.body.data.map((each: Json) => each.id)).toEqual([deposit.id]);
      const happened = await platform.get(`/v1/events?account_id=${id}`);
      expect(happened.body.data.map((each: Json) => each.account_id)).toEqual([id, id, id]);
    }
  });
});
