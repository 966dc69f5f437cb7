import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';

/** A tab of the explorer. The tab is named after the operation, so the title stands above the query as a comment. */
export interface Example {
  title: string;
  query: string;
  variables?: object;
}

/**
 * The explorer as Fastify serves it: GraphiQL in one HTML page that asks no other host for anything, with the examples as
 * tabs. It is made at the first request (9 MB, 2 MB compressed) and then kept, because most processes never show it.
 * `/graphiql#key=sk_test_…` puts the key into every tab; a fragment never reaches a server, nor its logs.
 * Silent: the specification asks for an explorer and leaves its shape open.
 */
export function explorer(o: {
  endpoint: string;
  examples: Example[];
}): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  let page: Promise<Page> | undefined;
  return (request, reply) => {
    page ??= render(o.endpoint, o.examples);
    page.then((made) => answer(made, request, reply)).catch((error: unknown) => reply.send(error));
    return reply;
  };
}

/** The encodings of the page, the smallest first. */
const encodings = ['br', 'gzip', 'identity'];
type Encoding = 'br' | 'gzip' | 'identity';

interface Page {
  html: Buffer;
  hash: string;
  policy: string;
  compressed: Map<Encoding, Promise<Buffer>>;
}

async function answer(page: Page, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const encoding = (negotiate(request.headers['accept-encoding'] ?? '', encodings) ?? 'identity') as Encoding;
  const etag = `"${page.hash}-${encoding}"`;
  reply
    .header('content-security-policy', page.policy)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('cache-control', 'no-cache')
    .header('vary', 'accept-encoding')
    .header('etag', etag);
  // A proxy that compresses again marks the tag as weak; the page is still the same.
  if (fresh(request.headers, { etag })) {
    reply.code(304).send();
    return;
  }
  const body = await compressed(page, encoding);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  reply.type('text/html; charset=utf-8').send(body);
}

