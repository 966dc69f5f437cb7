import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { explorerBody } from './explorer-body.js';

/** The folder that `npm run build` fills. The path is the same from `src` and from `dist`. */
const folder = new URL('../../../dist/explorer/', import.meta.url);

/** What a gateway says about its explorer. */
export interface ExplorerSettings {
  endpoint: string;
  examples: Example[];
  /** The types of events that its test helper can cause, and when each happens. */
  events: readonly { type: string; when: string }[];
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

/** What the page loads, and what it loads once its editor is used: GraphiQL, and a worker for each language. */
export interface ExplorerFiles {
  style: ExplorerFile;
  script: ExplorerFile;
  editor: { style: ExplorerFile; script: ExplorerFile };
  workers: Record<'editorWorkerService' | 'json' | 'graphql', ExplorerFile>;
}

/**
 * Makes the files of the explorer: 80 KB for the page, and 9 MB (1.7 MB compressed) for the editor. Scripts in the page
 * itself would be compiled at each load; the compiled form of a file is kept by the browser.
 */
export async function explorerFiles(): Promise<ExplorerFiles> {
  const graphiql = await import('@graphql-yoga/render-graphiql/graphiql');
  return {
    style: file('explorer', 'css', built('explorer.css')),
    script: file('explorer', 'js', built('explorer.js')),
    editor: {
      style: file('graphiql', 'css', graphiql.css),
      script: file('graphiql', 'js', graphiql.js),
    },
    workers: {
      editorWorkerService: file('editor-worker', 'js', graphiql.editorWorkerService),
      json: file('json-worker', 'js', graphiql.jsonWorker),
      graphql: file('graphql-worker', 'js', graphiql.graphqlWorker),
    },
  };
}

/** All files of the explorer. */
export const allFilesOf = ({ style, script, editor, workers }: ExplorerFiles): ExplorerFile[] => [
  ...[style, script, editor.style, editor.script],
  ...Object.values(workers),
];

const built = (name: string): string => fs.readFileSync(new URL(name, folder), 'utf8');

function file(name: string, extension: string, text: string): ExplorerFile {
  const content = Buffer.from(text);
  const hash = createHash('sha256').update(content).digest();
  const short = hash.toString('base64url').slice(0, 12);
  return { name: `${name}-${short}.${extension}`, content, integrity: `sha256-${hash.toString('base64')}` };
}

const addressOf = ({ name }: ExplorerFile) => `${explorerPlace}/assets/${name}`;
const loadedLater = (part: ExplorerFile) => ({ address: addressOf(part), integrity: part.integrity });

/** The page of the explorer, and the content security policy to send with it. */
export interface ExplorerPage {
  html: Buffer;
  policy: string;
}

/**
 * The page of the explorer: the examples as tabs of a plain editor, which GraphiQL replaces when it is first used. It
 * loads nothing from other hosts. `/graphiql#key=sk_test_…` takes the key from the address, and
 * `#query=…&variables=…` opens a query, with the session of the dashboard where the tab has no key. A browser never
 * sends a fragment to a server, so no log has it.
 *
 * It is built from the parts of render-graphiql, and not with its `renderGraphiQL`: that function writes each query
 * into the address, stores headers in localStorage, and its options cannot contain a function.
 * Silent: the specification requires an explorer and leaves its shape open.
 */
export function explorerPage(
  { style, script, editor, workers }: ExplorerFiles,
  { endpoint, examples, events, notice, dashboard }: ExplorerSettings,
): ExplorerPage {
  const tasks = examples.filter(({ task }) => task !== undefined);
  const tabs = examples.filter(({ task }) => task === undefined).map(tabOf);
  const addresses = Object.fromEntries(Object.entries(workers).map(([label, worker]) => [label, addressOf(worker)]));
  const subscription = tasks.findIndex(({ query }) => query.startsWith('subscription'));
  const setup = literal({
    ...{ endpoint, tabs, tasks: tasks.map(tabOf), subscription, dashboard, workers: addresses, events },
    editor: { script: loadedLater(editor.script), style: loadedLater(editor.style) },
  });
  const html = Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tidegate explorer</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${addressOf(style)}" integrity="${style.integrity}">
<script defer blocking="render" src="${addressOf(script)}" integrity="${script.integrity}"></script>
</head>
<body>
${explorerBody({ examples: menu(tasks), notice, dashboard })}
<script type="application/json" id="setup">${setup}</script>
</body>
</html>
`);
  return { html, policy: policy([script, editor.script]) };
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
