import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';

/** A tab of the explorer. The tab has the operation's name, so the title is a comment above the query. */
export interface Example {
  title: string;
  query: string;
  variables?: object;
  /** The group of the menu that has it. Without one it is a tab at the start. */
  task?: string;
}

/**
 * The route handler of the explorer: GraphiQL in one HTML page that loads nothing from other hosts, with the examples
 * as tabs. The page is built at the first request (9 MB, 2 MB compressed) and then kept, because most processes never
 * show it. `/graphiql#key=sk_test_…` takes the key from the address, and `#query=…&variables=…` opens a query, with the
 * session of the dashboard where the tab has no key. A browser never sends a fragment to a server, so no log has it.
 * Silent: the specification requires an explorer and leaves its shape open.
 */
export function explorer(o: {
  endpoint: string;
  examples: Example[];
  /** A sentence above the editors. */
  notice?: string | undefined;
  /** Whether the session of the dashboard can be used. */
  dashboard: boolean;
}): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  let page: Promise<Page> | undefined;
  return (request, reply) => {
    page ??= render(o);
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
  // A proxy that compresses the page again marks the tag as weak; `fresh` still accepts it.
  if (fresh(request.headers, { etag })) {
    reply.code(304).send();
    return;
  }
  const body = await compressed(page, encoding);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  reply.type('text/html; charset=utf-8').send(body);
}

/** Compresses the page in the thread pool, and only once for all concurrent requests. */
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
 * Builds the page from the parts of render-graphiql, and not with its `renderGraphiQL`: that function writes each query
 * into the address, stores headers in localStorage, and its options cannot contain a function.
 */
async function render({ endpoint, examples, notice, dashboard }: Parameters<typeof explorer>[0]): Promise<Page> {
  const graphiql = await import('@graphql-yoga/render-graphiql/graphiql');
  const tasks = examples.filter(({ task }) => task !== undefined);
  const tabs = examples.filter(({ task }) => task === undefined).map(tabOf);
  const setup = literal({ endpoint, tabs, tasks: tasks.map(tabOf), dashboard });
  const first = `const tidegateSetup = ${setup};\n${asset('explorer.js')}`;
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
<style>${asset('explorer.css')}</style>
</head>
<body>
<form id="key-bar" autocomplete="off"><h1>Tidegate explorer</h1>
<div class="key">
<label for="key">API key</label>
<input id="key" name="key" type="text" placeholder="sk_test_…" autocomplete="off" autocapitalize="off"
spellcheck="false">
<button type="submit">Use key</button>
</div>
<div class="status">
<output id="key-status" for="key"></output>
<button type="button" id="key-forget" hidden>Forget</button>
<button type="button" id="session-use" hidden>Use the dashboard's session</button>
</div>
<div class="tools">
<select id="tasks" aria-label="Examples by task"><option value="">Examples by task …</option>${menu(tasks)}</select>
<button type="button" id="behalf-load" hidden>Act for a user</button>
<select id="behalf" aria-label="On-Behalf-Of" hidden></select>
</div>
<a href="/docs">Docs</a> <span id="key-hint" hidden>No key yet? A local gateway shows test keys on its
<a href="/">start page</a>${dashboard ? '; the <a href="/dashboard">dashboard</a> makes others' : ''}.</span>
</form>
${notice === undefined ? '' : `<p id="notice" role="note">${notice}</p>`}
<noscript>The explorer needs JavaScript.</noscript>
<main id="root"></main>
<p id="cost-bar"><output id="cost"
title="What the last answer cost, and what is left of the account's allowance"></output></p>
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

const tabOf = ({ title, query, variables }: Example) => ({
  query: `# ${title}\n${query.trim()}\n`,
  variables: variables && JSON.stringify(variables, null, 2),
});

/** The options of the menu of examples, in groups by task. */
function menu(tasks: Example[]): string {
  return [...new Set(tasks.map(({ task }) => task))]
    .map((group) => {
      const options = tasks.map(({ task, title }, i) =>
        task === group ? `<option value="${i}">${title}</option>` : '',
      );
      return `<optgroup label="${group}">${options.join('')}</optgroup>`;
    })
    .join('');
}

/** The content security policy: only these scripts run, so a script that is injected into the page does not. */
function policy(scripts: string[]): string {
  const hashes = scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  return [
    `default-src 'none'`,
    `script-src ${hashes.join(' ')}`,
    // The editors start their workers from blobs, and add styles at run time.
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
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" ' +
    'fill="#0b6e80"/><path d="M5 14q5.5-6 11 0t11 0M5 21q5.5-6 11 0t11 0" fill="none" stroke="#fff" ' +
    'stroke-width="3" stroke-linecap="round"/></svg>',
)}`;

const asset = (name: string) => fs.readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8');
