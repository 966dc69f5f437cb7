import { expect, it } from 'vitest';
import { makeAccount, moneyOf, useFunctions, useRoot } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, jobText, jobsOf } = fixture;
const root = useRoot(fixture, 'platform', 1);
const { create, receivable } = moneyOf(fixture, root);
const key = () => [root.tenantId, false] as const;
const textArray = (texts: string[]) => `{${texts.map((text) => JSON.stringify(text)).join(',')}}`;
/** The starts of the entries of an object on one list. */
const startsOf = async (id: string) =>
  (await world.sql`select distinct start from search_entry where id = ${id} order by 1`).map(({ start }) => start);
const begin = (notBefore = 0) =>
  world.sql`insert into search_backfill values (${root.tenantId}, false, '', ${notBefore})`;

of('search_text', () => {
  it.each([
    ['Acme Retail', 'acme retail'],
    ['  INV-2026/00017. ', 'inv 2026 00017'],
    ['Résumé — Ünïted', 'resume united'],
    ['ﬁnance №5', 'finance no5'],
    ['खाता', 'खाता'],
    ['日本、東京', '日本 東京'],
    ['\u0001…—', ''],
  ])('folds case, accents and punctuation: %j', async (text, expected) => {
    expect(await value('search_text', text)).toBe(expected);
  });
});

of('metadata_start', () => {
  it('is the key and the value, a hash of a long value, or the start of all values', async () => {
    expect(await value('metadata_start', 'order', 'O 17')).toBe('=order=O 17');
    expect(await value('metadata_start', 'order', null)).toBe('=order=');
    const long = (await value('metadata_start', 'k', 'x'.repeat(500))) as string;
    expect(long).toMatch(/^=k=x{16}[0-9a-f]{32}$/);
    expect(await value('metadata_start', 'k', `${'x'.repeat(499)}y`)).not.toBe(long);
  });
});

of('search_starts', () => {
  it('are the first four words of each text, each with what follows, and at most 12', async () => {
    const starts = async (texts: string[], metadata: object | null = null) =>
      (await call('search_starts', textArray(texts), metadata && JSON.stringify(metadata)))[0]!.search_starts;
    expect(await starts(['One two three four five', 'two'])).toEqual([
      'one two three four five',
      'two three four five',
      'three four five',
      'four five',
      'two',
    ]);
    expect(await starts(['same', 'SAME'])).toEqual(['same']);
    expect(await starts(['x'.repeat(40)], { b: 'last', a: 'first' })).toEqual(['x'.repeat(32), 'first', 'last']);
    expect(await starts(['', '--'])).toEqual([]);
    expect(await starts(['a b c d', 'e f g h', 'i j k l', 'm n o p'])).toHaveLength(12);
  });
});

of('search_position', () => {
  it('is the first text that begins with what is searched for', async () => {
    const position = (search: string) =>
      value('search_position', textArray(['Beta alpha', 'Alpha beta']), null, search);
    expect(await position('ALPHA')).toBe('alpha');
    expect(await position('alpha b')).toBe('alpha beta');
    expect(await position('beta')).toBe('beta');
    expect(await position('gamma')).toBeNull();
    expect(await position('-')).toBeNull();
  });
});

of('search_list', () => {
  it('differs by kind of object and account', async () => {
    const lists = [await value('search_list', 'deposit', null), await value('search_list', 'deposit', 'account_1')];
    expect(new Set([...lists, await value('search_list', 'account', 'account_1')]).size).toBe(3);
  });
});

