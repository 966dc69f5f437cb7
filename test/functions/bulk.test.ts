import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { refusal, type Row, useFunctions, useRoot } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, rowText, stored, eventsOf } = fixture;
const root = useRoot(fixture, 'platform', 1);
const at = () => [root.tenantId, false] as const;

/** Ends all that is under way, since a tenant may have three of each kind. */
async function alone(): Promise<void> {
  await world.sql`update data_export set status = 'failed' where tenant_id = ${root.tenantId}
    and status in ('pending', 'running')`;
  await world.sql`update data_import set status = 'failed' where tenant_id = ${root.tenantId}
    and status in ('pending', 'running')`;
}
const createExport = (bytesMax = 1_000n): Promise<Row> =>
  write(root, 'create_export', {
    ...{ accountId: root.id, list: '/v1/deposits', filters: '', format: 'csv', caller: { secret: 'x' }, bytesMax },
  });
async function running(): Promise<Row> {
  await alone();
  const { id } = await createExport();
  return (await call('claim_export', ...at(), id, 30))[0]!;
}
const append = (id: string, attempt: number, number: number, content = 'abc') =>
  value('append_export_part', ...at(), id, attempt, number, 2, Buffer.from(content).toString('base64'));
const parts = (id: string) => world.sql`select start, content from export_part where export_id = ${id} order by start`;
const due = (table: string, id: string) => world.sql`update ${world.sql(table)} set due = 0 where id = ${id}`;
const export_ = (id: string) => stored('data_export', root, id);
const import_ = (id: string) => stored('data_import', root, id);

let files = 0;
async function createImport(): Promise<Row> {
  const content = Buffer.from(`currency\n${++files}`);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const about = { accountId: root.id, purpose: 'import', filename: 'a.csv', contentType: 'text/csv', sha256 };
  const file = await write(root, 'store_file', { ...about, size: content.length }, content.toString('base64'));
  return write(root, 'create_import', {
    ...{ accountId: root.id, kind: 'receivables', fileId: file.id, dryRun: false, rows: 3, caller: { secret: 'x' } },
  });
}
async function runningImport(): Promise<Row> {
  await alone();
  const { id } = await createImport();
  return (await call('claim_import', ...at(), id, 30))[0]!;
}
const record = (id: string, attempt: number, done: number, rows: object[]) =>
  value('record_import_rows', ...at(), id, attempt, done, JSON.stringify(rows));
const result = (row: number, status = 'created') => ({ row, status, objectId: null, problems: [] });

of('shown_export', () => {
  it('leaves out what only the worker needs', async () => {
    await alone();
    const { id } = await createExport();
    const shown = (await value('shown_export', await rowText('data_export', root, id))) as object;
    expect(shown).toMatchObject({ id, status: 'pending' });
    expect(Object.keys(shown).filter((name) => ['caller', 'attempts', 'due', 'parts'].includes(name))).toEqual([]);
  });
});

of('check_export_limits', () => {
  it('refuses a fourth under way, and one beyond the bytes that are kept', async () => {
    await alone();
    for (let n = 0; n < 3; n++) await createExport();
    expect(await refusal(call('check_export_limits', ...at(), '1000'))).toBe('rate_limit_exceeded');
    await alone();
    await call('check_export_limits', ...at(), '1000');
    const { id } = await createExport();
    await world.sql`update data_export set status = 'completed', bytes = 1000 where id = ${id}`;
    expect(await refusal(call('check_export_limits', ...at(), '1000'))).toBe('rate_limit_exceeded');
    await world.sql`update data_export set status = 'expired' where id = ${id}`;
  });
});

of('create_export', () => {
  it('stores an export that is due, with an event', async () => {
    await alone();
    const made = await createExport();
    expect(made).toMatchObject({
      account_id: root.id,
      list: '/v1/deposits',
      status: 'pending',
      caller: { secret: 'x' },
    });
    expect(Number(made.due)).toBe(Number(made.created));
    expect(await eventsOf(root, made.id)).toEqual(['export.created']);
    const [event] = await world.sql`select data from event where object_id = ${made.id}`;
    expect(JSON.stringify(event)).not.toContain('secret');
  });
});

of('claim_export', () => {
  it('gives it to one of several, and again when the claim has ended, without the parts of before', async () => {
    const { id } = await running();
    expect(await call('claim_export', ...at(), id, 30)).toEqual([]);
    await append(id, 1, 1);
    await due('data_export', id);
    const again = await Promise.all(Array.from({ length: 4 }, () => call('claim_export', ...at(), id, 30)));
    expect(again.flat()).toMatchObject([{ attempts: 2, rows: 0, parts: 0 }]);
    expect(await parts(id)).toEqual([]);
  });

  it('fails it after five attempts', async () => {
    const { id } = await running();
    await world.sql`update data_export set attempts = 5, due = 0 where id = ${id}`;
    expect(await call('claim_export', ...at(), id, 30)).toEqual([]);
    expect(await export_(id)).toMatchObject({ status: 'failed', error: 'It was interrupted five times.' });
  });
});

