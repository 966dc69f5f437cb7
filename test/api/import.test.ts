import { describe, expect, it } from 'vitest';
import { rowsOfFile } from '../../src/api/rest/bulk/import-file.js';
import { pdf } from '../support/bodies.js';
import { eventually, givenIn, must, nickname, type Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld();
const given = givenIn(world);

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const upload = async (speaker: Speaker, content: string | Uint8Array): Promise<string> =>
  (await must(speaker.upload('import', typeof content === 'string' ? bytes(content) : content, 'rows.csv'))).id;
const create = (speaker: Speaker, kind: string, file: string, dryRun = false) =>
  speaker.post('/v1/imports', { kind, file_id: file, ...(dryRun && { dry_run: true }) });
const ended = (speaker: Speaker, id: string): Promise<any> =>
  eventually(
    () => must(speaker.get(`/v1/imports/${id}`)),
    ({ status }) => status === 'completed' || status === 'failed',
  );

/** The results of an import, the first row first. */
async function results(speaker: Speaker, id: string): Promise<any[]> {
  const all: any[] = [];
  for (let after = ''; ; after = `&starting_after=${all.at(-1).id}`) {
    const page = await must(speaker.get(`/v1/imports/${id}/rows?order_by=created_asc${after}`));
    all.push(...page.data);
    if (!page.has_next) return all;
  }
}

/** Imports a file; returns the import and its results. */
async function imported(speaker: Speaker, kind: string, content: string, dryRun = false) {
  const { id } = await must(create(speaker, kind, await upload(speaker, content), dryRun));
  return { made: await ended(speaker, id), rows: await results(speaker, id) };
}

const faults = (rows: any[]) =>
  rows.map(({ row, problems }) => [row, ...problems.map((each: any) => `${each.code} ${each.column}`)]);
const count = async (table: 'account' | 'receivable', speaker: Speaker) =>
  Number((await world.sql`select count(*) as n from ${world.sql(table)} where tenant_id = ${tenantOf(speaker)}`)[0]!.n);

const header =
  'currency,invoice.amount,invoice.creation_date,invoice.currency,invoice.due_date,invoice.reference_number,' +
  'purpose_code,transaction_type,description,metadata.order';
const row = (amount: string, more = 'first,7') =>
  `USD,${amount},2026-10-01,USD,2026-12-01,INV-1,P0802,services,${more}`;

describe('an import of receivables', () => {
  it('creates one for each row, as the request for one would', async () => {
    const user = await given.directUser(1);
    // As a spreadsheet writes it: with a byte order mark, CRLF, quotes, and an empty line at the end.
    const lines = [header, row('100.10', '"a ""quoted"", text\nof two lines",7'), row('0.01', ','), '', ''];
    const content = `\ufeff${lines.join('\r\n')}`;
    const { made, rows } = await imported(user, 'receivables', content);
    expect(made).toMatchObject({
      status: 'completed',
      rows: 2,
      rows_done: 2,
      rows_failed: 0,
      dry_run: false,
      error: null,
    });
    expect(rows.map(({ row: n, status, problems }) => [n, status, problems])).toEqual([
      [1, 'created', []],
      [2, 'created', []],
    ]);
    const [first, second] = await Promise.all(rows.map(({ object_id: id }) => must(user.get(`/v1/receivables/${id}`))));
    expect(first).toMatchObject({
      description: 'a "quoted", text\nof two lines',
      invoice: { amount: '100.10', due_date: '2026-12-01' },
      metadata: { order: '7' },
      account_id: user.id,
    });
    expect(second).toMatchObject({ description: null, metadata: {}, amount_maximum_reconcilable: '0.01' });
    expect(await must(user.get(`/v1/import_rows/${rows[0].id}`))).toEqual(rows[0]);
    const events = await eventually(
      async () => (await must(user.get('/v1/events?type=import.completed'))).data,
      (list) => list.length > 0,
    );
    expect(events[0].data.object).toEqual(made);
  });

  it('goes on after its process has died, and creates nothing twice', async () => {
    const user = await given.directUser(1);
    const content = [header, ...Array.from({ length: 120 }, (_, i) => row(i === 60 ? 'x' : `${i + 1}.00`))].join('\n');
    const { made, rows } = await imported(user, 'receivables', content);
    expect(made).toMatchObject({ rows_done: 120, rows_failed: 1 });
    expect([await count('receivable', user), new Set(rows.map((each) => each.object_id)).size]).toEqual([119, 120]);
    // As it is when a process dies after it has created rows, and before it has recorded them.
    await world.sql`delete from import_row where import_id = ${made.id} and row > 50`;
    await world.sql`update data_import set status = 'running', rows_done = 50, rows_failed = 0, due = 0
      where id = ${made.id}`;
    expect(await ended(user, made.id)).toMatchObject({ status: 'completed', rows_done: 120, rows_failed: 1 });
    const again = await results(user, made.id);
    expect(again.map((each) => each.object_id)).toEqual(rows.map((each) => each.object_id));
    expect(await count('receivable', user)).toBe(119);
    // The attempt that has died comes back, and records nothing.
    const [late] = await world.sql`select record_import_rows(${tenantOf(user)}, false, ${made.id}, 1, 120, '[]')`;
    expect(late!.record_import_rows).toBe(false);
  });

  it('records the rows before one that cannot be done, and goes on with that one', async () => {
    const user = await given.directUser(1);
    await world.sql`create function break_down() returns trigger language plpgsql as
      'begin raise exception ''broken''; end'`;
    await world.sql`create trigger breaks before insert on receivable for each row when (new.description = 'broken')
      execute function break_down()`;
    const content = [header, row('1.00'), row('2.00'), row('3.00', 'broken,7'), row('4.00')].join('\n');
    const { id } = await must(create(user, 'receivables', await upload(user, content)));
    const before = await eventually(
      () => must(user.get(`/v1/imports/${id}`)),
      ({ rows_done: rows }) => rows > 0,
    );
    expect([before.status, before.rows_done, (await results(user, id)).length]).toEqual(['running', 2, 2]);
    await world.sql`drop trigger breaks on receivable`;
    await world.sql`update data_import set due = 0 where id = ${id}`;
    expect(await ended(user, id)).toMatchObject({ status: 'completed', rows_done: 4, rows_failed: 0 });
    expect(await count('receivable', user)).toBe(4);
  });

  it('waits while the service is too busy for a row, which is no failed attempt', async () => {
    const user = await given.directUser(1);
    await world.sql`create sequence refusals`;
    await world.sql`create function refuse() returns trigger language plpgsql security definer as
      'begin perform nextval(''refusals''); raise exception ''no memory'' using errcode = ''53200''; end'`;
    await world.sql`create trigger refuses before insert on receivable for each row when (new.description = 'busy')
      execute function refuse()`;
    const { id } = await must(
      create(user, 'receivables', await upload(user, [header, row('1.00', 'busy,7')].join('\n'))),
    );
    await eventually(
      async () => Number((await world.sql`select last_value as n from refusals`)[0]!.n),
      (refusals) => refusals > 1,
    );
    await world.sql`drop trigger refuses on receivable`;
    expect(await ended(user, id)).toMatchObject({ status: 'completed', rows_done: 1, rows_failed: 0 });
    const [{ attempts }] = await world.sql<[{ attempts: number }]>`select attempts from data_import where id = ${id}`;
    expect(attempts).toBe(1);
  });

  it('has the faults of each row in a dry run, and stores nothing', async () => {
    const user = await given.directUser(1);
    const before = await count('receivable', user);
    const content = [
      `${header},customer_id,invoice.document`,
      `${row('5.00')},,`,
      `${row('0.00')},,`,
      `${row('1.001')},,`,
      'EUR,9.00,2026-10-01,USD,2026-09-01,INV-1,P9999,gifts,,,,',
      ',,,,,,,,words,,,',
      `${row('5.00')},account_00000000000000000000000000000000,`,
      `${row('5.00')},,file_00000000000000000000000000000000`,
    ].join('\n');
    const { made, rows } = await imported(user, 'receivables', content, true);
    expect(made).toMatchObject({ status: 'completed', dry_run: true, rows: 7, rows_failed: 6 });
    expect(faults(rows)).toEqual([
      [1],
      [2, 'parameter_invalid invoice.amount'],
      [3, 'parameter_invalid invoice.amount'],
      [
        4,
        'parameter_invalid transaction_type',
        'parameter_invalid invoice.due_date',
        'parameter_invalid currency',
        'parameter_invalid purpose_code',
      ],
      [
        5,
        'parameter_missing currency',
        'parameter_missing invoice',
        'parameter_missing purpose_code',
        'parameter_missing transaction_type',
      ],
      [6, 'resource_missing customer_id'],
      [7, 'resource_missing invoice.document'],
    ]);
    expect(rows[0]).toMatchObject({ status: 'valid', object_id: null });
    expect(rows[1].problems[0].message).toBe('amount must be greater than zero.');
    expect(await count('receivable', user)).toBe(before);
    expect((await must(user.get('/v1/events?type=receivable.created'))).data).toEqual([]);
  });
});

describe('the problems of rows in the graph', () => {
  const asked = async (user: Speaker, id: string) => {
    const document =
      'query ($id: ID!) { import(id: $id) { results { nodes { row problems { code message path column } } } } }';
    const { data } = await must(user.graph(document, { id }));
    return data.import.results.nodes.map((each: any) => each.problems).reverse();
  };

  it('have their codes as values of the enum, and the paths of the graph', async () => {
    const user = await given.directUser(1);
    const lines = [row('0.00').replace('2026-12-01', 'soon'), row('1.00', `first,${'x'.repeat(600)}`), row('1.00')];
    const { made, rows } = await imported(user, 'receivables', [header, ...lines].join('\n'), true);
    const problems = await asked(user, made.id);
    expect(problems.map((of: any[]) => of.map(({ code, path }) => [code, path]))).toEqual([
      [
        ['PARAMETER_INVALID', ['invoice', 'dueDate']],
        ['PARAMETER_INVALID', ['invoice', 'amount']],
      ],
      [['PARAMETER_INVALID', ['metadata', 'order']]],
      [],
    ]);
    // The rest is what /v1 has.
    const stored = (of: any[]) => of.map(({ code, column, message }) => [code.toLowerCase(), column, message]);
    expect(problems.map(stored)).toEqual(rows.map((each) => stored(each.problems)));
  });

  it('have no code where another version has stored an unknown one, and the rest as it is', async () => {
    const user = await given.directUser(1);
    const { made, rows } = await imported(user, 'receivables', [header, row('0.00')].join('\n'), true);
    const newer = [
      { code: 'colour_missing', column: 'colour', message: 'colour is required.' },
      { code: 'toString', column: null, message: 'It is no code.' },
    ];
    await world.sql`update import_row set problems = ${world.sql.json(newer)} where import_id = ${made.id}`;
    expect(await asked(user, made.id)).toEqual([
      [
        { code: null, message: 'colour is required.', path: ['colour'], column: 'colour' },
        { code: null, message: 'It is no code.', path: null, column: null },
      ],
    ]);
    expect((await must(user.get(`/v1/import_rows/${rows[0].id}`))).problems).toEqual(newer);
  });
});

describe('the stored responses of an import', () => {
  it('are kept until it has ended, so that a row is created once also days after a crash', async () => {
    const user = await given.directUser(1);
    const { made } = await imported(user, 'receivables', [header, row('1.00'), row('2.00')].join('\n'));
    // As it is when the process has died two days ago, before it recorded the rows, and none has gone on since.
    await world.sql`delete from import_row where import_id = ${made.id}`;
    await world.sql`update idempotency set created = created - 172800 where tenant_id = ${tenantOf(user)}`;
    await world.sql`update data_import set status = 'running', rows_done = 0, created = created - 172800, due =
      99999999999
      where id = ${made.id}`;
    const forget = () => world.database.call('delete_old_responses', [tenantOf(user), false, 86_400, 1_000]);
    const kept = async () =>
      (await world.sql`select from idempotency where tenant_id = ${tenantOf(user)} and key like ${`${made.id}:%`}`)
        .length;
    await forget();
    expect(await kept()).toBe(2);
    await world.sql`update data_import set due = 0 where id = ${made.id}`;
    expect(await ended(user, made.id)).toMatchObject({ status: 'completed', rows_done: 2 });
    expect(await count('receivable', user)).toBe(2);
    await forget();
    expect(await kept()).toBe(0);
  });
});

describe('an import of partners', () => {
  const columns =
    'nickname,business_details.legal_name,business_details.email,business_details.type,' +
    'business_details.physical_address.country,business_details.physical_address.postal_code,' +
    'business_details.date_of_incorporation';
  const partner = (name: string, date = '') => `${name},Acme,ap@acme.example,company,IN,411001,${date}`;

  it('has the same rules in a dry run as in earnest, with those of the database', async () => {
    const platform = await given.platform(1);
    const [taken, free, twice] = [nickname(), nickname(), nickname()];
    await platform.partner({ nickname: taken });
    const lines = [partner(taken), partner(free), partner(twice), partner(twice), partner(nickname(), '2999-01-01')];
    const content = [columns, ...lines].join('\n');
    const expected = [
      [1, 'nickname_taken nickname'],
      [2],
      [3],
      [4, 'nickname_taken nickname'],
      [5, 'parameter_invalid business_details.date_of_incorporation'],
    ];
    const before = await count('account', platform);
    const trial = await imported(platform, 'partners', content, true);
    expect(faults(trial.rows)).toEqual(expected);
    expect(await count('account', platform)).toBe(before);
    const real = await imported(platform, 'partners', content);
    expect(faults(real.rows)).toEqual(expected);
    expect(real.rows.map(({ problems }) => problems)).toEqual(trial.rows.map(({ problems }) => problems));
    expect(await count('account', platform)).toBe(before + 2);
    const made = await must(platform.get(`/v1/accounts/${real.rows[1].object_id}`));
    expect(made).toMatchObject({ type: 'partner', nickname: free, business_details: { legal_name: 'Acme' } });
  });

  it('finds a nickname that far rows of a file have, in a dry run', async () => {
    const platform = await given.platform(1);
    const name = nickname();
    const lines = Array.from({ length: 80 }, (_, i) => partner(i % 70 === 3 ? name.toUpperCase() : nickname()));
    const { rows } = await imported(platform, 'partners', [columns, ...lines].join('\n'), true);
    expect(
      rows.filter(({ status }) => status === 'failed').map((each) => [each.row, each.problems[0].message]),
    ).toEqual([[74, 'Row 4 of the file has this nickname. Choose another.']]);
  });

  it('is for the account that a platform acts for, by the graph', async () => {
    const platform = await given.platform(2);
    const user = await platform.connectedUser();
    const acting = platform.actingFor(user.id);
    const file = await upload(acting, [columns, partner('')].join('\n'));
    const made = await acting.graph(
      'mutation ($input: CreateImportInput!) { createImport(input: $input) { ' +
        'import { id kind dryRun file { id } account { id } } } }',
      { input: { kind: 'PARTNERS', fileId: file } },
    );
    const { id, ...answer } = made.body.data.createImport.import;
    expect(answer).toEqual({ kind: 'PARTNERS', dryRun: false, file: { id: file }, account: { id: user.id } });
    await ended(user, id);
    const { data } = (
      await user.graph(
        `{ import(id: "${id}") { rowsDone
             results { nodes { row status objectId object { __typename id } problems { code } } } } }`,
      )
    ).body;
    expect(data.import.results.nodes).toMatchObject([{ row: 1, status: 'CREATED', problems: [] }]);
    const { data: partners } = await must(user.get(`/v1/accounts/${user.id}/partners`));
    expect(partners.map((each: any) => each.id)).toEqual([data.import.results.nodes[0].objectId]);
    expect(data.import.results.nodes[0].object).toEqual({ __typename: 'Account', id: partners[0].id });
    const outsider = await given.directUser(2);
    expect((await outsider.get(`/v1/imports/${id}`)).status).toBe(404);
    expect((await must(outsider.get(`/v1/imports/${id}/rows`))).data).toEqual([]);
    expect((await create(outsider, 'partners', file)).fieldNames).toEqual(['import.file_id']);
  });
});

describe('a file', () => {
  it('is refused as a whole where its rows cannot be read, with a sentence that says why', async () => {
    const user = await given.directUser(1);
    const refused = async (content: string | Uint8Array) => {
      const reply = await create(user, 'receivables', await upload(user, content));
      expect([reply.status, new Set(reply.fieldNames)]).toEqual([400, new Set(['import.file_id'])]);
      return reply.body.errors.map(({ message }: { message: string }) => message);
    };
    expect(await refused('colour,currency,currency,\nred,USD,USD,x')).toEqual([
      'file_id has the unknown column `colour`.',
      'file_id has the column `currency` twice.',
      'file_id has no name for its column 4.',
    ]);
    expect(await refused('currency,metadata.\nUSD,1')).toEqual(['file_id has the unknown column `metadata.`.']);
    expect(await refused('currency\n')).toEqual(['file_id must have a header and at least one row.']);
    expect(await refused('currency,purpose_code\nUSD\nUSD,P0802,x')).toEqual([
      'file_id has 1 cells in row 1, and 2 in its header.',
      'file_id has 3 cells in row 2, and 2 in its header.',
    ]);
    expect(await refused('currency\n"USD')).toEqual([
      'file_id cannot be read as CSV near line 2 (CSV_QUOTE_NOT_CLOSED).',
    ]);
    expect(await refused(`currency\n${'USD\n'.repeat(10_001)}`)).toEqual(['file_id must have at most 10000 rows.']);
    expect(await refused(`currency\n${'USD\n'.repeat(1_400_000)}`)).toEqual(['file_id is larger than 5 MB.']);
    expect(await count('receivable', user)).toBe(0);
  });

  it('is read a piece at a time, and no further than its bounds, so that others are served meanwhile', async () => {
    let turns = 0;
    const count = () => void (turns++, (timer = setImmediate(count)));
    let timer = setImmediate(count);
    const long = await rowsOfFile(Buffer.from(`currency\n${`${'é'.repeat(200)}\n`.repeat(10_000)}`), ['currency']);
    clearImmediate(timer);
    expect([long.faults, long.rows.length, turns >= 50]).toEqual([[], 10_000, true]);
    expect(new Set(long.rows.map(({ currency }) => currency))).toEqual(new Set(['é'.repeat(200)]));
    // Each would take seconds as a whole.
    const few = await rowsOfFile(Buffer.from(`currency\n${'a\n'.repeat(2_600_000)}`), ['currency']);
    expect(few.faults).toEqual(['must have at most 10000 rows']);
    const wide = await rowsOfFile(Buffer.from(`currency\n${`${','.repeat(900_000)}\n`.repeat(5)}`), ['currency']);
    expect(wide.faults).toEqual(['has 900001 cells in row 1, and 1 in its header']);
  });

  it('may have semicolons or tabs between its cells, which its header shows, or its first line', async () => {
    const columns = ['currency', 'invoice.amount', 'metadata.'];
    const rows = [{ currency: 'USD', 'invoice.amount': '1.00', 'metadata.a': 'x, y; z\tw' }];
    const cells = [
      ['currency', 'invoice.amount', 'metadata.a'],
      ['USD', '1.00', '"x, y; z\tw"'],
    ];
    for (const by of [',', ';', '\t'])
      for (const before of ['', '\ufeff', `sep=${by}\n`, `\ufeffsep=${by}\r\n`, `"sep=${by}"\n`, '\n\n']) {
        const content = before + cells.map((line) => line.join(by)).join('\r\n');
        const expected = before.startsWith('"') && by === '\t' ? expect.anything() : rows;
        expect([content, (await rowsOfFile(Buffer.from(content), columns)).rows]).toEqual([content, expected]);
      }
    const one = await rowsOfFile(Buffer.from('currency\nUSD\n'), columns);
    expect(one.rows).toEqual([{ currency: 'USD' }]);
    // A key of metadata with another delimiter in it.
    const keyed = await rowsOfFile(Buffer.from('currency,metadata.a;b,invoice.amount\nUSD,x,1.00'), columns);
    expect(keyed.rows).toEqual([{ currency: 'USD', 'metadata.a;b': 'x', 'invoice.amount': '1.00' }]);
    const user = await given.directUser(1);
    for (const by of [';', '\t']) {
      const content = [header, row('7.00')].join('\n').replaceAll(',', by);
      expect((await imported(user, 'receivables', content)).made).toMatchObject({ rows: 1, rows_failed: 0 });
    }
    expect(await count('receivable', user)).toBe(2);
  });

  it('may have lines and columns at its end without a name and a value, which are none', async () => {
    const user = await given.directUser(1);
    const commas = ','.repeat(header.split(',').length - 1);
    const content = [`${header},,`, `${row('5.00')},,`, `${commas},,`, commas, `${row('6.00')}, `, ` ${commas},,`];
    const { made, rows } = await imported(user, 'receivables', content.join('\n'));
    expect([made.rows, made.rows_done, made.rows_failed, rows.length]).toEqual([2, 2, 0, 2]);
    const refused = await create(user, 'receivables', await upload(user, `${header},,\n${row('5.00')},,x`));
    expect(refused.body.errors[0].message).toBe('file_id has no name for its column 11.');
    const none = await create(user, 'receivables', await upload(user, `${header}\n${commas}\n`));
    expect(none.body.errors[0].message).toBe('file_id must have a header and at least one row.');
  });

  it('must be text of its purpose', async () => {
    const user = await given.directUser(1);
    for (const content of [new Uint8Array([0xff, 0xfe, 0x41]), bytes('a\0b'), pdf])
      expect((await user.upload('import', content)).fieldNames).toEqual(['file.file']);
    expect((await user.upload('logo', bytes('currency\nUSD'))).fieldNames).toEqual(['file.file']);
    const logo = await must(user.upload('logo', pdf));
    expect((await create(user, 'receivables', logo.id)).fieldNames).toEqual(['import.file_id']);
  });
});

describe('imports', () => {
  it('end when the session that made them is revoked, with what is done until then', async () => {
    const user = await given.directUser(1);
    const { id: session, token } = await must(user.post('/v1/sessions', { role: 'operate' }));
    const content = [header, ...Array.from({ length: 60 }, () => row('1.00'))].join('\n');
    const file = await upload(user, content);
    const { id } = await must(create(user.using(token), 'receivables', file));
    await eventually(
      () => must(user.get(`/v1/imports/${id}`)),
      ({ status }) => status === 'completed',
    );
    // As it was after the first rows.
    await world.sql`delete from import_row where import_id = ${id} and row > 5`;
    await must(user.post(`/v1/sessions/${session}/revoke`));
    await world.sql`update data_import set status = 'running', rows_done = 5, due = 0 where id = ${id}`;
    const end = { status: 'failed', rows_done: 5, error: 'Its session was revoked.' };
    expect(await ended(user, id)).toMatchObject(end);
  });

  it('of a tenant are refused beyond three under way, and a key that may only read makes none', async () => {
    const user = await given.directUser(1);
    const file = await upload(user, [header, row('1.00')].join('\n'));
    const { id } = await must(create(user, 'receivables', file));
    await ended(user, id);
    await world.sql`
      insert into data_import
      select (jsonb_populate_record(i, jsonb_build_object('id', i.id || n, 'status', 'pending', 'due', 99999999999))).*
      from data_import i, generate_series(1, 3) n where i.id = ${id}`;
    expect((await create(user, 'receivables', file)).codes).toEqual(['rate_limit_exceeded']);
    const { body } = await user.graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    expect((await create(user.using(body.data.createApiKey.secret), 'receivables', file)).status).toBe(403);
  });

  it('fail when they are interrupted five times before their first row, with an event', async () => {
    const user = await given.directUser(1);
    const { made } = await imported(user, 'receivables', [header, row('1.00')].join('\n'));
    await world.sql`update data_import set status = 'running', rows_done = 0, attempts = 5, due = 0
      where id = ${made.id}`;
    expect(await ended(user, made.id)).toMatchObject({ status: 'failed', error: 'It was interrupted five times.' });
    const events = await eventually(
      async () => (await must(user.get('/v1/events?type=import.failed'))).data,
      (list) => list.length > 0,
    );
    expect(events[0].data.object.id).toBe(made.id);
  });

  it('are deleted with their results 30 days after their end', async () => {
    const user = await given.directUser(1);
    const { made } = await imported(user, 'receivables', [header, row('1.00')].join('\n'));
    expect(made.expires_at).toBe(made.completed_at + 30 * 86_400);
    await world.sql`update data_import set due = 0 where id = ${made.id}`;
    await eventually(
      () => user.get(`/v1/imports/${made.id}`),
      ({ status }) => status === 404,
    );
    expect(await world.sql`select 1 from import_row where import_id = ${made.id}`).toEqual([]);
  });
});
