import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { beforeAll, describe, expect, it } from 'vitest';
import { operations, restOperations, routes } from '../../src/resources/registry.js';
import { Worker } from '../../src/jobs/runner.js';
import { partnerBody, partnerInput, pdf } from '../support/bodies.js';
import { covering } from '../support/scale.js';
import { changing, seenChanges } from './changes.js';
import {
  details,
  type Edition,
  eventually,
  givenIn,
  nickname,
  payoutAddressBody,
  type Reply,
  Speaker,
  useWorld,
} from '../support/world.js';
import {
  addressId,
  checkoutId,
  depositId,
  keyed,
  keyId,
  mutate,
  partnerId,
  person,
  receivableId,
  replayed,
  sessionId,
  settingId,
  statusOf,
  userId,
  withoutToken,
} from './idempotent-subjects.js';
import { call, gatewaysIn, objectOf, transportsOf, withoutEvent, writes } from './idempotent-writes.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const { elsewhere, answers, eventsOf } = gatewaysIn(world);

describe('a write that is sent again with its Idempotency-Key', () => {
  let platform: Speaker;
  let second: Speaker;
  beforeAll(async () => {
    [platform, second] = [await given.platform(1), await given.platform(2)];
  });

  it('covers every write that exists', () => {
    const all = [...operations, ...restOperations].filter(([, { access }]) => access === 'write');
    // The upload has a separate test, because the graph has no upload.
    expect(Object.keys(writes).sort(), 'the writes in test/api/idempotent-writes.ts').toEqual(
      all
        .map(([name]) => name)
        .filter((name) => name !== 'createFile')
        .sort(),
    );
  });

  const firsts = Object.entries(writes).flatMap(([name, write]) =>
    transportsOf(write).map((transport) => ({ name, write, transport })),
  );
  // Where not everything is tried, a write is first sent through one of the APIs.
  for (const { name, write, transport } of covering(firsts, (row) => [row.name, row.transport], 1))
    it(
      `returns the first response through either API and gateway, and runs once: ${name}, first through ` +
        `${transport}`,
      async () => {
        const caller = write.edition ? second : platform;
        const subject = await write.subject(caller);
        const key = randomUUID();
        const first = await call(caller, name, subject, transport, key);
        expect([statusOf(first), replayed(first)]).toEqual([200, null]);
        const object = objectOf(name, transport, first);
        const named = write.fields.includes('id');
        if (named) expect(object.id).toMatch(/^[a-z_]+_[0-9a-f]{32}$/);

        const again: Reply[] = [];
        for (const way of [transport, ...transportsOf(write)])
          for (const me of [caller, elsewhere(caller)]) {
            const reply = await call(me, name, subject, way, key);
            expect([way, statusOf(reply), replayed(reply)]).toEqual([way, 200, 'true']);
            expect(objectOf(name, way, reply)).toEqual(object);
            if (way === transport && transport === 'v1')
              expect(withoutToken(reply.text)).toBe(withoutToken(first.text));
            again.push(reply);
          }
        const requests = [first, ...again].map((reply) => reply.headers.get('request-id'));
        expect(new Set(requests).size).toBe(requests.length);

        expect(await answers(key)).toEqual([
          {
            operation: name,
            account_id: caller.id,
            livemode: false,
            answer: expect.objectContaining(named ? { id: object.id } : {}),
          },
        ]);
        const events = await eventsOf(first);
        expect(events.map(({ type }) => type)).toEqual(write.events);
        // Each write has an event, or its declaration says why it has none.
        expect([name, events.length === 0]).toEqual([name, withoutEvent.has(name)]);
        expect(events.map(({ object_id: id, data }) => id === data.id)).toEqual(events.map(() => true));
        if (named) expect(events.map(({ object_id: id }) => id)).toContain(object.id);
        expect(await eventsOf(...again)).toEqual([]);
      },
    );

  it('returns the first response of an upload', async () => {
    const key = randomUUID();
    const send = (me: Speaker) => me.upload('invoice', pdf, 'a.pdf', { 'metadata[crm]': '42' }, keyed(key));
    const first = await send(platform);
    expect([first.status, replayed(first), first.body.metadata]).toEqual([200, null, { crm: '42' }]);
    for (const me of [platform, elsewhere(platform)]) {
      const reply = await send(me);
      expect([reply.status, replayed(reply), reply.text]).toEqual([200, 'true', first.text]);
    }
    const [{ files, contents }] = (await world.sql`
      select (select count(*)::int from file where sha256 = ${first.body.sha256}
      and metadata ->> 'crm' = '42') as files,
             (select count(*)::int from file_content where id = ${first.body.id}) as contents`) as never as [
      { files: number; contents: number },
    ];
    expect([files, contents]).toEqual([1, 1]);
    expect((await answers(key)).map(({ operation }) => operation)).toEqual(['createFile']);
    expect((await eventsOf(first)).map(({ type }) => type)).toEqual(['file.created']);
    // The content itself is stored once, with the files.
    const [{ leaked }] = (await world.sql`
      select (select count(*)::int from event where data::text like '%JVBERi%') + (select count(*)::int from idempotency
      where answer::text like '%JVBERi%') as leaked`) as never as [{ leaked: number }];
    expect(leaked).toBe(0);
  });

  it('stores one row and its events without a key too, each time again', async () => {
    const user = await platform.connectedUser();
    const count = async () =>
      Number((await world.sql`select count(*) as n from idempotency where account_id = ${user.id}`)[0]!.n);
    const before = await count();
    const replies = [await user.post('/v1/persons', person), await user.post('/v1/persons', person)];
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(replies[0]!.body.id).not.toBe(replies[1]!.body.id);
    expect(replies.map(replayed)).toEqual([null, null]);
    expect((await eventsOf(...replies)).map(({ type }) => type)).toEqual(['person.created', 'person.created']);
    expect((await count()) - before).toBe(2);
  });

  it('emits a separate event for the replacement of a payout address', async () => {
    const user = await platform.connectedUser();
    const first = await user.post('/v1/addresses', payoutAddressBody(user.id));
    const second = await user.post('/v1/addresses', payoutAddressBody(user.id));
    const events = await eventsOf(second);
    expect(events.map(({ type, object_id: id }) => [type, id])).toEqual([
      ['address.created', second.body.id],
      ['address.pending_deactivation', first.body.id],
    ]);
  });

  it('stores neither a secret nor a digest of one in events and responses', async () => {
    const made = await mutate(
      platform,
      'createApiKey',
      { permission: 'FULL' },
      'secret apiKey { id }',
      keyed(randomUUID()),
    );
    const { secret, apiKey } = made.body.data.createApiKey;
    const [{ digest }] = (await world.sql`select digest from api_key where id = ${apiKey.id}`) as never as [
      { digest: string },
    ];
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    const rows = await world.sql`
      select data::text as text from event where object = 'api_key' union all select answer::text from idempotency
      where answer ->> 'prefix' is not null`;
    expect(rows.length).toBeGreaterThan(4);
    for (const { text } of rows) {
      expect(text).not.toContain('digest');
      expect(text).not.toContain(digest);
      expect(text).not.toContain(secret);
    }
  });
});

