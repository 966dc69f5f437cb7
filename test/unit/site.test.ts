import fs from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import MarkdownIt from 'markdown-it';
import MiniSearch from 'minisearch';
import { describe, expect, it } from 'vitest';
import { catalogue } from '../../src/errors/catalogue.js';
import type { SiteIndex } from '../../src/sites/docs/maker/site-files.js';

const folder = 'dist/sites/docs/site';
const { files } = JSON.parse(fs.readFileSync(`${folder}/site.json`, 'utf8')) as SiteIndex;
const textOf = (address: string) => fs.readFileSync(`${folder}/${files[address]!.file}`, 'utf8');
const pages = Object.keys(files).filter((address) => files[address]!.file.endsWith('.html'));

/** The text of HTML without its tags. */
const plain = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&#x([\dA-F]+);/gi, (_, code: string) => String.fromCodePoint(parseInt(code, 16)))
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

/** What a page says: without the navigation, the anchors of its headings, and the form that needs the script. */
const contentOf = (address: string) => {
  const [, main = ''] = /<main[^>]*>(.*)<footer>/s.exec(textOf(address))!;
  return main
    .replaceAll(/<nav.*?<\/nav>|<form.*?<\/form>|<details class="short">.*?<\/details>/gs, ' ')
    .replaceAll(/<a class="anchor".*?<\/a>/gs, ' ')
    .replaceAll(/<figure class="drawing".*?<\/figure>/gs, ' ');
};

