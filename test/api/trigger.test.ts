import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../src/operator/commands/trigger/gateway.js';
import { goneEndpoint } from '../../src/operator/commands/trigger/gone-endpoint.js';
import { Trader } from '../../src/operator/commands/trigger/trade.js';
import { trigger } from '../../src/operator/commands/trigger/trigger.js';
import { triggerTypes } from '../../src/operator/commands/trigger/types.js';
import type { CatalogueEntry } from '../../src/api/rest/contract/examples.js';
import {
  eventually,
  givenIn,
  must,
  nickname,
  type Speaker,
  type Transport,
  transports,
  useWorld,
} from '../support/world.js';

const world = useWorld();
const given = givenIn(world);
const catalogue = JSON.parse(fs.readFileSync('schema/events.json', 'utf8')) as CatalogueEntry[];
const types = triggerTypes();

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function triggered(speaker: Speaker, type: string) {
  const steps: string[] = [];
  const event = await trigger({
    ...{ gateway: world.origin, credential: bearer(speaker.key), type, goneEndpoint },
    say: (step) => void steps.push(step),
  });
  return { event, steps };
}

it('knows each type of the catalogue, and what a test key cannot cause', () => {
  expect(types.map(({ type }) => type)).toEqual(catalogue.map(({ type }) => type));
  const refused = types.flatMap(({ type, reason }) => (reason === undefined ? [] : [type]));
  expect(refused).toEqual([
    ...['bank_notice.waiting', 'bank_notice.withdrawn', 'rate.set', 'export.failed', 'import.failed'],
    'transaction.mismatched',
  ]);
});

// Each has a platform of its own, because some move the test clock of the root account.
describe.concurrent('makes an event of the type appear with a test key alone', () => {
  // The sandbox moves a deposit within a second, which on a busy machine is before each test helper: then some of these
  // events could not be made. So its bank waits.
  beforeAll(async () => {
    await world.sql.unsafe(`
      create function later() returns trigger language plpgsql as
        $$ begin new.due := new.due + 86400; return new; end $$;
      create trigger later before insert on job for each row when (new.kind = 'process_deposit')
        execute function later()`);
  });
  afterAll(async () => {
    await world.sql.unsafe('drop trigger later on job; drop function later()');
  });

  const made = types.filter(({ reason }) => reason === undefined);
  it.each(made)('$type', async ({ type }) => {
    const aggregator = type === 'payment.completed';
    const platform = await given.platform(2, aggregator ? { subType: 'aggregator' } : {});
    const { event, steps } = await triggered(platform, type);
    expect(event).toMatchObject({ object: 'event', type, livemode: false, number: expect.any(Number) });
    expect(await platform.get(`/v1/events/${event.id}`)).toMatchObject({ status: 200, body: event });
    expect(steps.length).toBeGreaterThan(0);
  });

  it.each<[1 | 2, 'platform' | 'directUser', string]>([
    [1, 'platform', 'payout.failed'],
    [1, 'platform', 'deposit.disputed'],
    [1, 'directUser', 'payout.blocked'],
    [1, 'directUser', 'address.pending_deactivation'],
    [2, 'directUser', 'transaction.submitted'],
  ])('of Edition %s and a %s: %s', async (edition, kind, type) => {
    const { event } = await triggered(await given[kind](edition), type);
    expect(event.type).toBe(type);
  });
});

it('goes on where the sandbox has moved a deposit before the helper could', async () => {
  /** A client so slow that the sandbox has completed each deposit before its test helper is called. */
  class Late extends TestGateway {
    override async post(path: string, body?: object) {
      const id = /deposits\/(\w+)\/process$/.exec(path)?.[1];
      if (id !== undefined)
        await eventually(
          () => this.get(`/deposits/${id}`),
          ({ status }) => status === 'completed',
        );
      return super.post(path, body);
    }
  }
  const user = await given.directUser(1);
  const moved = await new Trader(new Late(world.origin, bearer(user.key)), user.id, 1).moved('process');
  expect(moved.status).toBe('completed');
  // Events are listed once they have their numbers, which they get after the commit.
  await eventually(
    async () => (await must(user.get(`/v1/events?type=deposit.processing&object_id=${moved.id}`))).data,
    (events) => events.length === 1,
  );
});

it.each(types.filter(({ reason }) => reason !== undefined))(
  'refuses $type with the reason',
  async ({ type, reason }) => {
    const user = await given.directUser(1);
    await expect(triggered(user, type)).rejects.toThrow(reason);
    expect((await user.get('/v1/events')).body.data.map((event: { type: string }) => event.type)).not.toContain(type);
  },
);

it.each<[string, string]>([
  ['checkout.created', 'Checkouts are part of Edition 2.'],
  ['payment.completed', 'Only the users of an aggregator'],
  ['person.updated', 'Use a test key of a platform.'],
  ['deposit.vanished', 'There is no type deposit.vanished.'],
  ['constructor', 'There is no type constructor.'],
])('says why a test key of a direct user of Edition 1 cannot cause %s', async (type, message) => {
  await expect(triggered(await given.directUser(1), type)).rejects.toThrow(message);
});

