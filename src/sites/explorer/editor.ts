import { headersFor, isKnown, key, store, stored } from './key.js';
import { run } from './run.js';
import { element, scrollTo, setup } from './setup.js';
import { changed, openTab, storage, tabs, titleOf, write } from './tabs.js';

/** What GraphiQL's script leaves behind, as far as this page uses it. */
interface Loaded {
  YogaGraphiQL: { renderYogaGraphiQL(root: Element, options: object): void };
  monaco: { editor: { getEditors(): CodeEditor[] } };
  MonacoEnvironment: object;
}

interface CodeEditor {
  getModel(): { uri: { path: string }; getPositionAt(offset: number): object } | null;
  getValue(): string;
  setPosition(position: object): void;
  focus(): void;
}

const query = element<HTMLTextAreaElement>('query');
const variables = element<HTMLTextAreaElement>('variables');
let loading: Promise<void> | undefined;

/** Loads GraphiQL and puts it in the place of the plain editor, with what that has now. */
export function openEditor(): Promise<void> {
  return (loading ??= load().catch((error: unknown) => {
    loading = undefined;
    element('plain-state').textContent = 'The editor could not be loaded. You can go on in this one.';
    throw error;
  }));
}

/** Whether the editor was opened in this tab of the browser before. */
export const wasOpened = (): boolean => stored('editor') === 'yes';

async function load(): Promise<void> {
  element('plain-state').textContent = 'Loading the editor …';
  const { script, style } = setup.editor;
  // A script of another program adds them, whose types TypeScript does not know.
  const page = globalThis as unknown as Loaded;
  // GraphiQL's script looks for this when it runs.
  page.MonacoEnvironment = {
    globalAPI: true,
    getWorkerUrl: (_: string, label: string) => setup.workers[label],
  };
  await Promise.all([
    added(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: style.address }), style.integrity),
    added(Object.assign(document.createElement('script'), { src: script.address }), script.integrity),
  ]);
  store('editor', 'yes');
  await show(page);
}

function added(part: HTMLLinkElement | HTMLScriptElement, integrity: string): Promise<void> {
  part.integrity = integrity;
  return new Promise((resolve, reject) => {
    part.addEventListener('load', () => resolve());
    part.addEventListener('error', () => reject(new Error('A file of the editor could not be loaded')));
    document.head.append(part);
  });
}

async function show(page: Loaded): Promise<void> {
  const focused = [query, variables].find((each) => each === document.activeElement);
  const caret = focused?.selectionStart ?? 0;
  keep();
  start(page);
  // The plain editor stays until the other one has its text, so that what is typed meanwhile is not lost.
  const root = element('root');
  root.classList.add('waiting');
  root.hidden = false;
  const wanted = query.value;
  const found = await until(() => {
    const editors = page.monaco.editor.getEditors();
    return editors.some((each) => each.getValue() === wanted) ? editors : undefined;
  });
  element('plain').hidden = true;
  root.classList.remove('waiting');
  const name = focused === variables ? 'variables.json' : 'operation.graphql';
  const target = found.find((each) => each.getModel()?.uri.path.endsWith(name));
  if (!focused || !target) return;
  target.setPosition(target.getModel()!.getPositionAt(caret));
  target.focus();
}

/** Stores what the plain editor has. */
export function keep(): void {
  const tab = openTab();
  Object.assign(tab, { query: query.value, variables: variables.value || null, title: titleOf(query.value) });
  write();
  changed();
}

async function until<T>(find: () => T | undefined): Promise<T> {
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    await new Promise((resume) => requestAnimationFrame(resume));
  }
}

/** Brings the answer to the eyes of a reader whose screen ends above it. */
const shown = () => scrollTo(document.querySelector('.graphiql-response'));

function start({ YogaGraphiQL }: Loaded): void {
  const headers = headersFor(key);
  const fetcher = async (asking: Parameters<typeof run>[0], options: { headers?: Record<string, unknown> } = {}) => {
    const answer = await run(asking, options.headers);
    if (asking.operationName !== 'IntrospectionQuery') setTimeout(shown);
    return answer;
  };
  YogaGraphiQL.renderYogaGraphiQL(element('root'), {
    fetcher,
    headers,
    defaultTabs: tabs.tabs.map((tab) => ({ query: tab.query, variables: tab.variables, headers })),
    // Yoga replaces GraphiQL's own plugin, the history, by its checklist of fields; this leaves the history in.
    plugins: undefined,
    // Without a key there is no schema to read, and an answer without one would look like a fault.
    schema: isKnown ? undefined : null,
    // An example with variables is about those: some have ids to replace.
    defaultEditorToolsVisibility: openTab().variables ? 'variables' : 'headers',
    storage,
    shouldPersistHeaders: true,
    showPersistHeadersSettings: false,
    logo: '',
    title: '',
    onEditQuery: changed,
  });
}