of('extend_export_claim', () => {
  it('keeps the claim of the latest attempt alone', async () => {
    const { id } = await running();
    await due('data_export', id);
    expect(await value('extend_export_claim', ...at(), id, 1, 60)).toBe(true);
    expect(Number((await export_(id)).due)).toBeGreaterThan(0);
    expect(await value('extend_export_claim', ...at(), id, 2, 60)).toBe(false);
  });
});

of('append_export_part', () => {
  it('stores each part once, in its place, for the latest attempt alone', async () => {
    const { id } = await running();
    const calls: unknown[] = [];
    for (const [attempt, number] of [
      [1, 1],
      [1, 1],
      [1, 3],
      [2, 2],
      [1, 2],
    ] as const)
      calls.push(await append(id, attempt, number));
    expect(calls).toEqual([true, true, false, false, true]);
    expect((await parts(id)).map(({ start, content }) => [Number(start), String(content)])).toEqual([
      [0, 'abc'],
      [3, 'abc'],
    ]);
    expect(await export_(id)).toMatchObject({ rows: 4, bytes: '6', parts: 2 });
  });
});

of('end_export', () => {
  it('ends the attempt that it is given, with an event', async () => {
    const { id } = await running();
    const row = await rowText('data_export', root, id);
    await call('end_export', ...at(), row, 'hash', null, 60);
    const ended = await export_(id);
    expect(ended).toMatchObject({ status: 'completed', sha256: 'hash', error: null });
    expect(Number(ended.expires_at) - Number(ended.completed_at)).toBe(60);
    await call('end_export', ...at(), row, null, 'late', 60);
    expect((await export_(id)).status).toBe('completed');
    expect(await eventsOf(root, id)).toEqual(['export.created', 'export.completed']);
  });
});

of('finish_export', () => {
  it('ends the latest attempt, once', async () => {
    const { id } = await running();
    await call('finish_export', ...at(), id, 2, null, 'another attempt', 60);
    await call('finish_export', ...at(), id, 1, null, 'too large', 60);
    await call('finish_export', ...at(), id, 1, 'hash', null, 60);
    expect(await export_(id)).toMatchObject({ status: 'failed', error: 'too large', expires_at: null });
    expect(await eventsOf(root, id)).toEqual(['export.created', 'export.failed']);
  });
});

of('expire_export', () => {
  it('deletes the content some parts at a time after its time, and the export 30 days after its end', async () => {
    const { id } = await running();
    await append(id, 1, 1);
    await append(id, 1, 2);
    await call('finish_export', ...at(), id, 1, 'hash', null, 60);
    expect(await value('expire_export', ...at(), id, 2)).toBe(false);
    expect((await parts(id)).length).toBe(2);
    await due('data_export', id);
    expect([await value('expire_export', ...at(), id, 2), await value('expire_export', ...at(), id, 2)]).toEqual([
      true,
      false,
    ]);
    const expired = await export_(id);
    expect([expired.status, Number(expired.due) - Number(expired.completed_at)]).toEqual(['expired', 30 * 86_400]);
    await world.sql`update data_export set due = 0, completed_at = 0 where id = ${id}`;
    expect(await value('expire_export', ...at(), id, 2)).toBe(false);
    expect(await export_(id)).toBeUndefined();
  });
});

of('caller_revoked', () => {
  it('stops the work of a key that is revoked, and of no other', async () => {
    const { id } = await createExport();
    const [key] =
      await world.sql`select id from api_key where tenant_id = ${root.tenantId} and livemode = ${at()[1]!} limit 1`;
    const caller = (keyId: string) => JSON.stringify({ keyId, session: { id: 'session_none' } });
    const why = (keyId: string) => value('caller_revoked', ...at(), caller(keyId));
    expect([await why(key!.id), await why('key_none')]).toEqual([null, null]);
    await world.sql`update data_export set caller = ${caller(key!.id)}::text::jsonb, due = 0 where id = ${id}`;
    await call('claim_export', ...at(), id, 30);
    expect(await value('extend_export_claim', ...at(), id, 1, 60)).toBe(true);
    await world.sql`update api_key set revoked_at = 1 where id = ${key!.id}`;
    expect(await why(key!.id)).toBe('Its API key was revoked.');
    expect(await value('extend_export_claim', ...at(), id, 1, 60)).toBe(false);
    await due('data_export', id);
    expect(await call('claim_export', ...at(), id, 30)).toEqual([]);
    expect(await export_(id)).toMatchObject({ status: 'failed', error: 'Its API key was revoked.' });
    await world.sql`update api_key set revoked_at = null where id = ${key!.id}`;
  });
});

of('shown_import', () => {
  it('leaves out what only the worker needs', async () => {
    await alone();
    const { id } = await createImport();
    const shown = (await value('shown_import', await rowText('data_import', root, id))) as object;
    expect(shown).toMatchObject({ id, rows: 3 });
    expect(Object.keys(shown).filter((name) => ['caller', 'attempts', 'due'].includes(name))).toEqual([]);
  });
});

