import { html } from 'ghtml';
import { type EditionNotes, lastOf, type Schema } from './contract.js';
import { inline, prose } from './markdown.js';

/** The path of the page of an object of /v1. */
export const objectPath = (name: string): string => `/docs/reference/rest/objects/${name}`;

/** The members of an object schema, each with its type, its bounds and its description. */
export function membersOf(schema: Schema, input: boolean): string {
  const required = new Set(schema.required);
  const items = Object.entries({ ...schema.properties, ...schema.patternProperties }).map(([name, member]) =>
    memberOf({
      name: schema.patternProperties?.[name] ? readable(name) : name,
      schema: member,
      input,
      required: required.has(name),
    }),
  );
  return html`<ul class="members">!${items}</ul>`;
}

const readable = (pattern: string) => pattern.replaceAll(/^\^|\$$/g, '');

/** A parameter or a member of an object. */
interface Member {
  name: string;
  schema: Schema;
  /** It is sent by a client, so that the page says whether it is required. */
  input: boolean;
  required: boolean;
  description?: string;
  edition?: EditionNotes | undefined;
  example?: unknown;
}

/** One member as an item of a list, with the members of its own object folded below it. */
export function memberOf({ name, schema, input, required, ...rest }: Member): string {
  const notes = rest.edition ?? schema['x-edition'];
  const nested = nestedOf(schema);
  const values = valuesOf(schema);
  return html`<li><div class="name"><code>${name}</code><span class="type">!${typeOf(schema)}</span>!${
    input && required ? '<span class="need">required</span>' : ''
  }!${badgesOf(notes)}</div>!${prose(rest.description ?? schema.description ?? '')}!${
    values.length > 0
      ? html`<p class="values">Values: !${values.map((value) => html`<code>${value}</code>`).join(', ')}</p>`
      : ''
  }!${boundsOf(schema)}!${
    rest.example !== undefined && values.length === 0
      ? html`<p class="bounds">Example: <code>${[rest.example].flat().join(',')}</code></p>`
      : ''
  }!${
    nested
      ? html`<details><summary>Members of <code>${name}</code></summary>!${membersOf(nested, input)}</details>`
      : ''
  }</li>`;
}

/** The schema of the object in a member, or of the objects in a list, if it has members of its own. */
function nestedOf(schema: Schema): Schema | undefined {
  if (Object.keys(schema.properties ?? {}).length > 0) return schema;
  return schema.items && nestedOf(schema.items);
}

const listed = (type: Schema['type']) => [type ?? []].flat();

/** The type of a value in words; objects with a page of their own are links. */
export function typeOf(schema: Schema): string {
  if (schema.$ref) {
    const name = lastOf(schema.$ref);
    return html`<a href="${objectPath(name)}">${name}</a>`;
  }
  if (schema.oneOf) return schema.oneOf.map(typeOf).join(' or ');
  const types = listed(schema.type).map((type) =>
    type === 'array' ? html`list of !${typeOf(schema.items ?? {})}` : html`${type}`,
  );
  return types.join(' or ') || (schema.contentMediaType ?? 'any value');
}

function valuesOf(schema: Schema): string[] {
  const values = schema.enum ?? schema.items?.enum ?? (schema.const === undefined ? [] : [schema.const]);
  return values.map(String);
}

function boundsOf(schema: Schema): string {
  const of = schema.items ?? schema;
  const bounds = [
    of.minimum !== undefined && of.maximum !== undefined && of.maximum < 1e9 && `${of.minimum} to ${of.maximum}`,
    of.maxLength !== undefined && of.maxLength > 0 && of.maxLength < 5_000 && `at most ${of.maxLength} characters`,
    of.format !== undefined && `format \`${of.format}\``,
    of.pattern !== undefined && of.pattern.length <= 40 && `pattern \`${of.pattern}\``,
    schema.default !== undefined && `default \`${String(schema.default)}\``,
  ].filter((text) => typeof text === 'string');
  return bounds.length > 0 ? html`<p class="bounds">!${inline(bounds.join('; '))}</p>` : '';
}

/** What differs between the editions, as badges. */
function badgesOf(notes: EditionNotes | undefined): string {
  if (!notes) return '';
  const texts = [
    notes.only && `Edition ${notes.only} only`,
    ...(notes.required ?? []).map((edition) => `required in Edition ${edition}`),
    ...Object.entries(notes.oneOf ?? {}).map(([edition, names]) => `Edition ${edition}: one of ${names.join(', ')}`),
  ].filter((text) => typeof text === 'string');
  return texts.map((text) => html`<span class="badge warn">${text}</span>`).join('');
}
