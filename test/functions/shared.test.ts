import { describe, expect, inject, it } from 'vitest';
import { editions } from '../../src/editions/editions.js';
import { account, AccountKind } from '../../src/resources/account/table.js';
import { refusal, useFunctions, useRoot } from './fixture.js';
import { createRoot } from '../../src/operator/account/accounts.js';
import { TenantScan } from '../../src/jobs/tenant-scan.js';
import { givenIn, tenantOf } from '../support/world.js';

const fixture = useFunctions();
const { world, of, call, value, write, stored, jobsOf, eventsOf } = fixture;
const root = useRoot(fixture);
const json = (object: unknown) => JSON.stringify(object);
const seconds = async () =>
  Number((await world.sql`select floor(date_part('epoch', clock_timestamp()))::bigint as s`)[0]!.s);

of('clock', () => {
  it('is real time in live mode, and with the offset of the test clock in test mode', async () => {
    const { tenantId } = await createRoot(world.operator, {
      ...{ type: 'user', edition: 1, businessDetails: { legalName: 'Clock' } },
    }).then(({ account }) => account);
    await write({ tenantId, live: false }, 'advance_clock', { advanceSeconds: 5_000 });
    const before = await seconds();
    const [live, test] = [Number(await value('clock', tenantId, true)), Number(await value('clock', tenantId, false))];
    expect(live).toBeGreaterThanOrEqual(before);
    expect(test - live).toBeGreaterThanOrEqual(5_000);
    expect(test).toBeLessThanOrEqual((await seconds()) + 5_000);
  });
});

of('wall_clock', () => {
  it('is real time in whole seconds', async () => {
    const before = await seconds();
    const now = Number(await value('wall_clock'));
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(await seconds());
  });
});

of('id_after', () => {
  it('moves the time in an id by whole seconds, and leaves out the random digits', async () => {
    const id = await value('new_id', 'event');
    const timeOf = (text: string) => Number.parseInt(text.replace('event_', '').slice(0, 14), 16);
    expect(await value('id_after', id, 0)).toBe(id.slice(0, 'event_'.length + 14));
    for (const moved of [-7, 3])
      expect(timeOf(await value('id_after', id, moved)) - timeOf(id)).toBe(moved * 1_000_000);
  });

  it('puts a position before or behind every id where an id has no time', async () => {
    expect(await value('id_after', 'event_none', -1)).toBe('');
    expect(await value('id_after', 'event_none', 1)).toBe('event_none~');
  });
});

