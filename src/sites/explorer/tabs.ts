import { entered, headersFor, key, linked, mask, store, stored } from './key.js';
import { type Example, setup } from './setup.js';

/** A tab, as GraphiQL stores it. */
export interface Tab {
  id: string;
  title: string;
  hash: string;
  query: string | null;
  variables: string | null;
  headers: string | null;
  operationName: string | null;
  response: string | null;
}

/** The tabs, as GraphiQL stores them. */
interface TabState {
  tabs: Tab[];
  activeTabIndex: number;
}

/** What the open tab has now, whichever editor shows it. */
export interface Open {
  query: string;
  variables: string;
  headers: string;
  operationName: string | undefined;
}

const listeners: (() => void)[] = [];
/** Calls a function whenever the open tab may have changed. */
export const onChange = (listener: () => void): number => listeners.push(listener);
export const changed = (): void => listeners.forEach((listener) => listener());

/** Where GraphiQL stores its tabs: in the session of this tab of the browser. */
export const storage = {
  get length() {
    return sessionStorage.length;
  },
  getItem: (name: string) => sessionStorage.getItem(name),
  removeItem: (name: string) => sessionStorage.removeItem(name),
  clear: () => sessionStorage.clear(),
  setItem: (name: string, value: string) => {
    sessionStorage.setItem(name, value);
    changed();
  },
};

/** The tabs at the start: those of before in this tab of the browser, and the one that was asked for. */
export const tabs: TabState = read();
export const openTab = (): Tab => tabs.tabs[tabs.activeTabIndex]!;
write();

/** Opens an example of the menu from the next start of the page on. */
export function openTask(task: string): void {
  store('task', task);
  location.reload();
}

/**
 * Stores the tabs for GraphiQL. It finds its open tab again by comparing these entries with the tabs, and adds an empty
 * tab when none is equal.
 */
export function write(): void {
  sessionStorage.setItem('graphiql:tabState', JSON.stringify(tabs));
  for (const part of ['query', 'variables', 'headers'] as const)
    sessionStorage.setItem(`graphiql:${part}`, openTab()[part] ?? '');
}

/** The open tab, as it is stored. */
export function open(): Open {
  const [query, variables, headers] = ['query', 'variables', 'headers'].map(
    (part) => sessionStorage.getItem(`graphiql:${part}`) ?? '',
  );
  let operationName: string | undefined;
  try {
    const { tabs: all, activeTabIndex } = JSON.parse(sessionStorage.getItem('graphiql:tabState')!) as TabState;
    operationName = all[activeTabIndex]?.operationName ?? undefined;
  } catch {}
  return { query: query!, variables: variables!, headers: headers!, operationName };
}

function read(): TabState {
  const wanted = linked
    ? { ...linked, variables: pretty(linked.variables) }
    : setup.tasks[Number(stored('task') || -1)];
  store('task', '');
  const state = before() ?? { tabs: setup.tabs.map(tabOf), activeTabIndex: 0 };
  if (entered !== null) for (const tab of state.tabs) tab.headers = withKey(tab.headers);
  if (wanted) {
    const made = tabOf(wanted);
    const same = state.tabs.findIndex(({ query, variables }) => query === made.query && variables === made.variables);
    state.activeTabIndex = same < 0 ? state.tabs.push(made) - 1 : same;
  }
  return state;
}

function before(): TabState | undefined {
  try {
    const state = JSON.parse(sessionStorage.getItem('graphiql:tabState') ?? 'null') as TabState | null;
    return state?.tabs[state.activeTabIndex] ? state : undefined;
  } catch {
    return undefined;
  }
}

/** The name of the first operation of a text. */
export function titleOf(query: string): string {
  return /(?:query|mutation|subscription) (\w+)/.exec(query)?.[1] ?? 'Query';
}

function tabOf({ query, variables }: Example): Tab {
  return {
    ...{ id: crypto.randomUUID(), title: titleOf(query), hash: '', operationName: null, response: null },
    ...{ query, variables: variables ? dated(variables) : null, headers: headersFor(key) },
  };
}

/** Replaces `@-90d` by the time 90 days ago. */
function dated(text: string): string {
  return text.replace(/"@(-?\d+)d"/g, (_, days) => {
    const time = new Date();
    time.setUTCHours(0, 0, 0, 0);
    time.setUTCDate(time.getUTCDate() + Number(days));
    return `"${time.toISOString().slice(0, 19)}Z"`;
  });
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The headers of a tab with the key of now in the place of another. */
function withKey(headers: string | null): string {
  try {
    const others = Object.entries(JSON.parse(headers ?? '') as object).filter(
      ([name]) => name.toLowerCase() !== 'authorization',
    );
    if (others.length > 0) {
      const own = key ? { Authorization: `Bearer ${mask(key)}` } : {};
      return JSON.stringify({ ...own, ...Object.fromEntries(others) }, null, 2);
    }
  } catch {}
  return headersFor(key);
}
