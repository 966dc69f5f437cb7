import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { CheckoutEvents } from '../../src/hosted/event-stream.js';
import {
  cardForm,
  cards,
  type CheckoutFixture,
  submit,
  submitAccepted,
  payeesIn,
  upiCode,
} from '../support/checkout-fixture.js';
import { eventually, useWorld } from '../support/world.js';
import { payersIn, stateAt } from './hosted-safety-fixture.js';

// No worker runs, so that an attempt stays with the acquirer until a test advances the clock.
const world = useWorld({ worker: false });
const payees = payeesIn(world);
const { opened, lines, gatewayWith, count, withoutRecording } = payersIn(world);

afterEach(() => payees.agree());

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

describe('the headers of every response', () => {
  it('keep the page private', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    const paths = ['', '/state', '/nothing'].map((rest) => checkoutFixture.path + rest);
    const answers = await Promise.all(
      [...paths, '/checkout/nobody', '/checkout/a/b/c', '/checkout/assets/page.css'].map((path) =>
        fetch(`${world.origin}${path}`),
      ),
    );
    answers.push(
      await submit(`${checkoutFixture.url}/card`, cardForm('1')),
      await submit(`${checkoutFixture.url}/upi`, {}),
    );
    expect(answers.map((a) => a.status)).toEqual([200, 200, 404, 404, 404, 200, 400, 303]);
    for (const { headers } of answers) {
      expect(headers.get('content-security-policy')).toBe(policy);
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-robots-tag')).toBe('noindex, nofollow');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('set-cookie')).toBeNull();
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
    // Styles and scripts have the hash of their content in their address, and contain no secret.
    expect(answers.map((a) => a.headers.get('cache-control'))).toEqual(
      answers.map((_, i) => (i === 5 ? 'public, max-age=31536000, immutable' : 'no-store')),
    );
  });

  it('are the same when the address cannot be read', async () => {
    const { port } = new URL(world.origin);
    // An HTTP client would correct the address.
    const ask = (path: string) =>
      new Promise<http.IncomingMessage & { text: string }>((resolve, reject) => {
        http
          .get({ port, host: '127.0.0.1', path }, (response) => {
            let text = '';
            response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
            response.on('end', () => resolve(Object.assign(response, { text })));
          })
          .on('error', reject);
      });
    for (const path of ['/checkout/%', '/checkout/%zz', '/checkout/%E0%A4%A/state', '/checkout/a%?pay=again']) {
      const { statusCode, headers, text } = await ask(path);
      expect([path, statusCode]).toEqual([path, 404]);
      expect(text).toBe(await (await fetch(`${world.origin}/checkout/none`)).text());
      expect(headers).toMatchObject({
        ...{ 'content-security-policy': policy, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' },
        ...{ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY', 'x-robots-tag': 'noindex, nofollow' },
        'request-id': expect.stringMatching(/^req_/),
      });
    }
    const other = await ask('/v1/accounts/%');
    expect([other.statusCode, other.headers]).toEqual([
      401,
      expect.objectContaining({
        ...{ 'content-security-policy': "default-src 'none';frame-ancestors 'none'", 'cache-control': 'no-store' },
        ...{ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
      }),
    ]);
  });

  it('allow no inline script or style, and nothing of other origins', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    await upiCode(opened.payee, checkoutFixture);
    const page = await (await fetch(checkoutFixture.url)).text();
    expect(page).not.toMatch(/<style|\sstyle=|<script(?![^>]*src=)|\son\w+=|<iframe|@import/i);
    const addresses = [...page.matchAll(/\s(?:src|href|action)="([^"]*)"/g)].map(([, address]) => address!);
    expect(
      addresses.filter(
        (a) => !/^(\/checkout\/|data:,$|(upi:\/\/|tez:\/\/upi\/|phonepe:\/\/|paytmmp:\/\/)pay\?)/.test(a),
      ),
    ).toEqual([]);
    expect(page).not.toContain(checkoutFixture.id);
  });
});

describe('an address', () => {
  it('is valid or does not exist: every change gets the same response', async () => {
    const [checkoutFixture, other] = [
      await opened.payee.checkoutFixture(),
      await (await payees.open()).checkoutFixture(),
    ];
    const bytes = Buffer.from(checkoutFixture.token, 'base64url');
    const flipped = [...bytes.keys()].flatMap((i) =>
      [0x01, 0x80].map((bit) => {
        const changed = Buffer.from(bytes);
        changed[i]! ^= bit;
        return changed.toString('base64url');
      }),
    );
    const foreign = Buffer.from(other.token, 'base64url');
    const tokens = [
      ...flipped,
      // The id of one with the hash of the other; a live one with the same id; the id alone.
      Buffer.concat([bytes.subarray(0, 33), foreign.subarray(33)]).toString('base64url'),
      Buffer.concat([foreign.subarray(0, 17), bytes.subarray(17)]).toString('base64url'),
      Buffer.concat([Buffer.from([1]), bytes.subarray(1)]).toString('base64url'),
      checkoutFixture.id,
      checkoutFixture.id.replace('checkout_', ''),
      bytes.subarray(0, 33).toString('base64url'),
      checkoutFixture.token.slice(0, -1),
      `${checkoutFixture.token}A`,
      `${checkoutFixture.token}=`,
      `${checkoutFixture.token}.`,
      checkoutFixture.token.toUpperCase(),
      'x'.repeat(400),
      'x'.repeat(5_000),
      '%00',
      '..%2f..%2fv1',
    ];
    const missing = await (await fetch(`${world.origin}/checkout/none`)).text();
    expect(missing).toContain('This payment link is not valid');
    for (const token of tokens) {
      const answer = await fetch(`${world.origin}/checkout/${token}`);
      expect([token, answer.status, (await answer.text()) === missing]).toEqual([token, 404, true]);
    }
    for (const token of tokens.slice(0, 3)) {
      const address = `${world.origin}/checkout/${token}`;
      for (const rest of ['state', 'events', 'logo']) expect((await fetch(`${address}/${rest}`)).status).toBe(404);
      for (const rest of [
        'card',
        'upi',
        `upi/${(await opened.payee.attempts(checkoutFixture))[0]?.id ?? 'transaction_0'}`,
      ])
        expect((await submit(`${address}/${rest}`, cardForm(cards.good))).status).toBe(404);
    }
    expect(await count(checkoutFixture)).toBe(0);
  });

  it('accepts GET and HEAD, its forms POST, and reports them', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    const ask = async (method: string, rest = '') => {
      const answer = await fetch(checkoutFixture.url + rest, { method, redirect: 'manual' });
      return [answer.status, answer.headers.get('allow') ?? answer.headers.get('location')];
    };
    expect(await ask('HEAD')).toEqual([200, null]);
    expect(await ask('HEAD', '/events')).toEqual([200, null]);
    expect(await ask('HEAD', '/state')).toEqual([200, null]);
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      expect(await ask(method)).toEqual([405, 'GET, HEAD']);
      for (const rest of ['/card', '/opened']) expect(await ask(method, rest)).toEqual([405, 'POST']);
    }
    expect(await ask('POST')).toEqual([405, 'GET, HEAD']);
    for (const rest of ['/card', '/upi', '/upi/transaction_0', '/opened'])
      expect(await ask('GET', rest)).toEqual([303, checkoutFixture.path]);
    expect(await count(checkoutFixture)).toBe(0);
  });

  it('uses the configured origin', async () => {
    const { origin } = await gatewayWith({ PUBLIC_URL: 'https://pay.example.com' });
    const user = opened.payee.user.at(origin);
    const [plain, stated] = [
      await opened.payee.checkoutFixture(),
      await opened.payee.checkoutFixture({ speaker: user }),
    ];
    expect(plain.url).toBe(`${world.origin}${plain.path}`);
    expect(stated.url).toBe(`https://pay.example.com${stated.path}`);
    const graph = await user.graph('query ($id: ID!) { checkout(id: $id) { url } }', { id: stated.id });
    expect(graph.body.data.checkout.url).toBe(stated.url);
    expect((await fetch(`${origin}${stated.path}`)).status).toBe(200);
  });

  it('is not served over plain HTTP', async () => {
    const { origin } = await gatewayWith({ TRUSTED_PROXY: '127.0.0.1', PUBLIC_URL: 'https://pay.example' });
    const checkoutFixture = await opened.payee.checkoutFixture();
    const url = `${origin}${checkoutFixture.path}`;
    const refused = await fetch(url);
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('This address is not safe')]);
    expect((await submit(`${url}/card`, cardForm(cards.good))).status).toBe(403);
    expect(await count(checkoutFixture)).toBe(0);
    const safe = await fetch(url, { headers: { 'x-forwarded-proto': 'https' } });
    expect([safe.status, safe.headers.get('strict-transport-security')]).toEqual([
      200,
      expect.stringMatching(/^max-age=/),
    ]);
  });
});

