import { expect, it } from 'vitest';
import { refusal, type Row, useFunctions, useRoot } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, rowText, stored, eventsOf } = fixture;
const root = useRoot(fixture, 'platform', 1);

let count = 0;
const create = (more: Partial<Parameters<typeof write<'create_webhook_endpoint'>>[2]> = {}): Promise<Row> =>
  write(root, 'create_webhook_endpoint', {
    ...{ id: `webhook_${++count}`, accountId: root.id, url: 'https://example.com/', eventTypes: ['account.updated'] },
    ...{ description: null, connected: false, secretSealed: `sealed ${count}`, ...more },
  });
const disable = (id: string) => write(root, 'update_webhook_endpoint', { id, enabled: false });
const now = async () => Number(await value('wall_clock'));

/** Events with numbers, made here and not by a write. */
async function events(numbers: number[], type = 'account.updated', actingAccount = root.id): Promise<string[]> {
  const ids = numbers.map((number) => `event_${String(number).padStart(12, '0')}`);
  await world.sql`insert into event
    (tenant_id, livemode, id, created, type, object, object_id, data, number, context_id, on_root_list)
    select ${root.tenantId}, false, x.id, 1, ${type}, 'account', ${root.id}, '{}', x.n, ${actingAccount},
    ${actingAccount === root.id}
    from unnest(${ids}::text[], ${numbers}::bigint[]) x (id, n)`;
  return ids;
}
const list = (ids: string[]) => `{${ids.join(',')}}`;
const deliveriesOf = (endpoint: string) =>
  world.sql<Row[]>`select * from webhook_delivery where endpoint_id = ${endpoint} order by event_number`;
const claim = (id: string, seconds = 60) => call('claim_webhook_deliveries', root.tenantId, false, id, 50, seconds);
const attempt = (more: object = {}) => ({ at: 1, milliseconds: 2, status: 200, error: null, response: '', ...more });
const finish = (id: string, claimedUntil: number, results: object[]) =>
  value('finish_deliveries', root.tenantId, false, id, claimedUntil, JSON.stringify(results));
let numbered = 1_000;
/** An endpoint with pending deliveries. */
async function withDeliveries(n: number): Promise<Row> {
  const endpoint = await create();
  const ids = await events(Array.from({ length: n }, () => ++numbered));
  await call('queue_deliveries', root.tenantId, false, list(ids), endpoint.id);
  return endpoint;
}

of('without_secrets', () => {
  it('leaves out the secrets and what only the worker uses', async () => {
    const { id } = await create();
    await disable(id);
    const shown = (await value('without_secrets', await rowText('webhook_endpoint', root, id))) as object;
    const internal = ['secret_sealed', 'previous_secret_sealed', 'previous_secret_until', 'due', 'claimed_until'];
    expect(Object.keys(shown).filter((name) => internal.includes(name))).toEqual([]);
    expect(shown).toMatchObject({ id, url: 'https://example.com/', enabled: false });
  });
});

of('emit_webhook_event', () => {
  it('emits an event without secrets, and returns its id', async () => {
    const { id } = await create();
    await disable(id);
    const row = await rowText('webhook_endpoint', root, id);
    const event = await value('emit_webhook_event', root.tenantId, false, '{}', 'webhook_endpoint.updated', row);
    const { data } = await stored('event', root, event);
    expect([data.id, 'secret_sealed' in data]).toEqual([id, false]);
  });
});

of('check_webhook_limit', () => {
  it('refuses the seventeenth enabled endpoint of an account', async () => {
    const made: string[] = [];
    const [before] = await world.sql`select count(*)::int as n from webhook_endpoint
      where account_id = ${root.id} and enabled`;
    for (let n = before!.n; n < 15; n++) made.push((await create()).id);
    await call('check_webhook_limit', root.tenantId, false, root.id);
    made.push((await create()).id);
    expect(await refusal(call('check_webhook_limit', root.tenantId, false, root.id))).toBe(
      'parameter_invalid webhook_endpoint.url',
    );
    for (const id of made) await disable(id);
  });
});