describe('a page of the reference as Markdown', () => {
  const kinds: [kind: string, of: RegExp, atLeast: number][] = [
    ['errors', /^\/docs\/errors$/, 1],
    ['events', /^\/docs\/events$/, 1],
    ['the overviews', /^\/docs\/reference\/(rest|graphql)$/, 2],
    ['resources of /v1', /^\/docs\/reference\/rest\/[^/]+$/, 20],
    ['operations of /v1', /^\/docs\/reference\/rest\/(?!objects\/)[^/]+\/[^/]+$/, 100],
    ['objects of /v1', /^\/docs\/reference\/rest\/objects\/[^/]+$/, 20],
    ['root fields by their objects, and the list of types', /^\/docs\/reference\/graphql\/[^/]+$/, 20],
    ['root fields of the graph', /^\/docs\/reference\/graphql\/(queries|mutations)\/[^/]+$/, 100],
    ['types of the graph', /^\/docs\/reference\/graphql\/types\/[^/]+$/, 200],
  ];

  it.each(kinds)('says what its HTML says: %s', (_, of, atLeast) => {
    const found = pages.filter((address) => of.test(address));
    expect(found.length).toBeGreaterThanOrEqual(atLeast);
    const letters = (html: string) => plain(html).replaceAll(/[^\p{L}\p{N}]/gu, '');
    for (const address of found) {
      const markdown = new MarkdownIt({ html: false }).render(textOf(`${address}.md`));
      expect([address, letters(markdown)]).toEqual([address, letters(contentOf(address))]);
    }
  });

  it('is of each page, and none is forgotten in the kinds above', () => {
    const references = pages.filter((address) => /^\/docs\/(reference\/|errors$|events$)/.test(address));
    expect(references.filter((address) => !kinds.some(([, of]) => of.test(address)))).toEqual([]);
    expect(references.filter((address) => !files[`${address}.md`])).toEqual([]);
  });

  it('has a heading for each code, and its example as JSON', () => {
    const text = textOf('/docs/errors.md');
    for (const [code, [status, , meaning, remedy]] of Object.entries(catalogue)) {
      const [, section = ''] = new RegExp(`^### ${code}\n([^]*?)(?=^##|(?![^]))`, 'm').exec(text) ?? [];
      expect(section).toContain(meaning);
      expect(section).toContain(`**What to do.** ${remedy}`);
      const [, example = ''] = /^```json\n([^]*?)^```$/m.exec(section) ?? [];
      const recorded = JSON.parse(example);
      expect([code, recorded.http_status_code, recorded.errors.map((each: any) => each.code)]).toEqual([
        ...[code, status, expect.arrayContaining([code])],
      ]);
    }
  });

  it('is reached from llms.txt by links, all of which lead to something', () => {
    const reached = new Set<string>(['/docs/llms.txt']);
    const targets = (address: string) => [...textOf(address).matchAll(/\]\((\/docs[^)#\s]*)/g)].map(([, to]) => to!);
    for (const address of reached)
      if (/\.(md|txt)$/.test(address)) for (const target of targets(address)) reached.add(target);
    expect([...reached].filter((address) => !files[address])).toEqual([]);
    const texts = Object.keys(files).filter((address) => address.endsWith('.md'));
    expect(texts.filter((address) => !reached.has(address))).toEqual([]);
  });
});

describe('the search of the documentation', () => {
  const [name] = Object.keys(files).filter((address) => /search-.*\.json$/.test(address));
  const { options, index } = JSON.parse(textOf(name!));
  const search = MiniSearch.loadJS<{ address: string }>(index, options);
  const boostDocument = (_: string, __: string, stored?: Record<string, unknown>) => Number(stored?.rank);
  /** What a reader sees who searches for a text. */
  const found = (text: string) =>
    search
      .search(text, { boostDocument })
      .slice(0, 12)
      .map(({ id }) => String(id));
  const exact = new Map<string, Set<string>>();
  const sectionsWith = (word: string): Set<string> => {
    if (!exact.has(word)) {
      const results = search.search(word, { fuzzy: false, prefix: false });
      exact.set(word, new Set(results.map(({ id }) => String(id))));
    }
    return exact.get(word)!;
  };

  const isGuide = (address: string) => !/^\/docs($|\/(reference|errors|events|missing)(\/|$))/.test(address);
  const isRecord = (address: string) => /^\/docs\/(decisions|measurements)\//.test(address);
  /** The parts of a page, each with its heading, as its HTML shows them. The first one has the title. */
  const sections = pages.filter(isGuide).flatMap((page) => {
    const [first = '', ...others] = contentOf(page).split(/(?=<h[23] id=")/);
    const headingOf = (part: string) => plain(/<h\d[^>]*>(.*?)<\/h\d>/s.exec(part)![1]!).trim();
    return [
      { address: page, heading: headingOf(first), html: first },
      ...others.map((html) => {
        const [, id] = /^<h\d id="([^"]+)"/.exec(html)!;
        return { address: `${page}#${id}`, heading: headingOf(html), html };
      }),
    ];
  });
  const wordsOf = (html: string) =>
    new Set(
      plain(html.replaceAll(/<figcaption>.*?<\/figcaption>/gs, ' '))
        .toLowerCase()
        .split(/[\s\p{P}]+/u)
        .filter((word) => /^[\p{L}\p{N}]+$/u.test(word)),
    );

  it('is small on its way', () => {
    expect(brotliCompressSync(textOf(name!)).length).toBeLessThan(160 * 1024);
  });

  it('finds each section of a guide by each of its words', () => {
    const long = sections.filter(({ html }) => plain(html).replaceAll(/\s+/g, ' ').length > 1_200);
    expect([sections.length > 400, long.length > 100]).toEqual([true, true]);
    const lacking = sections.flatMap(({ address, html }) =>
      [...wordsOf(html)].filter((word) => !sectionsWith(word).has(address)).map((word) => `${address}: ${word}`),
    );
    expect(lacking).toEqual([]);
  });

  it('shows the section of a guide to who types its heading, and a guide before the records', () => {
    const ofGuides = sections.filter(({ address }) => !/^\/docs\/(architecture|changelog|glossary)/.test(address));
    const own = ofGuides.filter(({ address }) => !isRecord(address));
    const lacking = own.filter(({ address, heading }) => !found(heading).includes(address));
    expect(lacking.map(({ address }) => address)).toEqual([]);
    expect(own.filter(({ heading }) => isRecord(found(heading)[0]!)).map(({ address }) => address)).toEqual([]);
  });

  it('finds each error and each event by what is said of it', () => {
    for (const page of ['/docs/errors', '/docs/events']) {
      const parts = contentOf(page)
        .split(/(?=<h3 id=")/)
        .slice(1);
      expect(parts.length).toBeGreaterThan(30);
      for (const part of parts) {
        const [, id] = /^<h3 id="([^"]+)"/.exec(part)!;
        const [said = ''] = part.split(/<h2|<details|<p class="bounds">|<\/section>/);
        const words = [...wordsOf(said.replace(/<strong>What\s+to\s+do\.<\/strong>/, ' ').replace(/<span.*/s, ' '))];
        expect([id, words.filter((word) => !sectionsWith(word).has(`${page}#${id}`))]).toEqual([id, []]);
      }
    }
  });

  it.each([
    ...[
      ['pagination', '/docs/rest#lists'],
      ['paging', '/docs/dashboards#lists'],
      ['sort', '/docs/rest#lists'],
      ['filtering', '/docs/rest#lists'],
    ],
    ...[
      ['sdk', '/docs/typescript'],
      ['library', '/docs/typescript'],
      ['refund', '/docs/concepts#payments'],
      ['chargeback', '/docs/concepts#payments'],
    ],
    ...[
      ['spreadsheet', '/docs/rest#exports'],
      ['authentication', '/docs/rest#keys'],
      ['retries', '/docs/rest#idempotency'],
      ['throttling', '/docs/rest#cost'],
    ],
    ...[
      ['marketplace', '/docs/rest#platforms-and-their-users'],
      ['error handling', '/docs/rest#errors'],
      ['glossary', '/docs/concepts'],
      ['chart', '/docs/dashboards#figures-over-time'],
    ],
  ])('shows the guide to who types the word of others: %s', (word, address) => {
    const results = found(word!);
    expect(results).toContain(address);
    expect(isRecord(results[0]!)).toBe(false);
  });
});
