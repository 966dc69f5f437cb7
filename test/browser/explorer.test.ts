import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Demo, demos } from '../../src/server/demo/demo.js';
import { buildSchema, NoDeprecatedCustomRule, parse, specifiedRules, validate } from 'graphql';
import { examples } from '../../src/api/graphql/explorer-examples.js';
import type { Cost } from '../../src/limits/charge.js';
import { axeFaults } from '../support/axe.js';
import { browser } from '../support/browser.js';
import { scale } from '../support/scale.js';
import { eventually, givenIn, useWorld } from '../support/world.js';

const world = useWorld({ demo: true });
const given = givenIn(world);
let chromium: Browser;
let shared: Page | undefined;
let tenants: Demo[];

beforeAll(async () => {
  tenants = await demos(world.operator, world.pepper);
  // No name leads to another host, and the browser keeps files; it keeps none where a test handles its requests.
  chromium = await browser(['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1']);
});
afterAll(() => chromium?.close());

/** Screenshots for people in the long form, since a test cannot judge the look of a page. */
const pictures = path.join(os.tmpdir(), 'tidegate-explorer');

interface Visit {
  page: Page;
  /** Every request to another host than the gateway; each has failed. */
  foreign: string[];
  /** The requests to the gateway, with their keys. */
  asked: { operationName?: string; query: string; key: string | undefined }[];
  /** Errors of the page, and violations of its content security policy. */
  complaints: string[];
  /** A screenshot at the size of a usual screen. */
  picture(name: string): Promise<void>;
}

/** What the page of the present visit asks for and complains about. */
let here: Omit<Visit, 'page' | 'picture'> = { foreign: [], asked: [], complaints: [] };

/** The tab of all visits, without access to other hosts. */
async function opened(): Promise<Page> {
  const context = await chromium.newContext({ reducedMotion: 'reduce' });
  // Shorter than the test's time-out, so that the error message names the awaited element.
  context.setDefaultTimeout(300_000);
  const { host } = new URL(world.origin);
  context.on('request', (request) => {
    // Icons and fonts of the page are data in an address.
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).host !== host) here.foreign.push(request.url());
  });
  const page = await context.newPage();
  page.on('websocket', (socket) => here.foreign.push(socket.url()));
  page.on('request', (request) => {
    if (request.method() !== 'POST') return;
    here.asked.push({ ...request.postDataJSON(), key: request.headers().authorization?.replace(/^Bearer ?/, '') });
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') here.complaints.push(message.text());
  });
  page.on('pageerror', (error) => here.complaints.push(error.message));
  return page;
}

/**
 * Opens the explorer as in a new tab, tall enough that the editor draws every line. It is the same tab each time,
 * without what was stored in it: a new one would compile the 5 MB of the editor again, for a second of processor time.
 */
async function visit(address: string, { width = 1440, dark = false } = {}): Promise<Visit> {
  const tall = { width, height: 4000 };
  const page = (shared ??= await opened());
  // The editors store nothing any more once their page is gone.
  await page.goto(`${world.origin}/healthz`);
  await page.evaluate(() => {
    sessionStorage.clear();
    localStorage.clear();
  });
  await page.context().clearCookies();
  await page.setViewportSize(tall);
  await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
  here = { foreign: [], asked: [], complaints: [] };
  await page.goto(`${world.origin}${address}`);
  await edit(page);
  const picture = async (name: string) => {
    if (!scale.whole) return;
    fs.mkdirSync(pictures, { recursive: true });
    await page.setViewportSize({ width, height: 900 });
    await page.screenshot({ path: path.join(pictures, `${name}.png`) });
    await page.setViewportSize(tall);
  };
  return { page, ...here, picture };
}

/** Focuses the query, which brings the editor, and waits until that has its text. */
async function edit(page: Page): Promise<void> {
  await page.locator('#query').focus();
  await page.locator('#plain').waitFor({ state: 'hidden' });
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
}

