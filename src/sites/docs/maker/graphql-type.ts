import { html } from 'ghtml';
import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isUnionType,
} from 'graphql';
import {
  deprecation,
  firstSentence,
  membersOf,
  reference,
  type Root,
  rootPath,
  start,
  typeOf,
  typePath,
  typesPage,
} from './graphql-view.js';
import { inline, prose } from './markdown.js';
import type { Page } from './page.js';

/** The page that lists all types by their kind. */
export function listOfTypes(types: GraphQLNamedType[]): Page {
  const kinds: [title: string, of: (type: GraphQLNamedType) => boolean][] = [
    ['Objects', (type) => isObjectType(type) && !/(Connection|Edge|Payload)$/.test(type.name)],
    ['Interfaces and unions', (type) => isInterfaceType(type) || isUnionType(type)],
    ['Enums', isEnumType],
    ['Scalars', isScalarType],
    ['Inputs', isInputObjectType],
    ['Results of mutations', (type) => type.name.endsWith('Payload')],
    ['Connections and edges', (type) => isObjectType(type) && /(Connection|Edge)$/.test(type.name)],
  ];
  const idOf = (title: string) => title.toLowerCase().replaceAll(' ', '-');
  const sections = kinds.map(([title, of]) => {
    const own = types.filter(of).toSorted((a, b) => a.name.localeCompare(b.name));
    if (own.length === 0) return '';
    const items = own.map(
      (type) =>
        html`<li><a href="${typePath(type.name)}"><code>${type.name}</code></a>
          !${inline(firstSentence(type.description))}</li>`,
    );
    return html`<h2 id="${idOf(title)}">${title}</h2><ul>!${items}</ul>`;
  });
  return {
    path: typesPage.path,
    title: 'Types',
    description: 'The types of the graph.',
    body: sections.join(''),
    headings: kinds.map(([title]) => ({ level: 2, id: idOf(title), text: title })),
    entries: [],
    trail: [start, reference],
  };
}

/** The page of a type: its fields or values, and where it is used. */
export function typePage(type: GraphQLNamedType, types: GraphQLNamedType[], roots: Root[]): Page {
  const path = typePath(type.name);
  const fields = fieldsOf(type);
  const values = isEnumType(type) ? type.getValues() : [];
  const parts = [
    isScalarType(type) && type.specifiedByURL
      ? html`<p>Specified by <a href="${type.specifiedByURL}" rel="noreferrer">${type.specifiedByURL}</a>.</p>`
      : '',
    isObjectType(type) && type.getInterfaces().length > 0
      ? html`<p>Implements !${type.getInterfaces().map(typeOf).join(', ')}.</p>`
      : '',
    isUnionType(type) ? html`<p>One of !${type.getTypes().map(typeOf).join(', ')}.</p>` : '',
    membersOf(fields),
    values.length > 0
      ? html`<ul class="members">!${values.map(
          (value) => html`<li><div
        class="name"><code>${value.name}</code></div>!${deprecation(value)}!${prose(value.description ?? '')}</li>`,
        )}</ul>`
      : '',
    usesOf(type, types, roots),
  ];
  return {
    path,
    title: type.name,
    description: firstSentence(type.description) || `The type ${type.name} of the graph.`,
    head: html`<h1><code>${type.name}</code></h1><ul class="badges" aria-label="Properties of the type"><li
      class="strong">${kindOf(type)}</li></ul>`,
    body: html`!${prose(type.description ?? '')}!${parts}`,
    headings: [],
    entries: [
      {
        address: path,
        title: type.name,
        place: `GraphQL › ${kindOf(type)}`,
        text: `${[...fields, ...values].map(({ name }) => name).join(' ')} ${type.description ?? ''}`,
      },
    ],
    trail: [start, reference, typesPage],
  };
}

const kindOf = (type: GraphQLNamedType): string =>
  isObjectType(type)
    ? 'Object'
    : isInterfaceType(type)
      ? 'Interface'
      : isUnionType(type)
        ? 'Union'
        : isEnumType(type)
          ? 'Enum'
          : isScalarType(type)
            ? 'Scalar'
            : 'Input';

const fieldsOf = (type: GraphQLNamedType): (GraphQLField<unknown, unknown> | GraphQLInputField)[] =>
  isObjectType(type) || isInterfaceType(type) || isInputObjectType(type) ? Object.values(type.getFields()) : [];

const nameOf = ({ type }: { type: { toString(): string } }): string => String(type).replaceAll(/[[\]!]/g, '');

/** Where a type is used: in the types of fields, and in arguments of root fields. */
function usesOf(type: GraphQLNamedType, types: GraphQLNamedType[], roots: Root[]): string {
  const inTypes = types.filter((other) => fieldsOf(other).some((field) => nameOf(field) === type.name));
  const inRoots = roots.filter(
    ({ field }) => nameOf(field) === type.name || field.args.some((argument) => nameOf(argument) === type.name),
  );
  const links = [
    ...inRoots.map((root) => html`<li><a href="${rootPath(root)}"><code>${root.field.name}</code></a></li>`),
    ...inTypes.map(({ name }) => html`<li><a href="${typePath(name)}"><code>${name}</code></a></li>`),
  ];
  // Types such as ID are everywhere; a list of all places would help no reader.
  if (links.length === 0 || links.length > 40) return '';
  return html`<h2 id="used-by">Used by</h2><ul>!${links}</ul>`;
}
