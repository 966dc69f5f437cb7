import { renderMermaidSVG } from 'beautiful-mermaid';
import { html } from 'ghtml';
import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import graphql from 'highlight.js/lib/languages/graphql';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import MarkdownIt, { type MarkdownIt as Parser, type Token } from 'markdown-it';
import anchors from 'markdown-it-anchor';
import path from 'node:path';
import { anchorOf, type Heading } from './page.js';

const languages = { bash, graphql, javascript, json, sql, typescript, xml };
for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);

/** Code in colours, as HTML; without them where the language is not known. */
function coloured(code: string, language: string): string {
  return highlighter.getLanguage(language) ? highlighter.highlight(code, { language }).value : html`${code}`;
}

const languageNames: Record<string, string> = {
  sh: 'Shell',
  bash: 'Shell',
  json: 'JSON',
  graphql: 'GraphQL',
  ts: 'TypeScript',
  js: 'JavaScript',
  sql: 'SQL',
  html: 'HTML',
};

/** A block of code with its name and a button that copies it. The button appears only with the script. */
export function codeBlock(code: string, language: string, name = languageNames[language] ?? ''): string {
  const label = name || 'Code';
  return html`<figure class="code"><figcaption><span>${name}</span></figcaption><pre tabindex="0" data-language="${
    language
  }" aria-label="${label}"><code>!${coloured(code.replace(/\n$/, ''), language)}</code></pre></figure>`;
}

/**
 * A drawing as SVG, made without a browser. Its style sheet is removed, which would load a font from another host and
 * which the content security policy refuses; the style sheet of the site has the colours, for both themes.
 */
function drawing(source: string, number: number): string {
  const svg = renderMermaidSVG(source, { transparent: true })
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/ style="[^"]*"/, '')
    .replaceAll(/(id="|url\(#)(arrowhead|[\w-]*marker[\w-]*)/g, `$1drawing-${number}-$2`);
  const lines = source.replaceAll(/["[\](){}]|<br>/g, ' ').trim();
  return html`<figure class="drawing" tabindex="0" aria-label="Drawing ${number}">!${svg.replace(
    '<svg ',
    `<svg role="img" aria-labelledby="drawing-${number}-text" `,
  )}<figcaption class="unseen" id="drawing-${number}-text">${lines.slice(0, 2_000)}</figcaption></figure>`;
}

/** A page of Markdown as HTML, with its title and headings. */
export interface Rendered {
  title: string;
  html: string;
  headings: Heading[];
  /** The text below each heading, by the anchor of the heading; the text above the first one has the empty anchor. */
  texts: Map<string, string>;
}

/** Where a link or picture of the Markdown leads on the site. */
export type Resolve = (target: string) => string;

/** Renders a page of Markdown; its first heading is the title, and is not part of the HTML. */
export function rendered(source: string, resolve: Resolve): Rendered {
  const headings: Heading[] = [];
  const markdown = new MarkdownIt({ html: false, linkify: false });
  markdown.use(anchors, { slugify: anchorOf, level: [2, 3, 4], tabIndex: false, permalink: permalink() });
  drawBlocks(markdown);
  markdown.renderer.rules.table_open = () => '<div class="table" tabindex="0" role="group" aria-label="Table"><table>';
  markdown.renderer.rules.table_close = () => '</table></div>';
  const tokens = markdown.parse(source, {});
  const texts = new Map<string, string>();
  let [title, anchor] = ['', ''];
  for (const [i, token] of tokens.entries()) {
    const inline = tokens[i + 1];
    if (token.type === 'heading_open' && inline) {
      const text = plain(inline);
      if (token.tag === 'h1') title = text;
      else if (token.tag === 'h2' || token.tag === 'h3') {
        anchor = String(token.attrGet('id') ?? '');
        headings.push({ level: token.tag === 'h2' ? 2 : 3, id: anchor, text });
      } else texts.set(anchor, `${texts.get(anchor) ?? ''} ${text}`);
    } else if (token.type === 'inline' && tokens[i - 1]?.type !== 'heading_open')
      texts.set(anchor, `${texts.get(anchor) ?? ''} ${plain(token)}`);
    else if (token.type === 'fence' && !token.info.startsWith('mermaid'))
      texts.set(anchor, `${texts.get(anchor) ?? ''} ${token.content}`);
    for (const child of token.children ?? []) redirect(child, resolve);
  }
  const first = tokens.findIndex(({ type }) => type === 'heading_close') + 1;
  return { title, headings, texts, html: markdown.renderer.render(tokens.slice(first), markdown.options, {}) };
}

/** A sentence or a few of Markdown, such as a description of the contract, as HTML. */
export function prose(text: string, resolve: Resolve = (target) => target): string {
  const markdown = new MarkdownIt({ html: false, linkify: false });
  const tokens = markdown.parse(text, {});
  for (const token of tokens) for (const child of token.children ?? []) redirect(child, resolve);
  return markdown.renderer.render(tokens, markdown.options, {});
}

/** The same without a paragraph around it. */
export const inline = (text: string): string => new MarkdownIt({ html: false, linkify: false }).renderInline(text);

function redirect(token: Token, resolve: Resolve): void {
  for (const name of ['href', 'src']) {
    const target = token.attrGet(name);
    if (target !== null) token.attrSet(name, resolve(String(target)));
  }
  if (token.type === 'link_open' && /^https?:/.test(String(token.attrGet('href') ?? '')))
    token.attrSet('rel', 'noreferrer');
}

const plain = (token: Token): string => {
  const children = token.children ?? [];
  // The link to the heading itself is at its end.
  const link = children.findIndex((child) => child.attrGet('class') === 'anchor');
  return (link < 0 ? children : children.slice(0, link))
    .map(({ type, content }) => (type === 'softbreak' ? ' ' : content))
    .join('')
    .trim();
};

const permalink = () =>
  anchors.permalink.linkInsideHeader({
    symbol: '#',
    placement: 'after',
    ariaHidden: true,
    class: 'anchor',
    renderAttrs: () => ({ tabindex: '-1' }),
  });

function drawBlocks(markdown: Parser): void {
  let drawings = 0;
  markdown.renderer.rules.fence = (tokens, i) => {
    const { info, content } = tokens[i]!;
    // The name of a file may follow the language.
    const [language = '', name] = info.trim().split(' ');
    return language === 'mermaid'
      ? drawing(content, (drawings += 1))
      : codeBlock(content, language, name?.includes('.') ? name : undefined);
  };
}

/** The path of a page on the site, from that of its file in `docs/`. */
export const pathOf = (file: string): string => {
  const name = file.replace(/\.md$/, '').replace(/(^|\/)README$/, '');
  return path.posix.join('/docs', name).replace(/\/$/, '');
};
