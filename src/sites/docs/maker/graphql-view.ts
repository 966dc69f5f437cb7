import { html } from 'ghtml';
import { type GraphQLArgument, type GraphQLField, type GraphQLInputField, isNonNullType } from 'graphql';
import { inline, prose } from './markdown.js';
import type { Link } from './page.js';

/** The first page of the documentation. */
export const start: Link = { title: 'Documentation', path: '/docs' };
/** The overview of the graph. */
export const reference: Link = { title: 'GraphQL reference', path: '/docs/reference/graphql' };
/** The list of all types. */
export const typesPage: Link = { title: 'Types', path: '/docs/reference/graphql/types' };

type Field = GraphQLField<unknown, unknown>;

/** A root field with its kind. */
export interface Root {
  kind: 'query' | 'mutation';
  field: Field;
}

/** The path of the page of a type. */
export const typePath = (name: string) => `${typesPage.path}/${name}`;
/** The path of the page of a root field. */
export const rootPath = ({ kind, field }: Root) =>
  `${reference.path}/${kind === 'query' ? 'queries' : 'mutations'}/${field.name}`;

/** The first sentence of a description. */
export const firstSentence = (text: string | null | undefined) => (text ?? '').split(/(?<=\.)\s/)[0]!;

/** That a field or value is deprecated, with the reason. */
export const deprecation = ({ deprecationReason }: { deprecationReason?: string | null | undefined }): string =>
  deprecationReason ? html`<p><span class="badge warn">Deprecated</span> !${inline(deprecationReason)}</p>` : '';

/** A type as the schema writes it, with a link to its page. */
export function typeOf(type: { toString(): string }): string {
  const text = String(type);
  const name = text.replaceAll(/[[\]!]/g, '');
  const [before = '', after = ''] = text.split(name);
  return html`<code>${before}<a href="${typePath(name)}">${name}</a>${after}</code>`;
}

/**
 * Arguments, input fields or fields as a list, each with its type and description. Only the outermost members have
 * anchors, since the arguments of several fields may have the same names.
 */
export function membersOf(members: readonly (GraphQLArgument | GraphQLInputField | Field)[], anchored = true): string {
  if (members.length === 0) return '';
  const items = members.map((member) => {
    const isField = 'args' in member;
    const needed = !isField && isNonNullType(member.type) && member.defaultValue === undefined;
    const value = isField ? undefined : member.defaultValue;
    const nested =
      isField && member.args.length > 0
        ? html`<details><summary>Arguments of
          <code>${member.name}</code></summary>!${membersOf(member.args, false)}</details>`
        : '';
    const standard =
      value === undefined ? '' : html`<p class="bounds">Default: <code>${JSON.stringify(value)}</code></p>`;
    return html`<li!${anchored ? html` id="${member.name}"` : ''}><div
      class="name"><code!${member.deprecationReason ? ' class="old"' : ''}>${member.name}</code><span
      class="type">!${typeOf(member.type)}</span>!${
        needed ? '<span class="need">required</span>' : ''
      }</div>!${deprecation(member)}!${prose(member.description ?? '')}!${standard}!${nested}</li>`;
  });
  return html`<ul class="members">!${items}</ul>`;
}
