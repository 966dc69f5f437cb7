import { html } from 'ghtml';
import { type GraphQLSchema, getNamedType, isInputObjectType, isIntrospectionType } from 'graphql';
import { operations } from '../../../resources/registry.js';
import { wordsOf } from './contract.js';
import { exampleOf } from './graphql-example.js';
import { listOfTypes, typePage } from './graphql-type.js';
import {
  deprecation,
  firstSentence,
  membersOf,
  reference,
  type Root,
  rootPath,
  start,
  typeOf,
  typesPage,
} from './graphql-view.js';
import { codeBlock, inline, prose } from './markdown.js';
import type { Branch, Heading, Page } from './page.js';

/** All root fields of the graph. */
function rootsOf(schema: GraphQLSchema): Root[] {
  return [
    ...Object.values(schema.getQueryType()!.getFields()).map((field): Root => ({ kind: 'query', field })),
    ...Object.values(schema.getMutationType()!.getFields()).map((field): Root => ({ kind: 'mutation', field })),
  ];
}

/** The pages of root fields by their names, for links from the reference of /v1. */
export const rootPaths = (schema: GraphQLSchema): Map<string, string> =>
  new Map(rootsOf(schema).map((root) => [root.field.name, rootPath(root)]));

/** The reference of the graph: an overview, a page for each root field, and one for each type. */
export function graphReference(schema: GraphQLSchema): { pages: Page[]; branch: Branch } {
  const roots = rootsOf(schema);
  const groups = groupsOf(roots);
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && type !== schema.getQueryType() && type !== schema.getMutationType(),
  );
  const below: Branch[] = [
    ...[...groups].map(([title, own]) => ({
      title,
      path: `${reference.path}/${title.toLowerCase().replaceAll(' ', '-')}`,
      below: own.map((root) => ({ title: root.field.name, path: rootPath(root) })),
    })),
    typesPage,
  ];
  const pages = [
    overview(groups),
    ...[...groups].map(([title, own]) => groupPage(title, own)),
    ...[...groups].flatMap(([title, own]) => own.map((root) => rootPage(root, title))),
    listOfTypes(types),
    ...types.map((type) => typePage(type, types, roots)),
  ];
  return { pages, branch: { ...reference, below } };
}

/** The root fields by the object that they are about, as their operations declare it. */
function groupsOf(roots: Root[]): Map<string, Root[]> {
  const groups = new Map<string, Root[]>();
  for (const root of roots) {
    const title = wordsOf(operations.get(root.field.name)?.object ?? 'other');
    groups.set(title, [...(groups.get(title) ?? []), root]);
  }
  return new Map([...groups].toSorted(([a], [b]) => a.localeCompare(b)));
}

function tableOf(own: Root[]): string {
  const rows = own.map(
    (root) =>
      html`<tr><td><a
        href="${rootPath(root)}"><code>${root.field.name}</code></a></td><td>${root.kind}</td><td>!${inline(
          firstSentence(root.field.description),
        )}</td></tr>`,
  );
  return html`<div class="table" tabindex="0" role="group"
    aria-label="Root fields"><table><thead><tr><th>Field</th><th>Kind</th><th>What it
    does</th></tr></thead><tbody>!${rows}</tbody></table></div>`;
}

function overview(groups: Map<string, Root[]>): Page {
  const idOf = (title: string) => title.toLowerCase().replaceAll(' ', '-');
  const sections = [...groups].map(
    ([title, own]) =>
      html`<h2 id="${idOf(title)}"><a href="${reference.path}/${idOf(title)}">${title}</a></h2>!${tableOf(own)}`,
  );
  const call =
    `curl "$TIDEGATE/graphql" -H "Authorization: Bearer $KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d ` +
    `'{"query": "{ viewer { account { id type } } }"}'`;
  return {
    path: reference.path,
    title: reference.title,
    description: 'Queries, mutations and types of the graph.',
    body: html`<p class="lead">One endpoint, <code>/graphql</code>, has everything that <code>/v1</code>
      has, with every edge walkable both ways.</p><p>Run queries in <a href="/graphiql">the explorer</a>, read
      <a href="/docs/dashboards">the guide</a> for lists, errors and costs, or look up
      <a href="${typesPage.path}">a type</a>.</p>!${codeBlock(call, 'bash')}!${sections}`,
    headings: [...groups.keys()].map((title) => ({ level: 2, id: idOf(title), text: title })),
    entries: [
      {
        address: reference.path,
        title: reference.title,
        place: 'GraphQL',
        text: 'graph schema queries mutations types',
      },
    ],
    trail: [start],
  };
}

function groupPage(title: string, own: Root[]): Page {
  const path = `${reference.path}/${title.toLowerCase().replaceAll(' ', '-')}`;
  return {
    path,
    title,
    description: `The root fields of the graph about: ${title.toLowerCase()}.`,
    body: tableOf(own),
    headings: [],
    entries: [{ address: path, title, place: 'GraphQL', text: own.map(({ field }) => field.name).join(' ') }],
    trail: [start, reference],
  };
}

function rootPage(root: Root, group: string): Page {
  const { kind, field } = root;
  const operation = operations.get(field.name);
  const badges = [
    html`<li class="strong">${kind === 'query' ? 'Query' : 'Mutation'}</li>`,
    ...(operation
      ? [
          html`<li>Permission: ${operation.access}</li>`,
          html`<li>For ${operation.callers.map((caller) => `${caller.replaceAll('_', ' ')}s`).join(', ')}</li>`,
          operation.modes?.length === 1 ? html`<li class="warn">${wordsOf(operation.modes[0]!)} mode only</li>` : '',
          operation.editions?.length === 1 ? html`<li class="warn">Edition ${operation.editions[0]} only</li>` : '',
        ]
      : []),
    field.deprecationReason ? '<li class="warn">Deprecated</li>' : '',
  ];
  const input = field.args.find(({ name }) => name === 'input');
  const inputType = input && getNamedType(input.type);
  const fields = inputType && isInputObjectType(inputType) ? Object.values(inputType.getFields()) : [];
  const headings: Heading[] = [];
  const section = (text: string, content: string) => {
    if (content === '') return '';
    const id = text.toLowerCase().replaceAll(' ', '-');
    headings.push({ level: 2, id, text });
    return html`<h2 id="${id}">${text}</h2>!${content}`;
  };
  const own = field.args.filter((argument) => argument !== input);
  const example = html`!${codeBlock(exampleOf(kind, field), 'graphql')}<p>Paste it into
    <a href="/graphiql">the explorer</a>.</p>`;
  const sections = [
    section('Arguments', membersOf(own)),
    section('Input', membersOf(fields)),
    section('Example', example),
  ].join('');
  return {
    path: rootPath(root),
    title: field.name,
    description: firstSentence(field.description) || `The ${kind} ${field.name}.`,
    head: html`<h1><code>${field.name}</code></h1><ul class="badges"
      aria-label="Properties of the field">!${badges}</ul>`,
    body: html`!${deprecation(field)}!${prose(field.description ?? '')}<p>Answers
      !${typeOf(field.type)}.</p>!${sections}`,
    headings,
    entries: [
      {
        address: rootPath(root),
        title: field.name,
        place: `GraphQL › ${kind}`,
        text: `${field.description ?? ''} ${[...own, ...fields].map(({ name }) => name).join(' ')}`,
      },
    ],
    trail: [start, reference, { title: group, path: `${reference.path}/${group.toLowerCase().replaceAll(' ', '-')}` }],
  };
}