const tab = (page: Page, name: string) => page.locator('.graphiql-tab-button', { hasText: name });
const execute = (page: Page) => page.getByRole('button', { name: 'Execute query' }).click();
const status = (page: Page) => page.locator('#key-status').innerText();
/** What the page says of an answer's cost. */
const costText = ({ actual, requested, remaining }: Cost) => {
  const [cost, most, left] = [actual, requested, remaining].map((points) => points.toLocaleString('en'));
  return `Cost ${cost} points${cost === most ? '' : `, estimated ${most}`} · ${left} left`;
};
const operationOf = (query: string) => /(?:query|mutation) (\w+)/.exec(query)![1]!;

/** Shows the tab of an operation, and waits until GraphiQL has taken in its text. */
async function show(page: Page, name: string): Promise<void> {
  await tab(page, name).click();
  await page.waitForFunction(
    (operation) => new RegExp(`(query|mutation) ${operation}\\b`).test(sessionStorage.getItem('graphiql:query') ?? ''),
    name,
  );
}

/** Clicks the button; returns the gateway's response once it is on the screen. */
async function answerOf(page: Page, press = () => execute(page)): Promise<any> {
  const [response] = await Promise.all([
    // The explorer also reads the schema whenever the key changes.
    page.waitForResponse((candidate) => {
      const request = candidate.request();
      return request.method() === 'POST' && !/IntrospectionQuery|WhoseKey|UsersToActFor/.test(request.postData() ?? '');
    }),
    press(),
  ]);
  const answer = await response.json();
  // Every response has its own id, so this is not an earlier one.
  const { requestId } = answer.extensions;
  await page.locator('section.result-window .view-lines', { hasText: requestId }).waitFor();
  return answer;
}

/** The addresses of the page's scripts and styles, each with the hash that the page demands. */
const filesOf = (html: string) =>
  [...html.matchAll(/(?:src|href)="([^"]+)" integrity="sha256-([^"]+)"/g)].map(([, address, hash]) => ({
    address: address!,
    hash: hash!,
  }));