of('create_webhook_endpoint', () => {
  it('creates an enabled endpoint with an event, and refuses an id that exists', async () => {
    const made = await create({ eventTypes: ['*', 'deposit.*'], description: 'all' });
    expect(made).toMatchObject({ event_types: ['*', 'deposit.*'], description: 'all', enabled: true, due: null });
    expect(await eventsOf(root, made.id)).toEqual(['webhook_endpoint.created']);
    expect(await refusal(create({ id: made.id }))).toBe('idempotency_key_in_use');
    await disable(made.id);
  });
});

of('update_webhook_endpoint', () => {
  it('changes what is given, and starts pending deliveries when it enables', async () => {
    const { id } = await withDeliveries(1);
    expect(await disable(id)).toMatchObject({ enabled: false, disabled_reason: 'by_request' });
    const changed = await write(root, 'update_webhook_endpoint', { id, url: 'https://a.example/', description: null });
    expect(changed).toMatchObject({ url: 'https://a.example/', description: null, event_types: ['account.updated'] });
    await world.sql`update webhook_endpoint set failing_since = 1, due = null where id = ${id}`;
    await world.sql`update webhook_delivery set next_attempt = next_attempt + 36000 where endpoint_id = ${id}`;
    const enabled = await write(root, 'update_webhook_endpoint', { id, enabled: true, eventTypes: ['*'] });
    expect(enabled).toMatchObject({ enabled: true, disabled_reason: null, failing_since: null, event_types: ['*'] });
    expect(Number(enabled.due)).toBeGreaterThan(0);
    expect(Number(enabled.due)).toBeLessThanOrEqual(await now());
    await disable(id);
    expect(await refusal(write(root, 'update_webhook_endpoint', { id: 'webhook_none' }))).toBe(
      'resource_missing webhook_endpoint.id',
    );
  });
});

of('rotate_webhook_secret', () => {
  it('keeps the previous secret for a day', async () => {
    const { id, secret_sealed: before } = await create();
    const earliest = (await now()) + 86_400;
    const rotated = await write(root, 'rotate_webhook_secret', { id, secretSealed: 'new' });
    expect(rotated).toMatchObject({ secret_sealed: 'new', previous_secret_sealed: before });
    expect(Number(rotated.previous_secret_until)).toBeGreaterThanOrEqual(earliest);
    expect(Number(rotated.previous_secret_until)).toBeLessThanOrEqual((await now()) + 86_400);
    expect(await refusal(write(root, 'rotate_webhook_secret', { id: 'webhook_none', secretSealed: 'x' }))).toBe(
      'resource_missing webhook_endpoint.id',
    );
    await disable(id);
  });
});

of('seal_webhook_secrets', () => {
  it('replaces a secret that is as it was read, also one that was rotated meanwhile', async () => {
    const { id, secret_sealed: before } = await create();
    const seal = (was: string, sealed: string) =>
      call('seal_webhook_secrets', root.tenantId, false, JSON.stringify([{ id, was, sealed }]));
    const secrets = async () => {
      const { secret_sealed, previous_secret_sealed } = await stored('webhook_endpoint', root, id);
      return [secret_sealed, previous_secret_sealed];
    };
    await seal('other', 'anew');
    expect(await secrets()).toEqual([before, null]);
    await seal(before, 'anew');
    expect(await secrets()).toEqual(['anew', null]);
    await write(root, 'rotate_webhook_secret', { id, secretSealed: 'new' });
    await seal('anew', 'once more');
    expect(await secrets()).toEqual(['new', 'once more']);
    await disable(id);
  });
});

of('test_webhook_endpoint', () => {
  it('queues a test event, whatever the types are, unless the endpoint is disabled', async () => {
    const { id } = await create();
    await write(root, 'test_webhook_endpoint', { id });
    const [delivery] = await deliveriesOf(id);
    expect(delivery).toMatchObject({ event_type: 'webhook_endpoint.tested', status: 'pending', event_number: null });
    await disable(id);
    expect(await refusal(write(root, 'test_webhook_endpoint', { id }))).toBe('status_invalid webhook_endpoint.id');
  });
});

of('queue_delivery', () => {
  it('inserts a pending delivery that is due now', async () => {
    const { id } = await create();
    const row = await rowText('webhook_endpoint', root, id);
    await call('queue_delivery', root.tenantId, false, row, 'event_x', 'webhook_endpoint.tested');
    expect(await deliveriesOf(id)).toMatchObject([{ event_id: 'event_x', status: 'pending', attempt_count: 0 }]);
    await disable(id);
  });
});

