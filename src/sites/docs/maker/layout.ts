import { html } from 'ghtml';
import type { Branch, Group, Heading, Link, Page } from './page.js';

/** The addresses of the files that every page needs; they change with the content of the files. */
export interface Assets {
  style: string;
  script: string;
  theme: string;
  search: string;
  finder: string;
  tries: string;
}

/** What all pages share. */
export interface Frame {
  assets: Assets;
  groups: Group[];
  version: string;
}

const logo =
  '<svg class="logo" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect width="32" ' +
  'height="32" rx="7" fill="#0b6e80"/><path d="M5 14q5.5-6 11 0t11 0M5 21q5.5-6 11 0t11 0" fill="none" ' +
  'stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>';
const iconSource = logo.replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ');
const icon = `data:image/svg+xml,${encodeURIComponent(iconSource)}`;

/** The HTML document of a page. */
export function documentOf(page: Page, frame: Frame): string {
  const { assets, version } = frame;
  const title = page.path === '/docs' ? 'Tidegate documentation' : `${page.title} · Tidegate`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${page.description}">
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.theme}"></script>
<script type="module" src="${assets.script}" data-finder="${assets.finder}" data-search="${assets.search}"></script>
!${page.tries ? html`<script type="module" src="${assets.tries}"></script>` : ''}
</head>
<body>
<a class="skip" href="#site-content">Skip to the content</a>
<header class="top">
<a class="brand" href="/docs" aria-label="Tidegate documentation">!${logo}<span>Tidegate</span></a>
<button class="find" type="button" data-find hidden><span>Search</span><kbd>/</kbd></button>
<nav aria-label="Tools"><a href="/graphiql">Explorer</a></nav>
<button class="theme" type="button" data-theme-button hidden aria-label="Change the colours"></button>
</header>
<div class="frame!${page.wide ? ' wide' : ''}">
<nav class="side" aria-label="Documentation">
<button class="menu" type="button" aria-expanded="false" aria-controls="site-navigation">Menu</button>
<div id="site-navigation">!${sideOf(page, frame)}</div>
</nav>
<main id="site-content" tabindex="-1">
!${trailOf(page.trail)}
!${page.head ?? html`<h1>${page.title}</h1>`}
!${page.wide ? '' : shortContents(page.headings)}
!${page.body}
!${page.path === '/docs/missing' ? '' : neighbours(page, frame)}
<footer><p>Tidegate ${version} · <a href="/openapi.json">OpenAPI</a> · <a
href="/docs/changelog">Changelog</a></p></footer>
</main>
!${page.wide ? '' : html`<aside class="contents" aria-label="On this page">!${contentsOf(page.headings)}</aside>`}
</div>
<dialog class="finder" aria-label="Search the documentation">
<form method="dialog"><label class="unseen" for="site-query">Search the documentation</label><input id="site-query"
type="text" enterkeyhint="search" placeholder="Search guides, operations, types, errors" autocomplete="off"
spellcheck="false" role="combobox" aria-expanded="false" aria-controls="site-found" aria-autocomplete="list"><button
type="submit">Close</button></form>
<ul id="site-found" role="listbox" aria-label="Results"></ul>
<p role="status"></p>
</dialog>
</body>
</html>
`;
}

const same = (link: Link, page: Page) => link.path === page.path;
const within = (link: Link, page: Page) => same(link, page) || page.trail.some(({ path }) => path === link.path);

function item(link: Link, page: Page, below = ''): string {
  const above = link.path !== '/docs' && within(link, page);
  const current = same(link, page) ? ' aria-current="page"' : above ? ' class="within"' : '';
  const mark = link.mark ? html`<span class="mark ${link.mark.toLowerCase()}">${link.mark}</span> ` : '';
  return html`<li><a href="${link.path}"!${current}>!${mark}${link.title}</a>!${below}</li>`;
}

function sideOf(page: Page, { groups }: Frame): string {
  return groups
    .map(({ title, links }) => {
      const items = links.map((link) => {
        const below = link.below && within(link, page) ? belowOf(link.below, page) : '';
        return item(link, page, below);
      });
      return html`<p class="group">${title}</p><ul>!${items}</ul>`;
    })
    .join('');
}

/** The links below a link. Those may have links of their own, which are shown on their pages only. */
function belowOf(links: Branch[], page: Page): string {
  const items = links.map((link) =>
    item(link, page, link.below && within(link, page) ? belowOf(link.below, page) : ''),
  );
  return html`<ul>!${items}</ul>`;
}

function trailOf(trail: Link[]): string {
  if (trail.length === 0) return '';
  const steps = trail.map(({ title, path }) => html`<li><a href="${path}">${title}</a></li>`);
  return html`<nav class="trail" aria-label="Above this page"><ol>!${steps}</ol></nav>`;
}

function contentsOf(headings: Heading[]): string {
  if (headings.length < 2) return '';
  const items = headings.map(
    ({ level, id, text }) => html`<li class="level-${level}"><a href="#${id}">${text}</a></li>`,
  );
  return html`<p>On this page</p><ul>!${items}</ul>`;
}

/** The contents above the text, for screens that have no room for them beside it. */
function shortContents(headings: Heading[]): string {
  if (headings.length < 3) return '';
  const items = headings
    .filter(({ level }) => level === 2)
    .map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`);
  return html`<details class="short"><summary>On this page</summary><ul>!${items}</ul></details>`;
}

/** Links to the page before and after this one, in the order of the navigation. */
function neighbours(page: Page, { groups }: Frame): string {
  const all = groups.flatMap(({ links }) => links.flatMap((link) => [link, ...flat(link.below ?? [])]));
  const place = all.findIndex(({ path }) => path === page.path);
  if (place < 0) return '';
  const [before, after] = [all[place - 1], all[place + 1]];
  return html`<nav class="neighbours" aria-label="Next and previous page">
!${before ? html`<a rel="prev" href="${before.path}"><small>Previous</small> ${before.title}</a>` : '<span></span>'}
!${after ? html`<a rel="next" href="${after.path}"><small>Next</small> ${after.title}</a>` : ''}
</nav>`;
}

const flat = (links: Branch[]): Link[] => links.flatMap((link) => [link, ...flat(link.below ?? [])]);