describe('an Idempotency-Key that was already used', () => {
  let platform: Speaker;
  beforeAll(async () => {
    platform = await given.platform(1);
  });

  /** Sends one request, then another with its key, through both APIs; only the first one creates an object. */
  const reused = async (first: (key: string) => Promise<Reply>, ...second: ((key: string) => Promise<Reply>)[]) => {
    const key = randomUUID();
    const done = await first(key);
    expect([statusOf(done), replayed(done)]).toEqual([200, null]);
    const replies = await Promise.all(second.map((send) => send(key)));
    expect(await answers(key)).toHaveLength(1);
    expect(await eventsOf(...replies)).toEqual([]);
    const again = await first(key);
    expect([statusOf(again), replayed(again)]).toEqual([200, 'true']);
    return replies.map((reply) => ({
      status: statusOf(reply),
      codes: [...new Set(reply.codes)],
      fields: [...reply.fieldNames].sort(),
      replayed: replayed(reply),
    }));
  };
  const naming = (...fields: string[]) => ({ status: 400, codes: ['idempotency_key_reused'], fields, replayed: null });

  interface Partner {
    nickname: string;
    legalName: string;
    city: string;
    metadata?: Record<string, string>;
  }
  const asBody = ({ nickname: name, legalName, city, metadata }: Partner) => {
    const { physical_address: place, ...rest } = details(legalName);
    const business_details = { ...rest, physical_address: { ...place, city } };
    return { type: 'partner', nickname: name, business_details, ...(metadata && { metadata }) };
  };
  const asInput = ({ nickname: name, legalName, city, metadata }: Partner) => {
    const { businessDetails, ...rest } = partnerInput({ nickname: name, ...(metadata && { metadata }) });
    const physicalAddress = { ...businessDetails.physicalAddress, city };
    return { ...rest, businessDetails: { ...businessDetails, legalName, physicalAddress } };
  };
  const variations: [what: string, change: (partner: Partner) => Partner, fields: string[]][] = [
    ['another text', (partner) => ({ ...partner, nickname: 'another name' }), ['account.nickname']],
    [
      'two of them, nested',
      (partner) => ({ ...partner, legalName: 'Other', city: 'Goa' }),
      ['account.business_details.legal_name', 'account.business_details.physical_address.city'],
    ],
    ['one more', (partner) => ({ ...partner, metadata: { crm: '42', tier: 'gold' } }), ['account.metadata.tier']],
    ['one less', ({ metadata: _, ...partner }) => partner, ['account.metadata.crm']],
    [
      'a key of metadata with a dot and a capital in it',
      (partner) => ({ ...partner, metadata: { crm: '42', 'a.B': '1' } }),
      ['account.metadata.a.B'],
    ],
  ];
  for (const [what, change, fields] of variations)
    it(`refuses other parameters and reports their names: ${what}`, async () => {
      const partner = () => ({ nickname: nickname(), legalName: 'Acme', city: 'Pune', metadata: { crm: '42' } });
      const v1 = (p: Partner) => (key: string) => platform.post('/v1/accounts', asBody(p), keyed(key));
      const graph = (p: Partner) => (key: string) =>
        mutate(platform, 'createAccount', asInput(p), 'account { id }', keyed(key));
      for (const [first, p] of [
        [v1, partner()],
        [graph, partner()],
      ] as const)
        expect(await reused(first(p), v1(change(p)), graph(change(p)))).toEqual([naming(...fields), naming(...fields)]);
    });

  it('refuses another object of the same operation, and leaves it unchanged', async () => {
    const [one, two] = await Promise.all([partnerId(platform), partnerId(platform)]);
    const said = await reused(
      (key) => platform.post(`/v1/accounts/${one}/activate`, undefined, keyed(key)),
      (key) => platform.post(`/v1/accounts/${two}/activate`, undefined, keyed(key)),
      (key) => mutate(platform, 'activateAccount', { id: two }, 'account { id }', keyed(key)),
    );
    expect(said).toEqual([naming('account.id'), naming('account.id')]);
    expect((await platform.get(`/v1/accounts/${two}`)).body.status).toBe('draft');
  });

  it('refuses other parameters of addresses, settings and keys too', async () => {
    const [user, setting, key] = await Promise.all([userId(platform), settingId(platform), keyId(platform)]);
    const bank = (number: string) => ({
      ...payoutAddressBody(user),
      bank_account: { number, domestic_credit: 'HDFC0000001' },
    });
    expect(
      await reused(
        (k) => platform.post('/v1/addresses', bank('1234567890'), keyed(k)),
        (k) => platform.post('/v1/addresses', bank('1234567891'), keyed(k)),
      ),
    ).toEqual([naming('address.bank_account.number')]);
    expect(
      await reused(
        (k) => platform.post(`/v1/account_settings/${setting}`, { metadata: { a: '1' } }, keyed(k)),
        (k) => platform.post(`/v1/account_settings/${setting}`, { metadata: { a: '2' } }, keyed(k)),
      ),
    ).toEqual([naming('account_setting.metadata.a')]);
    expect(
      await reused(
        (k) => mutate(platform, 'rotateApiKey', { id: key, graceSeconds: 60 }, 'apiKey { id }', keyed(k)),
        (k) => mutate(platform, 'rotateApiKey', { id: key, graceSeconds: 61 }, 'apiKey { id }', keyed(k)),
      ),
    ).toEqual([naming('api_key.grace_seconds')]);
  });

  it('refuses another purpose and other metadata of an upload', async () => {
    expect(
      await reused(
        (key) => platform.upload('invoice', pdf, 'a.pdf', {}, keyed(key)),
        (key) => platform.upload('logo', pdf, 'a.pdf', {}, keyed(key)),
        (key) => platform.upload('invoice', pdf, 'a.pdf', { 'metadata[a]': '1' }, keyed(key)),
      ),
    ).toEqual([naming('file.purpose'), naming('file.metadata.a')]);
  });

  // The caller sent the parameter `file`; the gateway derived the hash and the size.
  it('refuses another file, and reports the parameter that the caller sent', async () => {
    const another = new TextEncoder().encode('%PDF-1.5\n%%EOF\n\n\n');
    expect(
      await reused(
        (key) => platform.upload('invoice', pdf, 'a.pdf', {}, keyed(key)),
        (key) => platform.upload('invoice', another, 'a.pdf', {}, keyed(key)),
      ),
    ).toEqual([naming('file.file')]);
  });

  // An update without parameters changes nothing, but it is a different request.
  it('refuses an update without parameters under the key of another update', async () => {
    const [user, setting, address] = await Promise.all([userId(platform), settingId(platform), addressId(platform)]);
    const of = async (path: string) =>
      reused(
        (key) => platform.post(path, { metadata: { a: '1' } }, keyed(key)),
        (key) => platform.post(path, {}, keyed(key)),
      );
    expect(
      await Promise.all([
        of(`/v1/accounts/${user}`),
        of(`/v1/account_settings/${setting}`),
        of(`/v1/addresses/${address}`),
      ]),
    ).toEqual([[naming('account.metadata.a')], [naming('account_setting.metadata.a')], [naming('address.metadata.a')]]);
  });

  describe('for one operation', () => {
    // The writes run one after the other, because some advance the clock. No object changes, so all tests use the same
    // ones.
    const subjects: Record<string, string> = {};
    const platforms = {} as Record<Edition, Speaker>;
    beforeAll(async () => {
      [platforms[1], platforms[2]] = [await given.platform(1), await given.platform(2)];
      for (const [name, write] of Object.entries(writes))
        subjects[name] = await write.subject(platforms[write.edition ?? 1]);
    });

    const table = Object.entries(writes).flatMap(([name, write]) =>
      Object.keys(writes)
        .filter((other) => other !== name && writes[other]!.edition === write.edition)
        .flatMap((other) => transportsOf(writes[other]!).map((transport) => ({ name, other, transport }))),
    );
    // Where not everything is tried, each operation meets the key of one of the others, through one of the APIs.
    const chosen = covering(table, ({ name, other, transport }) => [name, other, transport], 1);
    for (const [name, write] of Object.entries(writes))
      it(`is refused for every other operation and every type of its response: used for ${name}`, async () => {
        const key = randomUUID();
        const me = platforms[write.edition ?? 1];
        expect(statusOf(await call(me, name, await write.subject(me), 'graph', key))).toBe(200);
        const tried = chosen.filter((row) => row.name === name);
        expect(tried.length).toBeGreaterThan(0);
        const replies = await Promise.all([
          ...tried.map(({ other, transport }) => call(me, other, subjects[other]!, transport, key)),
          me.upload('invoice', pdf, 'a.pdf', {}, keyed(key)),
        ]);
        expect(replies.map((reply) => [statusOf(reply), ...new Set(reply.codes)].join(' '))).toEqual(
          replies.map(() => '400 idempotency_key_reused'),
        );
        expect(await eventsOf(...replies)).toEqual([]);
        expect((await answers(key)).map(({ operation }) => operation)).toEqual([name]);
      });
  });

  // With the same parameters, only the operation differs.
  it('refuses another operation on the same object', async () => {
    const id = await partnerId(platform);
    const key = randomUUID();
    const done = await call(platform, 'activateAccount', id, 'v1', key);
    expect([done.status, done.body.status]).toEqual([200, 'verifying']);
    const others = ['deactivateAccount', 'verifyTestAccount', 'holdTestAccount', 'deactivateTestAccount'];
    const replies = await Promise.all(
      others.flatMap((name) => (['v1', 'graph'] as const).map((transport) => call(platform, name, id, transport, key))),
    );
    expect(replies.map((reply) => [statusOf(reply), ...reply.codes].join(' '))).toEqual(
      replies.map(() => '400 idempotency_key_reused'),
    );
    expect((await platform.get(`/v1/accounts/${id}`)).body.status).toBe('verifying');
  });

  it('compares requests by their meaning and not by their text', async () => {
    const user = await userId(platform);
    const key = randomUUID();
    const volume = (amount: string) => ({
      business_details: { estimated_monthly_volume: { currency: 'USD', amount } },
    });
    const first = await platform.post(
      `/v1/accounts/${user}`,
      { metadata: { a: '1', b: '2' }, ...volume('10'), tos_acceptance: { time: 1_700_000_000 } },
      keyed(key),
    );
    const ways = await Promise.all([
      platform.post(
        `/v1/accounts/${user}`,
        ` { "tos_acceptance": {"time":1700000000},\n "business_details": ` +
          '{"estimated_monthly_volume":{"amount":"10.00","currency":"USD"}}, "metadata":{"b":"2","a":"1"}} ',
        keyed(key),
      ),
      platform.graph(
        `mutation { updateAccount(input: { metadata: { b: "2", a: "1" }, id: "${user}", tosAcceptance: { time:
          "2023-11-14T22:13:20Z" },
           businessDetails: { estimatedMonthlyVolume: { amount: "10.00", currency: "USD" } } }) { account { id } } }`,
        {},
        keyed(key),
      ),
      platform.graph(
        `mutation Other($volume: VolumeInput, $id: ID!) { mine: updateAccount(input: { tosAcceptance: { time:
          "2023-11-14T23:13:20+01:00" },
           businessDetails: { estimatedMonthlyVolume: $volume }, metadata: { a: "1", b: "2" }, id: $id }) { account { id
           status } } }`,
        { id: user, volume: { amount: '10', currency: 'USD' } },
        keyed(key),
      ),
    ]);
    expect([first.status, ...ways.map(statusOf)]).toEqual([200, 200, 200, 200]);
    expect(ways.map(replayed)).toEqual(['true', 'true', 'true']);
    expect(ways[0]!.text).toBe(first.text);
    expect(ways[2]!.body.data.mine.account).toEqual({ id: user, status: 'DRAFT' });
  });

  it('can be used again for other tenants, modes and acting accounts', async () => {
    const key = randomUUID();
    const [both, outsider] = await Promise.all([given.platformBoth(1), given.platform(1)]);
    const users = await Promise.all([both.test.connectedUser(), both.test.connectedUser()]);
    const body = partnerBody();
    const askers = [both.test, both.live, outsider];
    const made = await Promise.all(askers.map((me) => me.post('/v1/accounts', body, keyed(key))));
    // Nicknames are unique in a tenant and mode, so this test creates persons for the acting accounts instead.
    const acting = users.map((user) => both.test.actingFor(user.id));
    const persons = await Promise.all(acting.map((me) => me.post('/v1/persons', person, keyed(key))));
    const all = [...made, ...persons];
    expect(all.map((reply) => [reply.status, replayed(reply)])).toEqual(all.map(() => [200, null]));
    expect(new Set(all.map(({ body: { id } }) => id)).size).toBe(5);
    expect(await answers(key)).toHaveLength(5);

    // The user itself is the acting account of its platform's request.
    const own = await users[0]!.post('/v1/persons', person, keyed(key));
    expect([own.status, replayed(own), own.text]).toEqual([200, 'true', persons[0]!.text]);
    const mine = await both.test.post('/v1/persons', person, keyed(key));
    expect([mine.status, mine.codes]).toEqual([400, ['idempotency_key_reused']]);
  });

  it('stays used after a rotation of the API key, and for every other key of the account', async () => {
    const me = await given.directUser(1);
    const body = partnerBody();
    const key = randomUUID();
    const first = await me.post('/v1/accounts', body, keyed(key));
    const { id } = (await me.graph('{ apiKeys { nodes { id } } }')).body.data.apiKeys.nodes[0];
    const rotated = await mutate(me, 'rotateApiKey', { id, graceSeconds: 0 }, 'secret');
    const made = me.using(rotated.body.data.rotateApiKey.secret);
    await eventually(
      () => me.get('/v1/accounts'),
      (reply) => reply.status === 401,
    );
    const again = await made.post('/v1/accounts', body, keyed(key));
    expect([again.status, replayed(again), again.text]).toEqual([200, 'true', first.text]);
    const second = await mutate(made, 'createApiKey', { permission: 'FULL' }, 'secret');
    const more = await me.using(second.body.data.createApiKey.secret).post('/v1/accounts', body, keyed(key));
    expect([more.status, replayed(more), more.text]).toEqual([200, 'true', first.text]);
  });
});

