import type { GraphQLSchema } from 'graphql';
import { restRoutes, routes } from '../../../resources/registry.js';
import { errorSchema, type Examples } from './errors.js';
import { requestHeaders, responseHeaders } from './headers.js';
import { Kinds } from './objects.js';
import { pageParameterObjects, pathsOf, refusalResponses, tagOf } from './operations.js';
import type { Json } from './schemas.js';
import { webhooksOf } from './webhooks.js';
import { wordingOf, wordsOf } from './wording.js';
import { version } from '../../../config/version.js';

const description = `Collects payments across borders: accounts, receiving and payout addresses, deposits, balances, \
checkouts and receivables.

**Keys.** Each request has an API key, or the token of a session in a browser, which decides the account, the mode \
(\`sk_test_\`, \`sk_live_\`) and the edition.

**Editions.** The interface has two editions, and the account's edition decides. What only one edition has, requires \
or accepts is in the member \`x-edition\` and in the description.

**Errors.** Each answer that is not 2xx or 304 is an error object with an entry for each problem. The codes of each \
status are in \`x-codes\`.`;

/** The contract of /v1 as OpenAPI 3.1: everything that the declarations say about it. */
export function contractOf(schema: GraphQLSchema, examples: Examples): Json {
  const wording = wordingOf(schema);
  const kinds = new Kinds(schema);
  const tags = [...new Set([...routes, ...restRoutes].map(({ path }) => tagOf(path)))].sort();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tidegate REST API',
      version,
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service.' }],
    security: [{ bearer: [] }, { basic: [] }],
    tags: tags.map((name) => ({ name, description: tagDescription(name) })),
    paths: pathsOf({ schema, kinds, wording, examples }),
    webhooks: webhooksOf(examples.events),
    components: {
      schemas: { ...kinds.schemas(wording), Error: errorSchema },
      parameters: { ...pageParameterObjects, ...requestHeaders },
      headers: responseHeaders(examples.headers),
      responses: {
        NotModified: {
          description: 'The answer has not changed since the one with the `ETag` in `If-None-Match`.',
          headers: { 'Request-Id': { $ref: '#/components/headers/Request-Id' } },
        },
        ...refusalResponses(examples),
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