describe('a form', () => {
  it('of another content type is refused, and a valid one starts nothing that it does not name', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    const json = (body: unknown) => ({ body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
    const multipart = new FormData();
    multipart.set('attempt', `${randomUUID()}-upi`);
    const statuses = [];
    for (const init of [
      json({ ...cardForm(cards.good), number: { a: 1 } }),
      json(cardForm(cards.good)),
      { body: 'attempt', headers: { 'content-type': 'text/plain' } },
      { body: multipart },
    ])
      statuses.push((await submit(`${checkoutFixture.url}/card`, {}, init)).status);
    expect(statuses).toEqual([415, 415, 415, 415]);
    for (const attempt of ['', 'x', `${randomUUID()}`, `${randomUUID()}-cash`, '__proto__', `${randomUUID()}-card\n`]) {
      expect((await submit(`${checkoutFixture.url}/card`, cardForm(cards.good, { attempt }))).status).toBe(303);
      expect((await submit(`${checkoutFixture.url}/upi`, { attempt })).status).toBe(303);
    }
    expect((await submit(`${checkoutFixture.url}/upi`, {})).status).toBe(303);
    expect((await fetch(`${checkoutFixture.url}/upi`, { method: 'POST', redirect: 'manual' })).status).toBe(303);
    expect(
      (await submit(`${checkoutFixture.url}/upi/transaction_${'0'.repeat(32)}`, { vpa: 'success@test' })).status,
    ).toBe(404);
    expect(await count(checkoutFixture)).toBe(0);
  });

  it('with more text than any page sends is refused with the reason, before anything looks at its fields', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    const card = `${checkoutFixture.url}/card`;
    const refused = async (url: string, fields: Record<string, string>) => {
      const response = await submit(url, fields);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      return [response.status, /<p[^>]*>([^<]+)<\/p>/.exec(await response.text())?.[1]];
    };
    const long = 'x'.repeat(501);
    for (const field of ['attempt', 'number', 'expiry', 'code', 'name', 'token'])
      expect(await refused(card, cardForm(cards.good, { [field]: long }))).toEqual([
        400,
        `The field ${field} has more than 500 characters.`,
      ]);
    const unnamed = [400, 'A field of the form has more than 500 characters.'];
    expect(await refused(card, cardForm(cards.good, { [long]: 'x' }))).toEqual(unnamed);
    expect(await refused(card, cardForm(cards.good, { [cards.good]: long }))).toEqual(unnamed);
    for (const rest of ['upi', 'upi/transaction_0'])
      expect(await refused(`${checkoutFixture.url}/${rest}`, { vpa: long })).toEqual([
        400,
        'The field vpa has more than 500 characters.',
      ]);
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`a${i}`, 'x']));
    expect(await refused(card, many)).toEqual([400, 'The form has more than 20 fields.']);
    for (const characters of [8_200, 65_000, 70_000])
      expect(await refused(card, cardForm(cards.good, { expiry: ' '.repeat(characters) }))).toEqual([
        413,
        'The form has more than 8192 bytes. It was not read, and you have not been charged.',
      ]);
    expect((await submit(card, cardForm(cards.good, { name: 'x'.repeat(500) }))).status).toBe(400);
    expect(await count(checkoutFixture)).toBe(0);
  });

  it('with missing fields, or with names that every object has, gets an error message', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    const { attempt } = cardForm('');
    const bare = await submit(`${checkoutFixture.url}/card`, { attempt: attempt! });
    const text = await bare.text();
    expect([bare.status, [...text.matchAll(/id="(\w+)-error"/g)].map(([, name]) => name)]).toEqual([
      400,
      ['number', 'expiry', 'code', 'name'],
    ]);
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect((await submit(`${checkoutFixture.url}/card`, cardForm(name, { [name]: 'x' }))).status).toBe(400);
    }
    const id = await upiCode(opened.payee, checkoutFixture);
    for (const vpa of ['__proto__', 'constructor', '', 'somebody@okbank', `${'a'.repeat(400)}@test`])
      expect((await submit(`${checkoutFixture.url}/upi/${id}`, { vpa })).status).toBe(400);
    // A long text must not block the process, which would last until this test fails.
    for (const field of ['number', 'expiry', 'code', 'name'])
      expect(
        (await submit(`${checkoutFixture.url}/card`, cardForm(cards.good, { [field]: ' 4-/'.repeat(125) }))).status,
      ).toBe(400);
    expect((await opened.payee.attempts(checkoutFixture)).map((a) => a.details)).toEqual([null]);
  });

  it('sent 16 times at the same time makes one attempt', async () => {
    const [carded, coded] = [await opened.payee.checkoutFixture(), await opened.payee.checkoutFixture()];
    const form = cardForm(cards.good);
    const code = { attempt: `${randomUUID()}-upi` };
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => [submit(`${carded.url}/card`, form), submit(`${coded.url}/upi`, code)]).flat(),
    );
    expect(new Set(answers.map((a) => a.status))).toEqual(new Set([303]));
    expect([await count(carded), await count(coded)]).toEqual([1, 1]);
    await opened.payee.pass(2);
    expect(await stateAt(carded.url)).toMatch(/^paid:/);
    // A later repetition makes none either.
    await submitAccepted(`${carded.url}/card`, form);
    expect(await count(carded)).toBe(1);
  });

  it('sent 16 times at the same time under different keys sends one attempt to the acquirer at a time', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    const other = await world.another();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) =>
        submit(`${i % 2 ? other : world.origin}${checkoutFixture.path}/card`, cardForm(cards.pending)),
      ),
    );
    expect(new Set(answers.map((a) => a.status))).toEqual(new Set([303]));
    const submitted = (await opened.payee.attempts(checkoutFixture)).filter((a) => a.details !== null);
    expect(submitted).toHaveLength(1);
    // No other attempt is started during this one.
    await submitAccepted(`${checkoutFixture.url}/card`, cardForm(cards.good));
    await submitAccepted(`${checkoutFixture.url}/upi`, { attempt: `${randomUUID()}-upi` });
    expect(await count(checkoutFixture)).toBe(1);
    await opened.payee.pass(481);
    expect(await stateAt(checkoutFixture.url)).toMatch(/^declined:/);
    await submitAccepted(`${checkoutFixture.url}/card`, cardForm(cards.good));
    await opened.payee.pass(2);
    expect(await stateAt(checkoutFixture.url)).toMatch(/^paid:/);
  });

  it('has a limit: a payer who tries many cards is refused', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    for (let i = 0; i < 30; i++) {
      expect((await submit(`${checkoutFixture.url}/card`, cardForm(cards.declined))).status).toBe(303);
      await opened.payee.pass(2);
    }
    const capped = await submit(`${checkoutFixture.url}/card`, cardForm(cards.good));
    const text = await capped.text();
    expect([capped.status, text]).toEqual([
      429,
      expect.stringContaining('This link has had too many payment attempts'),
    ]);
    expect(text).not.toContain('<form');
    expect(await count(checkoutFixture)).toBe(30);
    // The page says so before the payer fills in a form.
    const page = await (await fetch(checkoutFixture.url)).text();
    expect(page).toContain('This link has had too many payment attempts');
    expect(page).not.toMatch(/<form|Pay by/);
  });
});