of('take_allowance', () => {
  const burst = 1_000;
  const take = async (tenantId: string, back: number, need: number, want: number) => {
    const [row] = await call('take_allowance', tenantId, false, back, need, want, burst, 1);
    return [Number(row!.granted), Number(row!.remaining)];
  };
  const debt = async (tenantId: string, points: number, longest: number) => {
    const [row] = await call('take_allowance', tenantId, false, -points, 1, 1, burst, 1, longest);
    return Number(row!.remaining);
  };

  it('grants what is wanted or what is left, nothing below what is needed, and takes points back', async () => {
    const tenantId = 'tenant_of_allowance';
    expect(await take(tenantId, 0, 1, 600)).toEqual([600, 400]);
    expect((await take(tenantId, 0, 500, 600))[0]).toBe(0);
    const [granted, remaining] = await take(tenantId, 0, 1, 600);
    // A point comes back each second.
    expect(granted! + remaining!).toBeGreaterThanOrEqual(400);
    expect(granted! + remaining!).toBeLessThan(burst);
    expect((await take(tenantId, burst, 0, 0))[1]).toBe(burst);
  });

  it('is empty, and comes back, after the clock was ahead and is set back', async () => {
    const tenantId = 'tenant_of_a_clock';
    const ahead = async () => {
      const [row] = await world.sql`select full_at - date_part('epoch', clock_timestamp()) * 1000000 as microseconds
        from allowance where tenant_id = ${tenantId}`;
      return Number(row!.microseconds) / 1_000_000;
    };
    expect(await take(tenantId, 0, 1, 600)).toEqual([600, 400]);
    await world.sql`update allowance set full_at = full_at + 3600 * 1000000::bigint where tenant_id = ${tenantId}`;
    // Nothing is left for this call, and its refusal is stored.
    expect(await take(tenantId, 0, 500, 600)).toEqual([0, 0]);
    expect(await ahead()).toBeLessThanOrEqual(burst);
    await world.sql`update allowance set full_at = full_at - 600 * 1000000::bigint where tenant_id = ${tenantId}`;
    expect((await take(tenantId, 0, 500, 600))[0]).toBe(600);
    // A debt is kept, up to as much as the allowance holds.
    expect(await take(tenantId, -5 * burst, 1, 1)).toEqual([0, -burst]);
    expect((await take(tenantId, 0, 1, 1))[1]).toBeLessThan(-burst / 2);
    expect(await ahead()).toBeGreaterThan(burst * 1.5);
  });

  it('keeps a debt of a whole answer where the burst is smaller, and no more', async () => {
    // The first answer spent the allowance and 9,000 points beyond it.
    expect(await debt('tenant_in_debt', 10_000, 10_000)).toBe(burst - 10_000);
    expect(await debt('tenant_in_debt', 5_000, 10_000)).toBe(-10_000);
    // A debt that may be shorter than the burst is kept up to the burst.
    expect(await debt('tenant_in_less_debt', 3 * burst, 10)).toBe(-burst);
    // Beyond the longest debt was a clock that was ahead: nothing is left, and it comes back.
    await world.sql`update allowance set full_at = full_at + 3600 * 1000000::bigint
      where tenant_id = 'tenant_in_debt'`;
    expect(await debt('tenant_in_debt', 0, 10_000)).toBe(0);
  });
});

of('count_senders', () => {
  const burst = 1_000;
  const gone = (tenantId: string, points: number) =>
    world.sql`insert into allowance (tenant_id, livemode, full_at)
      values (${tenantId}, false, date_part('epoch', clock_timestamp()) * 1000000 + ${points * 1_000_000})
      on conflict (tenant_id, livemode) do update set full_at = excluded.full_at`;
  const count = async (tenantId: string, spent: Record<string, number>) =>
    (await value('count_senders', tenantId, false, json(spent), burst, 1)) as unknown as Record<string, number>;

  it('adds what gateways tell, and forgets nobody while as much is gone', async () => {
    const tenantId = 'tenant_of_senders';
    expect(await count(tenantId, { a: 5 })).toEqual({});
    await gone(tenantId, 900);
    expect(await count(tenantId, { a: 700, b: 20 })).toEqual({ a: 700, b: 20 });
    expect(await count(tenantId, { a: 100, b: -20 })).toEqual({ a: 800 });
  });

  it('shares out what has come back: first to the others, then to those that have spent less', async () => {
    const tenantId = 'tenant_of_shares';
    await gone(tenantId, 900);
    await count(tenantId, { a: 700, b: 100 });
    await gone(tenantId, 780);
    expect(await count(tenantId, {})).toEqual({ a: expect.closeTo(690, -1), b: expect.closeTo(90, -1) });
    await gone(tenantId, 400);
    expect(await count(tenantId, {})).toEqual({ a: expect.closeTo(400, -1) });
    await gone(tenantId, 0);
    expect(await count(tenantId, {})).toEqual({});
  });

  it('knows the twenty that have spent most', async () => {
    const tenantId = 'tenant_of_many';
    await gone(tenantId, 1_000);
    const spent = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`s${i}`, i + 1]));
    const known = await count(tenantId, spent);
    expect(Object.keys(known).sort()).toEqual(Array.from({ length: 20 }, (_, i) => `s${i + 10}`).sort());
  });
});

of('take_rotation', () => {
  it('allows ten in a minute, and none for a root account that nobody has used', async () => {
    const tenantId = 'tenant_of_rotations';
    expect(await value('take_rotation', tenantId, false)).toBe(false);
    await call('take_allowance', tenantId, false, 0, 1, 1, 1_000, 1);
    const answers = [];
    for (let i = 0; i < 12; i++) answers.push(await value('take_rotation', tenantId, false));
    expect(answers.filter(Boolean)).toHaveLength(10);
    expect(answers.slice(0, 10)).not.toContain(false);
    await world.sql`update allowance set rotations = array(select t - 61000000 from unnest(rotations) t)
      where tenant_id = ${tenantId}`;
    expect(await value('take_rotation', tenantId, false)).toBe(true);
  });
});