of('endpoint_gets', () => {
  it.each<[string[], boolean, string, string, boolean, boolean]>([
    [['*'], false, 'deposit.completed', 'root', true, true],
    [['deposit.*'], false, 'deposit.completed', 'root', true, true],
    [['deposit.completed'], false, 'deposit.completed', 'root', true, true],
    [['deposit.failed', 'account.*'], false, 'deposit.completed', 'root', true, false],
    [['*'], false, 'deposit.completed', 'account_user', false, false],
    [['*'], false, 'account.created', 'account_user', true, true],
    [['*'], true, 'deposit.completed', 'account_user', false, true],
  ])('with types %j and connected %s, %s of %s (on the root list: %s): %s', async (...row) => {
    const [eventTypes, connected, type, actingAccount, onRoot, expected] = row;
    const { id } = await create({ eventTypes, connected });
    const endpoint = await rowText('webhook_endpoint', root, id);
    const of = actingAccount === 'root' ? root.id : actingAccount;
    expect(await value('endpoint_gets', endpoint, type, of, onRoot)).toBe(expected);
    await disable(id);
  });
});

of('queue_deliveries', () => {
  it('queues events once for each enabled endpoint that gets them, and makes the endpoint due', async () => {
    const [one, other, off] = [await create(), await create({ eventTypes: ['deposit.*'] }), await create()];
    await disable(off.id);
    const ids = await events([11, 12]);
    expect(await value('queue_deliveries', root.tenantId, false, list(ids))).toBe(2);
    expect(await value('queue_deliveries', root.tenantId, false, list(ids))).toBe(0);
    expect((await deliveriesOf(one.id)).map(({ event_id }) => event_id)).toEqual(ids);
    expect([...(await deliveriesOf(other.id)), ...(await deliveriesOf(off.id))]).toEqual([]);
    expect((await stored('webhook_endpoint', root, one.id)).due).not.toBeNull();
    expect(await value('queue_deliveries', 'tenant_none', false, list(ids))).toBe(0);
    for (const { id } of [one, other]) await disable(id);
  });
});

of('next_delivery', () => {
  it('is the time of the first pending delivery, or null', async () => {
    const { id } = await withDeliveries(2);
    await world.sql`update webhook_delivery set next_attempt = event_number where endpoint_id = ${id}`;
    expect(Number(await value('next_delivery', root.tenantId, false, id))).toBe(numbered - 1);
    await world.sql`update webhook_delivery set status = 'failed' where endpoint_id = ${id}`;
    expect(await value('next_delivery', root.tenantId, false, id)).toBeNull();
    await disable(id);
  });
});

of('make_deliveries_due', () => {
  it('makes the first pending deliveries of an endpoint due now', async () => {
    const [{ id }, other] = [await withDeliveries(4), await withDeliveries(1)];
    const at = await now();
    await world.sql`update webhook_delivery set next_attempt = ${at + 36_000} - event_number`;
    const times = async (of: string) => (await deliveriesOf(of)).map(({ next_attempt }) => Number(next_attempt) - at);
    const [first, second, , last] = await times(id);
    await world.sql`update webhook_delivery set status = 'failed', next_attempt = null
      where endpoint_id = ${id} and event_number = ${numbered - 2}`;
    await call('make_deliveries_due', root.tenantId, false, id, 2);
    const [one, two, , four] = await times(id);
    expect([one, second! > 5 && two! < 5, last! > 5 && four! < 5]).toEqual([first, true, true]);
    expect(await times(other.id)).toEqual([36_000 - numbered]);
    expect(await deliveriesOf(id)).toMatchObject([{}, {}, { status: 'failed', next_attempt: null }, {}]);
    for (const each of [id, other.id]) await disable(each);
  });
});