describe('the files of the page', () => {
  const at = (address: string, init: RequestInit = {}) => fetch(`${world.origin}${address}`, init);
  let html: string;
  let policy: string | null;
  beforeAll(async () => {
    const page = await at('/graphiql');
    [html, policy] = [await page.text(), page.headers.get('content-security-policy')];
  });

  it('are named by the hash of their content, and the page allows no other script', async () => {
    const [style, script, ...others] = filesOf(html);
    expect(others).toEqual([]);
    interface Later {
      address: string;
      integrity: string;
    }
    const setup = JSON.parse(/id="setup">(.*?)<\/script>/s.exec(html)![1]!) as {
      workers: Record<string, string>;
      editor: { script: Later; style: Later };
    };
    const [editor, editorStyle] = [setup.editor.script, setup.editor.style].map(({ address, integrity }) => ({
      address,
      hash: integrity.replace('sha256-', ''),
    }));
    const scripts = [script!, editor!];
    expect(policy).toBe(
      `default-src 'none'; script-src ${scripts.map(({ hash }) => `'sha256-${hash}'`).join(' ')}; ` +
        `worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; font-src data:; connect-src 'self'; ` +
        `frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
    );
    expect(html.match(/<(script|style|link)[^>]*>/g)).toEqual([
      expect.stringContaining('<link rel="icon" href="data:'),
      expect.stringContaining(style!.address),
      expect.stringContaining(script!.address),
      '<script type="application/json" id="setup">',
    ]);
    const workers = Object.values(setup.workers);
    expect(workers).toHaveLength(3);
    const named = [style!, editorStyle!, ...scripts];
    for (const address of [...named.map((each) => each.address), ...workers]) {
      const file = await at(address);
      expect(file.status).toBe(200);
      const hash = createHash('sha256')
        .update(Buffer.from(await file.arrayBuffer()))
        .digest();
      const [, short, ending] = /^\/graphiql\/assets\/[a-z-]+-([\w-]{12})\.(css|js)$/.exec(address)!;
      expect(hash.toString('base64url').slice(0, 12)).toBe(short);
      expect(named.find((each) => each.address === address)?.hash ?? hash.toString('base64')).toBe(
        hash.toString('base64'),
      );
      expect(Object.fromEntries(file.headers)).toMatchObject({
        'content-type': `text/${ending === 'js' ? 'javascript' : 'css'}; charset=utf-8`,
        'cache-control': 'public, max-age=31536000, immutable',
        // What a worker may do is in its own policy.
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        vary: 'accept-encoding',
      });
    }
  });

  it('are answered to HEAD, and not sent again to a browser that has them, nor is the page', async () => {
    for (const address of ['/graphiql', ...filesOf(html).map((file) => file.address)]) {
      const [whole, head] = [await at(address), await at(address, { method: 'HEAD' })];
      const tag = whole.headers.get('etag')!;
      const kept = address === '/graphiql' ? 'no-cache' : 'public, max-age=31536000, immutable';
      expect((await whole.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
      expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, tag, '']);
      for (const encoding of ['br', 'gzip', 'identity']) {
        // With a cache-control of its own, `fetch` does not ask for a new copy.
        const headers = { 'if-none-match': tag, 'accept-encoding': encoding, 'cache-control': 'max-age=0' };
        const again = await at(address, { headers });
        expect([again.status, again.headers.get('cache-control'), await again.text()]).toEqual([304, kept, '']);
      }
      expect(
        (await at(address, { method: 'HEAD', headers: { 'if-none-match': '"other"', 'cache-control': 'max-age=0' } }))
          .status,
      ).toBe(200);
    }
  });

  it('are the only ones, and are only read', async () => {
    const [style] = filesOf(html);
    const missing = [
      ...['/graphiql/assets', '/graphiql/assets/', '/graphiql/assets/explorer.js', '/graphiql/assets/constructor'],
      ...[style!.address.replace(/-[\w-]{12}\./, '-AAAAAAAAAAAA.'), `${style!.address}/`, `${style!.address}.br`],
      ...['/graphiql/assets/..%2fexplorer.css', '/graphiql/assets/%2e%2e%2f%2e%2e%2fpackage.json'],
    ];
    for (const address of missing) {
      const answer = await at(address);
      expect([address, answer.status, answer.headers.get('cache-control')]).toEqual([address, 404, 'no-store']);
      expect((await answer.json()).errors[0].code).toBe('route_missing');
    }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      for (const address of ['/graphiql', style!.address])
        expect([method, address, (await at(address, { method })).status]).toEqual([method, address, 404]);
  });
});

const graph = buildSchema(fs.readFileSync('schema/graph.graphql', 'utf8'));
it.each(examples)('the example is valid, and uses nothing that is deprecated: $title', ({ query }) => {
  const found = validate(graph, parse(query), [...specifiedRules, NoDeprecatedCustomRule]);
  expect(found.map(({ message }) => message)).toEqual([]);
});

describe.each([1, 2] as const)('the examples on the demo of Edition %i', (edition) => {
  let visited: Visit;
  let demo: Demo;
  beforeAll(async () => {
    demo = tenants.find((tenant) => tenant.edition === edition)!;
    visited = await visit(`/graphiql#key=${demo.testKey}`);
  });

  const people = {
    1: { drafts: ['Deccan Robotics'], users: ['Indigo Looms', 'Malabar Spice'], root: 'Harborline' },
    2: { drafts: ['Cedar Books'], users: ['Fjord Software', 'Lighthouse Courses'], root: 'Saffron Collect' },
  }[edition];
  const names = (nodes: { nickname: string }[]) => nodes.map((node) => node.nickname).sort();

  it('are one tab each, in their order', async () => {
    const titles = await visited.page.locator('.graphiql-tab-button').allInnerTexts();

    const tabs = examples.filter(({ task }) => task === undefined);
    expect(titles).toEqual(tabs.map(({ query }) => operationOf(query)));
    expect(titles).toEqual(['Overview', 'Graph', 'Requirements', 'CreatePartner']);
  });

  it('take the key from the address and remove it there', async () => {
    const { page, asked } = visited;

    expect(page.url()).toBe(`${world.origin}/graphiql`);
    expect(await status(page)).toBe(`Using sk_test_…${demo.testKey.slice(-4)} in this tab.`);
    await page.locator('#key-owner', { hasText: `${people.root} · Edition ${edition} · test mode` }).waitFor();
    // The page asks whose key it is, and its editor for the schema.
    await expect
      .poll(() => asked.map(({ query, key }) => [/\w+ (\w+)/.exec(query)![1], key]))
      .toEqual([
        ['WhoseKey', demo.testKey],
        ['IntrospectionQuery', demo.testKey],
      ]);
    expect(await page.evaluate(() => [history.state, JSON.stringify(localStorage)])).toEqual([null, '{}']);
  });

  it('run, and show the caller and the objects on its list', async () => {
    await show(visited.page, 'Overview');
    const { data, errors, extensions } = await answerOf(visited.page);

    expect(await visited.page.locator('#cost').innerText()).toBe(costText(extensions.cost));
    expect(errors).toBeUndefined();
    expect(data.viewer).toMatchObject({ edition, mode: 'TEST', permission: 'FULL', account: { id: demo.accountId } });
    expect(names(data.accounts.nodes)).toEqual([...people.drafts, ...people.users, people.root].sort());
    expect(data.accounts.totalCount).toBe(4);
  });

  it('run, and show a graph with at least one object at every edge', async () => {
    await show(visited.page, 'Graph');
    // The sandbox bank takes a second or two; a user may have to run the query again, and so does the test.
    const answer = await eventually(
      () => answerOf(visited.page),
      ({ data }) => data.accounts.nodes.every((node: any) => node.address === 'ACTIVATED' || node.status === 'DRAFT'),
    );

    expect(answer.errors).toBeUndefined();
    const { nodes } = answer.data.accounts;
    expect(names(nodes)).toEqual([...people.drafts, ...people.users].sort());
    for (const node of nodes.filter((each: any) => people.users.includes(each.nickname))) {
      expect(node.status).toBe('ACTIVATED');
      expect(node.partners.nodes.length).toBeGreaterThan(0);
      expect(node.addresses.nodes.map((address: any) => address.category).sort()).toEqual([
        'SERVICE_RECEIVE',
        'USER_PAYOUT',
      ]);
    }
  });

  it('run, and show the missing requirements of a draft', async () => {
    await show(visited.page, 'Requirements');
    const { data, errors } = await answerOf(visited.page);

    expect(errors).toBeUndefined();
    expect(names(data.accounts.nodes)).toEqual(people.drafts);
    expect(data.accounts.nodes[0].requirements.map((r: any) => r.fieldName)).toContain('account.addresses.user_payout');
  });

  it('run, create a partner once, and report the second time that its nickname is taken', async () => {
    await show(visited.page, 'CreatePartner');
    const first = await answerOf(visited.page);
    const second = await answerOf(visited.page);

    expect(first.errors).toBeUndefined();
    expect(first.data.createAccount.account).toMatchObject({
      status: 'DRAFT',
      nickname: 'Explorer Imports',
      metadata: { source: 'explorer' },
    });
    expect(second.data).toEqual({ createAccount: null });
    expect(second.errors.map((e: any) => e.extensions.error)).toEqual([
      { code: 'nickname_taken', message: expect.any(String), metadata: { field_name: 'account.nickname' } },
    ]);
  });

  it('appear next to the schema and its descriptions', async () => {
    const { page, picture } = visited;
    await show(page, 'Graph');
    await answerOf(page);
    await picture(`edition-${edition}`);

    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const pane = page.locator('.graphiql-doc-explorer');
    await pane.getByRole('link', { name: 'Query', exact: true }).click();
    await pane.getByText('connectedAccountSettings').waitFor();
    await picture(`documentation-${edition}`);

    expect(await pane.innerText()).toContain('For a platform, itself and its connected users');
    // On a tablet the panel of the page stands below both, which keep the width of their texts.
    await page.locator('#show-code').click();
    await page.setViewportSize({ width: 820, height: 900 });
    const place = async (part: string) => (await page.locator(part).boundingBox())!;
    const [query, panel] = [await place('.graphiql-query-editor'), await place('#panel')];
    expect([query.width > 200, panel.width, panel.y > query.y + query.height]).toEqual([true, 820, true]);
    await page.setViewportSize({ width: 1440, height: 4000 });
    await page.locator('#panel-close').click();
    await page.getByRole('button', { name: 'Hide Documentation Explorer' }).click();
  });

  it('have sent no request to another host, and the page has no errors', () => {
    expect(visited.foreign).toEqual([]);
    expect(visited.complaints).toEqual([]);
    expect(new Set(visited.asked.map(({ key }) => key))).toEqual(new Set([demo.testKey]));
  });

  // GraphiQL updates the name of the operation a moment after its text; an immediate click must not run another
  // operation's name.
  it('run under their own name, even if the button is clicked immediately', async () => {
    await show(visited.page, 'Overview');
    // Clicks inside the page, because on a busy machine the moment could pass between two clicks from the test.
    const { data, errors } = await answerOf(visited.page, () =>
      tab(visited.page, 'Requirements').evaluate((button: HTMLElement) => {
        button.click();
        setTimeout(() => document.querySelector<HTMLElement>('.graphiql-execute-button')?.click(), 20);
      }),
    );

    expect(errors).toBeUndefined();
    expect(names(data.accounts.nodes)).toEqual(people.drafts);
  });
});

describe('the input for the key', () => {
  const type = async (page: Page, key: string) => {
    await page.getByLabel('API key').fill(key);
    await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Use key' }).click()]);
    await edit(page);
  };

  it('is empty at first: the explorer asks for a key and sends no request, and the test detects requests', async () => {
    const { page, foreign, asked, complaints, picture } = await visit('/graphiql');

    expect(page.url()).toBe(`${world.origin}/graphiql`);
    expect(await status(page)).toBe('');
    await picture('no-key');
    await execute(page);
    // Nothing is sent, nothing is said to be wrong, and the key can be typed at once.
    await page.locator('section.result-window .view-lines', { hasText: 'Paste a key above' }).waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('key');
    await page.getByRole('heading', { name: 'Paste a key to begin' }).waitFor();
    expect([asked, complaints]).toEqual([[], []]);
    expect(foreign).toEqual([]);

    // Neither a script of the gateway that is not the explorer's, nor one that is put into the page.
    const refused = await page.evaluate(
      () =>
        new Promise<string[]>((resolve) => {
          const found: string[] = [];
          document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
            if (found.push(`${effectiveDirective} ${blockedURI}`) === 2) resolve(found.sort());
          });
          const [other, injected] = [document.createElement('script'), document.createElement('script')];
          other.src = '/checkout/assets/page.js';
          injected.text = 'document.title = "taken"';
          document.head.append(other, injected);
        }),
    );
    expect(refused).toEqual([`script-src-elem ${world.origin}/checkout/assets/page.js`, 'script-src-elem inline']);
    expect(await page.title()).toBe('Tidegate explorer');

    // Without this proof, a test that detects no requests would pass too.
    const other = await page.context().newPage();
    await other.goto('http://fonts.example/').catch(() => undefined);
    expect(foreign).toEqual(['http://fonts.example/']);
    await other.close();
  });

  // Another tab of the browser is another session: the key is neither shared nor stored.
  it('accepts a key that is typed, uses it, hides it from other tabs of the browser, and forgets it', async () => {
    const user = await given.directUser(2);
    const { page, foreign, complaints, picture } = await visit('/graphiql');

    await type(page, `  ${user.key} `);
    const { data } = await answerOf(page);

    expect(data.viewer).toMatchObject({ edition: 2, account: { id: user.id } });
    expect(await status(page)).toBe(`Using sk_test_…${user.key.slice(-4)} in this tab.`);
    expect(await page.getByLabel('API key').inputValue()).toBe('');
    await picture('typed-key');
    // The history has what was run, without the key, as long as the tab is open.
    await tab(page, 'Graph').click();
    await page.getByRole('button', { name: 'Show History' }).click();
    await page.getByRole('button', { name: 'Overview', exact: true }).click();
    await page.locator('.graphiql-query-editor .view-lines', { hasText: 'query Overview' }).waitFor();
    expect(await page.evaluate(() => sessionStorage.getItem('graphiql:queries'))).toContain('query Overview');
    expect(await page.evaluate(() => sessionStorage.getItem('graphiql:queries'))).not.toContain(user.key);
    expect([page.url(), foreign, complaints]).toEqual([`${world.origin}/graphiql`, [], []]);

    const other = await page.context().newPage();
    await other.goto(`${world.origin}/graphiql`);
    await edit(other);
    expect(await status(other)).toBe('');
    await other.getByRole('heading', { name: 'Paste a key to begin' }).waitFor();
    // It takes the files from the browser, which has them.
    const taken = await other.evaluate(() =>
      (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
        .filter(({ name }) => name.includes('/graphiql/assets/'))
        .map(({ transferSize, decodedBodySize }) => [transferSize, decodedBodySize > 1_000]),
    );
    expect(taken.length).toBeGreaterThanOrEqual(3);
    expect(taken).toEqual(taken.map(() => [0, true]));
    await other.close();

    await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Change key' }).click()]);
    await page.getByRole('heading', { name: 'Paste a key to begin' }).waitFor();
    expect(await status(page)).toBe('');
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie]),
    );
    expect(kept).not.toContain(user.key.slice(-32));
  });

  it('reports a wrong key, as text if it is markup, and accepts a valid one afterwards', async () => {
    const user = await given.directUser(1);
    const wrong = 'sk_test_<img src=x onerror="document.title=1">_</script><script>document.title=2</script>';
    const { page, foreign, complaints, picture } = await visit(`/graphiql#key=${encodeURIComponent(wrong)}`);

    await page.locator('#key-status', { hasText: 'was refused' }).waitFor();
    expect(await status(page)).toBe('The key sk_test_…ipt> was refused. Paste another one.');
    await picture('wrong-key');
    expect(page.url()).toBe(`${world.origin}/graphiql`);
    expect(await page.title()).toBe('Tidegate explorer');
    expect(await page.locator('#bar img').count()).toBe(0);
    // The browser logs every 401 itself; the page logs nothing.
    await expect.poll(() => complaints.map((text) => text.includes('401 (Unauthorized)'))).toEqual([true]);

    await type(page, user.key);
    expect((await answerOf(page)).data.viewer.account.id).toBe(user.id);
    expect(complaints).toHaveLength(1);
    expect(foreign).toEqual([]);
  });
});