of('new_id', () => {
  it('has the prefix and 32 hex digits, and sorts by creation', async () => {
    const ids = [];
    for (let i = 0; i < 5; i++) ids.push(await value('new_id', 'deposit'));
    for (const id of ids) expect(id).toMatch(/^deposit_[0-9a-f]{32}$/);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(5);
  });
});

of('refuse', () => {
  it('raises the status in the SQLSTATE, the code and the problem', async () => {
    expect(await refusal(call('refuse', 402, 'balance_insufficient', 'payout.amount', 'is too much'))).toBe(
      'balance_insufficient payout.amount',
    );
    const raised = world.sql`select refuse(402, 'balance_insufficient', 'payout.amount', 'is too much')`;
    await expect(raised).rejects.toMatchObject({ code: 'TG402', message: 'balance_insufficient' });
  });
});

of('absent', () => {
  it('raises the error that a compiled query turns into the resolvers', async () => {
    await expect(call('absent')).rejects.toThrow();
    await expect(world.sql`select absent()`).rejects.toMatchObject({ code: 'TG000', message: 'absent' });
  });
});

of('merge_object', () => {
  it.each([
    [{ a: 1, b: { c: 2, d: 3 } }, { b: { c: null } }, { a: 1, b: { c: null, d: 3 } }],
    [{ a: 1 }, {}, { a: 1 }],
    [null, { a: { b: 1 } }, { a: { b: 1 } }],
    [{ a: 1 }, null, {}],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
  ])('%j with %j', async (before, changes, after) => {
    expect(await value('merge_object', json(before), json(changes))).toEqual(after);
  });
});

of('merge_metadata', () => {
  it.each([
    [{ a: '1' }, { b: '2' }, { a: '1', b: '2' }],
    [{ a: '1', b: '2' }, { a: '' }, { b: '2' }],
    [{ a: '1' }, { a: null }, null],
    [{ a: '1' }, null, null],
    [null, {}, null],
  ])('%j with %j', async (before, changes, after) => {
    const given = before === null ? null : json(before);
    expect(await value('merge_metadata', given, json(changes), 'deposit.metadata')).toEqual(after);
  });

  it('refuses more keys than metadata may have, with the field of the caller', async () => {
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, 'v']));
    expect(await refusal(call('merge_metadata', null, json(many), 'file.metadata'))).toBe(
      'parameter_invalid file.metadata',
    );
  });
});

of('without_null_columns', () => {
  it.each([
    [
      { a: null, b: 1, c: { d: 'x' }, e: [1] },
      { b: 1, c: { d: 'x' }, e: [1] },
    ],
    [
      { a: null, b: null, c: { d: null }, e: [null, { f: null }] },
      { c: { d: null }, e: [null, { f: null }] },
    ],
    [{ a: null }, {}],
    [{ a: null, c: { d: { e: null } } }, { c: { d: { e: null } } }],
    [{}, {}],
  ])('of %j are %j', async (row, kept) => {
    expect(await value('without_null_columns', json(row))).toEqual(kept);
  });
});

of('event_data', () => {
  it('leaves out null columns, and the tenant and the visibility, which the event has itself', async () => {
    const kept = { id: 'x_1', livemode: false, bank_account: { bankName: null } };
    const row = { ...kept, nickname: null, tenant_id: 't', context_id: 'account_1', on_root_list: true };
    expect(await value('event_data', json(row))).toEqual(kept);
  });

  it('removes secrets, and turns numbers into text at the top', async () => {
    const row = { id: 'x_1', created: 7, amount: 9007199254740993n.toString(), size: 3, digest: 'd' };
    const identification = { taxCardNumber: '•••1', taxCardSealed: 's' };
    expect(await value('event_data', json({ ...row, identification }))).toEqual({
      ...{ id: 'x_1', created: '7', amount: '9007199254740993', size: '3' },
      identification: { taxCardNumber: '•••1' },
    });
  });
});

