import { expect, it } from 'vitest';
import { useFunctions } from './fixture.js';

const { world, of, call, value } = useFunctions();

const create = (name: string, digest: string) =>
  call('create_operator', name, 'read', 'opk_…x', digest, 'p1', 'a test');
const json = JSON.stringify;
const entry = (id: string, more: object = {}) =>
  json({ id, outcome: 'attempted', operation: 'test', request_id: 'req_1', details: {}, ...more });
const append = (id: string, more: object = {}) => value('append_operator_action', 'anna', entry(id, more)).then(Number);
const rowOf = async (number: number) => (await world.sql`select * from operator_action where number = ${number}`)[0]!;

of('create_operator', () => {
  it('creates an operator once for a key, and refuses a name that another one has', async () => {
    const [made] = await create('Anna', 'd1');
    expect(made).toMatchObject({ name: 'Anna', role: 'read', prefix: 'opk_…x', pepper_id: 'p1', created_by: 'a test' });
    expect((await create('Anna', 'd1'))[0]).toEqual(made);
    await expect(create('ANNA', 'd2')).rejects.toMatchObject({ problems: [{ code: 'state_conflict' }] });
  });
});

of('revoke_operator', () => {
  it('ends its sessions, once, and frees its name', async () => {
    const [{ id }] = (await create('Bruno', 'd3')) as [{ id: string }];
    await call('create_operator_session', id, null, 's1', 60);
    const [revoked] = await call('revoke_operator', id);
    expect(revoked!.revoked_at).not.toBeNull();
    expect(await world.sql`select from operator_session`).toEqual([]);
    expect(await call('revoke_operator', id)).toEqual([revoked]);
    expect(await create('Bruno', 'd4')).toHaveLength(1);
    expect(await call('revoke_operator', 'operator_0')).toEqual([]);
  });
});

of('touch_operator', () => {
  it('records the use once a minute, and takes the hash under a newer pepper', async () => {
    const [{ id }] = (await create('Carla', 'd5')) as [{ id: string }];
    const row = async () => (await world.sql`select * from operator where id = ${id}`)[0]!;
    await call('touch_operator', id, 'd5', 'd5', 'p1');
    const { last_used_at } = await row();
    expect(Number(last_used_at)).toBeGreaterThan(1_700_000_000);
    await world.sql`update operator set last_used_at = last_used_at - 30 where id = ${id}`;
    await call('touch_operator', id, 'other', 'd6', 'p2');
    expect(await row()).toMatchObject({ last_used_at: String(Number(last_used_at) - 30), digest: 'd5' });
    await call('touch_operator', id, 'd5', 'd6', 'p2');
    expect(await row()).toMatchObject({ digest: 'd6', pepper_id: 'p2' });
  });
});

of('create_operator_session', () => {
  it('makes a session of an operator or of a shared key, and deletes those that have expired', async () => {
    const now = Number((await world.sql`select extract(epoch from now()) as now`)[0]!.now);
    expect(Number(await value('create_operator_session', null, 'k1', 's2', 60)) - now).toBeCloseTo(60, -1);
    await world.sql`update operator_session set expires_at = 1`;
    await value('create_operator_session', null, 'k1', 's3', 60);
    expect((await world.sql`select digest from operator_session`).map(({ digest }) => digest)).toEqual(['s3']);
  });

  it('makes none for an operator that is revoked', async () => {
    const [{ id }] = (await create('Dora', 'd7')) as [{ id: string }];
    await call('revoke_operator', id);
    await expect(value('create_operator_session', id, null, 's4', 60)).rejects.toMatchObject({ status: 401 });
  });
});

of('end_operator_session', () => {
  it('ends a session once', async () => {
    await value('create_operator_session', null, 'k1', 's5', 60);
    expect([await value('end_operator_session', 's5'), await value('end_operator_session', 's5')]).toEqual([1, 0]);
  });
});