const screens: [name: string, size: { dark?: boolean; width?: number }][] = [
  ['dark', { dark: true }],
  ['phone', { width: 390 }],
];

describe('the bar and the address', () => {
  it.each(screens)(
    'keep the key out of the headers pane, open examples by task and links, and act for a user: %s',
    async (...screen) => {
      const demo = tenants[1]!;
      const query = 'query Linked($first: Int!) { accounts(first: $first) { nodes { id } } }';
      const link = `query=${encodeURIComponent(query)}&variables=${encodeURIComponent('{"first":1}')}`;
      const { page, asked, complaints, picture } = await visit(`/graphql#key=${demo.testKey}&${link}`, screen[1]);

      // The query is shown with its variables, and is not run.
      expect(page.url()).toBe(`${world.origin}/graphql`);
      await page.waitForFunction(() => sessionStorage.getItem('graphiql:query')?.startsWith('query Linked'));
      await tab(page, 'Linked').waitFor();
      await page.waitForFunction(() => sessionStorage.getItem('graphiql:variables')?.includes('"first": 1'));
      expect(asked.filter(({ query: sent }) => !/IntrospectionQuery|WhoseKey/.test(sent))).toEqual([]);
      await fits(page, screen, picture);
      const linked = await answerOf(page);
      expect(linked.data.accounts.nodes).toHaveLength(1);
      const kept = await page.evaluate(() => JSON.stringify({ ...sessionStorage, 'tidegate:key': '' }));
      expect(kept).not.toContain(demo.testKey.split('_')[2]);
      expect(kept).toContain(`Bearer sk_test_…${demo.testKey.slice(-4)}`);

      await Promise.all([
        page.waitForEvent('load'),
        page.getByLabel('Examples by task').selectOption({ label: 'Which checkouts wait for a payment?' }),
      ]);
      // The editor that was opened in this tab comes by itself.
      await page.locator('#plain').waitFor({ state: 'hidden' });
      expect((await answerOf(page)).data.checkouts.nodes).toEqual(expect.any(Array));

      await page.getByRole('button', { name: 'Act for a user' }).click();
      await page.getByLabel('On-Behalf-Of').selectOption({ label: 'Fjord Software' });
      await show(page, 'Overview');
      expect((await answerOf(page)).data.viewer.account.businessDetails.legalName).toBe('Fjord Software AS');

      // An example with ids to replace shows its variables, and the next page still knows for whom it acts.
      await Promise.all([
        page.waitForEvent('load'),
        page
          .getByLabel('Examples by task')
          .selectOption({ label: examples.find(({ title }) => /both ids/.test(title))!.title }),
      ]);
      await page.locator('.graphiql-editor-tool .view-lines', { hasText: 'receivable_…' }).waitFor();
      const picker = page.getByLabel('On-Behalf-Of');
      await expect.poll(() => picker.locator('option').allTextContents()).toContain('Lighthouse Courses');
      expect(await picker.locator('option:checked').textContent()).toBe('Fjord Software');
      expect(complaints).toEqual([]);
    },
  );

  it('use the session of the dashboard for a link with a query, and say so when there is none', async () => {
    const demo = tenants[0]!;
    const { page } = await visit(`/graphql#query=${encodeURIComponent('query Who { viewer { edition } }')}`);
    await page.locator('#key-status', { hasText: 'not signed in' }).waitFor();
    expect(await status(page)).toBe('The dashboard is not signed in. Sign in there, or paste a key.');
    const signedIn = await page.evaluate(async (key) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      return (await fetch('/dashboard/session', { method: 'POST', headers, body: '{}' })).status;
    }, demo.testKey);
    expect(signedIn).toBe(200);
    expect((await answerOf(page)).data.viewer.edition).toBe(1);
    expect(await status(page)).toBe("Using the dashboard's session.");
  });
});