it.each(['checkout.completed', 'transaction.failed', 'payment.completed'])(
  'makes nothing for a platform of Edition 1, whose key cannot cause %s',
  async (type) => {
    const platform = await given.platform(1);
    await expect(triggered(platform, type)).rejects.toThrow(/^(Checkouts are part of Edition 2|Only the users of an)/);
    expect((await platform.get('/v1/accounts?type=user')).body.data).toEqual([]);
  },
);

it('refuses a live key and an address without a gateway', async () => {
  await expect(triggered(await given.directUser(1, { live: true }), 'account.created')).rejects.toThrow(
    'Use a test key.',
  );
  await expect(
    trigger({ gateway: 'http://127.0.0.1:1', credential: bearer('sk_test_x'), type: 'account.created', say: () => {} }),
  ).rejects.toThrow('The gateway at http://127.0.0.1:1 does not answer');
});

describe('the command', () => {
  const run = (args: string[], key?: string, origin?: string) =>
    new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
      const child = spawn(process.execPath, ['dist/cli.js', 'trigger', ...args], {
        env: { ...process.env, ...(key && { TIDEGATE_KEY: key }), ...(origin && { TIDEGATE: origin }) },
      });
      const [out, err]: [string[], string[]] = [[], []];
      child.stdout.on('data', (data: Buffer) => void out.push(data.toString()));
      child.stderr.on('data', (data: Buffer) => void err.push(data.toString()));
      child.on('close', (code) => resolve({ code, out: out.join(''), err: err.join('') }));
    });

  it('prints its steps and the event, and lists the types', async () => {
    const user = await given.directUser(1);
    // Its steps are the same each time: the sandbox moves no receivable by itself, as it moves a deposit.
    const [made, list, none] = await Promise.all([
      run(['receivable.updated'], user.key, world.origin),
      run(['--list']),
      run([], user.key),
    ]);
    const elsewhere = await run(['deposit.completed', '--gateway', 'http://127.0.0.1:1'], user.key, world.origin);
    expect(elsewhere.err).toMatch(/^The gateway at http:\/\/127\.0\.0\.1:1 does not answer/);
    expect(made).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^(POST \S+ {2}account_\w+\n)?(POST \/v1\/receivables\S* {2}receivable_\w+\n){2}$/),
    });
    expect(made.out).toMatch(/^\S+ \S+ {2}#\d+ {2}receivable\.updated {2}receivable_\w+ {2}event_\w+\n$/);
    expect(
      list.out
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    ).toEqual(catalogue.map(({ type }) => type));
    expect(list.out).toContain('Not by a test key: Only the operator sets exchange rates.');
    expect(none).toMatchObject({ code: 2, err: expect.stringContaining('Name a type of events.') });
  });
});

const advanceSecondsMax = 400 * 86_400;
/** The largest GraphQL Int. */
const offsetSecondsMax = 2_147_483_647;

/** Advances the clock through one API: the status, the domain error, and the returned offset. */
async function advance(speaker: Speaker, transport: Transport, seconds: number) {
  if (transport === 'REST') {
    const reply = await speaker.post('/v1/test_helpers/clock', { advance_seconds: seconds });
    return { ...reply, offset: reply.body.offset_seconds as number | undefined };
  }
  const reply = await speaker.graph(
    'mutation ($input: AdvanceTestClockInput!) { advanceTestClock(input: $input) { clock { offsetSeconds } } }',
    { input: { advanceSeconds: seconds } },
  );
  const status: number = reply.body.errors?.[0]?.extensions.httpStatus ?? reply.status;
  return { ...reply, status, offset: reply.body.data?.advanceTestClock?.clock.offsetSeconds as number | undefined };
}

describe.each(transports)('the test clock over %s', (transport) => {
  it('advances up to the largest Int, and refuses a second more without any effect', async () => {
    const user = await given.directUser(1);
    for (let left = offsetSecondsMax; left > 0; left -= advanceSecondsMax) {
      const { status, offset } = await advance(user, transport, Math.min(left, advanceSecondsMax));
      expect([status, offset]).toEqual([200, offsetSecondsMax - Math.max(0, left - advanceSecondsMax)]);
    }
    const tenant = user.id.replace('account_', '');
    const stored = () => world.sql`
      select offset_seconds, now, (select count(*) from event e where e.tenant_id = ${tenant}) as events,
        (select count(*) from idempotency i where i.tenant_id = ${tenant}) as answers
      from test_clock where tenant_id = ${tenant}`;
    const before = await stored();

    const keyed = user.with({ 'idempotency-key': nickname() });
    for (const seconds of [1, advanceSecondsMax]) {
      const refused = await advance(keyed, transport, seconds);
      expect([refused.status, refused.codes, refused.fieldNames]).toEqual([
        400,
        ['parameter_invalid'],
        ['clock.advance_seconds'],
      ]);
      if (transport === 'GraphQL')
        expect(refused.body.errors[0].extensions.argumentPath).toEqual(['input', 'advanceSeconds']);
    }

    expect(await stored()).toEqual(before);
    // Both APIs can show the time of every object that is created there.
    const partner = await user.partner();
    const { body } = await user.graph(`{ account(id: "${partner.id}") { created } }`);
    expect(Date.parse(body.data.account.created)).toBe(partner.created * 1000);
  });
});