// Test numbers that are published and have valid check digits.
describe('a card number', () => {
  const name = 'Zenobia Quillfeather';
  const strange = ['4111111111111111', '378282246310005', '6011111111111117'];
  const known = ['4242424242424242', '4000000000000002', '4000000000009995', '4000000000003220', '4000000000000341'];
  const secret = new RegExp([...strange, ...known].map((n) => n.replaceAll(/\d(?=\d)/g, '$&[ -]?')).join('|'));

  it('is stored nowhere: no table, response, event or log has it; and test mode accepts only test cards', async () => {
    const { app, origin } = await gatewayWith({});
    const answers: string[] = [];
    const post = async (checkoutFixture: CheckoutFixture, fields: Record<string, string>) => {
      const answer = await submit(`${origin}${checkoutFixture.path}/card`, fields);
      answers.push(
        JSON.stringify([...answer.headers]),
        await answer.text(),
        await (await fetch(checkoutFixture.url)).text(),
      );
      return answer.status;
    };
    const refused = await opened.payee.checkoutFixture();
    const paths: string[] = [refused.token];
    for (const number of strange) {
      expect(await post(refused, cardForm(number, { name }))).toBe(400);
      // Typed into the wrong field, it must not be repeated in the page either.
      for (const field of ['expiry', 'name', 'code'])
        expect(await post(refused, cardForm(cards.good, { name, [field]: number }))).toBe(400);
    }
    expect(answers.join()).toContain('Test mode accepts test cards only');
    expect(await count(refused)).toBe(0);
    for (const number of known) {
      const checkoutFixture = await opened.payee.checkoutFixture();
      paths.push(checkoutFixture.token);
      expect(await post(checkoutFixture, cardForm(number, { name }))).toBe(303);
      await opened.payee.pass(2);
      answers.push(await (await fetch(checkoutFixture.url)).text());
    }
    // An internal error while a card is charged reveals no more.
    const faulty = await opened.payee.checkoutFixture();
    paths.push(faulty.token);
    await withoutRecording(async () => {
      expect(await post(faulty, cardForm(known[0]!, { name }))).toBe(500);
    });
    await app.close();

    for (let numbered = 500; numbered === 500; ) {
      const [row] = await world.database.call('number_events', [opened.payee.tenantId, false, 500]);
      numbered = Number(row!.number_events);
    }
    for (const path of ['events', 'payments', 'deposits', 'checkouts']) {
      const of = { n: 0, after: '' };
      for (let more = true; more; ) {
        const { body, text } = await opened.payee.user.get(`/v1/${path}?limit=10${of.after}`);
        answers.push(text);
        of.n += body.data.length;
        more = body.has_next;
        of.after = `&starting_after=${body.data.at(-1)?.id}`;
      }
      expect([path, of.n > 0]).toEqual([path, true]);
    }
    // Transactions have no list: on /v1 they are read one by one, in the graph through their checkouts.
    const attempts = await world.sql`select id from transaction where tenant_id = ${opened.payee.tenantId}`;
    expect(attempts.length).toBeGreaterThan(known.length);
    for (const { id } of attempts) {
      const { status, text } = await opened.payee.user.get(`/v1/transactions/${id}`);
      expect(status).toBe(200);
      answers.push(text);
    }
    const graph = await opened.payee.user.graph(
      `{ checkouts(first: 100) { nodes { id transactions(first: 30) { nodes {
        id reasonCode payment { id } deposit { statementDescriptor paymentMethodDetails } } } } } }`,
    );
    expect([graph.codes, graph.text.includes('"last4":"4242"')]).toEqual([[], true]);
    answers.push(graph.text);

    const tables = await world.sql`select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`;
    expect(tables.length).toBeGreaterThan(20);
    const spots: string[] = [];
    for (const { name: table } of tables) {
      const rows = await world.sql`select t::text as row from ${world.sql(table)} t`;
      for (const { row } of rows)
        if (secret.test(row) || row.includes('Zenobia') || /(?<![\w-])737(?![\w-])/.test(row))
          spots.push(`${table}: ${row}`);
    }
    expect(spots).toEqual([]);
    expect(
      answers.filter((text) => secret.test(text.replaceAll(/<code>[\d ]+<\/code>|such as 4242 4242 4242 4242/g, ''))),
    ).toEqual([]);
    expect(lines.some((line) => line.includes('/checkout/:token/card'))).toBe(true);
    expect(lines.some((line) => line.includes('"level":50'))).toBe(true);
    const log = lines.join();
    expect(secret.test(log) || log.includes('Zenobia') || paths.some((token) => log.includes(token))).toBe(false);
  });
});

