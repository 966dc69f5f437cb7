import { beforeAll, describe, expect, it } from 'vitest';
import { receivableBody } from '../support/bodies.js';
import { details, givenIn, type Reply, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

type Json = any;
const done = ({ status, text, body }: Reply): Json => {
  if (status !== 200 || body.errors) throw new Error(text);
  return body;
};
const problems = ({ body, status, codes, fieldNames }: Reply) => [
  body.errors?.[0].extensions?.httpStatus ?? status,
  ...codes.map((code, i) => `${code} ${fieldNames[i]}`),
];

let platform: Speaker;
let user: Speaker;
let other: Speaker;
let outsider: Speaker;
let [userId, otherId] = ['', ''];
/** Names of objects by their ids, so that results can be read. */
const names = new Map<string, string>();
const named = (rows: Json[]): (string | undefined)[] => rows.map(({ id }) => names.get(id));

const partnerOf = async (speaker: Speaker, name: string, more: object = {}): Promise<Json> => {
  const made = await speaker.partner({
    nickname: name,
    business_details: details(`${name} Ltd`),
    ...more,
  });
  names.set(made.id, name);
  return made;
};
const receivableOf = async (speaker: Speaker, reference: string, metadata?: object): Promise<Json> => {
  const made = done(
    await speaker.post(
      '/v1/receivables',
      receivableBody(
        { amount: '5.00', creation_date: '2026-01-01', due_date: '2026-03-01', reference_number: reference },
        metadata && { metadata },
      ),
    ),
  );
  names.set(made.id, reference);
  return made;
};

beforeAll(async () => {
  [platform, outsider] = await Promise.all([given.platform(1), given.directUser(1)]);
  const users = [await platform.connectedUser({ nickname: 'Harbour Exports' }), await platform.connectedUser()];
  [user, other] = users.map(({ id }) => platform.actingFor(id)) as [Speaker, Speaker];
  [userId, otherId] = users.map(({ id }) => id) as [string, string];
  for (const each of users) names.set(each.id, each === users[0] ? 'user' : 'other');
  await receivableOf(user, 'INV-2026-00017', { order: 'O-17', colour: 'Blue' });
  await receivableOf(user, 'INV-2026-00018', { order: 'O-18' });
  await receivableOf(user, 'INV-2026-00019');
  await receivableOf(user, 'inv', { note: 'Résumé of the Straße' });
  await receivableOf(other, 'INV-2026-00999', { order: 'O-17' });
  await receivableOf(outsider, 'INV-2026-00555', { order: 'O-17' });
  for (const [name, email] of [
    ['Acme Retail', 'desk@acme.example'],
    ['Ácme Wholesale', 'buy@wholesale.example'],
    ['Übel & Söhne', 'post@uebel.example'],
    ['खाता मित्र', 'a@b.example'],
  ] as const)
    await partnerOf(user, name, { business_details: { ...details(`${name} Ltd`), email } });
  await partnerOf(other, 'Acme of the other');
});

/** What a search finds through both APIs: forwards by pages of two, backwards, compiled and counted; all must agree. */
async function found(speaker: Speaker, list: string, search: string, args = ''): Promise<(string | undefined)[]> {
  const v1 = /^\w+:/.test(search) ? search.replace(/^(\w+):(.*)$/, (_, key, value) => pair(key, value)) : text(search);
  const graph = /^\w+:/.test(search) ? asInput(search) : `search: ${JSON.stringify(search)}`;
  const rows: Json[] = [];
  const path = list === 'partners' ? `accounts/${args || speaker.id}/partners` : list;
  for (let after = ''; ; ) {
    const page = done(await speaker.get(`/v1/${path}?limit=2&${v1}${after}`));
    rows.push(...page.data);
    if (!page.has_next) break;
    after = `&starting_after=${rows.at(-1).id}`;
  }
  const ids = rows.map(({ id }) => id);
  const owner = args ? `, accountId: "${args}"` : '';
  const nodes = async (page: string, more = '') =>
    done(
      await speaker.graph(
        `{ ${list}(${page}, ${graph}${owner}) { nodes { id } pageInfo { hasNextPage hasPreviousPage ` +
          `startCursor } ${more} } }`,
      ),
    ).data[list];
  for (let times = 0; times < 4; times++)
    expect((await nodes('first: 100')).nodes.map(({ id }: Json) => id)).toEqual(ids);
  expect((await nodes('first: 100', 'totalCount')).totalCount).toBe(ids.length);
  const backwards: string[] = [];
  for (let before = ''; ; ) {
    const page = await nodes(`last: 2${before}`);
    backwards.unshift(...page.nodes.map(({ id }: Json) => id));
    if (!page.pageInfo.hasPreviousPage) break;
    before = `, before: "${page.pageInfo.startCursor}"`;
  }
  expect(backwards).toEqual(ids);
  return named(rows);
}
const text = (search: string) => `search=${encodeURIComponent(search)}`;
const pair = (key: string, value: string) =>
  `metadata.key=${key}${value && `&metadata.value=${encodeURIComponent(value)}`}`;
const asInput = (search: string) => {
  const [key, value] = search.split(':');
  return `metadata: { key: ${JSON.stringify(key)}${value ? `, value: ${JSON.stringify(value)}` : ''} }`;
};

describe('a search', () => {
  it.each([
    ['receivables', 'INV-2026-00017', ['INV-2026-00017']],
    ['receivables', 'inv 2026 0001', ['INV-2026-00017', 'INV-2026-00018', 'INV-2026-00019']],
    ['receivables', '2026/00018', ['INV-2026-00018']],
    ['receivables', 'INV', ['inv', 'INV-2026-00017', 'INV-2026-00018', 'INV-2026-00019']],
    ['receivables', '00019', ['INV-2026-00019']],
    ['receivables', '0019', []],
    ['receivables', 'inv 00017', []],
    ['receivables', 'blu', ['INV-2026-00017']],
    ['receivables', 'resume', ['inv']],
    ['receivables', 'RÉSUMÉ  of.', ['inv']],
    ['receivables', 'P0802', []],
    ['partners', 'acme', ['Acme Retail', 'Ácme Wholesale']],
    ['partners', 'acme.example', ['Acme Retail']],
    ['partners', 'desk@acme', ['Acme Retail']],
    ['partners', 'Retail LTD', ['Acme Retail']],
    ['partners', 'ubel söhne', ['Übel & Söhne']],
    ['partners', 'मित्र', ['खाता मित्र']],
    ['accounts', 'harbour exports', ['user']],
  ])('finds the words of an object, in the order of what was found: %s %s', async (list, search, expected) => {
    expect(await found(user, list, search, list === 'partners' ? userId : '')).toEqual(expected);
  });

  it.each([
    ['order:O-17', ['INV-2026-00017']],
    ['order:o-17', []],
    ['order:', ['INV-2026-00017', 'INV-2026-00018']],
    ['colour:Blue', ['INV-2026-00017']],
    ['orde:', []],
    ['order:O-1', []],
  ])('finds a pair or a key of metadata exactly: %s', async (search, expected) => {
    expect(await found(user, 'receivables', search)).toEqual(expected);
  });

  it('finds long values of metadata exactly, and by their first words', async () => {
    const [a, b] = ['a', 'b'].map((end) => `${'9'.repeat(60)} ${end}`) as [string, string];
    await receivableOf(outsider, 'long-a', { long: a });
    await receivableOf(outsider, 'long-b', { long: b });
    expect(await found(outsider, 'receivables', `long:${b}`)).toEqual(['long-b']);
    expect((await found(outsider, 'receivables', '9'.repeat(40))).sort()).toEqual(['long-a', 'long-b']);
  });

  it('shows no more than the caller sees: users, platform, other tenants and modes', async () => {
    expect(await found(other, 'receivables', 'inv')).toEqual(['INV-2026-00999']);
    expect(await found(other, 'partners', 'acme', otherId)).toEqual(['Acme of the other']);
    expect(await found(outsider, 'receivables', 'inv')).toEqual(['INV-2026-00555']);
    expect(await found(outsider, 'receivables', 'order:O-17')).toEqual(['INV-2026-00555']);
    // The platform's list has the objects of its users, but not their partners.
    expect(await found(platform, 'receivables', 'inv 2026 000')).toHaveLength(3);
    expect(await found(platform, 'receivables', 'inv 2026')).toHaveLength(4);
    expect(await found(platform, 'accounts', 'harbour')).toEqual(['user']);
    expect(await found(platform, 'accounts', 'acme')).toEqual([]);
    expect(await found(platform, 'partners', 'acme', otherId)).toEqual(['Acme of the other']);
    expect(await found(platform, 'partners', 'acme', platform.id)).toEqual([]);
    const live = await world.sql`select count(*)::int as n from search_entry where livemode and start like 'inv%'`;
    expect(live[0]!.n).toBe(0);
    const owner = await user.graph(`{ partners(accountId: "${otherId}", search: "acme") { nodes { id } } }`);
    expect(problems(owner)).toEqual([404, 'resource_missing account.account_id']);
  });

  it('follows a change of metadata, and refuses the cursor of an object that it no longer finds', async () => {
    const made = await receivableOf(outsider, 'changing', { state: 'first draft', kept: 'same' });
    expect(await found(outsider, 'receivables', 'first dra')).toEqual(['changing']);
    done(await outsider.post(`/v1/receivables/${made.id}`, { metadata: { state: 'second', new: 'value' } }));
    expect(await found(outsider, 'receivables', 'first dra')).toEqual([]);
    expect(await found(outsider, 'receivables', 'state:first draft')).toEqual([]);
    for (const search of ['second', 'state:second', 'same', 'new:', 'changing'])
      expect(await found(outsider, 'receivables', search)).toEqual(['changing']);
    const gone = await outsider.get(`/v1/receivables?search=first&starting_after=${made.id}`);
    expect(problems(gone)).toEqual([400, 'parameter_invalid receivable.starting_after']);
    const [row] = await world.sql`
      select count(*)::int as n from search_entry where id = ${made.id}
      and start = any(search_starts('{first draft}', null))`;
    expect(row!.n).toBe(0);
  });

  it('follows a change of the names of a connected user', async () => {
    const draft = await platform.connectedUser({ nickname: 'Before the change' });
    names.set(draft.id, 'changed');
    expect(await found(platform, 'accounts', 'before the')).toEqual(['changed']);
    done(await platform.post(`/v1/accounts/${draft.id}`, { nickname: 'After the change' }));
    expect(await found(platform, 'accounts', 'before the')).toEqual([]);
    expect(await found(platform, 'accounts', 'after the')).toEqual(['changed']);
  });
});

describe('a search of deposits', () => {
  it('finds the statement descriptor, the metadata and the payer, unless the payer is on another list', async () => {
    const payer = await partnerOf(outsider, 'Payer Industries');
    const deposit = async (descriptor: string, more: object = {}) => {
      const made = done(
        await outsider.post('/v1/deposits', {
          ...{ amount: '5.00', currency: 'USD', statement_descriptor: descriptor, ...more },
        }),
      );
      names.set(made.id, descriptor);
      return made.id as string;
    };
    await deposit('Monthly fee');
    const [paid, second] = [
      await deposit('Monthly retainer', { from: { account_id: payer.id }, metadata: { batch: 'B7' } }),
      await deposit('Monthly retainer', { from: { account_id: payer.id } }),
    ];
    names.set(second, 'second');
    // The same text is found in the order of the list, the newest first.
    await world.sql`update deposit set created = created + 5 where id = ${second}`;
    await world.sql`delete from search_entry where id = ${second}`;
    await world.sql`select index_object(tenant_id, livemode, 'deposit', null, to_jsonb(d)) from deposit d
      where id = ${second}`;
    expect(await found(outsider, 'deposits', 'monthly')).toEqual(['Monthly fee', 'second', 'Monthly retainer']);
    expect(await found(outsider, 'deposits', 'payer ind')).toEqual(['second', 'Monthly retainer']);
    expect(await found(outsider, 'deposits', 'batch:B7')).toEqual(['Monthly retainer']);
    // A payer that is on the list of another account is not searched: its name would be revealed.
    await world.sql`update account set context_id = 'account_other' where id = ${payer.id}`;
    expect(await found(outsider, 'deposits', 'payer')).toEqual([]);
    await world.sql`delete from search_entry where id = ${paid}`;
    await world.sql`select index_object(tenant_id, livemode, 'deposit', null, to_jsonb(d)) from deposit d
      where id = ${paid}`;
    const starts = await world.sql`select distinct start from search_entry where id = ${paid} order by 1`;
    expect(starts.map(({ start }) => start)).toEqual(['=batch=B7', 'b7', 'monthly retainer', 'retainer']);
    await world.sql`update account set context_id = ${outsider.id} where id = ${payer.id}`;
  });
});

describe('objects from before the search', () => {
  it('are added in steps, with the same entries as new objects', async () => {
    const tenant = platform.id.replace('account_', '');
    const entries = async () =>
      (
        await world.sql`select * from search_entry where tenant_id = ${tenant} order by livemode, list, start, age, id`
      ).map((row) => Object.values(row).join(' '));
    const before = await entries();
    expect(before.length).toBeGreaterThan(30);
    await world.sql`delete from search_entry where tenant_id = ${tenant}`;
    for (const live of [false, true]) {
      await world.sql`insert into search_backfill values (${tenant}, ${live}, '', 0)`;
      const counts: (number | null)[] = [];
      do counts.push((await world.database.call('backfill_search', [tenant, live, 3]))[0]!.backfill_search as null);
      while (counts.at(-1) !== null);
      expect(counts.length).toBeGreaterThan(live ? 1 : 3);
    }
    expect(await entries()).toEqual(before);
  });
});

describe('bad input', () => {
  const lists = ['accounts', 'deposits', 'receivables'];
  it.each([
    ['a'.repeat(101), 'must have at most 100 characters'],
    ['😀'.repeat(101), 'must have at most 100 characters'],
    ['---', 'must contain a letter or a digit'],
    ['\u0001\u0007\t\n ', 'must contain a letter or a digit'],
    ['—“”…', 'must contain a letter or a digit'],
    ['\u0301', 'must contain a letter or a digit'],
    ['a\u0000b', 'contains the character NUL'],
  ])('is refused by both APIs with the name of the parameter: %j', async (search, fault) => {
    for (const list of lists) {
      const rest = await user.get(`/v1/${list}?${text(search)}`);
      expect(problems(rest)).toEqual([400, `parameter_invalid ${list.slice(0, -1)}.search`]);
      expect(rest.text).toContain(fault);
      const graph = await user.graph(`query ($search: String) { ${list}(search: $search) { nodes { id } } }`, {
        search,
      });
      expect(problems(graph)).toEqual([400, `parameter_invalid ${list.slice(0, -1)}.search`]);
    }
  });

  it('refuses filters and orders beside a search', async () => {
    for (const [query, args, fields] of [
      ['search=a&status=open', 'search: "a", status: [OPEN]', ['status']],
      ['search=a&created.gte=1', 'search: "a", created: { gte: "2026-01-01T00:00:00Z" }', ['created.gte']],
      ['search=a&order_by=created_asc', 'search: "a", orderBy: CREATED_ASC', ['order_by']],
      ['search=a&metadata.key=k', 'search: "a", metadata: { key: "k" }', ['metadata.key']],
      ['metadata.key=k&account_id=x', 'metadata: { key: "k" }, accountId: "x"', ['account_id']],
    ] as const) {
      const expected = [400, ...fields.map((field) => `parameter_invalid receivable.${field}`)];
      expect(problems(await user.get(`/v1/receivables?${query}`))).toEqual(expected);
      expect(problems(await user.graph(`{ receivables(${args}) { nodes { id } } }`))).toEqual(expected);
    }
  });

  it('lists the partners of a user for its platform, without a search as with one', async () => {
    const { data } = done(await platform.get(`/v1/accounts/${otherId}/partners`));
    expect(data.map(({ nickname }: { nickname: string }) => nickname)).toEqual(['Acme of the other']);
  });

  it('refuses a value of metadata without a key, and reads an empty search as none', async () => {
    expect((await user.get('/v1/receivables?metadata.value=x')).status).toBe(400);
    expect(problems(await user.graph('{ receivables(metadata: { key: "", value: "x" }) { nodes { id } } }'))).toEqual([
      400,
      'parameter_invalid receivable.metadata.key',
    ]);
    expect(done(await user.graph('{ receivables(search: "") { totalCount } }')).data.receivables.totalCount).toBe(4);
  });

  it('finds nothing for texts with the characters of patterns, and no object twice', async () => {
    for (const search of ["a'b", 'a%', 'a_b', 'a\\b', 'a*', '\u{10ffff}', '＝order＝'])
      expect(done(await user.get(`/v1/receivables?${text(search)}`)).data).toEqual([]);
    await receivableOf(outsider, 'twin twin-twin twins');
    expect(await found(outsider, 'receivables', 'twin')).toEqual(['twin twin-twin twins']);
  });
});