const object = () => ({ id: 'thing_1', context_id: root.id, on_root_list: true, amount: 5 });

of('emit_event', () => {
  it('stores an event without a number, at the time of the clock, with the request of the envelope', async () => {
    const { tenantId } = root;
    await call('emit_event', tenantId, false, json({ requestId: 'req_7' }), 'thing.made', 'thing', json(object()));
    const event = await stored('event', root, 'thing_1', 'object_id');
    expect(event).toMatchObject({ type: 'thing.made', object: 'thing', request_id: 'req_7', number: null });
    expect(event).toMatchObject({ context_id: root.id, on_root_list: true, data: { amount: '5' } });
  });
});

of('emit_event_at', () => {
  it('stores it at the given time, and returns its id', async () => {
    const row = json({ ...object(), id: 'thing_2' });
    const id = await value('emit_event_at', root.tenantId, false, '{}', 'thing.moved', 'thing', row, 42);
    expect(await stored('event', root, id)).toMatchObject({ type: 'thing.moved', created: '42', request_id: null });
  });
});

of('emit_root_event', () => {
  it('is about the root account, on its lists', async () => {
    await call('emit_root_event', root.tenantId, true, '{}', 'thing.announced', 'thing', json({ now: 3 }));
    const event = await stored('event', root.inLive, 'thing.announced', 'type');
    expect(event).toMatchObject({ object_id: root.id, context_id: root.id, on_root_list: true });
  });
});

of('store_idempotent_response', () => {
  const envelope = { account: 'operator', key: 'k1', operation: 'make', request: { '': 'f' }, requestId: 'req_1' };
  const store = (call_: object, row: object) =>
    call('store_idempotent_response', root.tenantId, false, json(call_), json(row));

  it('stores the row without secrets, once per key', async () => {
    await store(envelope, { id: 'thing_3', digest: 'secret' });
    const answer = await stored('idempotency', root, 'k1', 'key');
    expect(answer).toMatchObject({ operation: 'make', request_id: 'req_1', answer: { id: 'thing_3' } });
    expect(answer.answer).not.toHaveProperty('digest');
    expect(await refusal(store(envelope, { id: 'thing_4' }))).toBe('idempotency_key_in_use');
  });

  it('stores nothing without a key', async () => {
    await store({ requestId: 'req_2' }, { id: 'thing_5' });
    const found = await world.sql`select from idempotency where answer ->> 'id' = 'thing_5'`;
    expect(found).toHaveLength(0);
  });
});

of('response_data', () => {
  it('leaves out secrets, and columns that are null', async () => {
    const row = { id: 'a', digest: 's', none: null, identification: { taxCardSealed: 's', type: 't' } };
    expect(await value('response_data', json(row))).toEqual({ id: 'a', identification: { type: 't' } });
  });
});

of('delete_old_responses', () => {
  it('deletes the oldest first, at most so many, and none that is younger than a day', async () => {
    const { tenantId } = root;
    for (const [key, age] of Object.entries({ old1: 100_000, old2: 90_000, young: 80_000 }))
      await world.sql`insert into idempotency (tenant_id, livemode, account_id, key, created, operation, request,
        answer)
        values (${tenantId}, true, 'a', ${key}, ${(await seconds()) - age}, 'make', '{}', '{}')`;
    expect(await value('delete_old_responses', tenantId, true, 1, 1)).toBe(1);
    expect(await value('delete_old_responses', tenantId, true, 1, 10)).toBe(1);
    const rest = await world.sql`select key from idempotency where tenant_id = ${tenantId} and livemode`;
    expect(rest.map(({ key }) => key)).toEqual(['young']);
  });
});

of('enqueue', () => {
  it('makes a job that is due so many seconds from now', async () => {
    const before = await seconds();
    await call('enqueue', root.tenantId, false, 'some_kind', 'thing_6', 100, json({ a: 1 }));
    const [job] = await jobsOf(root, 'thing_6');
    expect(job).toMatchObject({ kind: 'some_kind', args: { a: 1 }, attempts: 0 });
    expect(Number(job!.due)).toBeGreaterThanOrEqual(before + 100);
  });
});

