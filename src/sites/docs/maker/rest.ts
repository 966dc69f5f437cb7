import { html } from 'ghtml';
import { answerOf, type Contract, lastOf, operationsOf, type Placed, type Schema, wordsOf } from './contract.js';
import { codeBlock, prose } from './markdown.js';
import type { Branch, Entry, Link, Page } from './page.js';
import { operationPage, operationPath } from './rest-operation.js';
import { membersOf, objectPath, typeOf } from './schema-view.js';

const start: Link = { title: 'Documentation', path: '/docs' };
const reference: Link = { title: 'REST reference', path: '/docs/reference/rest' };
const trail = [start, reference];

/** The reference of /v1: an overview, a page for each resource, for each operation and for each object. */
export function restReference(contract: Contract, graph: Map<string, string>): { pages: Page[]; branch: Branch } {
  const operations = operationsOf(contract);
  const tags = contract.tags.map(({ name, description }) => ({
    name,
    description,
    own: operations.filter(({ tag }) => tag === name).toSorted(byPath),
  }));
  const objects = Object.entries(contract.components.schemas);
  const pages = [
    overview(contract, tags),
    ...tags.map((tag) => resourcePage(contract, tag)),
    ...operations.map((placed) => operationPage(contract, placed, trail, graph)),
    ...objects.map(([name, schema]) => objectPage(contract, name, schema, operations)),
  ];
  const below: Branch[] = tags.map(({ name, own }) => ({
    title: wordsOf(name),
    path: `/docs/reference/rest/${name}`,
    below: own.map((placed) => ({
      title: placed.operation.summary,
      path: operationPath(placed),
      mark: placed.method,
    })),
  }));
  return { pages, branch: { ...reference, below } };
}

const byPath = (a: Placed, b: Placed) => a.path.localeCompare(b.path) || a.method.localeCompare(b.method);

interface Tag {
  name: string;
  description: string;
  own: Placed[];
}

/** The operations of a resource as a table. */
function tableOf(own: Placed[]): string {
  const rows = own.map((placed) => {
    const { method, path, operation } = placed;
    const only = operation['x-edition']?.only;
    const notes = [
      operation['x-extension']
        ? '<span class="badge">Extension</span>'
        : '<span class="badge strong">Specification</span>',
      only ? html`<span class="badge warn">Edition ${only}</span>` : '',
    ].join(' ');
    return html`<tr><td><a href="${operationPath(placed)}">${operation.summary}</a></td>
      <td><code>${method} ${path}</code></td><td>!${notes}</td></tr>`;
  });
  return html`<div class="table" tabindex="0" role="group"
    aria-label="Operations"><table><thead><tr><th>Operation</th><th>Path</th><th>From</th></tr></thead>
    <tbody>!${rows}</tbody></table></div>`;
}

function overview(contract: Contract, tags: Tag[]): Page {
  const sections = tags.map(
    ({ name, own }) =>
      html`<h2 id="${name}"><a href="/docs/reference/rest/${name}">${wordsOf(name)}</a></h2>!${tableOf(own)}`,
  );
  const own = tags.flatMap((tag) => tag.own);
  const extensions = own.filter(({ operation }) => operation['x-extension']).length;
  return {
    path: reference.path,
    title: reference.title,
    description: 'Every operation of /v1, with its parameters, answers, errors and examples.',
    body: html`!${prose(contract.info.description)}<p>${own.length - extensions} operations are those of the
      specification, and ${extensions} are extensions; each page says which. The same contract is
      <a href="/openapi.json">openapi.json</a> for programs, and <a href="/docs/rest">the guide</a>
      explains what all operations share.</p>!${codeBlock(
        'KEY=sk_test_…\ncurl "$TIDEGATE/v1/accounts" -H "Authorization: Bearer $KEY"',
        'bash',
      )}!${sections}`,
    headings: tags.map(({ name }) => ({ level: 2, id: name, text: wordsOf(name) })),
    entries: [{ address: reference.path, title: reference.title, place: 'REST', text: contract.info.description }],
    trail: [start],
  };
}

function resourcePage(contract: Contract, { name, description, own }: Tag): Page {
  const path = `/docs/reference/rest/${name}`;
  const objects = [...new Set(own.flatMap((placed) => objectsOf(contract, placed)))];
  const sections = objects.map((object) => {
    const schema = contract.components.schemas[object]!;
    return html`<h2 id="${object}">The object <a
      href="${objectPath(object)}">${object}</a></h2>!${prose(schema.description ?? '')}!${membersOf(schema, false)}`;
  });
  const title = wordsOf(name);
  return {
    path,
    title,
    description,
    body: html`<p class="lead">${description}</p>!${tableOf(own)}!${name === 'test_helpers' ? '' : sections}`,
    headings:
      name === 'test_helpers' ? [] : objects.map((object) => ({ level: 2, id: object, text: `The object ${object}` })),
    entries: [{ address: path, title, place: 'REST', text: `${name} ${description}` }],
    trail,
  };
}

/** The names of the objects that an operation answers; those of the list, where it answers a list. */
function objectsOf(contract: Contract, { operation }: Placed): string[] {
  const { content = {} } = answerOf(contract, operation.responses[200]!);
  return Object.values(content)
    .flatMap(({ schema }) => (schema.$ref ? [lastOf(schema.$ref)] : []))
    .map((name) => (name.endsWith('List') ? name.slice(0, -'List'.length) : name))
    .filter((name) => contract.components.schemas[name]);
}

function objectPage(contract: Contract, name: string, schema: Schema, operations: Placed[]): Page {
  const path = objectPath(name);
  const answering = operations.filter(
    ({ operation }) =>
      Object.values(answerOf(contract, operation.responses[200]!).content ?? {})[0]?.schema.$ref ===
      `#/components/schemas/${name}`,
  );
  const answers = answering.map(
    (placed) => html`<li><a href="${operationPath(placed)}">${placed.operation.summary}</a></li>`,
  );
  const example = answering
    .map(({ operation }) => Object.values(answerOf(contract, operation.responses[200]!).content ?? {})[0]?.example)
    .find((value) => value !== undefined);
  const members = schema.properties ? membersOf(schema, false) : html`<p>!${typeOf(schema)}</p>`;
  const entry: Entry = {
    address: path,
    title: name,
    place: 'REST › objects',
    text: `${Object.keys(schema.properties ?? {}).join(' ')} ${schema.description ?? ''}`,
  };
  return {
    path,
    title: name,
    description: `The object ${name} of /v1 and its members.`,
    body: html`!${prose(schema.description ?? '')}!${members}!${
      answers.length > 0 ? html`<h2 id="answered-by">Answered by</h2><ul>!${answers}</ul>` : ''
    }!${
      example === undefined
        ? ''
        : html`<h2
      id="example">Example</h2>!${codeBlock(JSON.stringify(example, null, 2), 'json')}`
    }`,
    headings: [],
    entries: [entry],
    trail,
  };
}