of('redeliver_webhooks', () => {
  const redeliver = (id: string, more: { deliveryId?: string | null; afterNumber?: number | null }) =>
    write(root, 'redeliver_webhooks', { id, deliveryId: null, afterNumber: null, ...more });

  it('makes one delivery pending again, or all after a number that have not arrived', async () => {
    const { id } = await withDeliveries(3);
    const [first, second, third] = await deliveriesOf(id);
    await world.sql`update webhook_delivery set status = 'succeeded', next_attempt = null, attempt_count = 4
      where endpoint_id = ${id}`;
    await world.sql`update webhook_delivery set status = 'failed' where id = ${third!.id}`;
    await redeliver(id, { deliveryId: first!.id });
    expect((await deliveriesOf(id)).map(({ status }) => status)).toEqual(['pending', 'succeeded', 'failed']);
    const row = await redeliver(id, { afterNumber: Number(second!.event_number) - 1 });
    expect((await deliveriesOf(id)).map(({ status }) => status)).toEqual(['pending', 'succeeded', 'pending']);
    expect(await stored('webhook_delivery', root, third!.id)).toMatchObject({ attempt_count: 0 });
    expect(Number(row.due)).toBeGreaterThan(0);
    await disable(id);
  });

  it('refuses a disabled endpoint, a delivery of another one, and too many events', async () => {
    const { id } = await create();
    expect(await refusal(redeliver(id, { deliveryId: 'delivery_none' }))).toBe(
      'resource_missing webhook_endpoint.delivery_id',
    );
    await events(Array.from({ length: 5_001 }, (_, n) => 1_000_000 + n));
    expect(await refusal(redeliver(id, { afterNumber: 999_999 }))).toBe(
      'parameter_invalid webhook_endpoint.after_number',
    );
    await redeliver(id, { afterNumber: 1_000_000 });
    expect(await deliveriesOf(id)).toHaveLength(5_000);
    await disable(id);
    expect(await refusal(redeliver(id, { afterNumber: 1_000_000 }))).toBe('status_invalid webhook_endpoint.id');
  });
});

of('claim_webhook_deliveries', () => {
  it('gives an endpoint to one worker until the claim ends, with the events in order of their numbers', async () => {
    const { id } = await withDeliveries(3);
    const rows = await claim(id);
    expect(rows.map(({ event }) => (event as Row).number)).toEqual([numbered - 2, numbered - 1, numbered]);
    expect(rows[0]).toMatchObject({ url: 'https://example.com/', previous_secret_sealed: null });
    expect(await claim(id)).toEqual([]);
    await world.sql`update webhook_endpoint set claimed_until = claimed_until - 60 where id = ${id}`;
    expect(await claim(id)).toHaveLength(3);
    // No claim is so far ahead, unless the clock was ahead when it was made.
    const aheadBy = (seconds: number) =>
      world.sql`update webhook_endpoint set claimed_until = (select wall_clock()) + ${seconds}::int where id = ${id}`;
    await aheadBy(3_590);
    expect(await claim(id)).toEqual([]);
    await aheadBy(3_700);
    expect(await claim(id)).toHaveLength(3);
    await disable(id);
    await world.sql`update webhook_endpoint set claimed_until = null where id = ${id}`;
    expect(await claim(id)).toEqual([]);
  });
});

of('webhook_pause', () => {
  it('grows to twelve hours, and is at most a tenth longer', async () => {
    for (const [failed, seconds] of [5, 300, 1_800, 7_200, 18_000, 36_000, 43_200, 43_200].entries()) {
      const pause = Number(await value('webhook_pause', failed + 1));
      expect(pause).toBeGreaterThanOrEqual(seconds);
      expect(pause).toBeLessThanOrEqual(Math.ceil(seconds * 1.1));
    }
  });
});