describe('the stored responses', () => {
  it('are kept for at least 24 hours, and deleted later', async () => {
    const me = await given.directUser(1);
    const [young, old] = [randomUUID(), randomUUID()];
    const send = (key: string) => me.post('/v1/persons', person, keyed(key));
    const [first, second] = [await send(young), await send(old)];
    await world.sql`update idempotency set created = created - 24 * 3600 + 60 where key = ${young}`;
    await world.sql`update idempotency set created = created - 90 * 24 * 3600 where key = ${old}`;
    const worker = new Worker(world.database, pino({ level: 'silent' }));
    worker.start();
    await eventually(
      () => answers(old),
      (rows) => rows.length === 0,
    );
    await worker.stop();
    const kept = await send(young);
    expect([replayed(kept), kept.text]).toEqual(['true', first.text]);
    const forgotten = await send(old);
    expect([forgotten.status, replayed(forgotten), forgotten.body.id === second.body.id]).toEqual([200, null, false]);
  });
});

// This file calls every write, through both APIs and by the jobs that follow.
describe('the time of the last change', () => {
  it('moves with each write that changes an object, and with nothing else', async () => {
    const { tables, faults } = await seenChanges(world.sql);
    expect(faults).toEqual([]);
    // Those of deliveries are in the file about webhooks.
    expect([...tables, 'webhook_delivery'].toSorted()).toEqual(changing.toSorted());
  });

  it('is moved by no read of a list', async () => {
    const [first, second] = [await given.platform(1), await given.platform(2)];
    const user = second.actingFor(await userId(second));
    await Promise.all([depositId(first), receivableId(first), sessionId(first), checkoutId(second)]);
    const lists = routes.flatMap(({ answers, path }) => (answers === 'list' && !path.includes(':') ? [path] : []));
    expect(lists.length).toBeGreaterThan(12);
    const seen = () => world.sql`select * from seen_change where "table" <> 'api_key'`;
    const before = await seen();
    for (const reader of [first, second, user])
      for (const path of lists) expect((await reader.get(path)).status).toBeLessThan(500);
    expect(await seen()).toEqual(before);
  });
});
