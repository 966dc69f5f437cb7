import fs from 'node:fs';
import path from 'node:path';
import { html } from 'ghtml';
import { pathOf, type Rendered, rendered } from './markdown.js';
import type { Branch, Entry, Link, Page } from './page.js';

/** The guides of `docs/`: their pages, and their links by file, with the pages of its folder below an index. */
export interface Guides {
  pages: Page[];
  links: Map<string, Branch>;
  /** The guides in Markdown, by their files. */
  texts: Map<string, string>;
}

/** The folders whose pages the navigation shows below the page that is their index. */
const indexes = new Map([
  ['decisions', 'decisions/README.md'],
  ['measurements', 'measurements/README.md'],
  ['operations', 'operations.md'],
]);

/** The index that a page is below, if it is a page of such a folder. */
const indexOf = (file: string): string | undefined => {
  const index = indexes.get(path.posix.dirname(file));
  return index === file ? undefined : index;
};

/**
 * Makes the pages of the guides. `asset` adds a file of `docs/images` or `docs/operations` to the site and returns its
 * address.
 */
export function guidesOf(folder: URL, asset: (file: string) => string): Guides {
  const files = fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll(path.sep, '/'))
    .filter((name) => name.endsWith('.md'))
    .toSorted();
  const start = { title: 'Documentation', path: '/docs' };
  const pages: Page[] = [];
  const links = new Map<string, Branch>();
  const textOf = (file: string) => fs.readFileSync(new URL(file, folder), 'utf8');
  const place = (file: string) => {
    const index = indexOf(file) ?? file;
    return textOf(index).indexOf(`(${path.posix.relative(path.posix.dirname(index), file)})`);
  };
  // An index comes before the pages below it, which have the order of its links, and its title in their trails.
  const below = files.filter(indexOf).toSorted((a, b) => place(a) - place(b));
  for (const file of [...files.filter((name) => !indexOf(name)), ...below]) {
    const resolve = (target: string) => resolved(target, file, files, asset);
    const guide = rendered(textOf(file), resolve);
    const index = links.get(indexOf(file) ?? '');
    const trail = file === 'README.md' ? [] : index ? [start, { title: index.title, path: index.path }] : [start];
    const page = pageOf(file, guide, trail);
    pages.push(file === 'README.md' ? { ...page, ...startPage(guide) } : page);
    const link = { title: file === 'README.md' ? 'Overview' : guide.title, path: page.path };
    if (index) (index.below ??= []).push(link);
    else links.set(file, link);
  }
  return { pages, links, texts: new Map(files.map((file) => [file, textOf(file)])) };
}

function pageOf(file: string, { title, html: body, headings, texts }: Rendered, trail: Link[]): Page {
  const page = pathOf(file);
  const place = trail[1]?.title ?? 'Guides';
  const entries: Entry[] = [
    { address: page, title, place, text: texts.get('') ?? '' },
    ...headings.map(({ id, text }) => ({
      address: `${page}#${id}`,
      title: text,
      place: `${place} › ${title}`,
      text: texts.get(id) ?? '',
    })),
  ];
  const [first = ''] = (texts.get('') ?? '').trim().split(/(?<=\.)\s/);
  return { path: page, title, description: first || `${title} of Tidegate.`, body, headings, entries, trail };
}

/** The first page: what there is, as cards, above the table of the guides. */
function startPage({ html: table }: Rendered): Pick<Page, 'title' | 'description' | 'head' | 'body' | 'headings'> {
  const cards: [title: string, path: string, text: string][] = [
    ['Getting started', '/docs/getting-started', 'From a key to a payout, in commands that you can paste.'],
    ['REST reference', '/docs/reference/rest', 'Every operation of /v1, with examples. Try it with a test key.'],
    ['GraphQL reference', '/docs/reference/graphql', 'Queries, mutations and types of the graph.'],
    ['Errors', '/docs/errors', 'Each code: what it means, and what to do.'],
    ['Events', '/docs/events', 'Each type: when it happens, with an example.'],
    ['Dashboards', '/docs/dashboards', 'Queries, lists and sessions for a page in a browser.'],
  ];
  const items = cards.map(
    ([title, address, text]) => html`<li><a href="${address}"><strong>${title}</strong><span>${text}</span></a></li>`,
  );
  return {
    title: 'Documentation',
    description: 'Guides and reference of Tidegate: GraphQL, REST, webhooks, errors and operation.',
    head: html`<h1>Tidegate documentation</h1><p class="lead">A payments gateway for cross-border receivables: one model
      over GraphQL and REST, in two editions, with a sandbox that reaches every state.</p>`,
    body: html`<ul class="cards">!${items}</ul><h2 id="all-guides">All guides</h2>!${table}`,
    headings: [],
  };
}

/** Where a link of a file leads: to a page, a picture or another file, what the gateway serves, or another host. */
function resolved(target: string, file: string, files: string[], asset: (file: string) => string): string {
  if (/^(https?:|#|mailto:)/.test(target)) return target;
  const [relative = '', anchor] = target.split('#');
  const found = path.posix.join(path.posix.dirname(file), relative);
  if (found === '../schema/openapi.json') return '/openapi.json';
  if (/^(images|operations)\//.test(found) && !files.includes(found)) return asset(found);
  if (!files.includes(found)) throw new Error(`docs/${file}: the link to ${target} leads to no page of the site`);
  return `${pathOf(found)}${anchor === undefined ? '' : `#${anchor}`}`;
}