/** Nothing scrolls sideways and axe is content, with an answer and its cost on the screen, a large one afterwards. */
async function fits(page: Page, [name]: (typeof screens)[number], picture: Visit['picture']): Promise<void> {
  await execute(page);
  await page.locator('#cost', { hasText: ' left' }).waitFor();
  await picture(name);
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(content).toBeLessThanOrEqual(window!);
  // Not ours are the colours of Monaco's texts, and GraphiQL's tabs: items of a list to sort, each with buttons.
  const found = await axeFaults(page, {}, ['.view-lines']);
  expect(found.filter((fault) => !fault.startsWith('nested-interactive:'))).toEqual([]);
  if (name === 'phone') await stacked(page);
  await page.setViewportSize({ width: 1440, height: 4000 });
}

/** On a phone the answer is below the query, and both have the width of the screen; there are no small targets. */
async function stacked(page: Page): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 });
  const place = async (selector: string) => (await page.locator(selector).first().boundingBox())!;
  const [query, answer] = [await place('.graphiql-query-editor'), await place('.graphiql-response')];
  expect(answer.y).toBeGreaterThanOrEqual(query.y + query.height);
  expect([query.width > 360, answer.width > 360]).toEqual([true, true]);
  const low = await page
    .locator(':is(#bar, #welcome, #panel) :is(button, input:not([type=radio]), select), #root button')
    .evaluateAll((targets) =>
      targets
        .filter((target) => target.checkVisibility() && target.getBoundingClientRect().height < 43.5)
        .map((target) => target.outerHTML.slice(0, 120)),
    );
  expect(low).toEqual([]);
  // The button that closes a tab is within it, and not cut off.
  const cut = await page.locator('.graphiql-tab').evaluateAll((tabs) => {
    const closed = tabs.map((each) => [each, each.querySelector('.graphiql-tab-close')!] as const);
    return closed.filter(([each, close]) => {
      const [outer, inner] = [each.getBoundingClientRect(), close.getBoundingClientRect()];
      return inner.top < outer.top || inner.bottom > outer.bottom || inner.right > outer.right;
    }).length;
  });
  expect(cut).toBe(0);
}
