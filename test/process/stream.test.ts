import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it } from 'vitest';
import { followEvents } from '../../src/operator/commands/event-client.js';
import { useChildren } from '../support/child.js';
import { random, seedsOf } from '../support/scale.js';
import { eventually, givenIn, nickname, type Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ environment: { STREAMS_OF_KEY_MAX: '4' } });
const given = givenIn(world);

const children = useChildren();

const open = new Set<AbortController>();
afterEach(() => {
  for (const controller of open) controller.abort();
  open.clear();
});

interface Message {
  id?: string;
  event?: string;
  data?: any;
}

/** A client of a stream with nothing but `fetch`: the messages so far, and the end. */
async function follow(speaker: Speaker, search = '', headers: Record<string, string> = {}, origin = world.origin) {
  const controller = new AbortController();
  open.add(controller);
  const response = await fetch(`${origin}/v1/events/stream${search}`, {
    headers: { authorization: `Bearer ${speaker.key}`, ...headers },
    signal: controller.signal,
  });
  const got: Message[] = [];
  const state = { over: false };
  const body = async () => {
    let text = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        got.push(messageOf(text.slice(0, end)));
        text = text.slice(end + 2);
      }
    }
  };
  const reading =
    response.status === 200
      ? body()
          .catch(() => {})
          .then(() => void (state.over = true))
      : undefined;
  return {
    response,
    got,
    state,
    reading,
    events: () => got.flatMap(({ event, data }) => (data && event === undefined ? [data] : [])),
    numbers: () => got.flatMap(({ event, data }) => (data && event === undefined ? [data.number as number] : [])),
    position: () => got.findLast(({ id }) => id !== undefined)?.id,
    close: () => controller.abort(),
  };
}

function messageOf(text: string): Message {
  const message: Message = {};
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^(\w*): ?(.*)$/.exec(line) ?? [];
    if (name === 'id' || name === 'event') message[name] = value;
    if (name === 'data') message.data = JSON.parse(value);
  }
  return message;
}

const partner = (speaker: Speaker) => speaker.partner({ nickname: nickname() });
const lastNumber = async (speaker: Speaker) => {
  const [row] = await world.sql`select last from event_counter where tenant_id = ${tenantOf(speaker)} and not livemode`;
  return Number(row?.last ?? 0);
};
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Waits until all events of a user so far have their numbers. */
const settled = (speaker: Speaker) =>
  eventually(
    async () =>
      world.sql`select 1 from event where tenant_id = ${tenantOf(speaker)} and number is null`.then(
        (rows) => rows.length,
      ),
    (left) => left === 0,
  );