/** The events of a stream, as they arrive. */
function listen(url: string): {
  news: string[];
  headers: Promise<http.IncomingHttpHeaders>;
  ended: Promise<void>;
  leave(): void;
} {
  const news: string[] = [];
  let received: (headers: http.IncomingHttpHeaders) => void;
  let finish: () => void;
  const headers = new Promise<http.IncomingHttpHeaders>((resolve) => (received = resolve));
  const ended = new Promise<void>((resolve) => (finish = resolve));
  const request = http.get(`${url}/events`, { agent: false }, (response) => {
    received(response.headers);
    response.setEncoding('utf8').on('data', (text: string) => {
      news.push(...[...text.matchAll(/^data: (.*)$/gm)].map(([, state]) => state!));
    });
    response.on('close', () => finish());
  });
  request.on('error', () => finish());
  return { news, headers, ended, leave: () => request.destroy() };
}

describe('the stream', () => {
  it('sends every state once, and nothing but the state', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    const { news, headers, leave } = listen(checkoutFixture.url);
    const seen = (name: string) =>
      eventually(
        async () => news.at(-1) ?? '',
        (last) => last.startsWith(name),
      );
    expect(await headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
    });
    await seen('summary');
    const id = await upiCode(opened.payee, checkoutFixture);
    await seen('awaiting');
    await submitAccepted(`${checkoutFixture.url}/upi/${id}`, { vpa: 'success@test' });
    await seen('confirming');
    await opened.payee.pass(2);
    await seen('paid');
    expect(news).toEqual(['summary', `awaiting:${id}`, `confirming:${id}`, `paid:${id}`]);
    leave();
  });

  it('sends changes that another gateway has written', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    const other = await world.another();
    const { news, leave } = listen(`${other}${checkoutFixture.path}`);
    await eventually(
      async () => news.length,
      (n) => n === 1,
    );
    await submitAccepted(`${checkoutFixture.url}/card`, cardForm(cards.good));
    await eventually(
      async () => news.at(-1)!,
      (last) => last.startsWith('confirming'),
    );
    expect(await stateAt(`${other}${checkoutFixture.path}`)).toBe(await stateAt(checkoutFixture.url));
    await opened.payee.pass(2);
    await eventually(
      async () => news.at(-1)!,
      (last) => last.startsWith('paid'),
    );
    leave();
  });

  it('serves a limited number of pages of one tenant, and those of others regardless', () => {
    const events = new CheckoutEvents(world.database);
    const places = Array.from({ length: 25 }, (_, i) => ({
      tenantId: opened.payee.tenantId,
      livemode: false,
      id: `checkout_${i.toString(16).padStart(32, '0')}`,
    }));
    const ends = places.flatMap((place) => Array.from({ length: 20 }, () => events.subscribe(place, () => {})));
    const another = { ...places[0]!, id: `checkout_${'f'.repeat(32)}` };
    expect(events.admits(another)).toBe(false);
    expect(events.admits({ ...another, tenantId: 'f'.repeat(32) })).toBe(true);
    for (const end of ends) end();
    expect(events.admits(another)).toBe(true);
  });

  it('serves a limited number of pages of one checkout, and those of others regardless', async () => {
    const [checkoutFixture, other] = [await opened.payee.checkoutFixture(), await opened.payee.checkoutFixture()];
    const streams = Array.from({ length: 20 }, () => listen(checkoutFixture.url));
    await eventually(async () => streams.every(({ news }) => news.length === 1), Boolean);
    const refused = await fetch(`${checkoutFixture.url}/events`);
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      503,
      '5',
      { state: null },
    ]);
    const another = listen(other.url);
    expect((await another.headers)['content-type']).toBe('text/event-stream');
    another.leave();
    // A page that closes frees a place.
    streams[0]!.leave();
    await eventually(
      async () => {
        const { headers, leave } = listen(checkoutFixture.url);
        const { 'content-type': type } = await headers;
        leave();
        return type;
      },
      (type) => type === 'text/event-stream',
    );
    for (const { leave } of streams) leave();
  });

  it('sends keep-alive comments while nothing changes, because a proxy would end it otherwise', async () => {
    expect(await opened.listening).toBe('the comment');
  });

  it('ends when the gateway shuts down, which does not wait for open pages', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    const { app, origin } = await gatewayWith({});
    const streams = Array.from({ length: 5 }, () => listen(`${origin}${checkoutFixture.path}`));
    await eventually(async () => streams.every(({ news }) => news.length === 1), Boolean);
    // No page leaves: a stream that did not end would keep the server running until this test fails.
    await app.close();
    await Promise.all(streams.map(({ ended }) => ended));
  });

  it('whose reader has disconnected causes no further queries, also when the reader left before it began', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    await opened.payee.checkoutFixture();
    const { origin } = await gatewayWith({});
    // Nothing else uses the pool of these gateways: no worker runs.
    const { database } = world;
    const { read } = database;
    let reads = 0;
    database.read = ((...args: Parameters<typeof read>) => {
      reads++;
      return read.apply(database, args);
    }) as typeof read;
    try {
      const watched = listen(`${origin}${checkoutFixture.path}`);
      await eventually(
        async () => [watched.news.length, reads] as const,
        ([news, looks]) => news === 1 && looks > 3,
      );
      watched.leave();
      for (let i = 0; i < 20; i++) {
        const { leave } = listen(`${origin}${checkoutFixture.path}`);
        await new Promise((resume) => setTimeout(resume, i % 5));
        leave();
      }
      const quiet = async () => {
        const before = reads;
        await new Promise((resume) => setTimeout(resume, 2_500));
        return reads - before;
      };
      await eventually(quiet, (n) => n === 0);
    } finally {
      Object.assign(database, { read });
    }
  });
});
