import { getNamedType, getNullableType, type GraphQLField, type GraphQLObjectType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { snake } from '../../src/errors/problems.js';
import { pdf } from '../support/bodies.js';
import { accountIn } from '../support/onboarding-profile.js';
import { givenIn, payoutAddressBody, type Speaker, useWorld } from '../support/world.js';
import { idOf, idsOf, type Json, lists, type Name, names, newest, person, problems, shown } from './list-fixture.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const times = <T>(n: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => make(i)));

const total = 27;

/** An account with 27 objects in each list, nine in each of three seconds, with the ids in the order of lists. */
interface Crowd {
  speaker: Speaker;
  ids: string[];
}
const crowds = {} as Record<Name, Crowd>;
let outsider: Speaker;
let outsiders: Record<Name, string>;

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
  outsider = await given.platform(1);
  const theirs = await outsider.connectedUser();
  outsiders = {
    accounts: theirs.id,
    account_settings: (await outsider.get('/v1/account_settings')).body.data[0].id,
    connected: (await outsider.get('/v1/account_settings/connected')).body.data[0].id,
    addresses: idOf(await outsider.post('/v1/addresses', payoutAddressBody(outsider.id))),
    persons: idOf(await outsider.post('/v1/persons', person(outsider.id))),
    files: idOf(await outsider.upload('logo', pdf)),
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
        const cursors = [`${object}_0`, outsiders[name], elsewhere, 'x', '0', `${ids[0]}0`, '%F0%9F%98%80', 'null'];
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

/** What the graph adds to a list: counts, both ends, and nested pages. */
describe('a connection', () => {
  it('counts the whole list on every page, and only what passes the filter', async () => {
    const user = await given.directUser(1);
    await times(12, () => user.partner());
    const held = await accountIn(user, 'partner', 'hold');
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
    for (const cursor of ['account_0', outsiders.accounts]) {
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
        .filter(({ type, defaultValue }) => getNullableType(type) !== type && defaultValue === undefined)
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