describe('GET /v1/events/stream', () => {
  it('shows a session no event of sessions, and misses none for its key, when both follow one account', async () => {
    const user = await given.directUser(1);
    const { body } = await user.post('/v1/sessions', { role: 'read' });
    const session = user.using(body.token);
    // Both are known to the gateway from here on, so that their reads are made together.
    for (const speaker of [session, user]) expect((await speaker.get('/v1/accounts')).status).toBe(200);
    const streams = [await follow(session), await follow(user), await follow(session), await follow(user)];
    const made: string[] = [];
    for (let i = 0; i < 12; i++) made.push((await user.post('/v1/sessions', { role: 'read' })).body.id);
    const { id } = await user.partner();
    const objects = (stream: (typeof streams)[number]): string[] =>
      stream.events().map(({ data }: any) => data.object.id);
    for (const [i, stream] of streams.entries()) {
      await eventually(
        async () => objects(stream),
        (found) => found.includes(id),
      );
      const expected = i % 2 === 0 ? [] : made;
      expect([i, objects(stream).filter((each) => made.includes(each))]).toEqual([i, expected]);
    }
  });

  it('sends each event once, in the order of the numbers, as GET /v1/events/:id shows it', async () => {
    const user = await given.directUser(1);
    const stream = await follow(user, '?after=0');
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    for (let i = 0; i < 3; i++) await partner(user);
    await settled(user);
    const last = await lastNumber(user);
    await eventually(
      async () => stream.numbers(),
      (numbers) => numbers.at(-1) === last,
    );
    expect(stream.numbers()).toEqual(range(1, last));
    for (const event of stream.events()) expect((await user.get(`/v1/events/${event.id}`)).body).toEqual(event);
    expect(stream.got.filter(({ data }) => data).map(({ id }) => Number(id))).toEqual(stream.numbers());
  });

  const seeds = seedsOf('process/stream');
  it.each(seeds)('misses and repeats nothing over lost connections and two gateways, seed %i', async (seed) => {
    const roll = random(seed);
    const user = await given.directUser(1);
    const origins = [world.origin, await world.another()];
    const received: number[] = [];
    const state = { writing: true };
    const reader = (async () => {
      let position: string | undefined = '0';
      for (let turn = 0; state.writing || received.length < (await lastNumber(user)); turn++) {
        const headers = { 'last-event-id': position! };
        const stream = await follow(user, '', headers, origins[turn % 2]!);
        expect(stream.response.status).toBe(200);
        const seen = 1 + Math.floor(roll() * 4);
        // After the writes, fewer may be left than it waits for.
        const complete = async () =>
          !state.writing && received.length + stream.numbers().length >= (await lastNumber(user));
        await eventually(
          async () => stream.numbers().length >= seen || (await complete()),
          (enough) => enough,
        );
        stream.close();
        await stream.reading;
        received.push(...stream.numbers());
        position = stream.position() ?? position;
      }
    })();
    for (let i = 0; i < 12; i++) {
      await Promise.all([partner(user), partner(user)]);
      if (i === 6)
        await world.sql`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'tidegate hints' and datname = current_database()`;
    }
    await settled(user);
    state.writing = false;
    await reader;
    expect(received).toEqual(range(1, await lastNumber(user)));
  });

  it('begins with the next event without a number, and says the position at once', async () => {
    const user = await given.directUser(1);
    await settled(user);
    const before = await lastNumber(user);
    const stream = await follow(user);
    await eventually(
      async () => stream.position(),
      (position) => position === String(before),
    );
    await partner(user);
    await eventually(
      async () => stream.numbers(),
      (numbers) => numbers.length > 0,
    );
    expect(stream.numbers()[0]).toBe(before + 1);
  });

  it('has the types that it is asked for', async () => {
    const user = await given.directUser(1);
    await partner(user);
    await settled(user);
    const [all, one, objects, none] = await Promise.all(
      ['types=*', 'types=account.created', 'types=account.*,api_key.created', 'types=deposit.completed'].map((types) =>
        follow(user, `?after=0&${types}`),
      ),
    );
    const last = await lastNumber(user);
    await eventually(
      async () => all!.numbers(),
      (numbers) => numbers.at(-1) === last,
    );
    const types = (stream: typeof all) => stream!.events().map(({ type }) => type as string);
    const expected = (wanted: (type: string) => boolean) => types(all).filter(wanted);
    for (const [stream, wanted] of [
      [one, (type: string) => type === 'account.created'],
      [objects, (type: string) => type.startsWith('account.') || type === 'api_key.created'],
    ] as const)
      await eventually(
        async () => types(stream),
        (found) => JSON.stringify(found) === JSON.stringify(expected(wanted)),
      );
    expect(types(one).length).toBeGreaterThan(0);
    expect(types(none)).toEqual([]);
  });

  it('has what the caller can see: its own lists, one account, or all connected users', async () => {
    const platform = await given.platform(2);
    const [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    await settled(platform);
    // They come in the order of their numbers, so with the last one of these accounts all of them have come.
    const accounts = async (search: string, wanted: string[]) => {
      const [row] = await world.sql`select max(number) as number from event
        where tenant_id = ${tenantOf(platform)} and not livemode and context_id in ${world.sql(wanted)}`;
      const stream = await follow(platform, `?after=0${search}`);
      await eventually(
        async () => stream.numbers(),
        (numbers) => numbers.at(-1)! >= Number(row!.number),
      );
      return new Set(stream.events().map(({ account_id }) => account_id as string));
    };
    expect(await accounts(`&account_id=${user.id}`, [user.id])).toEqual(new Set([user.id]));
    const all = [platform.id, user.id, other.id];
    expect(await accounts('&scope=descendants', all)).toEqual(new Set(all));
    const own = await follow(platform, '?after=0');
    const listed = (await platform.graph('{ events(last: 100) { nodes { number } } }')).body.data.events.nodes;
    await eventually(
      async () => own.numbers(),
      (numbers) => numbers.length >= listed.length,
    );
    expect(own.numbers()).toEqual(listed.map(({ number }: { number: number }) => number).reverse());
    const missing = await follow(user, `?account_id=${other.id}`);
    expect([missing.response.status, (await missing.response.json()).errors[0].metadata.field_name]).toEqual([
      404,
      'event.account_id',
    ]);
  });

  it.each([
    ['?after=-1', 400, 'event.after'],
    ['?after=x', 400, 'event.after'],
    ['?after=2000000000', 400, 'event.after'],
    ['?types=deposit.invented', 400, 'event.types[0]'],
    ['?types=', 400, 'event.types'],
    ['?scope=descendants', 400, 'event.scope'],
    ['?scope=all', 400, 'event.scope'],
    ['?connected=true', 400, 'event.connected'],
    ['?account_id=account_0', 404, 'event.account_id'],
    ['?since=1', 400, 'event.since'],
  ])('refuses %s by name', async (search, status, field) => {
    const user = await given.directUser(1);
    const { response } = await follow(user, search);
    expect([response.status, (await response.json()).errors[0].metadata.field_name]).toEqual([status, field]);
  });

  it('refuses a position after which events were deleted', async () => {
    const user = await given.directUser(1);
    await partner(user);
    await settled(user);
    await world.sql`delete from event where tenant_id = ${tenantOf(user)} and number <= 2`;
    const { response } = await follow(user, '?after=1');
    expect([response.status, (await response.json()).errors[0].metadata.field_name]).toEqual([404, 'event.after']);
    const stream = await follow(user, '?after=2');
    expect(stream.response.status).toBe(200);
  });

  it('refuses more streams of a key than it may have, and takes one in place of another', async () => {
    const user = await given.directUser(1);
    const streams = await Promise.all(range(1, 4).map(() => follow(user)));
    const refused = await follow(user);
    expect([refused.response.status, (await refused.response.json()).errors[0].code]).toEqual([
      429,
      'streams_exceeded',
    ]);
    streams[0]!.close();
    await eventually(
      async () => (await follow(user)).response.status,
      (status) => status === 200,
    );
  });

  it('refuses more streams of a tenant and mode than a quarter of all, from all of its sessions', async () => {
    const origin = await world.another({ environment: { STREAMS_OF_KEY_MAX: '2', STREAMS_MAX: '16' } });
    const { test: user, live } = await given.directUserBoth(1);
    const tokens = await Promise.all(
      range(1, 3).map(async () => (await user.post('/v1/sessions', { role: 'read' })).body.token),
    );
    const sessions = tokens.map((token: string) => user.using(token));
    for (const session of [sessions[0]!, sessions[0]!, sessions[1]!, sessions[1]!])
      expect((await follow(session, '', {}, origin)).response.status).toBe(200);
    for (const speaker of [sessions[2]!, user]) {
      const { response } = await follow(speaker, '', {}, origin);
      const [error] = (await response.json()).errors;
      expect([response.status, error.code]).toEqual([429, 'streams_exceeded']);
      expect(error.message).toContain('have 4 streams in this mode');
    }
    for (const speaker of [live, await given.directUser(1)])
      expect((await follow(speaker, '', {}, origin)).response.status).toBe(200);
    for (const controller of open) controller.abort();
    await eventually(
      async () => (await follow(sessions[2]!, '', {}, origin)).response.status,
      (status) => status === 200,
    );
  });

  it('ends with the reason when its key is revoked', async () => {
    const user = await given.directUser(1);
    const { secret, apiKey } = (
      await user.graph('mutation { createApiKey(input: { permission: READ }) { secret apiKey { id } } }')
    ).body.data.createApiKey;
    const stream = await follow(Object.assign(Object.create(user), { key: secret }));
    const revoked = await user.graph(`mutation { revokeApiKey(input: { id: "${apiKey.id}" }) { apiKey { id } } }`);
    expect(revoked.body.errors).toBeUndefined();
    await stream.reading;
    expect(stream.got.at(-1)).toMatchObject({ event: 'end', data: { errors: [{ code: 'api_key_invalid' }] } });
  });

  it('ends when the gateway stops, and says to come back', async () => {
    const user = await given.directUser(1);
    const origin = await world.another();
    const stream = await follow(user, '', {}, origin);
    await world.apps.at(-1)!.close();
    await stream.reading;
    expect(stream.got.some(({ id }) => id !== undefined)).toBe(true);
    expect(stream.got.at(-1)).toMatchObject({ event: 'end', data: { errors: [{ code: 'service_unavailable' }] } });
  });

  it('answers HEAD without a stream', async () => {
    const user = await given.directUser(1);
    const response = await fetch(`${world.origin}/v1/events/stream`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${user.key}` },
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  });
});

describe('the command line', () => {
  it('listen forwards each event with a signature that verifies, and events tail prints the same events', async () => {
    const user = await given.directUser(1);
    await partner(user);
    await settled(user);
    const last = await lastNumber(user);
    const got: { headers: http.IncomingHttpHeaders; body: string }[] = [];
    const receiver = http.createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        got.push({ headers: request.headers, body });
        response.writeHead(got.length === 1 ? 500 : 204).end();
      });
    });
    await new Promise<void>((resume) => receiver.listen(0, '127.0.0.1', resume));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const target = ['--gateway', world.origin, '--after', '0', '--count', String(last)];
    const [listened, tailed, refused] = await Promise.all([
      children.command({ TIDEGATE_KEY: user.key }, 'listen', ...target, '--forward-to', url, '--secret', secret),
      children.command({}, 'events', 'tail', '--key', user.key, ...target, '--print-json'),
      children.command({}, 'events', 'tail', '--key', `${user.key}x`, ...target),
    ]).finally(() => receiver.close());
    expect([listened.code, listened.errors]).toEqual([0, `Events are signed with the secret ${secret}\n`]);
    const events = got.map(({ body, headers }) => {
      new Webhook(secret).verify(body, headers as Record<string, string>);
      expect(headers['webhook-id']).toBe(JSON.parse(body).id);
      return JSON.parse(body);
    });
    expect(events.map(({ number }) => number)).toEqual(range(1, last));
    const [first = '', second] = listened.out.trimEnd().split('\n');
    expect(first).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}#1 {2}\S+ {2}\S+ {2}-> 500 \(\d+ ms\)$/);
    expect(second).toContain('-> 204');
    expect(
      tailed.out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(events);
    expect([refused.code, refused.errors]).toEqual([2, 'The API key is not valid. Check it, or create a new one.\n']);
  });

  it('goes on after the last event when the connection is lost, again and again', async () => {
    const user = await given.directUser(1);
    let connections = 0;
    // A proxy that ends each connection but the fifth after a part of the stream, in the middle of a message.
    const proxy = http.createServer((request, response) => {
      const nth = ++connections;
      http.get(`${world.origin}${request.url}`, { headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        let left = nth < 5 ? 900 : Number.POSITIVE_INFINITY;
        answer.on('data', (part: Buffer) => {
          response.write(part.subarray(0, left));
          left -= part.length;
          if (left <= 0) response.destroy();
        });
        response.on('close', () => answer.destroy());
      });
    });
    await new Promise<void>((resume) => proxy.listen(0, '127.0.0.1', resume));
    await partner(user);
    await partner(user);
    await settled(user);
    const last = await lastNumber(user);
    const gateway = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const [numbers, lines]: [number[], string[]] = [[], []];
    const events = followEvents({ gateway, key: user.key, after: 0, say: (line) => void lines.push(line) });
    for await (const { number } of events) {
      numbers.push(number);
      if (number === last) break;
    }
    proxy.closeAllConnections();
    proxy.close();
    expect(numbers).toEqual(range(1, last));
    expect(lines).toHaveLength(connections - 1);
    expect(connections).toBeGreaterThan(1);
  });

  it('has its example in the documentation, which follows a stream with fetch alone', async () => {
    const user = await given.directUser(1);
    await settled(user);
    const [, code = ''] = /```js\n([\s\S]*?)```/.exec(fs.readFileSync('docs/streams.md', 'utf8'))!;
    const environment = { ...process.env, ORIGIN: world.origin, KEY: user.key };
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { env: environment });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part));
    await eventually(
      async () => out.trimEnd().split('\n'),
      (lines) => lines.includes('account.created'),
    ).finally(() => child.kill());
  });
});