of('append_operator_action', () => {
  it('numbers entries, links their hashes, and appends an entry once', async () => {
    const first = await append('a1');
    const second = await append('a2', { action: first, outcome: 'succeeded', details: { b: 1, a: 'ü' } });
    expect([second, await append('a2')]).toEqual([first + 1, second]);
    const [one, two] = [await rowOf(first), await rowOf(second)];
    expect([one.action, two.action, two.operator]).toEqual([String(first), String(first), 'anna']);
    expect(two.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('decides by itself about the number, the time and the hash', async () => {
    const number = await append('a3', { number: 900, created: 1, hash: 'x', operator: 'other' });
    const row = await rowOf(number);
    expect([number < 900, Number(row.created) > 1_700_000_000, row.hash.length, row.operator]).toEqual([
      true,
      true,
      64,
      'anna',
    ]);
  });
});

of('operator_action_hash', () => {
  it('depends on the hash before and on every column', async () => {
    const number = await append('a4', { operator_id: 'o', object_id: 'x', tenant: 't', mode: 'live', code: 'c' });
    const row = await rowOf(number);
    const [before] = await world.sql`select hash from operator_action where number = ${number - 1}`;
    const hashOf = (previous: string, changed: object) =>
      world.sql
        .unsafe(
          'select operator_action_hash($1, jsonb_populate_record(null::operator_action, $2::text::jsonb)) as hash',
          [previous, json({ ...row, ...changed })],
        )
        .then(([found]) => found!.hash);
    expect(await hashOf(before!.hash, {})).toBe(row.hash);
    const [{ text }] = (await world.sql`
      select a::text as text from operator_action a where number = ${number}`) as unknown as [{ text: string }];
    expect(await value('operator_action_hash', before!.hash, text)).toBe(row.hash);
    const { hash: _, ...columns } = row;
    const hashes = [await hashOf('', {})];
    for (const name of Object.keys(columns)) {
      const other = ['number', 'created', 'action'].includes(name) ? 77 : name === 'details' ? { z: 1 } : 'other';
      hashes.push(await hashOf(before!.hash, { [name]: other }));
    }
    expect(new Set([...hashes, row.hash]).size).toBe(hashes.length + 1);
  });
});

of('append_refused_sign_ins', () => {
  it('appends one entry in a time, whatever else is appended', async () => {
    const refused = (id: string, seconds: number) =>
      value('append_refused_sign_ins', '(unknown)', entry(id, { outcome: 'refused', details: { count: 3 } }), seconds);
    expect(await refused('r1', 600)).not.toBeNull();
    await append('a5');
    expect(await refused('r2', 600)).toBeNull();
    expect(await refused('r3', -1)).not.toBeNull();
  });
});

of('append_refused_change', () => {
  it('appends a few of an operator in a time, and those of the others', async () => {
    const refused = (id: string, name: string, seconds = 600) =>
      value('append_refused_change', name, entry(id, { outcome: 'refused', details: {} }), seconds, 3);
    for (const id of ['c1', 'c2', 'c3']) expect(await refused(id, 'Reader')).not.toBeNull();
    expect(await refused('c4', 'Reader')).toBeNull();
    expect(await refused('c5', 'Other')).not.toBeNull();
    expect(await refused('c6', 'Reader', -1)).not.toBeNull();
  });
});

of('check_operator_actions', () => {
  it('checks the chain in pieces, each from the end of the one before', async () => {
    const [{ last }] = (await world.sql`select max(number)::int as last from operator_action`) as [{ last: number }];
    let [number, hash, pieces] = [0, '', 0];
    for (; ; pieces++) {
      const [row] = await call('check_operator_actions', number, hash, 3);
      expect(row!.first_broken).toBeNull();
      if (Number(row!.last_number) === number) break;
      [number, hash] = [Number(row!.last_number), row!.last_hash];
    }
    expect([number, pieces]).toEqual([last, Math.ceil(last / 3)]);
    const [wrong] = await call('check_operator_actions', 2, 'not its hash', 3);
    expect(wrong!.first_broken).toBe('3');
  });
});

of('report_gateway_process', () => {
  const report = (id: string) => call('report_gateway_process', id, 'host', 7, '1.0');

  it('says that a process runs, and forgets those that were not seen for a day', async () => {
    await report('g1');
    await world.sql`update gateway_process set started_at = 5, seen_at = 5`;
    await report('g2');
    expect((await world.sql`select id from gateway_process`).map(({ id }) => id)).toEqual(['g2']);
    await world.sql`update gateway_process set started_at = 5, seen_at = seen_at - 100`;
    await report('g2');
    const [row] = await world.sql`select * from gateway_process`;
    expect([row!.started_at, Number(row!.seen_at) > 1_700_000_000]).toEqual(['5', true]);
  });
});

of('remove_gateway_process', () => {
  it('removes a process that ends', async () => {
    await call('remove_gateway_process', 'g2');
    expect(await world.sql`select from gateway_process`).toEqual([]);
  });
});