of('entry_starts', () => {
  it('are those of the object, and of its payer when the list of the deposit shows it', async () => {
    const starts = async (object: string, row: object) =>
      (await call('entry_starts', ...key(), object, JSON.stringify(row)))[0]!.entry_starts;
    expect(await starts('receivable', { invoice: { referenceNumber: 'R-1' }, metadata: { a: 'b' } })).toEqual([
      ...['r 1', '1', 'b', '=a=b'],
    ]);
    const names = { nickname: 'Nick', business_details: { legalName: 'Legal', email: 'a@b' }, metadata: null };
    expect(await starts('account', names)).toEqual(['nick', 'legal', 'a b', 'b']);
    const payer = await makeAccount(fixture, root, 'partner', { nickname: 'Payer' });
    const paid = { statement_descriptor: 'Fee', from_account_id: payer.id };
    expect(await starts('deposit', { ...paid, context_id: root.id })).toEqual(['fee', 'payer', 'acme']);
    expect(await starts('deposit', { ...paid, context_id: 'account_other' })).toEqual(['fee']);
    expect(await starts('deposit', { ...paid, from_account_id: null })).toEqual(['fee']);
  });
});

of('index_object', () => {
  it('adds what a new row has, removes what it no longer has, and keeps the rest', async () => {
    const row = (reference: string, more: object = {}) =>
      JSON.stringify({
        id: 'receivable_1',
        created: 7,
        context_id: root.id,
        on_root_list: true,
        invoice: { referenceNumber: reference },
        ...more,
      });
    expect(await value('index_object', ...key(), 'receivable', null, row('one two'))).toBe('receivable_1');
    expect(await startsOf('receivable_1')).toEqual(['one two', 'two']);
    const lists = await world.sql`select distinct list, root_list, age from search_entry where id = 'receivable_1'`;
    const [own, all] = [
      await value('search_list', 'receivable', root.id),
      await value('search_list', 'receivable', null),
    ];
    expect(lists.map(Object.values)).toEqual([[own, all, '-7']]);
    await call('index_object', ...key(), 'receivable', row('one two'), row('three two', { metadata: { a: 'b' } }));
    expect(await startsOf('receivable_1')).toEqual(['=a=b', 'b', 'three two', 'two']);
    await call('index_object', ...key(), 'receivable', row('three two', { metadata: { a: 'b' } }), row('-'));
    expect(await startsOf('receivable_1')).toEqual([]);
    await call('index_object', ...key(), 'receivable', null, row('hidden', { on_root_list: false }));
    expect(await world.sql`select root_list from search_entry where id = 'receivable_1'`).toEqual([
      { root_list: null },
    ]);
  });
});

of('backfill_search', () => {
  it('adds all objects in steps, and does nothing afterwards', async () => {
    const made = [await create(1n, { statementDescriptor: 'Older deposit' }), await receivable(1n)];
    await world.sql`delete from search_entry`;
    await begin();
    let steps = 0;
    while ((await value('backfill_search', ...key(), 2)) !== null) steps++;
    expect(steps).toBeGreaterThan(1);
    expect(await startsOf(made[0]!.id)).toEqual(['deposit', 'older deposit']);
    expect(await value('backfill_search', ...key(), 2)).toBeNull();
  });

  it('adds the entries of the row as a concurrent change leaves it', async () => {
    const made = await receivable(5n, { metadata: { a: 'before' } });
    await begin();
    const [, changed] = await Promise.all([
      call('backfill_search', ...key(), 1_000),
      write(root, 'update_receivable', { id: made.id, metadata: { a: 'after' } }),
    ]);
    expect(changed.metadata).toEqual({ a: 'after' });
    expect(await startsOf(made.id)).toEqual(['=a=after', 'after']);
    await world.sql`delete from search_backfill`;
  });
});

of('job_backfill_search', () => {
  const run = async () => call('job_backfill_search', ...key(), await jobText('backfill_search', root.id));
  const waiting = async () => (await jobsOf(root, root.id)).filter(({ kind }) => kind === 'backfill_search').length;

  it('waits for its time, adds the rest by further jobs, and ends', async () => {
    await begin(9_999_999_999);
    await run();
    expect(await waiting()).toBe(1);
    await world.sql`delete from job where kind = 'backfill_search'`;
    await world.sql`update search_backfill set not_before = 0`;
    await run();
    expect(await waiting()).toBe(1);
    await run();
    expect(await waiting()).toBe(1);
    expect(await world.sql`select from search_backfill`).toHaveLength(0);
    await run();
    expect(await waiting()).toBe(1);
    await world.sql`delete from job where kind = 'backfill_search'`;
  });
});