of('enqueue_at', () => {
  it('takes the time of creation from the caller, and returns the id', async () => {
    const id = await value('enqueue_at', root.tenantId, false, 'some_kind', 'thing_7', 0, '{}', 43);
    expect((await jobsOf(root, 'thing_7'))[0]).toMatchObject({ id, created: '43' });
  });
});

of('advance_clock', () => {
  it('moves the offset forward, and the due times of jobs back', async () => {
    await call('enqueue', root.tenantId, false, 'some_kind', 'thing_8', 1_000, '{}');
    const [before] = await jobsOf(root, 'thing_8');
    const clock = await write(root, 'advance_clock', { advanceSeconds: 600 });
    expect(Number(clock.offset_seconds)).toBe(600);
    const [after] = await jobsOf(root, 'thing_8');
    expect(Number(before!.due) - Number(after!.due)).toBe(600);
    expect(await eventsOf(root, root.id)).toContain('clock.advanced');
  });

  it('refuses what both APIs could not return, and live mode', async () => {
    const far = write(root, 'advance_clock', { advanceSeconds: 2_147_483_647 });
    expect(await refusal(far)).toBe('parameter_invalid clock.advance_seconds');
    await expect(write(root.inLive, 'advance_clock', { advanceSeconds: 1 })).rejects.toThrow('only test mode');
  });
});

of('edition_currency', () => {
  it('is the currency of each edition', async () => {
    expect(await value('edition_currency', 1)).toBe(editions[1].currency);
    expect(await value('edition_currency', 2)).toBe(editions[2].currency);
  });
});

of('receiver_by_kind', () => {
  it('is the account itself, and the owner of a partner', async () => {
    const receivers = Object.fromEntries(
      await Promise.all(
        Object.values(AccountKind).map(async (kind) => [kind, await value('receiver_by_kind', kind, 'own', 'owner')]),
      ),
    );
    expect(receivers).toEqual({ platform: 'own', direct_user: 'own', connected_user: 'own', partner: 'owner' });
  });
});

of('checkout_attempts_max', () => {
  it('is 30', async () => expect(await value('checkout_attempts_max')).toBe(30));
});

of('metadata_keys_max', () => {
  it('is 10', async () => expect(await value('metadata_keys_max')).toBe(10));
});

of('number_events', () => {
  it('numbers events densely, at most so many in one call', async () => {
    const place = { tenantId: root.tenantId, live: true };
    for (let i = 0; i < 3; i++)
      await call('emit_root_event', place.tenantId, true, '{}', `numbered.${i}`, 'thing', '{}');
    const waiting = (
      await world.sql`select from event where tenant_id = ${place.tenantId} and livemode and number is null`
    ).length;
    expect(await value('number_events', place.tenantId, true, 2)).toBe(2);
    expect(await value('number_events', place.tenantId, true, 100)).toBe(waiting - 2);
    expect(await value('number_events', place.tenantId, true, 100)).toBe(0);
    const numbers =
      await world.sql`select number from event where tenant_id = ${place.tenantId} and livemode order by 1`;
    expect(numbers.map(({ number }) => Number(number))).toEqual(numbers.map((_, i) => i + 1));
  });
});

