import { createHash } from 'node:crypto';
import fs from 'node:fs';

/** What a gateway says about its explorer. */
export interface ExplorerSettings {
  endpoint: string;
  examples: Example[];
  /** A sentence above the editors. */
  notice?: string | undefined;
  /** Whether the session of the dashboard can be used. */
  dashboard: boolean;
}

/** A tab of the explorer. The tab has the operation's name, so the title is a comment above the query. */
export interface Example {
  title: string;
  query: string;
  variables?: object;
  /** The group of the menu that has it. Without one it is a tab at the start. */
  task?: string;
}

/** Where the files of the explorer's page are served. */
export const explorerPlace = '/graphiql';

/** A script or style of the explorer. Its name has a hash of its content, so that browsers keep it. */
interface ExplorerFile {
  name: string;
  content: Buffer;
  /** The hash of the content as the page and its policy name it. */
  integrity: string;
}

/** What the page loads, and what its editors load: a worker for each language. */
export interface ExplorerFiles {
  style: ExplorerFile;
  scripts: ExplorerFile[];
  workers: Record<'editorWorkerService' | 'json' | 'graphql', ExplorerFile>;
}

/**
 * Makes the files of the explorer: 9 MB, 2 MB compressed. Scripts in the page itself would be compiled at each load;
 * the compiled form of a file is kept by the browser.
 */
export async function explorerFiles(): Promise<ExplorerFiles> {
  const graphiql = await import('@graphql-yoga/render-graphiql/graphiql');
  return {
    style: file('explorer', 'css', `${graphiql.css}\n${asset('explorer/page.css')}${asset('explorer/narrow.css')}`),
    scripts: [
      file('explorer', 'js', asset('explorer.js')),
      file('graphiql', 'js', `${graphiql.js};\ntidegate.start(YogaGraphiQL);\n`),
    ],
    workers: {
      editorWorkerService: file('editor-worker', 'js', graphiql.editorWorkerService),
      json: file('json-worker', 'js', graphiql.jsonWorker),
      graphql: file('graphql-worker', 'js', graphiql.graphqlWorker),
    },
  };
}

function file(name: string, extension: string, text: string): ExplorerFile {
  const content = Buffer.from(text);
  const hash = createHash('sha256').update(content).digest();
  const short = hash.toString('base64url').slice(0, 12);
  return { name: `${name}-${short}.${extension}`, content, integrity: `sha256-${hash.toString('base64')}` };
}

const addressOf = ({ name }: ExplorerFile) => `${explorerPlace}/assets/${name}`;

/** The page of the explorer, and the content security policy to send with it. */
export interface ExplorerPage {
  html: Buffer;
  policy: string;
}

/**
 * The page of the explorer: GraphiQL, with the examples as tabs. It loads nothing from other hosts.
 * `/graphiql#key=sk_test_…` takes the key from the address, and `#query=…&variables=…` opens a query, with the session
 * of the dashboard where the tab has no key. A browser never sends a fragment to a server, so no log has it.
 *
 * It is built from the parts of render-graphiql, and not with its `renderGraphiQL`: that function writes each query
 * into the address, stores headers in localStorage, and its options cannot contain a function.
 * Silent: the specification requires an explorer and leaves its shape open.
 */
export function explorerPage(
  { style, scripts, workers }: ExplorerFiles,
  { endpoint, examples, notice, dashboard }: ExplorerSettings,
): ExplorerPage {
  const tasks = examples.filter(({ task }) => task !== undefined);
  const tabs = examples.filter(({ task }) => task === undefined).map(tabOf);
  const addresses = Object.fromEntries(Object.entries(workers).map(([label, worker]) => [label, addressOf(worker)]));
  const setup = literal({ endpoint, tabs, tasks: tasks.map(tabOf), dashboard, workers: addresses });
  const loaded = scripts.map(
    (script) => `<script defer src="${addressOf(script)}" integrity="${script.integrity}"></script>`,
  );

  const html = Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tidegate explorer</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${addressOf(style)}" integrity="${style.integrity}">
${loaded.join('\n')}
</head>
<body>
<form id="key-bar" autocomplete="off" aria-label="Key and examples"><h1>Tidegate explorer</h1>
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
${notice === undefined ? '' : `<aside id="notice" aria-label="Notice">${notice}</aside>`}
<noscript>The explorer needs JavaScript.</noscript>
<main id="root"></main>
<footer id="cost-bar"><output id="cost"
title="What the last answer cost, and what is left of the account's allowance"></output></footer>
<script type="application/json" id="setup">${setup}</script>
</body>
</html>
`);
  return { html, policy: policy(scripts) };
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

/** The content security policy: only these scripts run, so no other script of the gateway and none that is injected. */
function policy(scripts: ExplorerFile[]): string {
  const hashes = scripts.map(({ integrity }) => `'${integrity}'`);
  return [
    `default-src 'none'`,
    `script-src ${hashes.join(' ')}`,
    `worker-src 'self'`,
    // The editors add styles at run time.
    `style-src 'self' 'unsafe-inline'`,
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
