import type { GraphQLSchema } from 'graphql';
import { type Audience, namedAudience } from './audience.js';
import { inEdition } from './edition-notes.js';
import { errorSchema } from './errors.js';
import { type Examples, examplesOf } from './examples.js';
import { requestHeaders, responseHeaders } from './headers.js';
import { Kinds } from './objects.js';
import { pathsOf, refusalResponses, routesFor, tagOf } from './operations.js';
import { pageParameterObjects } from './parameters.js';
import type { Json } from './schemas.js';
import { webhooksOf } from './webhooks.js';
import { wordingOf, wordsOf } from './wording.js';
import { version } from '../../../config/version.js';

const collects =
  'Collects payments across borders: accounts, receiving and payout addresses, deposits, balances and receivables.';
const errorsText = `**Errors.** Each answer that is not 2xx or 304 is an error object with an entry for each problem. \
The codes of each status are in \`x-codes\`.`;
const description = `${collects}

**Keys.** Each request has an API key, or the token of a session in a browser, which decides the account, the mode \
(\`sk_test_\`, \`sk_live_\`) and the edition.

**Editions.** The interface has two editions, and the account's edition decides. What only one edition has, requires \
or accepts is in the member \`x-edition\` and in the description.

${errorsText}`;

const descriptionFor = (audience: Audience): string => `${collects}

**Whose.** This is what ${namedAudience(audience)} may send and receive. Without a key the gateway answers the \
contract of all keys.

${errorsText}`;

/**
 * The contract of /v1 as OpenAPI 3.1: everything that the declarations say about it. With an audience, it is exactly
 * what these callers may send and receive.
 */
export function contractOf(schema: GraphQLSchema, all: Examples, audience?: Audience): Json {
  const whole = documentOf(schema, audience ? examplesOf(audience.edition, all) : all, audience);
  return audience ? used(whole) : whole;
}

/** A contract without the components that nothing in it refers to. */
function used(document: Json): Json {
  const components = document.components as Record<string, Json>;
  const kept = new Set<string>();
  const look = (value: unknown): void => {
    if (typeof value === 'string') {
      const [, , kind = '', name = ''] = value.startsWith('#/components/') ? value.split('/') : [];
      const component = components[kind]?.[name];
      if (component === undefined || kept.has(value)) return;
      kept.add(value);
      look(component);
    } else if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) look(member);
  };
  look([document.paths, document.webhooks]);
  const { securitySchemes, ...others } = components;
  const rest = Object.entries(others).map(([kind, each]) => [
    kind,
    Object.fromEntries(Object.entries(each).filter(([name]) => kept.has(`#/components/${kind}/${name}`))),
  ]);
  return { ...document, components: { ...Object.fromEntries(rest), securitySchemes } };
}

function documentOf(schema: GraphQLSchema, examples: Examples, audience: Audience | undefined): Json {
  const words = wordingOf(schema);
  const wording: typeof words = (text) => inEdition(words(text), audience);
  const kinds = new Kinds(schema, audience);
  const source = { schema, kinds, wording, examples, audience };
  const { ofFields, ofCode } = routesFor(audience);
  const tags = [...new Set([...ofFields, ...ofCode].map(({ path }) => tagOf(path)))].sort();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tidegate REST API',
      version,
      description: audience ? descriptionFor(audience) : description,
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service.' }],
    security: [{ bearer: [] }, { basic: [] }],
    tags: tags.map((name) => ({ name, description: tagDescription(name) })),
    paths: pathsOf(source),
    webhooks: webhooksOf(examples.events, audience),
    components: {
      schemas: { ...kinds.schemas(wording), Error: errorSchema },
      parameters: { ...pageParameterObjects, ...requestHeaders },
      headers: responseHeaders(examples.headers),
      responses: {
        NotModified: {
          description: 'The answer has not changed since the one with the `ETag` in `If-None-Match`.',
          headers: { 'Request-Id': { $ref: '#/components/headers/Request-Id' } },
        },
        ...refusalResponses(source),
      },
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The API key, or the token of a session, as `Authorization: Bearer sk_…`.',
        },
        basic: { type: 'http', scheme: 'basic', description: 'The API key as the username, and an empty password.' },
      },
    },
  };
}

const tagDescription = (name: string): string =>
  name === 'test_helpers'
    ? 'What only test mode has: events that a bank, a payer or the operator would cause.'
    : `Operations on ${wordsOf(name).join(' ')}.`;

/** The contract as text, as committed in schema/openapi.json. */
export function contractText(schema: GraphQLSchema, examples: Examples): string {
  return `${JSON.stringify(contractOf(schema, examples), null, 1)}\n`;
}
