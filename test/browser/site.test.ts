import fs from 'node:fs';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogue } from '../../src/errors/catalogue.js';
import { graphCatalogue } from '../../src/errors/graph-codes.js';
import type { SiteIndex } from '../../src/sites/docs/maker/site-files.js';
import { axeFaults } from '../support/axe.js';
import { browser } from '../support/browser.js';
import { givenIn, inTurns, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
let chromium: Browser;
beforeAll(async () => {
  chromium = await browser();
});
afterAll(() => chromium?.close());

const folder = 'dist/sites/docs/site';
const { files } = JSON.parse(fs.readFileSync(`${folder}/site.json`, 'utf8')) as SiteIndex;
const pages = new Map(
  Object.entries(files)
    .filter(([, { file }]) => file.endsWith('.html'))
    .map(([address, { file }]) => [address, fs.readFileSync(`${folder}/${file}`, 'utf8')]),
);
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${world.origin}${path}`, { headers, redirect: 'manual' });
const anchorsOf = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!);

/** A page in a browser of its own, without access to other hosts. */
async function visit(path: string, options: BrowserContextOptions = {}) {
  const context = await chromium.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  context.setDefaultTimeout(300_000);
  const foreign: string[] = [];
  const complaints: string[] = [];
  await context.route(
    (url) => url.origin !== world.origin,
    (route) => {
      foreign.push(route.request().url());
      return route.abort();
    },
  );
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`${world.origin}${path}`);
  return { context, page, foreign, complaints };
}

describe('the pages of /docs', () => {
  it('answer at their addresses, compressed, with a policy that allows this host alone', async () => {
    // 600 connections at once may wait longer for a busy machine than their client does.
    const answers = await inTurns([...pages.keys()], 16, async (address) => {
      const response = await get(address, { 'accept-encoding': 'identity' });
      await response.text();
      return `${response.status} ${response.headers.get('content-type')}`;
    });
    expect(Object.fromEntries([...pages.keys()].map((address, i) => [address, answers[i]]))).toEqual(
      Object.fromEntries(
        [...pages.keys()].map((address) => [
          address,
          `${address === '/docs/missing' ? 404 : 200} text/html; charset=utf-8`,
        ]),
      ),
    );
    const { headers } = await get('/docs', { 'accept-encoding': 'br' });
    expect(headers.get('content-encoding')).toBe('br');
    const policy = headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  it('link only to pages, files and anchors that exist', () => {
    const others = ['/graphiql', '/openapi.json'];
    const broken = [...pages].flatMap(([address, text]) =>
      [...text.matchAll(/ (?:href|src)="([^"]+)"/g)]
        .map(([, target]) => target!.replaceAll('&#x3D;', '='))
        .filter((target) => !/^(https?:|data:)/.test(target) && !others.includes(target))
        .filter((target) => {
          const [path = '', anchor] = target.split('#');
          const found = path === '' ? address : path;
          if (!files[found]) return true;
          return anchor !== undefined && !anchorsOf(pages.get(found) ?? '').includes(decodeURIComponent(anchor));
        })
        .map((target) => `${address}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('have one title, unique anchors, and no script or style of their own', () => {
    for (const [address, text] of pages) {
      const anchors = anchorsOf(text);
      expect([address, anchors.filter((id, i) => anchors.indexOf(id) !== i)]).toEqual([address, []]);
      expect([address, text.match(/<h1/g)?.length]).toEqual([address, 1]);
      expect([address, / style="|<style|<script>|javascript:| on\w+="/.test(text)]).toEqual([address, false]);
    }
  });

  it('are revalidated, and files with a hash in their address are kept', async () => {
    const page = await get('/docs/rest');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    // Without a Cache-Control of its own, fetch sends no-cache.
    const again = { 'if-none-match': page.headers.get('etag')!, 'cache-control': 'max-age=0' };
    expect((await get('/docs/rest', again)).status).toBe(304);
    const [style] = Object.keys(files).filter((address) => address.endsWith('.css'));
    expect((await get(style!)).headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  it.each([
    ...['/docs/nothing', '/docs/missing', '/docs/constructor', '/docs/..%2f..%2fpackage.json'],
    ...['/docs/nothing/', '/docs/missing/', '/docs/%E2%82%AC/', '/docs/%0d%0aX:1/', '/docs/%00/'],
  ])('are a page that says so where there is none: %s', async (path) => {
    const response = await get(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await response.text()).toContain('There is no such page');
  });

  it('are reached with a slash at the end', async () => {
    const response = await get('/docs/rest/');
    expect([response.status, response.headers.get('location')]).toEqual([308, '/docs/rest']);
  });

  it('show every operation, type, error and event', () => {
    const contract = JSON.parse(fs.readFileSync('schema/openapi.json', 'utf8'));
    const events = JSON.parse(fs.readFileSync('schema/events.json', 'utf8')) as { type: string }[];
    const types = [
      ...fs
        .readFileSync('schema/graph.graphql', 'utf8')
        .matchAll(/^(?:type|enum|input|scalar|union|interface) (\w+)/gm),
    ].map(([, name]) => name!);
    for (const methods of Object.values<Record<string, any>>(contract.paths))
      for (const { operationId, tags } of Object.values(methods))
        expect([...pages.keys()]).toContain(`/docs/reference/rest/${tags[0]}/${operationId}`);
    for (const name of types.filter((type) => !['Query', 'Mutation', 'Subscription'].includes(type)))
      expect([...pages.keys()]).toContain(`/docs/reference/graphql/types/${name}`);
    expect(anchorsOf(pages.get('/docs/errors')!)).toEqual(
      expect.arrayContaining([...Object.keys(catalogue), ...Object.keys(graphCatalogue)]),
    );
    expect(anchorsOf(pages.get('/docs/events')!)).toEqual(expect.arrayContaining(events.map(({ type }) => type)));
  });
});

describe('the documentation for programs', () => {
  it('is llms.txt, whose guides are the Markdown of the project, beside that of the reference', async () => {
    const overview = await get('/docs/llms.txt');
    expect(overview.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const listed = [...(await overview.text()).matchAll(/\]\(\/(docs\/\S+\.md)\)/g)].map(([, file]) => file!);
    const guides = fs.readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
    const references = listed.filter((file) => !guides.includes(file.replace('docs/', '')));
    expect(listed.toSorted()).toEqual([...guides.map((name) => `docs/${name}`), ...references].toSorted());
    const catalogues = ['docs/errors.md', 'docs/events.md', 'docs/reference/rest.md', 'docs/reference/graphql.md'];
    expect(references).toEqual(expect.arrayContaining(catalogues));
    await inTurns(listed, 8, async (file) => {
      const page = await get(`/${file}`);
      expect([file, page.status, page.headers.get('content-type')]).toEqual([
        file,
        200,
        'text/markdown; charset=utf-8',
      ]);
      const text = await page.text();
      if (references.includes(file)) expect(text).toMatch(/^# \S/);
      else expect(text).toBe(fs.readFileSync(file, 'utf8'));
    });
  });
});

describe('the address of an error in the documentation', () => {
  it('is in the header Link on /v1, for each code once, and leaves the object as it is', async () => {
    const user = await given.directUser();
    const reply = await user.get('/v1/accounts?limit=11&colour=red&hue=1');
    expect(reply.headers.get('link')).toBe(
      '</docs/errors#parameter_unknown>; rel="help", </docs/errors#parameter_invalid>; rel="help"',
    );
    expect(Object.keys(reply.body)).toEqual(['object', 'http_status_code', 'errors']);
    expect(Object.keys(reply.body.errors[0])).toEqual(['code', 'message', 'metadata']);
    expect((await user.get('/v1/accounts')).headers.get('link')).toBeNull();
  });

  it.each([
    ['{ accounts(first: 0) { nodes { id } } }', '/docs/errors#parameter_invalid'],
    ['{ account(id: "account_1") { id } }', '/docs/errors#resource_missing'],
    ['{ colour }', '/docs/errors#GRAPHQL_VALIDATION_FAILED'],
    ['{ viewer {', '/docs/errors#GRAPHQL_PARSE_FAILED'],
  ])('is in the extensions of errors of GraphQL: %s', async (query, docUrl) => {
    const user = await given.directUser();
    const reply = await user.post('/graphql', { query });
    expect(reply.body.errors.map(({ extensions }: any) => extensions.docUrl)).toEqual([docUrl]);
  });
});

describe('the pages of /docs in a browser', () => {
  const shown = [
    '/docs',
    '/docs/architecture',
    '/docs/reference/rest/deposits/createDeposit',
    '/docs/reference/graphql/types/Deposit',
    '/docs/errors',
  ];
  it.each([
    ['light', 1440],
    ['dark', 390],
  ] as const)('have no violation that axe finds, and fit, in %s at %i', async (colorScheme, width) => {
    const { context, page, foreign, complaints } = await visit('/docs', {
      colorScheme,
      viewport: { width, height: 900 },
    });
    for (const path of shown) {
      await page.goto(`${world.origin}${path}`);
      expect([path, await axeFaults(page)]).toEqual([path, []]);
      const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      expect([path, content! <= window!]).toEqual([path, true]);
    }
    expect([foreign, complaints]).toEqual([[], []]);
    await context.close();
  });

  it('fit the smallest screen', async () => {
    const { context, page } = await visit('/docs', { viewport: { width: 320, height: 640 } });
    for (const path of shown) {
      await page.goto(`${world.origin}${path}`);
      expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 320]);
    }
    await context.close();
  });

  it('find what is searched for, by keyboard alone', async () => {
    const { context, page, complaints } = await visit('/docs');
    for (const [text, address] of [
      ['reconcile a deposit', '/docs/reference/rest/deposits/reconcileDeposit'],
      ['nickname_taken', '/docs/errors#nickname_taken'],
      ['createDepositPay', '/docs/reference/graphql/types/CreateDepositPayload'],
    ] as const) {
      await page.goto(`${world.origin}/docs`);
      await page.keyboard.press('/');
      await page.keyboard.type(text);
      await page.locator('#site-found a').first().waitFor();
      expect(await axeFaults(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await page.waitForURL(`${world.origin}${address}`);
    }
    await page.keyboard.press('/');
    await page.keyboard.type('zzzzzzzz');
    await page.getByText('Nothing was found').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.finder').waitFor({ state: 'hidden' });
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('find the guides by the words that others use', async () => {
    const { context, page } = await visit('/docs');
    await page.keyboard.press('/');
    for (const [text, address] of [
      ['pagination', '/docs/rest#lists'],
      ['sort', '/docs/rest#lists'],
      ['sdk', '/docs/typescript'],
      ['spreadsheet', '/docs/rest#exports'],
      ['quicktype', '/docs/rest#the-contract'],
      ['standardwebhooks', '/docs/webhooks#receive-events'],
      ['error handling', '/docs/rest#errors'],
      ['glossary', '/docs/concepts'],
      ['refund', '/docs/concepts#payments'],
      ['group by', '/docs/dashboards#figures-over-time'],
    ] as const) {
      await page.locator('#site-query').fill(text);
      const found = async () =>
        page.locator('#site-found a').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
      await expect.poll(found).toContain(address);
      expect((await found())[0]).not.toContain('/docs/decisions');
    }
    await context.close();
  });

  it('send an operation with a test key, and keep the key in no storage', async () => {
    const user = await given.directUser();
    const { context, page, foreign } = await visit('/docs/reference/rest/deposits/createDeposit');
    const form = page.locator('form.try');
    const outcome = form.locator('output');
    const key = form.getByLabel('Test key');
    await key.fill('sk_live_1');
    await form.getByRole('button', { name: 'Send' }).click();
    await outcome.getByText('This page takes no live key').waitFor();
    await key.fill(user.key);
    await form.getByRole('button', { name: 'Send' }).click();
    await outcome.getByText('200 in').waitFor();
    const sent = JSON.parse(await form.locator('.code pre').innerText());
    expect((await user.get(`/v1/deposits/${sent.id}`)).status).toBe(200);

    await form.getByLabel('Body').fill('{"amount": "1.00"}');
    await form.getByRole('button', { name: 'Send' }).click();
    await outcome.getByText('400 in').waitFor();
    await form.getByText('What to do').click();
    await page.waitForURL(`${world.origin}/docs/errors#parameter_missing`);
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    );
    expect(kept).not.toContain(user.key);
    expect(foreign).toEqual([]);
    await context.close();
  });

  it('send parameters of a path and a query', async () => {
    const user = await given.directUser();
    const { context, page } = await visit('/docs/reference/rest/accounts/account');
    const form = page.locator('form.try');
    await form.getByLabel('Test key').fill(user.key);
    await form.getByLabel('id', { exact: true }).fill(user.id);
    await form.getByRole('button', { name: 'Send' }).click();
    await form.locator('output').getByText('200 in').waitFor();
    expect(JSON.parse(await form.locator('.code pre').innerText()).id).toBe(user.id);
    await context.close();
  });

  it('keep the colours that a reader chose', async () => {
    const { context, page } = await visit('/docs');
    await page.getByRole('button', { name: 'Use dark colours' }).click();
    await page.goto(`${world.origin}/docs/errors`);
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
    await context.close();
  });

  it('can be read without scripts, on a phone as well', async () => {
    const { context, page } = await visit('/docs/rest', {
      javaScriptEnabled: false,
      viewport: { width: 390, height: 844 },
    });
    expect(await page.getByRole('link', { name: 'Webhooks' }).first().isVisible()).toBe(true);
    expect(await page.locator('form.try, .find').isVisible()).toBe(false);
    await context.close();
  });
});
