import { describe, expect, it } from 'vitest';
import { eventually, givenIn, must, type Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld();
const given = givenIn(world);

const upload = async (speaker: Speaker, content: string): Promise<string> =>
  (await must(speaker.upload('import', new Uint8Array(Buffer.from(content)), 'rows.csv'))).id;
const create = async (speaker: Speaker, kind: string, file: string, more: object = {}): Promise<string> =>
  (await must(speaker.post('/v1/imports', { kind, file_id: file, ...more }))).id;

/** An import when it has ended, with what became of its rows, the first row first. */
async function ended(speaker: Speaker, id: string) {
  const made: any = await eventually(
    (): Promise<any> => must(speaker.get(`/v1/imports/${id}`)),
    ({ status }) => status === 'completed' || status === 'failed',
  );
  expect(made.error).toBe(null);
  const rows: any[] = [];
  for (let after = ''; ; after = `&starting_after=${rows.at(-1).id}`) {
    const page = await must(speaker.get(`/v1/imports/${id}/rows?order_by=created_asc${after}`));
    rows.push(...page.data);
    if (!page.has_next) break;
  }
  const { rows_done, rows_failed, rows_seen_before } = made;
  return { made, rows, statuses: rows.map(({ status }) => status), counts: [rows_done, rows_failed, rows_seen_before] };
}

const imported = async (speaker: Speaker, kind: string, content: string, more: object = {}) =>
  ended(speaker, await create(speaker, kind, await upload(speaker, content), more));

const receivables = async (speaker: Speaker) =>
  world.sql<{ id: string; reference: string }[]>`
    select id, invoice ->> 'referenceNumber' as reference from receivable
    where tenant_id = ${tenantOf(speaker)} order by created, id`;

const header =
  'currency,invoice.amount,invoice.creation_date,invoice.currency,invoice.due_date,purpose_code,transaction_type,' +
  'customer_id,invoice.reference_number';
const row = (customer: string, reference: string, amount = '5.00') =>
  `USD,${amount},2026-10-01,USD,2026-12-01,P0802,services,${customer},${reference}`;
const file = (...rows: string[]) => [header, ...rows].join('\n');

describe('a receivable of an import', () => {
  it('is seen before, by a dry run too, where one has its account, customer and reference number', async () => {
    const user = await given.directUser(1);
    const [one, other] = [await user.partner(), await user.partner()];
    const content = file(row(one.id, 'TWICE-1'), row(other.id, 'TWICE-1'), row('', 'TWICE-1'));
    const first = await imported(user, 'receivables', content);
    expect([first.statuses, first.counts]).toEqual([
      ['created', 'created', 'created'],
      [3, 0, 0],
    ]);
    const before = await receivables(user);
    const dry = await imported(user, 'receivables', content, { dry_run: true });
    const again = await imported(user, 'receivables', content);
    expect([dry.statuses, dry.counts]).toEqual([
      ['seen_before', 'seen_before', 'valid'],
      [3, 0, 2],
    ]);
    expect([again.statuses, again.counts]).toEqual([
      ['seen_before', 'seen_before', 'created'],
      [3, 0, 2],
    ]);
    const seen = (rows: any[]) => rows.slice(0, 2).map(({ object_id: id, problems }) => [id, problems]);
    const problem = {
      code: 'seen_before',
      column: 'invoice.reference_number',
      message: 'An object like this one exists, or an earlier row of the file has it, so the row was not stored.',
    };
    expect(seen(again.rows)).toEqual(first.rows.slice(0, 2).map(({ object_id: id }) => [id, [problem]]));
    expect(seen(dry.rows)).toEqual(seen(again.rows));
    expect((await receivables(user)).length).toBe(before.length + 1);
    expect((await must(user.get(`/v1/imports/${again.made.id}/rows?status=seen_before`))).data.length).toBe(2);
    const created = () => must(user.get('/v1/events?type=receivable.created'));
    expect((await eventually(created, ({ data }) => data.length >= 4)).data.length).toBe(4);
  });

  it('is stored where the import allows duplicates, by either API, and where the other one is void', async () => {
    const user = await given.directUser(1);
    const { id: customer } = await user.partner();
    const content = await upload(user, file(row(customer, 'A')));
    const first = await ended(user, await create(user, 'receivables', content));
    await must(user.post(`/v1/receivables/${first.rows[0].object_id}/void`));
    for (const dry_run of [true, false]) {
      const { statuses } = await ended(user, await create(user, 'receivables', content, { dry_run }));
      expect(statuses).toEqual([dry_run ? 'valid' : 'created']);
    }
    const allowed = await ended(user, await create(user, 'receivables', content, { allow_duplicates: true }));
    expect([allowed.made.allow_duplicates, allowed.statuses]).toEqual([true, ['created']]);
    const asked = async (allowDuplicates: boolean) => {
      const { body } = await user.graph(
        `mutation ($input: CreateImportInput!) { createImport(input: $input) { import { id allowDuplicates } } }`,
        { input: { kind: 'RECEIVABLES', fileId: content, allowDuplicates } },
      );
      const { id, ...answer } = body.data.createImport.import;
      await ended(user, id);
      const { data } = (
        await user.graph(
          `{ import(id: "${id}") { rowsDone rowsFailed rowsSeenBefore
            results { nodes { status problems { code } } } } }`,
        )
      ).body;
      return { ...answer, ...data.import };
    };
    expect(await asked(true)).toMatchObject({
      ...{ allowDuplicates: true, rowsDone: 1, rowsSeenBefore: 0 },
      results: { nodes: [{ status: 'CREATED', problems: [] }] },
    });
    expect(await asked(false)).toMatchObject({
      ...{ allowDuplicates: false, rowsDone: 1, rowsFailed: 0, rowsSeenBefore: 1 },
      results: { nodes: [{ status: 'SEEN_BEFORE', problems: [{ code: 'SEEN_BEFORE' }] }] },
    });
    expect((await receivables(user)).length).toBe(4);
  });

  it('is seen before as the second such row of a file, whose first was stored, as the dry run says', async () => {
    const user = await given.directUser(1);
    const { id: customer } = await user.partner();
    const rows = Array.from({ length: 120 }, (_, i) => row(customer, `R-${i}`));
    // The second such row in the same batch and in a later one; and after one that has failed, and so is not stored.
    rows[1] = row(customer, 'NEAR');
    rows[3] = row(customer, 'NEAR');
    rows[5] = row(customer, 'FAR');
    rows[107] = row(customer, 'FAR');
    rows[110] = row(customer, 'FAR');
    rows[7] = row(customer, 'FAILED', '0.00');
    rows[109] = row(customer, 'FAILED');
    const dry = await imported(user, 'receivables', file(...rows), { dry_run: true });
    expect(dry.rows.filter(({ status }) => status === 'seen_before').map((each) => each.row)).toEqual([4, 108, 111]);
    expect(new Set(dry.rows.map(({ object_id: id }) => id))).toEqual(new Set([null]));
    expect(await receivables(user)).toEqual([]);
    const real = await imported(user, 'receivables', file(...rows));
    expect(real.statuses).toEqual(dry.statuses.map((each) => (each === 'valid' ? 'created' : each)));
    expect(real.rows.map(({ problems }) => problems)).toEqual(dry.rows.map(({ problems }) => problems));
    expect([real.counts, dry.counts]).toEqual([
      [120, 1, 3],
      [120, 1, 3],
    ]);
    expect(real.rows[107].object_id).toBe(real.rows[5].object_id);
    // The trial says the same when its process has died after the first batch.
    await world.sql`delete from import_row where import_id = ${dry.made.id} and row > 50`;
    await world.sql`delete from receivable where tenant_id = ${tenantOf(user)}`;
    await world.sql`update data_import set status = 'running', rows_done = 50, rows_failed = 1, rows_seen_before = 1,
      due = 0 where id = ${dry.made.id}`;
    const repeated = await ended(user, dry.made.id);
    expect([repeated.statuses, repeated.counts]).toEqual([dry.statuses, dry.counts]);
  });

  it('is told by the key of its row after a crash: a row that was stored is created, and not seen before', async () => {
    const user = await given.directUser(1);
    const { id: customer } = await user.partner();
    const { made, rows } = await imported(user, 'receivables', file(row(customer, 'A'), row(customer, 'B')));
    // As it is when a process dies after it has created rows, and before it has recorded them.
    await world.sql`delete from import_row where import_id = ${made.id}`;
    await world.sql`update data_import set status = 'running', rows_done = 0, due = 0 where id = ${made.id}`;
    const again = await ended(user, made.id);
    expect([again.statuses, again.counts]).toEqual([
      ['created', 'created'],
      [2, 0, 0],
    ]);
    expect(again.rows.map((each) => each.object_id)).toEqual(rows.map((each) => each.object_id));
    expect((await receivables(user)).length).toBe(2);
  });

  it('is stored once by imports of the same file at the same time', async () => {
    const user = await given.directUser(1);
    const { id: customer } = await user.partner();
    const references = Array.from({ length: 60 }, (_, i) => `R-${i}`);
    const content = await upload(user, file(...references.map((each) => row(customer, each))));
    const ids = await Promise.all([0, 1, 2].map(() => create(user, 'receivables', content)));
    const all = await Promise.all(ids.map((id) => ended(user, id)));
    expect((await receivables(user)).map(({ reference }) => reference).toSorted()).toEqual(references.toSorted());
    for (const i of references.keys())
      expect(all.map(({ statuses }) => statuses[i]).toSorted()).toEqual(['created', 'seen_before', 'seen_before']);
  });
});

describe('a partner of an import', () => {
  const columns =
    'nickname,business_details.legal_name,business_details.type,business_details.physical_address.country,' +
    'business_details.physical_address.postal_code';
  const partners = (speaker: Speaker) => world.sql`
    select id from account where tenant_id = ${tenantOf(speaker)} and kind = 'partner'`;

  it('of Edition 2 is seen before where a partner has its legal name and address', async () => {
    const user = await given.directUser(2);
    const before = (await partners(user)).length;
    const lines = [',Acme,company,IN,411001', ',Acme,company,IN,411002', ',Beta,company,IN,411001'];
    const content = [columns, ...lines, lines[0]].join('\n');
    const dry = await imported(user, 'partners', content, { dry_run: true });
    const first = await imported(user, 'partners', content);
    expect([dry.statuses, first.statuses]).toEqual([
      ['valid', 'valid', 'valid', 'seen_before'],
      ['created', 'created', 'created', 'seen_before'],
    ]);
    expect(dry.rows[3].problems).toEqual(first.rows[3].problems);
    expect(dry.rows[3].problems[0].column).toBe('business_details.legal_name');
    const [dryAgain, again] = [
      await imported(user, 'partners', content, { dry_run: true }),
      await imported(user, 'partners', content),
    ];
    expect([dryAgain.counts, again.counts]).toEqual([
      [4, 0, 4],
      [4, 0, 4],
    ]);
    expect(again.rows.map(({ object_id: id }) => id)).toEqual(first.rows.map(({ object_id: id }) => id));
    expect((await partners(user)).length).toBe(before + 3);
    const allowed = await imported(user, 'partners', [columns, lines[0]].join('\n'), { allow_duplicates: true });
    expect(allowed.statuses).toEqual(['created']);
  });

  it('is compared with those of its own account alone', async () => {
    const platform = await given.platform(2);
    const [one, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const content = [columns, ',Acme,company,IN,411001'].join('\n');
    for (const user of [one, other]) expect((await imported(user, 'partners', content)).statuses).toEqual(['created']);
    expect((await imported(one, 'partners', content)).statuses).toEqual(['seen_before']);
  });
});
