import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { html } from 'ghtml';
import { buildSchema } from 'graphql';
import type { Contract } from './contract.js';
import { errorsPage } from './errors.js';
import { eventsPage, type EventType } from './events.js';
import { graphReference, rootPaths } from './graphql.js';
import { guidesOf } from './guides.js';
import { type Assets, documentOf } from './layout.js';
import { pathOf } from './markdown.js';
import { navigationOf } from './navigation.js';
import { markdownAddresses, markdownOf } from './page-markdown.js';
import type { Branch, Page } from './page.js';
import { restReference } from './rest.js';
import { indexOf } from './search.js';
import { SiteFiles } from './site-files.js';

const require = createRequire(import.meta.url);

/** Makes all pages and files of the documentation from `docs/`, the schemas and the error catalogue. */
export function makeSite(root: URL, folder: string, source: string): void {
  const files = new SiteFiles(folder);
  const docs = new URL('docs/', root);
  const guides = guidesOf(docs, (name) => files.addFixed(path.basename(name), fs.readFileSync(new URL(name, docs))));
  const read = (name: string) => fs.readFileSync(new URL(name, root), 'utf8');
  const contract = JSON.parse(read('schema/openapi.json')) as Contract;
  const graph = buildSchema(read('schema/graph.graphql'));
  const rest = restReference(contract, rootPaths(graph));
  const graphql = graphReference(graph);
  const errors = errorsPage(contract);
  const objects = new Set(Object.keys(contract.components.schemas));
  const events = eventsPage(JSON.parse(read('schema/events.json')) as EventType[], objects);
  const catalogues = [errors, events].map(({ title, path: address }) => ({ title, path: address }));
  const reference: Branch[] = [rest.branch, graphql.branch, ...catalogues];
  const references: Page[] = [...rest.pages, ...graphql.pages, errors, events];
  const pages = [...guides.pages, ...references];
  const assets = addAssets(files, root, indexOf(pages.flatMap(({ entries }) => entries)));
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const frame = { assets, groups: navigationOf(guides.links, reference), version };
  for (const page of pages) files.addPage(page.path, documentOf(page, frame));
  files.addPage(missing.path, documentOf(missing, frame));
  for (const [name, text] of guides.texts) files.addText(`/docs/${name}`, text);
  const addresses = markdownAddresses(guides.texts.keys(), references);
  for (const page of references) files.addText(addresses.get(page.path)!, markdownOf(page, addresses));
  files.addText('/docs/llms.txt', overviewOf(guides.texts, reference, pages, addresses));
  files.finish(source);
}

/**
 * `llms.txt`: the documentation for programs that read, by the convention of llmstxt.org. It lists the guides, and of
 * the reference the pages that lead to all others, each as Markdown.
 */
function overviewOf(
  texts: Map<string, string>,
  reference: Branch[],
  pages: Page[],
  addresses: Map<string, string>,
): string {
  const described = new Map(pages.map((page) => [page.path, page]));
  const lineOf = (path: string) => {
    const { title, description } = described.get(path)!;
    return `- [${title}](${addresses.get(path)}): ${description}`;
  };
  // Records and measurements are for who changes the gateway.
  const isOptional = (file: string) => /^(decisions|measurements)\/./.test(file);
  const files = [...texts.keys()];
  const guides = (optional: boolean) =>
    files
      .filter((file) => isOptional(file) === optional)
      .map(pathOf)
      .map(lineOf);
  const branches = reference.flatMap((branch) => [branch, ...(branch.below ?? [])]);
  const summary = '> A payments gateway for cross-border receivables: one model over GraphQL and REST.';
  return [
    ...['# Tidegate', '', summary, '', '## Guides', '', ...guides(false)],
    ...['', '## Reference', '', '- [OpenAPI](/openapi.json): the contract of /v1, with examples.'],
    ...branches.map(({ path }) => lineOf(path)),
    ...['', '## Optional', '', ...guides(true), ''],
  ].join('\n');
}

/** The page for an address that the site does not have. */
const missing: Page = {
  path: '/docs/missing',
  title: 'There is no such page',
  description: 'The documentation has no page at this address.',
  body: html`<p>The documentation has no page at this address. Search for it, or begin with
    <a href="/docs">the overview</a>.</p>`,
  headings: [],
  entries: [],
  trail: [],
};

/** The parts of the style in their order, because a rule may overrule an earlier one. The site has them as one file. */
const styles = ['frame', 'navigation', 'text', 'search', 'reference', 'narrow'];

function addAssets(files: SiteFiles, root: URL, index: string): Assets {
  const read = (name: string) => fs.readFileSync(new URL(`src/sites/docs/assets/${name}`, root), 'utf8');
  const asset = (name: string) => files.addFixed(name, read(name));
  const finder = path.join(path.dirname(require.resolve('minisearch')), '../es/index.js');
  // Without the comment that names a source map, which the site does not have.
  const library = fs.readFileSync(finder, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
  return {
    style: files.addFixed('docs.css', styles.map((part) => read(`docs/${part}.css`)).join('\n')),
    script: asset('docs.js'),
    theme: asset('theme.js'),
    tries: asset('try.js'),
    finder: files.addFixed('minisearch.js', library),
    search: files.addFixed('search.json', index),
  };
}