of('delete_old_events', () => {
  it('deletes the lowest numbers up to the first that is young', async () => {
    const { account } = await createRoot(world.operator, {
      ...{ type: 'user', edition: 1, businessDetails: { legalName: 'Events' } },
    });
    const { tenantId } = account;
    for (let i = 0; i < 3; i++) await call('emit_root_event', tenantId, true, '{}', `old.${i}`, 'thing', '{}');
    await value('number_events', tenantId, true, 100);
    // An id has the real time in it.
    await world.sql`update event set id = id_after(id, -1000) || right(id, 18)
      where tenant_id = ${tenantId} and livemode and type in ('account.created', 'old.0', 'old.2', 'api_key.created')`;
    const rows = () => world.sql`select type from event where tenant_id = ${tenantId} and livemode order by number`;
    const before = (await rows()).map(({ type }) => type);
    const young = before.indexOf('old.1');
    expect(await value('delete_old_events', tenantId, true, 500, 100)).toBe(young);
    expect((await rows()).map(({ type }) => type)).toEqual(before.slice(young));
  });

  it('deletes none because a test clock has moved, and none that an enabled endpoint has yet to get', async () => {
    const { account } = await createRoot(world.operator, {
      ...{ type: 'user', edition: 1, businessDetails: { legalName: 'Kept' } },
    });
    const place = { tenantId: account.tenantId, live: false };
    const endpoint = await write(place, 'create_webhook_endpoint', {
      ...{ id: 'webhook_kept', accountId: account.id, url: 'https://example.com/', eventTypes: ['thing.happened'] },
      ...{ description: null, connected: false, secretSealed: 'sealed' },
    });
    await call('emit_root_event', place.tenantId, false, '{}', 'thing.happened', 'thing', '{}');
    await value('number_events', place.tenantId, false, 100);
    await write(place, 'advance_clock', { advanceSeconds: 10_000 });
    await value('number_events', place.tenantId, false, 100);
    const types = async () =>
      (
        await world.sql`select type from event where tenant_id = ${place.tenantId} and not livemode order by number`
      ).map(({ type }) => type as string);
    const all = await types();
    const forget = () => value('delete_old_events', place.tenantId, false, 500, 100);
    expect(await forget()).toBe(0);
    await world.sql`with aged as (
        update event set id = id_after(id, -1000) || right(id, 18)
        where tenant_id = ${place.tenantId} and not livemode returning id, number
      )
      update webhook_delivery d set event_id = a.id from aged a
      where d.tenant_id = ${place.tenantId} and d.event_number = a.number`;
    const kept = all.indexOf('thing.happened');
    expect(await forget()).toBe(kept);
    expect(await types()).toEqual(all.slice(kept));
    await write(place, 'update_webhook_endpoint', { id: endpoint.id, enabled: false });
    expect(await forget()).toBe(all.length - kept);
  });
});

const fault = (): [string, boolean, string] => [root.tenantId, false, 'seal_postings'];

of('worker_fault_pause', () => {
  it('doubles up to a minute', async () => {
    expect([await value('worker_fault_pause', 1), await value('worker_fault_pause', 5)]).toEqual([1, 16]);
    expect(await value('worker_fault_pause', 1_000)).toBe(60);
  });
});

of('record_worker_fault', () => {
  it('counts the attempts, and keeps the last error and the first time', async () => {
    expect(await value('record_worker_fault', ...fault(), 'first')).toBe(1);
    await world.sql`update worker_fault set since = 5`;
    expect(await value('record_worker_fault', ...fault(), 'second')).toBe(2);
    const [row] = await world.sql`select error, since::int, attempts from worker_fault`;
    expect(row).toEqual({ error: 'second', since: 5, attempts: 2 });
    await world.sql`delete from worker_fault`;
  });
});

of('claim_worker_fault', () => {
  it('gives a due attempt to one worker, and refuses one that is not due', async () => {
    await call('record_worker_fault', ...fault(), 'fault');
    await world.sql`update worker_fault set next_attempt = 0`;
    expect(await value('claim_worker_fault', ...fault())).toBe(0);
    expect(await value('claim_worker_fault', ...fault())).toBeGreaterThan(0);
    await world.sql`delete from worker_fault`;
    expect(await value('claim_worker_fault', ...fault())).toBe(0);
  });

  it('gives an attempt that is further ahead than its pause: the clock was set back', async () => {
    await call('record_worker_fault', ...fault(), 'fault');
    await world.sql`update worker_fault set next_attempt = next_attempt + 3600`;
    expect(await value('claim_worker_fault', ...fault())).toBe(0);
    expect(await value('claim_worker_fault', ...fault())).toBeLessThanOrEqual(2);
    await world.sql`delete from worker_fault`;
  });
});

