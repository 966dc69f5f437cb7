import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pdf } from '../support/bodies.js';
import { browser } from '../support/browser.js';
import { givenIn, must, type Speaker, useWorld } from '../support/world.js';

/** A server of an empty page and of the client as its folder has it: an origin of its own. */
async function pageServer(): Promise<{ origin: string; close: () => void }> {
  const server = http.createServer(({ url = '/' }, response) => {
    const file = path.join('clients/typescript/dist', path.normalize(url));
    if (url !== '/' && fs.existsSync(file))
      return response.setHeader('content-type', 'text/javascript').end(fs.readFileSync(file));
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page with the client</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}

const site = await pageServer();
const world = useWorld({ environment: { CORS_ORIGINS: site.origin } });
const given = givenIn(world);
let user: Speaker;
let token: string;
let chromium: Browser;
beforeAll(async () => {
  user = await given.directUser(1);
  for (let i = 0; i < 23; i++) await user.partner();
  const made = await must(user.post('/v1/sessions', { role: 'operate', allowed_origins: [site.origin] }));
  token = made.token;
  chromium = await browser();
});
afterAll(async () => {
  await chromium?.close();
  site.close();
});

/** Runs a script with the client, as the page of the other origin would. It returns JSON. */
async function run(script: string, values: object = {}, prepare: (page: Page) => Promise<unknown> = async () => {}) {
  const page = await chromium.newPage();
  try {
    await page.goto(site.origin);
    await prepare(page);
    // As text: a function would be changed by what transforms the tests.
    return await page.evaluate(`(async ({ origin, key, ...values }) => {
      const { Tidegate, TidegateError, verifyWebhook } = await import('/client.js');
      const tidegate = new Tidegate({ origin, key });
      ${script}
    })(${JSON.stringify({ origin: world.origin, key: token, ...values })})`);
  } finally {
    await page.close();
  }
}

describe('the TypeScript client in a page of a listed origin, with a session', () => {
  it('reads whole lists page by page, and the graph', async () => {
    const found = await run(`
      const ids = new Set();
      for await (const { id } of tidegate.accounts({ type: ['partner'], limit: 10 })) ids.add(id);
      const { data, problems } = await tidegate.graph('{ viewer { edition } deposit(id: "deposit_0") { id } }');
      return [ids.size, data.viewer.edition, problems.map(({ code }) => code)];`);
    expect(found).toEqual([23, 1, ['resource_missing']]);
  });

  it('makes a write once where its answer is lost, under a key of its own', async () => {
    let sent = 0;
    const keys = new Set<string | undefined>();
    const nickname = 'Once Only';
    const made = await run(
      `const { id, nickname } = await tidegate.createAccount({ type: 'partner', nickname: values.nickname,
        business_details: { legal_name: 'Once', email: 'once@example.com', type: 'company',
          physical_address: { country: 'DE' } } });
       return { id, nickname };`,
      { nickname },
      (page) =>
        page.route(`${world.origin}/v1/accounts`, async (route) => {
          if (route.request().method() !== 'POST') return route.continue();
          keys.add(route.request().headers()['idempotency-key']);
          // The gateway has done the first one; its answer does not arrive.
          if (sent++ > 0) return route.continue();
          await route.fetch();
          await route.abort('connectionreset');
        }),
    );
    expect([sent, keys.size, [...keys][0]?.length]).toEqual([2, 1, 36]);
    const { data } = await must(user.get(`/v1/accounts?search=${encodeURIComponent(nickname)}`));
    expect(data.map(({ id, nickname: of }: any) => ({ id, nickname: of }))).toEqual([made]);
  });

  it('throws a refusal with its problems, and the request id that CORS lets it read', async () => {
    const refusal = await run(`
      try { await tidegate.createDeposit({ amount: '0.00', currency: 'USD' }); } catch (error) {
        const { status, code, param, requestId } = error;
        return { is: error instanceof TidegateError, status, code, param, requestId };
      }`);
    expect(refusal).toEqual({
      ...{ is: true, status: 400, code: 'parameter_invalid', param: 'deposit.amount' },
      requestId: expect.stringMatching(/^req_/),
    });
  });

  it('sends a file as a form, and reads content as a stream', async () => {
    const content = await run(
      `const { id } = await tidegate.createFile({ purpose: 'invoice', file: new File([values.text], 'invoice.pdf') });
       const response = await tidegate.fileContent(id);
       let text = '';
       const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
       for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
       return text;`,
      { text: pdf.toString() },
    );
    expect(content).toBe(pdf.toString());
  });

  it('follows the stream of events, and ends it', async () => {
    const event = run(`
      const end = new AbortController();
      const response = await tidegate.eventStream({ after: 0 }, { signal: end.signal });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      while (!/^data: .*\\n\\n/m.test(text)) text += (await reader.read()).value;
      end.abort();
      return JSON.parse(/^data: (.*)$/m.exec(text)[1]).object;`);
    expect(await event).toBe('event');
  });

  it('verifies a delivery with the cryptography of the browser', async () => {
    const delivery = `
      const bytes = (text) => new TextEncoder().encode(text);
      const raw = crypto.getRandomValues(new Uint8Array(24));
      const algorithm = { name: 'HMAC', hash: 'SHA-256' };
      const signing = await crypto.subtle.importKey('raw', raw, algorithm, false, ['sign']);
      const time = String(Math.floor(Date.now() / 1000));
      const body = '{"type":"deposit.completed"}';
      const signed = new Uint8Array(await crypto.subtle.sign('HMAC', signing, bytes('msg_1.' + time + '.' + body)));
      const base64 = (of) => btoa(String.fromCharCode(...of));
      const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': time,
        'webhook-signature': 'v1,' + base64(signed) };
      const secret = 'whsec_' + base64(raw);`;
    const told = await run(`${delivery}
      const { type } = await verifyWebhook({ body, headers, secret });
      const other = await verifyWebhook({ body: body + ' ', headers, secret }).catch(({ name }) => name);
      return [type, other];`);
    expect(told).toEqual(['deposit.completed', 'WebhookError']);
  });

  it('says where a page of another origin cannot read the gateway', async () => {
    const other = await pageServer();
    const page = await chromium.newPage();
    await page.goto(other.origin);
    const text = await page.evaluate(`(async () => {
      const { Tidegate } = await import('/client.js');
      const tidegate = new Tidegate({ origin: '${world.origin}', key: '${token}', attempts: 1 });
      return tidegate.accounts().page().then(() => 'read', ({ name }) => name);
    })()`);
    await page.close();
    other.close();
    expect(text).toBe('TypeError');
  });
});
