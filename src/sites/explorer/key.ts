import { setup } from './setup.js';

/*
 * What a tab of the browser knows of its caller. All of it is in sessionStorage, so the browser deletes it when the tab
 * is closed, and no other tab has it.
 */

/** A key without the word before it, with which it stands in a header. */
export const clean = (text: string): string => text.trim().replace(/^bearer(\s+|$)/i, '');

/** The mode and the end of a key, by which its holder knows it. */
export const mask = (text: string): string => `${/^[a-z]+_(test|live)_/.exec(text)?.[0] ?? ''}…${text.slice(-4)}`;

export const store = (name: string, value: string): void =>
  value ? sessionStorage.setItem(`tidegate:${name}`, value) : sessionStorage.removeItem(`tidegate:${name}`);
export const stored = (name: string): string => sessionStorage.getItem(`tidegate:${name}`) ?? '';

// The address may have a key, a query with its variables, and the account to act for. It is cleaned at once.
const given = new URLSearchParams(location.hash.slice(1));
if (location.hash) history.replaceState(null, '', location.pathname + location.search);

/** The key that was entered just before this page was loaded; an empty text forgets the key before. */
export const entered: string | null = given.get('key') ?? sessionStorage.getItem('tidegate:entered');
if (entered !== null) {
  store('key', clean(entered));
  store('behalf', '');
}
sessionStorage.removeItem('tidegate:entered');

export const key: string = stored('key');
// A link with a query comes from the dashboard, whose session then serves a tab that has no key.
if (key) store('session', '');
else if (setup.dashboard && (given.has('query') || given.has('session'))) store('session', 'yes');

/** Whether the session of the dashboard is used, because there is no key. */
export const session: boolean = stored('session') === 'yes';
if (given.has('on-behalf-of')) store('behalf', given.get('on-behalf-of')!);

/** Whether requests have a caller. */
export const isKnown: boolean = Boolean(key) || session;

/** The query of the address, which is opened and not run. */
export const linked = given.has('query')
  ? { query: given.get('query')!, variables: given.get('variables') ?? '' }
  : undefined;

// The headers pane has the masked key only; a request gets the key in its place.
export const headersFor = (text: string): string =>
  text ? `{"Authorization": ${JSON.stringify(`Bearer ${mask(text)}`)}}` : '{}';

/**
 * Uses a key from the next start of the page on: the editor reads its headers only when it starts, and may still write
 * its tabs until then.
 */
export function enter(text: string): void {
  sessionStorage.setItem('tidegate:entered', text);
  location.reload();
}

addEventListener('hashchange', () => {
  if (/^#(key|query|session|on-behalf-of)(=|&|$)/.test(location.hash)) location.reload();
});