of('clear_worker_fault', () => {
  it('deletes the fault of this work alone', async () => {
    await call('record_worker_fault', ...fault(), 'fault');
    await call('record_worker_fault', root.tenantId, false, 'number_events', 'fault');
    expect(await value('clear_worker_fault', ...fault())).toBe(1);
    expect(await value('clear_worker_fault', ...fault())).toBe(0);
    expect(await world.sql`select work from worker_fault`).toEqual([{ work: 'number_events' }]);
    await world.sql`delete from worker_fault`;
  });
});

of('camel', () => {
  it('turns snake case into camel case', async () => {
    expect(await value('camel', 'connected_user_partner')).toBe('connectedUserPartner');
    expect(await value('camel', 'partner')).toBe('partner');
  });
});

const given = givenIn(world);

of('cross_tenant_query', () => {
  it('runs a query over all tenants, on the node of a tenant', async () => {
    const platform = await given.platform(1);
    const query =
      'select jsonb_build_array(c0) from (select "tenant_id" from "account" where "tenant_id" = ' +
      `'${tenantOf(platform)}' limit 1) s (c0)`;
    expect(await call('cross_tenant_query', tenantOf(platform), query)).toEqual([{ found: [tenantOf(platform)] }]);
  });

  it('is needed by no other database than a distributed one', async () => {
    expect(await world.database.crossTenant.distributed()).toBe(inject('distributed') !== undefined);
    const { rows } = await new TenantScan(world.database, 'tenants_with_accounts', { table: account }).next();
    expect(rows.length).toBeGreaterThan(0);
    expect([...world.database.preparedStatements.keys()]).toContain('tenants_with_accounts');
  });
});

describe('the log of requests', () => {
  const root = useRoot(fixture, 'platform', 2);

  let ids = 0;
  const request = (more: object = {}) => ({
    id: `req_${String(++ids).padStart(24, '0')}`,
    accountId: root.id,
    age: 0.5,
    api: 'graphql',
    operation: 'createDeposit',
    status: 200,
    outcome: 'refused',
    codes: ['parameter_invalid', 'parameter_missing'],
    milliseconds: 12,
    apiKeyId: 'key_1',
    sessionId: null,
    onBehalfOf: 'account_2',
    ...more,
  });
  const store = (...requests: object[]) => call('store_requests', root.tenantId, false, JSON.stringify(requests));
  const stored = () => world.sql`select * from request_log where context_id = ${root.id} order by id`;

  of('store_requests', () => {
    it('stores each request once, at the time of the database minus its age', async () => {
      const [now, old] = [request({ age: 0 }), request({ age: 3600, onBehalfOf: null })];
      const clock = async () => Number((await world.sql`select extract(epoch from clock_timestamp()) as at`)[0]!.at);
      const before = await clock();
      await store(now, old);
      const after = await clock();
      await store(old);
      const rows = await stored();
      expect(rows).toHaveLength(2);
      expect(rows[0]).toMatchObject({
        ...{ id: now.id, livemode: false, api: 'graphql', operation: 'createDeposit', status: 200, outcome: 'refused' },
        ...{ codes: now.codes, milliseconds: 12, api_key_id: 'key_1', session_id: null, on_behalf_of: 'account_2' },
        on_root_list: true,
      });
      expect(Number(rows[0]!.created)).toBeGreaterThanOrEqual(Math.floor(before));
      expect(Number(rows[0]!.created)).toBeLessThanOrEqual(Math.ceil(after));
      expect(Number(rows[0]!.created) - Number(rows[1]!.created)).toBeGreaterThanOrEqual(3599);
    });
  });

  of('delete_old_requests', () => {
    it('deletes what is older than some seconds, at most some rows, the oldest first', async () => {
      await world.sql`delete from request_log`;
      await store(...[100, 90, 80, 0].map((age) => request({ age })));
      const forget = async (limit: number) =>
        (await call('delete_old_requests', root.tenantId, false, 60, limit))[0]!.delete_old_requests;
      expect(await forget(2)).toBe(2);
      expect(await forget(2)).toBe(1);
      expect(await forget(2)).toBe(0);
      expect(await stored()).toHaveLength(1);
    });
  });
});