/** Compresses in the thread pool and only once, however many ask at the same time. */
function compressed(page: Page, encoding: Encoding): Promise<Buffer> {
  const known = page.compressed.get(encoding);
  if (known) return known;
  const made =
    encoding === 'br'
      ? promisify(brotliCompress)(page.html, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
      : encoding === 'gzip'
        ? promisify(gzip)(page.html)
        : Promise.resolve(page.html);
  page.compressed.set(encoding, made);
  return made;
}

/**
 * The page from the parts of render-graphiql, and not from its `renderGraphiQL`: that one writes each query into the
 * address, keeps headers in localStorage, and its options cannot hold a function.
 */
async function render(endpoint: string, examples: Example[]): Promise<Page> {
  const graphiql = await import('@graphql-yoga/render-graphiql/graphiql');
  const tabs = examples.map(({ title, query, variables }) => ({
    query: `# ${title}\n${query.trim()}\n`,
    variables: variables && JSON.stringify(variables, null, 2),
  }));
  const first = opening({ endpoint, tabs });
  const second = `self.MonacoEnvironment = tidegate.workers(${literal({
    editorWorkerService: graphiql.editorWorkerService,
    json: graphiql.jsonWorker,
    graphql: graphiql.graphqlWorker,
  })});\n${graphiql.js};\ntidegate.start(YogaGraphiQL);`;

  const html = Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tidegate explorer</title>
<link rel="icon" href="${icon}">
<style>${graphiql.css}</style>
<style>${style}</style>
</head>
<body>
<form id="key-bar" autocomplete="off">
<h1>Tidegate explorer</h1>
<label for="key">API key</label>
<input id="key" name="key" type="text" placeholder="sk_test_…" autocomplete="off" autocapitalize="off" spellcheck="false">
<button type="submit">Use key</button>
<button type="button" id="key-forget" hidden>Forget</button>
<output id="key-status" for="key"></output>
</form>
<noscript>The explorer needs JavaScript.</noscript>
<main id="root"></main>
<script>${first}</script>
<script>${second}</script>
</body>
</html>
`);
  return {
    html,
    hash: createHash('sha256').update(html).digest('base64url').slice(0, 22),
    policy: policy([first, second]),
    compressed: new Map(),
  };
}

/** Only these scripts run, so text that found its way into the page as markup could not. */
function policy(scripts: string[]): string {
  const hashes = scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  return [
    `default-src 'none'`,
    `script-src ${hashes.join(' ')}`,
    // The editors start their workers from blobs, and write their styles while they run.
    `worker-src blob:`,
    `style-src 'unsafe-inline'`,
    `img-src data:`,
    `font-src data:`,
    `connect-src 'self'`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ');
}

/** A value as a JavaScript literal that cannot end the script element around it. */
function literal(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b6e80"/><path d="M5 14q5.5-6 11 0t11 0M5 21q5.5-6 11 0t11 0" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>',
)}`;

// GraphiQL marks the body when its theme is chosen by hand; without a mark the system's preference holds.
const style = `
body { --paper: #fff; --ink: #3b4b68; --line: #c3c9d3; --accent: #0b6e80; --on-accent: #fff; color-scheme: light;
  display: flex; flex-direction: column; height: 100vh; height: 100dvh; margin: 0; background: var(--paper) }
@media (prefers-color-scheme: dark) { body:not(.graphiql-light) { --paper: #212a3b; --ink: #b7c2d7; --line: #4c5870;
  --accent: #5fc8da; --on-accent: #10202a; color-scheme: dark } }
body.graphiql-dark { --paper: #212a3b; --ink: #b7c2d7; --line: #4c5870; --accent: #5fc8da; --on-accent: #10202a; color-scheme: dark }
#key-bar { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; padding: 8px 16px; color: var(--ink);
  border-bottom: 1px solid var(--line); font: 15px/1.4 Roboto, system-ui, sans-serif }
#key-bar h1 { margin: 0 16px 0 0; font-size: 17px; font-weight: 500 }
#key-bar input { flex: 0 1 24em; min-width: 10em; padding: 5px 9px; color: inherit; background: var(--paper);
  border: 1px solid var(--line); border-radius: 4px; font: 14px/1.4 'Fira Code', ui-monospace, monospace }
#key-bar button { padding: 5px 12px; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent);
  border-radius: 4px; font: inherit; font-weight: 500; cursor: pointer }
#key-bar #key-forget { color: var(--ink); background: none; border-color: var(--line) }
#key-bar :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
#key-bar output { flex: 1 1 16em }
@media (max-width: 640px) { #key-bar h1 { width: 100% } }
#root { flex: 1; min-height: 0 }
#root .graphiql-container { width: 100%; height: 100% }
`;

/**
 * The script before GraphiQL's own: takes the key and puts it into the headers of the tabs, and sends the requests.
 * Everything is kept in sessionStorage, so a key is gone with its browser tab.
 */
function opening(setup: { endpoint: string; tabs: { query: string; variables: string | undefined }[] }): string {
  return String.raw`
const tidegate = (() => {
const setup = ${literal(setup)};
const element = (id) => document.getElementById(id);
const headersFor = (key) => '{"Authorization": ' + JSON.stringify('Bearer ' + key) + '}';
const clean = (text) => text.trim().replace(/^bearer(\s+|$)/i, '');

const given = new URLSearchParams(location.hash.slice(1)).get('key');
if (given !== null) history.replaceState(null, '', location.pathname + location.search);
const entered = given ?? sessionStorage.getItem('tidegate:entered');
if (entered !== null) sessionStorage.setItem('tidegate:key', clean(entered));
sessionStorage.removeItem('tidegate:entered');
const key = sessionStorage.getItem('tidegate:key') ?? '';

// GraphiQL finds its open tab again by comparing these entries with the tabs, and adds an empty tab when none is equal.
// At its first start it takes the variables of the first tab from nowhere else.
let open = { ...setup.tabs[0], headers: headersFor(key) };
try {
  const state = JSON.parse(sessionStorage.getItem('graphiql:tabState'));
  if (entered !== null) for (const tab of state.tabs) tab.headers = withKey(tab.headers);
  open = state.tabs[state.activeTabIndex] ?? open;
  sessionStorage.setItem('graphiql:tabState', JSON.stringify(state));
} catch {
  sessionStorage.removeItem('graphiql:tabState');
}
for (const part of ['query', 'variables', 'headers']) sessionStorage.setItem('graphiql:' + part, open[part] ?? '');

function withKey(headers) {
  try {
    const others = Object.entries(JSON.parse(headers)).filter(([name]) => name.toLowerCase() !== 'authorization');
    if (others.length) return JSON.stringify({ Authorization: 'Bearer ' + key, ...Object.fromEntries(others) }, null, 2);
  } catch {}
  return headersFor(key);
}

// GraphiQL reads its headers only when it starts. The key waits for the next start, because GraphiQL may still write tabs.
function enter(text) {
  sessionStorage.setItem('tidegate:entered', text);
  location.reload();
}
element('key-bar').addEventListener('submit', (event) => {
  event.preventDefault();
  const text = clean(element('key').value);
  if (text) enter(text);
  else element('key').focus();
});
element('key-forget').addEventListener('click', () => enter(''));
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#key=')) location.reload();
});

const mask = (key) => key.slice(0, key.lastIndexOf('_') + 1) + '…' + key.slice(-4);
function say(key, status) {
  element('key-forget').hidden = !key;
  element('key-status').textContent = !key
    ? 'Paste a key to load the schema and run the examples. It stays in this browser tab.'
    : status === 401
      ? 'The key ' + mask(key) + ' was refused. Paste another one.'
      : 'Using ' + mask(key) + ' in this browser tab.';
}
say(key);
if (!key) element('key').focus();

const bearer = (headers) =>
  clean(String(Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')?.[1] ?? ''));
let introspectedWith;
async function fetcher({ query, variables, operationName }, { headers = {} } = {}) {
  const used = bearer(headers);
  const introspecting = operationName === 'IntrospectionQuery';
  // Data, though null, keeps GraphiQL from asking a second time, and a wrong key from counting twice.
  if (introspecting && !used) return { data: null, errors: [{ message: 'Enter an API key above to load the schema.' }] };
  if (introspecting) introspectedWith = used;
  const response = await fetch(setup.endpoint, {
    method: 'POST',
    headers: { accept: 'application/graphql-response+json, application/json', 'content-type': 'application/json', ...headers },
    // GraphiQL tells the name a moment after the text, so a button pressed at once would bring another tab's.
    body: JSON.stringify({ query, variables, operationName: query.includes(operationName) ? operationName : undefined }),
  });
  say(used, response.status);
  let answer;
  try {
    answer = await response.json();
  } catch {
    answer = { errors: [{ message: 'The server answered ' + response.status + ' without JSON.' }] };
  }
  if (introspecting) return { data: null, ...answer };
  // A key typed into the header editor loads the schema with the first answer: this is GraphiQL's shortcut for it.
  if (response.ok && used !== introspectedWith) {
    dispatchEvent(new KeyboardEvent('keydown', { key: 'R', ctrlKey: true }));
  }
  return answer;
}

function workers(sources) {
  const addresses = {};
  for (const [label, source] of Object.entries(sources)) {
    addresses[label] = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  }
  return { globalAPI: false, getWorkerUrl: (_module, label) => addresses[label] };
}

function start(graphiql) {
  const headers = headersFor(key);
  graphiql.renderYogaGraphiQL(element('root'), {
    fetcher,
    headers,
    defaultTabs: setup.tabs.length ? setup.tabs.map((tab) => ({ ...tab, headers })) : undefined,
    defaultEditorToolsVisibility: 'headers',
    storage: sessionStorage,
    shouldPersistHeaders: true,
    showPersistHeadersSettings: false,
    logo: '',
    title: '',
    onEditQuery() {},
  });
}

return { workers, start };
})();
`;
}
