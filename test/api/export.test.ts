import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'csv-parse/sync';
import { buildSchema, type GraphQLInputObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../src/resources/registry.js';
import { pdf, receivableBody } from '../support/bodies.js';
import { eventually, givenIn, must, type Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ environment: { EXPORT_MEGABYTES_MAX: '1' } });
const given = givenIn(world);

const create = (speaker: Speaker, list: string, filters = '', format = 'jsonl') =>
  speaker.post('/v1/exports', { list, format, ...(filters && { filters }) });

const ended = (speaker: Speaker, id: string): Promise<any> =>
  eventually(
    () => must(speaker.get(`/v1/exports/${id}`)),
    ({ status }) => status === 'completed' || status === 'failed',
  );

async function download(speaker: Speaker, id: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(`${world.origin}/v1/exports/${id}/content`, {
    method,
    headers: { authorization: `Bearer ${speaker.key}`, ...headers },
  });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** Exports a list; returns the export and its content. */
async function exported(speaker: Speaker, list: string, filters = '', format = 'jsonl') {
  const { id } = await must(create(speaker, list, filters, format));
  const made = await ended(speaker, id);
  expect([made.status, made.error]).toEqual(['completed', null]);
  const { bytes } = await download(speaker, id);
  return { made, text: bytes.toString() };
}

const objects = (text: string): any[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

/** All objects of a list, page by page. */
async function walked(speaker: Speaker, path: string): Promise<any[]> {
  const all: any[] = [];
  for (let after = ''; ; after = `starting_after=${all.at(-1).id}`) {
    const { data, has_next: more } = await must(speaker.get(`${path}${path.includes('?') ? '&' : '?'}${after}`));
    all.push(...data);
    if (!more) return all;
  }
}

const receivable = (speaker: Speaker, more: object = {}) =>
  must(speaker.post('/v1/receivables', receivableBody({ amount: '100.10', reference_number: 'INV-7' }, more)));

/** Copies the receivable of an account, so that its list has many. */
async function copies(of: string, count: number): Promise<void> {
  const columns = await world.sql<{ name: string }[]>`
    select column_name as name from information_schema.columns where table_name = 'receivable'
    and is_generated = 'NEVER'`;
  const names = columns.map(({ name }) => name);
  const changed: Record<string, string> = {
    id: `'receivable_c' || lpad(n::text, 31, '0')`,
    created: 'created - n',
  };
  await world.sql.unsafe(
    `insert into receivable (${names.join(', ')}) select ${names.map((name) => changed[name] ?? name).join(', ')}
     from receivable, generate_series(1, $2::int) n where id = $1`,
    [of, count],
  );
}

let platform: Speaker;
let user: Speaker;
/** Takes the delivery to the webhook endpoint of the platform. */
const receiver = http.createServer((request, response) => {
  request.resume();
  response.end();
});
afterAll(() => new Promise((resume) => receiver.close(resume)));
beforeAll(async () => {
  platform = await given.platform(2);
  user = await platform.connectedUser();
  await user.partner({ metadata: { order: '7' } });
  await platform.partner();
  await must(user.upload('logo', pdf));
  const { id } = await receivable(user, { description: '=HYPERLINK("http://x","a,b")\nnext', metadata: { a: '1' } });
  await receivable(user, { description: '-12.50', currency: 'USD', metadata: { a: 'b;=1' } });
  await must(user.post(`/v1/receivables/${id}/void`));
  await new Promise<void>((resume) => receiver.listen(0, '127.0.0.1', resume));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const asked = { url, event_types: ['webhook_endpoint.tested'] };
  const endpoint = await must(platform.post('/v1/webhook_endpoints', asked));
  await must(platform.post(`/v1/webhook_endpoints/${endpoint.id}/test`));
  // A delivery that has not ended would change between two readings of its list.
  await eventually(
    () => must(platform.get(`/v1/webhook_endpoints/${endpoint.id}/deliveries`)),
    ({ data }) => data[0]?.status === 'succeeded',
  );
});

describe('the lists of /v1', () => {
  it('are exported as REST answers them, each of them and in both formats, for each caller', async () => {
    const lists = routes.filter(({ answers }) => answers === 'list');
    expect(lists.length).toBeGreaterThan(15);
    const endpoint = (await must(platform.get('/v1/webhook_endpoints'))).data[0].id;
    const compared: string[] = [];
    for (const speaker of [platform, user])
      for (const { path, field } of lists) {
        if (speaker === user && path.startsWith('/v1/webhook_endpoints/:id')) continue;
        const at = path.replace(
          ':id',
          path.startsWith('/v1/accounts') ? speaker.id : path.includes('imports') ? 'none' : endpoint,
        );
        if (at.includes('none')) continue;
        // What later requests of this test add is not compared.
        const search = `?created.gte=1${path === '/v1/events' ? '&type=account.created' : ''}`;
        if ((await speaker.get(at)).status === 403) {
          await expect(written(speaker, at, '', 'csv'), path).rejects.toThrow('Only a platform');
          continue;
        }
        const expected = await walked(speaker, at + search);
        const text = await written(speaker, at, search.slice(1), 'jsonl');
        expect(objects(text), path).toEqual(expected);
        const rows: Record<string, string>[] = parse(await written(speaker, at, search.slice(1), 'csv'), {
          columns: true,
        });
        expect(rows.length, path).toBe(expected.length);
        for (const [i, row] of rows.entries()) compare(row, expected[i], path);
        if (expected.length > 0) compared.push(field);
      }
    expect(new Set(compared).size).toBeGreaterThanOrEqual(8);
  });

  it('have the same filters, and the same refusals of wrong ones', async () => {
    const { made, text } = await exported(user, '/v1/receivables', 'status=open&created.gte=1');
    expect(objects(text).map(({ description }) => description)).toEqual(['-12.50']);
    expect(objects(text)).toEqual(await walked(user, '/v1/receivables?status=open&created.gte=1'));
    expect(made).toMatchObject({ rows: 1, list: '/v1/receivables', filters: 'status=open&created.gte=1' });
    const refusals = await Promise.all([
      create(user, '/v1/receivables', 'status=lost&colour=red'),
      create(user, '/v1/nothing'),
      // A list of Edition 2, which /v1 of Edition 1 does not have.
      create(await given.directUser(1), '/v1/checkouts'),
      create(user, '/v1/receivables', 'limit=5&starting_after=x'),
      create(user, '/v1/receivables', 'order_by=amount_desc'),
      create(user, '/v1/accounts/account_00000000000000000000000000000000/partners'),
      create(user, '/v1/receivables', '', 'xml'),
    ]);
    expect(refusals.map(({ status, fieldNames }) => [status, fieldNames])).toEqual([
      [400, ['export.filters.colour', 'export.filters.status']],
      [400, ['export.list']],
      [400, ['export.list']],
      [400, ['export.filters']],
      [400, ['export.filters.currency']],
      [404, ['export.filters.account_id']],
      [400, ['export.format']],
    ]);
  });

  it('are exported by the graph, with events', async () => {
    const platform = await given.platform(2);
    await (await platform.connectedUser()).partner();
    await platform.partner();
    const made = await platform.graph(
      `mutation { createExport(input: { source: { accounts: { scope: DESCENDANTS } }, format: CSV })
        { export { id status format contentPath account { id } } } }`,
    );
    const { id, ...before } = made.body.data.createExport.export;
    expect(before).toEqual({ status: 'PENDING', format: 'CSV', contentPath: null, account: { id: platform.id } });
    await ended(platform, id);
    const asked =
      `{ export(id: "${id}") { rows bytes sha256 contentPath } account(id: "${platform.id}") { exports(status: ` +
      '[COMPLETED]) { nodes { id } } } }';
    const { data } = (await platform.graph(asked)).body;
    const { bytes } = await download(platform, id);
    expect(data.export).toEqual({
      rows: 4,
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      contentPath: `/v1/exports/${id}/content`,
    });
    expect(data.account.exports.nodes).toEqual([{ id }]);
    const events = await eventually(
      async () => (await must(platform.get('/v1/events?type=export.completed'))).data,
      (list) => list[0]?.data.object.id === id,
    );
    expect(events[0].data.object).toEqual(await must(platform.get(`/v1/exports/${id}`)));
  });

  it.each<[source: string, path: string, filters: string]>([
    ['receivables: {}', '/v1/receivables', ''],
    ['receivables: { status: [OPEN, VOID] }', '/v1/receivables', 'status=open&status=void'],
    [
      'receivables: { currency: USD, amount: { gte: "0.01", lt: "1000000.50" }, orderBy: AMOUNT_DESC }',
      '/v1/receivables',
      'order_by=amount_desc&currency=USD&amount.gte=0.01&amount.lt=1000000.50',
    ],
    ['receivables: { metadata: { key: "a", value: "1" } }', '/v1/receivables', 'metadata.key=a&metadata.value=1'],
    ['events: { types: ["receivable.*"] }', '/v1/events', 'types=receivable.*'],
    [
      'receivables: { created: { gte: "2026-01-01T00:00:00Z", lt: "2036-01-01T00:00:00Z" } }',
      '/v1/receivables',
      'created.gte=1767225600&created.lt=2082758400',
    ],
    ['partners: { accountId: $id, orderBy: CREATED_ASC }', '/v1/accounts/:id/partners', 'order_by=created_asc'],
    ['balanceTransactions: { accountId: $id }', '/v1/accounts/:id/balance_transactions', ''],
    ['balanceTransactions: { currency: USD }', '/v1/balance_transactions', 'currency=USD'],
    ['accounts: { scope: SELF, status: null, type: [PARTNER] }', '/v1/accounts', 'type=partner'],
  ])('are made of a source in the graph as of a path and a query on /v1: %s', async (source, path, filters) => {
    const { body } = await user.graph(
      `mutation ($id: ID) { createExport(input: { source: { ${source} }, format: JSONL }) { export { id list filters } }
        }`.replace('($id: ID)', source.includes('$id') ? '($id: ID!)' : ''),
      source.includes('$id') ? { id: user.id } : {},
    );
    expect(body.errors).toBeUndefined();
    const { id, list, ...made } = body.data.createExport.export;
    expect([list, [...new URLSearchParams(made.filters)].toSorted()]).toEqual([
      path.replace(':id', user.id),
      [...new URLSearchParams(filters)].toSorted(),
    ]);
    expect(await ended(user, id)).toMatchObject({ status: 'completed', list, filters: made.filters });
    expect(objects((await download(user, id)).bytes.toString())).toEqual(
      await walked(user, list + (filters && `?${filters}`)),
    );
  });

  it('have exactly one list in their source, as a literal and as a variable', async () => {
    const count = async () => (await world.sql`select count(*)::int from data_export`)[0]!.count;
    const before = await count();
    for (const source of [
      { deposits: {}, receivables: {} },
      {},
      { deposits: null },
      { deposits: {}, receivables: null },
    ]) {
      const literal = JSON.stringify(source).replaceAll('"', '');
      const written = await user.graph(
        `mutation { createExport(input: { source: ${literal}, format: CSV }) { export { id } } }`,
      );
      const sent = await user.graph(
        'mutation ($source: ExportSource!) { createExport(input: { source: $source, format: CSV }) { export { id } } }',
        { source },
      );
      const whole = await user.graph(
        'mutation ($input: CreateExportInput!) { createExport(input: $input) { export { id } } }',
        { input: { source, format: 'CSV' } },
      );
      for (const reply of [written, sent, whole]) {
        const empty = Object.keys(source).length === 0;
        const code = empty ? 'parameter_invalid_empty' : 'parameter_invalid';
        expect([literal, reply.status, reply.codes]).toEqual([literal, 400, [code]]);
        const [{ message, extensions }] = reply.body.errors;
        expect(message).toContain(empty ? 'source is empty' : 'source must have exactly one member');
        expect(extensions.argumentPath).toEqual(['input', 'source']);
      }
    }
    expect(await count()).toBe(before);
  });

  it.each<[source: string, path: (string | number)[]]>([
    ['receivables: { status: [] }', ['receivables', 'status']],
    ['receivables: { orderBy: AMOUNT_DESC }', ['receivables', 'currency']],
    ['receivables: { search: "a", status: OPEN }', ['receivables', 'status']],
    ['partners: { accountId: "account_0" }', ['partners', 'accountId']],
    ['partners: { accountId: "a/b" }', ['partners']],
    ['events: { types: ["deposit.vanished"] }', ['events', 'types', 0]],
  ])('with a wrong filter are refused where it is in the source, and store nothing: %s', async (source, path) => {
    const rows = async () => (await world.sql`select count(*)::int from data_export`)[0]!.count;
    const before = await rows();
    const reply = await user.graph(
      `mutation { createExport(input: { source: { ${source} }, format: CSV }) { export { id } } }`,
    );
    expect(reply.body.errors.map(({ extensions }: any) => extensions.argumentPath)).toEqual([
      ['input', 'source', ...path],
    ]);
    expect(await rows()).toBe(before);
  });

  it.each(['partners', 'balanceTransactions'])(
    'of half a character in place of an account are refused: %s',
    async (list) => {
      const text =
        'mutation ($s: ExportSource!) { createExport(input: { source: $s, format: CSV }) { export { id } } }';
      for (const of of [{ accountId: 'a\ud800b' }, { filter: { accountId: 'a\ud800b' } }]) {
        const { codes, body } = await user.graph(text, { s: { [list]: of } });
        expect(codes).toContain('parameter_invalid');
        expect(body.errors[0].extensions.argumentPath.slice(0, 3)).toEqual(['input', 'source', list]);
      }
    },
  );

  it('of the objects of another account are empty', async () => {
    const outsider = await given.platform(2);
    const text =
      'mutation ($source: ExportSource!) { createExport(input: { source: $source, format: CSV }) { ' +
      'export { id } } }';
    for (const list of ['receivables', 'accountSettings']) {
      const source = { [list]: { accountId: user.id } };
      const { body } = await outsider.graph(text, { source });
      const { status, rows } = await ended(outsider, body.data.createExport.export.id);
      expect([list, status, rows]).toEqual([list, 'completed', 0]);
    }
  });

  it('of a list that the edition does not have are refused', async () => {
    const reply = await (await given.directUser(1)).graph(
      'mutation { createExport(input: { source: { checkouts: {} }, format: CSV }) { export { id } } }',
    );
    expect(reply.body.errors[0].extensions.argumentPath).toEqual(['input', 'source', 'checkouts']);
    expect(reply.body.errors[0].message).toContain('edition');
  });

  it('have a source for each list of /v1, with the filters and the order of its query', () => {
    const schema = buildSchema(fs.readFileSync('schema/graph.graphql', 'utf8'));
    const source = schema.getType('ExportSource') as GraphQLInputObjectType;
    expect(source.isOneOf).toBe(true);
    const lists = new Set(routes.flatMap(({ answers, field }) => (answers === 'list' ? [field] : [])));
    expect(Object.keys(source.getFields()).toSorted()).toEqual([...lists].toSorted());
    for (const [name, { type }] of Object.entries(source.getFields())) {
      const declared = schema
        .getQueryType()!
        .getFields()
        [name]!.args.map((each) => each.name);
      const pages = ['first', 'after', 'last', 'before'];
      expect([name, Object.keys((type as GraphQLInputObjectType).getFields())]).toEqual([
        name,
        declared.filter((each) => !pages.includes(each)),
      ]);
    }
  });

  it('belong to their account, and a session sees no more by them', async () => {
    const { id } = await must(create(user, '/v1/events'));
    await ended(user, id);
    const outsiders = [await given.platform(2), await platform.connectedUser()];
    for (const outsider of outsiders) {
      expect((await outsider.get(`/v1/exports/${id}`)).status).toBe(404);
      expect((await download(outsider, id)).status).toBe(404);
    }
    const made = await must(user.post('/v1/sessions', { role: 'operate' }));
    const session = user.using(made.token ?? made.secret);
    expect((await download(session, id)).status).toBe(403);
    const own = await exported(session, '/v1/events');
    // Later events, such as that of the end of the export, are the first ones of the list.
    const found = objects(own.text);
    expect(found.length).toBeGreaterThan(3);
    expect(found).toEqual((await walked(session, '/v1/events')).slice(-found.length));
    expect(own.text).not.toContain('session.created');
  });
});

/** A list in a format, without the job that stores it. */
async function written(speaker: Speaker, list: string, filters: string, format: 'csv' | 'jsonl'): Promise<string> {
  const [row] =
    await world.sql`select kind, edition, context_id from account where id = ${speaker.id} and not livemode`;
  const kind = row!.kind as 'platform';
  const caller = {
    ...{ tenantId: tenantOf(platform), livemode: false, edition: 2 as const, kind, permission: 'full' as const },
    ...{ keyId: null, accountId: speaker.id, actingAccountId: speaker.id, actingAccountKind: kind },
  };
  const { statement, header, lines } = await world.app.bulk.list({ list, filters, format }, caller);
  let text = header;
  await world.database.lists.read(statement, async (rows) => void (text += lines(rows)));
  return text;
}

/** Compares a row of CSV with its object: each cell is the value with its dotted name. */
function compare(row: Record<string, string>, object: any, path: string): void {
  for (const [name, cell] of Object.entries(row)) {
    const value = name.split('.').reduce((at: any, key) => at?.[key], object);
    const text =
      value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
    const plain = cell.replaceAll(/(?<=[;\t\r\n])'/g, '');
    expect([text, `'${text}`], `${path} ${name}`).toContain(plain);
  }
  const leaves = (at: any, name: string): string[] =>
    typeof at === 'object' && at !== null && !Array.isArray(at) && !(name in row)
      ? Object.entries(at).flatMap(([key, value]) => leaves(value, name ? `${name}.${key}` : key))
      : at === null && !(name in row)
        ? []
        : [name];
  expect(Object.keys(row), path).toEqual(expect.arrayContaining(leaves(object, '')));
}

describe('CSV', () => {
  it('has texts that no spreadsheet takes for formulas, and exact amounts', async () => {
    const { text } = await exported(user, '/v1/receivables', '', 'csv');
    expect(text).toContain('"\'=HYPERLINK(""http://x"",""a,b"")\nnext"');
    const rows: Record<string, string>[] = parse(text, { columns: true });
    expect(rows.map((row) => [row.description, row['invoice.amount'], row.metadata])).toEqual([
      ['-12.50', '100.10', `{"a":"b;'=1"}`],
      [`'=HYPERLINK("http://x","a,b")\nnext`, '100.10', '{"a":"1"}'],
    ]);
    expect(text.split('\r\n')).toHaveLength(4);
  });

  it('has its header also for an empty list', async () => {
    const { made, text } = await exported(user, '/v1/payouts', '', 'csv');
    expect(made.rows).toBe(0);
    expect(text).toMatch(/^id,object,created,livemode,.*\r\n$/);
  });
});

describe('a long list', () => {
  const count = 1_300;
  /** An account with that many receivables, and an export of them. */
  async function longList() {
    const owner = await given.directUser(1);
    const { id: first } = await receivable(owner);
    await copies(first, count - 1);
    const { id } = await must(create(owner, '/v1/receivables'));
    const made = await ended(owner, id);
    expect(made).toMatchObject({ status: 'completed', rows: count });
    const whole = (await download(owner, id)).bytes;
    expect(whole.length).toBe(made.bytes);
    expect(createHash('sha256').update(whole).digest('hex')).toBe(made.sha256);
    const [{ n }] = await world.sql<
      [{ n: number }]
    >`select count(*)::int as n from export_part where export_id = ${id}`;
    expect(n).toBeGreaterThan(1);
    return { owner, id, whole };
  }
  let owner: Speaker;
  let id: string;
  let whole: Buffer;
  beforeAll(async () => {
    ({ owner, id, whole } = await longList());
  });

  it('is complete, and each row is in it once', () => {
    expect(new Set(objects(whole.toString()).map((each) => each.id)).size).toBe(count);
  });

  it('can be downloaded from any byte on', async () => {
    const { headers } = await download(owner, id, {}, 'HEAD');
    const tag = headers.get('etag')!;
    expect([headers.get('content-length'), headers.get('accept-ranges')]).toEqual([String(whole.length), 'bytes']);
    for (const [from, to] of [
      [0, 0],
      [524_000, 525_000],
      [whole.length - 5, whole.length - 1],
      [7, whole.length - 1],
    ] as const) {
      const part = await download(owner, id, { range: `bytes=${from}-${to}`, 'if-range': tag });
      expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes ${from}-${to}/${whole.length}`]);
      expect(part.bytes.equals(whole.subarray(from, to + 1))).toBe(true);
    }
    const last = await download(owner, id, { range: 'bytes=-10' });
    expect(last.bytes.equals(whole.subarray(-10))).toBe(true);
    const all = await download(owner, id, { range: `bytes=-${whole.length + 1}` });
    expect([all.status, all.headers.get('content-range')]).toEqual([
      206,
      `bytes 0-${whole.length - 1}/${whole.length}`,
    ]);
    expect(all.bytes.equals(whole)).toBe(true);
    const beyond = await download(owner, id, { range: `bytes=${whole.length}-` });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${whole.length}`]);
    expect(beyond.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(JSON.parse(beyond.bytes.toString())).toMatchObject({
      ...{ object: 'error', http_status_code: 416 },
      errors: [{ code: 'range_not_satisfiable' }],
    });
    const other = await download(owner, id, { range: 'bytes=0-9', 'if-range': '"other"' });
    expect([other.status, other.bytes.length]).toEqual([200, whole.length]);
    expect((await owner.get(`/v1/exports/${id}/content`, { 'if-none-match': tag })).status).toBe(304);
    const several = await download(owner, id, { range: 'bytes=0-1,5-6' });
    expect([several.status, several.bytes.length]).toEqual([200, whole.length]);
  });

  it('is of one moment: what changes while it is read is not in it', async () => {
    const { owner, whole } = await longList();
    const caller = {
      ...{
        tenantId: tenantOf(owner),
        livemode: false,
        edition: 1 as const,
        kind: 'direct_user' as const,
        permission: 'full' as const,
      },
      ...{ keyId: null, accountId: owner.id, actingAccountId: owner.id, actingAccountKind: 'direct_user' as const },
    };
    const { statement, lines } = await world.app.bulk.list(
      { list: '/v1/receivables', filters: '', format: 'jsonl' },
      caller,
    );
    let text = '';
    let changed = false;
    await world.database.lists.read(statement, async (rows) => {
      if (!changed) {
        await world.sql`update receivable set description = 'changed' where account_id = ${owner.id}`;
        await world.sql`delete from receivable where account_id = ${owner.id} and id like 'receivable_c%'
          and created % 2 = 0`;
        changed = true;
      }
      text += lines(rows);
    });
    expect(text).toBe(whole.toString());
    expect((await must(owner.get('/v1/receivables'))).data[0].description).toBe('changed');
  });

  it('begins again after its process has died, and has nothing twice', async () => {
    const tenant = tenantOf(owner);
    // The export is as a process leaves it that dies before its end.
    const { id: next } = await must(create(owner, '/v1/receivables'));
    await ended(owner, next);
    await world.sql`update data_export set status = 'running', due = 0, completed_at = null, expires_at = null, sha256 =
      null where id = ${next}`;
    const [late] = await world.sql`select append_export_part(${tenant}, false, ${next}, 1, 99, 5, 'AAAA')`;
    expect(late!.append_export_part).toBe(false);
    const again = await ended(owner, next);
    expect(again).toMatchObject({ status: 'completed', rows: count });
    const { bytes } = await download(owner, next);
    expect(new Set(objects(bytes.toString()).map((each) => each.id)).size).toBe(count);
    expect(bytes.length).toBe(again.bytes);
    const [stale] = await world.sql`select append_export_part(${tenant}, false, ${next}, 1, 1, 5, 'AAAA')`;
    expect(stale!.append_export_part).toBe(false);
  });

  it('fails when it is larger than an export may be, and its content is gone', async () => {
    const owner = await given.directUser(1);
    await copies((await receivable(owner)).id, 2 * count);
    const { id: large } = await must(create(owner, '/v1/receivables'));
    expect(await ended(owner, large)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('1048576 bytes'),
    });
    expect((await download(owner, large)).status).toBe(400);
    await eventually(
      async () => (await world.sql`select 1 from export_part where export_id = ${large}`).length,
      (n) => n === 0,
    );
  });

  it('expires: its content is deleted after its time, and the export 30 days after its end', async () => {
    const { owner, id } = await longList();
    await world.sql`update data_export set due = 0 where id = ${id}`;
    await eventually(
      () => must(owner.get(`/v1/exports/${id}`)),
      ({ status }) => status === 'expired',
    );
    expect((await download(owner, id)).status).toBe(400);
    expect((await world.sql`select 1 from export_part where export_id = ${id}`).length).toBe(0);
    await world.sql`update data_export set due = 0, completed_at = completed_at - 31 * 86400 where id = ${id}`;
    await eventually(
      () => owner.get(`/v1/exports/${id}`),
      ({ status }) => status === 404,
    );
  });
});

describe('many exports', () => {
  it('of a tenant are refused beyond three under way, and those of others are not', async () => {
    const busy = await given.platform(1);
    const tenant = tenantOf(busy);
    await must(create(busy, '/v1/accounts'));
    await world.sql`
      insert into data_export
      select (jsonb_populate_record(e, jsonb_build_object('id', e.id || n, 'status', 'running', 'due', 99999999999))).*
      from data_export e, generate_series(1, 3) n where e.tenant_id = ${tenant}`;
    const refused = await create(busy, '/v1/accounts');
    expect([refused.status, refused.codes, refused.headers.get('retry-after')]).toEqual([
      429,
      ['rate_limit_exceeded'],
      '1',
    ]);
    await exported(await given.platform(1), '/v1/accounts');
    await world.sql`update data_export set status = 'completed', bytes = 1048576 where tenant_id = ${tenant}`;
    expect((await create(busy, '/v1/accounts')).codes).toEqual(['rate_limit_exceeded']);
  });

  it('are made once by two processes', async () => {
    const speaker = await given.platform(1);
    const { id } = await must(create(speaker, '/v1/accounts'));
    await ended(speaker, id);
    const claims = await Promise.all(
      Array.from({ length: 8 }, () => world.sql`select id from claim_export(${tenantOf(speaker)}, false, ${id}, 30)`),
    );
    expect(claims.flat()).toEqual([]);
    await world.sql`update data_export set status = 'pending', due = 99999999999 where id = ${id}`;
    await world.sql`update data_export set due = extract(epoch from clock_timestamp())::bigint where id = ${id}`;
    expect((await ended(speaker, id)).rows).toBe(1);
  });
});