of('finish_deliveries', () => {
  it('records the attempts and ends the claim', async () => {
    const { id } = await withDeliveries(3);
    const rows = await claim(id);
    const [first, second] = rows.map(({ delivery_id }) => delivery_id as string);
    const failed = attempt({ status: 500, error: 'no' });
    expect(
      await finish(id, rows[0]!.claimed_until, [
        { delivery: first, attempt: attempt(), retryAfter: null, final: false },
        { delivery: second, attempt: failed, retryAfter: null, final: false },
      ]),
    ).toBeNull();
    expect((await deliveriesOf(id)).map(({ status, attempts }) => [status, attempts.length])).toEqual([
      ['succeeded', 1],
      ['pending', 1],
      ['pending', 0],
    ]);
    expect(await stored('webhook_endpoint', root, id)).toMatchObject({ claimed_until: null, failing_since: null });
    expect(await claim(id)).toHaveLength(1);
    await disable(id);
  });

  it('keeps the claim of another worker, and waits as long as the endpoint asks', async () => {
    const { id } = await withDeliveries(1);
    const [row] = await claim(id);
    const failed = { delivery: row!.delivery_id, attempt: attempt({ status: 503, error: 'busy' }), final: false };
    await finish(id, Number(row!.claimed_until) - 1, [{ ...failed, retryAfter: null }]);
    expect((await stored('webhook_endpoint', root, id)).claimed_until).toBe(row!.claimed_until);
    const at = await now();
    await finish(id, Number(row!.claimed_until), [{ ...failed, retryAfter: 900 }]);
    const { claimed_until: until, failing_since: since } = await stored('webhook_endpoint', root, id);
    expect(Number(until) - at).toBeGreaterThanOrEqual(900);
    expect(Number(since)).toBeGreaterThanOrEqual(at - 5);
    await disable(id);
  });

  it('ends a delivery after three days, and keeps its last 20 attempts', async () => {
    const { id } = await withDeliveries(1);
    await world.sql`update webhook_delivery set queued = queued - 300000,
      attempts = (select jsonb_agg(n) from generate_series(1, 20) n) where endpoint_id = ${id}`;
    const [row] = await claim(id);
    const result = { delivery: row!.delivery_id, attempt: attempt({ error: 'no' }), retryAfter: null, final: false };
    await finish(id, Number(row!.claimed_until), [result]);
    const [delivery] = await deliveriesOf(id);
    expect(delivery).toMatchObject({ status: 'failed', next_attempt: null, attempts: { length: 20 } });
    await disable(id);
  });

  it('disables an endpoint that is gone, with an event', async () => {
    const { id } = await withDeliveries(1);
    const [row] = await claim(id);
    const gone = { delivery: row!.delivery_id, attempt: attempt({ status: 410, error: 'gone' }), final: true };
    expect(await finish(id, Number(row!.claimed_until), [{ ...gone, retryAfter: null }])).toBe('gone');
    expect(await stored('webhook_endpoint', root, id)).toMatchObject({ enabled: false, disabled_reason: 'gone' });
    expect((await eventsOf(root, id)).at(-1)).toBe('webhook_endpoint.disabled');
  });
});

of('endpoint_fault', () => {
  it.each<[string, number | null, object[], string | null]>([
    ['a success', 1, [attempt({ status: 500, error: 'x' }), attempt()], null],
    ['a failure of a day', 86_400 * 6 - 1, [attempt({ status: 500, error: 'x' })], null],
    ['a failure of six days', 1, [attempt({ status: 500, error: 'x' })], 'failing'],
    ['410', null, [attempt({ status: 410, error: 'x' })], 'gone'],
  ])('after %s, failing since %s', async (_, since, attempts, expected) => {
    const { id } = await create();
    await world.sql`update webhook_endpoint set failing_since = ${since} where id = ${id}`;
    const row = await rowText('webhook_endpoint', root, id);
    const results = JSON.stringify(attempts.map((each) => ({ attempt: each })));
    expect(await value('endpoint_fault', row, results, 86_400 * 7)).toBe(expected);
    await disable(id);
    const off = await rowText('webhook_endpoint', root, id);
    expect(await value('endpoint_fault', off, results, 86_400 * 7)).toBeNull();
  });
});

of('delete_old_deliveries', () => {
  it('deletes what is older than 30 days and not pending', async () => {
    const { id } = await withDeliveries(3);
    const [first, second] = await deliveriesOf(id);
    await world.sql`update webhook_delivery set created = created - 31 * 86400
      where id in (${first!.id}, ${second!.id})`;
    await world.sql`update webhook_delivery set status = 'succeeded' where id = ${first!.id}`;
    expect(await value('delete_old_deliveries', root.tenantId, false, 100)).toBe(1);
    expect((await deliveriesOf(id)).map((row) => row.id)).not.toContain(first!.id);
    expect(await deliveriesOf(id)).toHaveLength(2);
    await disable(id);
  });
});