of('create_import', () => {
  it('stores an import that is due, with an event, and refuses a fourth under way', async () => {
    await alone();
    const made = await createImport();
    expect(made).toMatchObject({ kind: 'receivables', status: 'pending', rows: 3, rows_done: 0, dry_run: false });
    expect(await eventsOf(root, made.id)).toEqual(['import.created']);
    await createImport();
    await createImport();
    expect(await refusal(createImport())).toBe('rate_limit_exceeded');
  });
});

of('claim_import', () => {
  it('gives it to one of several, and fails it after five attempts without a row', async () => {
    const { id } = await runningImport();
    expect(await call('claim_import', ...at(), id, 30)).toEqual([]);
    await due('data_import', id);
    const again = await Promise.all(Array.from({ length: 4 }, () => call('claim_import', ...at(), id, 30)));
    expect(again.flat()).toMatchObject([{ attempts: 2, rows_done: 0 }]);
    // Each 50 rows that were recorded allow one more.
    await world.sql`update data_import set attempts = 5, due = 0, rows_done = 99 where id = ${id}`;
    expect(await call('claim_import', ...at(), id, 30)).toMatchObject([{ attempts: 6 }]);
    await due('data_import', id);
    expect(await call('claim_import', ...at(), id, 30)).toEqual([]);
    expect(await import_(id)).toMatchObject({ status: 'failed', error: 'It was interrupted five times.' });
  });
});

of('extend_import_claim', () => {
  it('keeps the claim of the latest attempt alone', async () => {
    const { id } = await runningImport();
    expect(await value('extend_import_claim', ...at(), id, 1, 60)).toBe(true);
    expect(await value('extend_import_claim', ...at(), id, 2, 60)).toBe(false);
  });
});

of('try_writes', () => {
  it('finds what the functions refuse, each after those before it, and stores nothing', async () => {
    const partner = (nickname: string) => ({
      fn: 'create_account',
      args: {
        ...{ kind: 'partner', edition: 1, addressKey: 'partner', ownerId: root.id, actingAccountId: root.id },
        ...{ onRootList: false, nickname, businessDetails: { legalName: 'A' }, setting: {} },
      },
    });
    const settings = { address: {}, addressCurrency: {}, payoutsApplicable: false };
    const writes = ['one', 'two', 'One'].map((name) => {
      const { fn, args } = partner(name);
      return { fn, args: { ...args, setting: settings } };
    });
    const before = await world.sql`select count(*) as n from account`;
    const found = await call('try_writes', ...at(), JSON.stringify(writes));
    expect(found).toEqual([
      { place: 3, problems: [{ code: 'nickname_taken', field: 'account.nickname', message: null }] },
    ]);
    expect(await world.sql`select count(*) as n from account`).toEqual(before);
    expect(await call('try_writes', ...at(), '[]')).toEqual([]);
  });

  it('calls no other functions', async () => {
    await expect(call('try_writes', ...at(), '[{"fn": "seal_postings", "args": {}}]')).rejects.toThrow(
      'a trial cannot call seal_postings',
    );
  });
});

of('record_import_rows', () => {
  it('records each row once, for the latest attempt alone', async () => {
    const { id } = await runningImport();
    const rows = [result(1), result(2, 'failed')];
    const calls: unknown[] = [];
    for (const attempt of [1, 1, 2]) calls.push(await record(id, attempt, 2, rows));
    expect(calls).toEqual([true, true, false]);
    expect(await import_(id)).toMatchObject({ rows_done: 2, rows_failed: 1 });
    const recorded = await world.sql`select row, status from import_row where import_id = ${id} order by created, id`;
    expect(recorded).toEqual([
      { row: 1, status: 'created' },
      { row: 2, status: 'failed' },
    ]);
  });
});

of('finish_import', () => {
  it('ends the latest attempt, once', async () => {
    const { id } = await runningImport();
    await call('finish_import', ...at(), id, 2, null);
    expect((await import_(id)).status).toBe('running');
    await call('finish_import', ...at(), id, 1, null);
    await call('finish_import', ...at(), id, 1, 'late');
    expect(await import_(id)).toMatchObject({ status: 'completed', error: null });
    expect(await eventsOf(root, id)).toEqual(['import.created', 'import.completed']);
  });
});

of('expire_import', () => {
  it('deletes the results some at a time 30 days after the end, and then the import', async () => {
    const { id } = await runningImport();
    await record(id, 1, 3, [result(1), result(2), result(3)]);
    await call('finish_import', ...at(), id, 1, null);
    expect(await value('expire_import', ...at(), id, 2)).toBe(false);
    expect((await import_(id)).status).toBe('completed');
    await due('data_import', id);
    expect([await value('expire_import', ...at(), id, 2), await value('expire_import', ...at(), id, 2)]).toEqual([
      true,
      false,
    ]);
    expect(await import_(id)).toBeUndefined();
  });
});
