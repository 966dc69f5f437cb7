import { type DocumentNode, getOperationAST, Kind, print, separateOperations } from 'graphql';

/** A request of the explorer, as code in another language sends it. */
export interface Shown {
  /** The address of the graph. */
  url: string;
  document: DocumentNode;
  operationName?: string | undefined;
  variables: object;
  /** Headers besides the key and the type of the content, in small letters. */
  headers: Readonly<Record<string, string>>;
}

/** The languages of the code, in their order. */
export const languages = ['curl', 'fetch', 'Apollo Client', 'urql'] as const;
export type Language = (typeof languages)[number];

type Kinds = 'query' | 'mutation' | 'subscription';

/** One operation with its own fragments, and what code needs to know about it. */
interface Operation {
  url: string;
  text: string;
  kind: Kinds;
  variables: object;
  headers: Readonly<Record<string, string>>;
}

/** Writes a request as code. Throws an error that says why there is none, such as a document without an operation. */
export function codeOf(language: Language, shown: Shown): string {
  const operation = operationOf(shown);
  return writers[language](operation);
}

function operationOf({ url, document, operationName, variables, headers }: Shown): Operation {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  if (operations.length === 0) throw new Error('The document has no operation.');
  const found = getOperationAST(document, operationName) ?? getOperationAST(document, undefined);
  if (!found) throw new Error('The document has several operations. Run one of them, and its code is here.');
  const own = separateOperations(document)[found.name?.value ?? ''] ?? document;
  return { url, text: print(own), kind: found.operation as Kinds, variables, headers };
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);
/** A text as a literal of JavaScript. */
const literal = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
/** A text in a template literal, so that it stays readable. */
const template = (text: string): string => `\`${text.replace(/[\\`]|\$(?=\{)/g, '\\$&')}\``;
/** A text as a word of a POSIX shell. */
const word = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const keyOf = '// A secret key stays on your server. In a page, use the token of a session in its place.';
const repeat = '// Send the same key again when you repeat this request, and a new one for another.';

/** The headers as members of an object literal, after the key. */
const members = (headers: Readonly<Record<string, string>>): string =>
  ['authorization: `Bearer ${process.env.TIDEGATE_KEY}`']
    .concat(Object.entries(headers).map(([name, value]) => `${literal(name)}: ${literal(value)}`))
    .map((member) => `  ${member},\n`)
    .join('');

function curl({ url, text, kind, variables, headers }: Operation): string {
  const live = kind === 'subscription';
  const lines = [
    `curl ${live ? '-N ' : ''}${word(url)}`,
    `-H "Authorization: Bearer $TIDEGATE_KEY"`,
    `-H 'Content-Type: application/json'`,
    ...(live ? [`-H 'Accept: text/event-stream'`] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${word(`${name}: ${value}`)}`),
    // A new key for each code that is written: the same code twice is the same request.
    ...(kind === 'mutation' ? [`-H 'Idempotency-Key: ${crypto.randomUUID()}'`] : []),
    `--data-binary ${word(json({ query: text, variables }))}`,
  ];
  return `${lines.join(' \\\n  ')}\n`;
}

function viaFetch(operation: Operation): string {
  const { url, text, kind, variables, headers } = operation;
  const live = kind === 'subscription';
  return `${keyOf}
const headers = {
${members(headers)}  'content-type': 'application/json',
${live ? `  accept: 'text/event-stream',\n` : ''}};

const query = ${template(text)};
const variables = ${json(variables)};

const response = await fetch(${literal(url)}, {
  method: 'POST',
${
  kind === 'mutation' ? `  ${repeat}\n  headers: { ...headers, 'idempotency-key': crypto.randomUUID() },` : '  headers,'
}
  body: JSON.stringify({ query, variables }),
});
${live ? events : `console.log(JSON.stringify(await response.json(), null, 2));\n`}`;
}

const events = `let text = '';
for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
  const messages = (text + piece).split('\\n\\n');
  text = messages.pop();
  for (const message of messages) {
    const fields = Object.fromEntries(message.split('\\n').map((line) => line.split(/: ?(.*)/s)));
    if (fields.event === 'next') console.log(fields.data);
  }
}
`;

const webSocketOf = (url: string): string => url.replace(/^http/, 'ws');

function apollo({ url, text, kind, variables, headers }: Operation): string {
  const live = kind === 'subscription';
  const imports = live
    ? `import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient } from 'graphql-ws';`
    : `import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';`;
  const link = live
    ? `new GraphQLWsLink(createClient({ url: ${literal(webSocketOf(url))}, connectionParams: headers }))`
    : `new HttpLink({ uri: ${literal(url)}, headers })`;
  const calls: Record<Kinds, string> = {
    query: `const { data } = await client.query({ query: document, variables });
console.log(JSON.stringify(data, null, 2));
`,
    mutation: `const { data } = await client.mutate({
  mutation: document,
  variables,
  ${repeat}
  context: { headers: { 'idempotency-key': crypto.randomUUID() } },
});
console.log(JSON.stringify(data, null, 2));
`,
    subscription: `client
  .subscribe({ query: document, variables })
  .subscribe({ next: ({ data }) => console.log(JSON.stringify(data)), error: console.error });
`,
  };
  return `${imports}

${keyOf}
const headers = {
${members(headers)}};
const client = new ApolloClient({
  cache: new InMemoryCache(),
  link: ${link},
});

const document = gql${template(text)};
const variables = ${json(variables)};
${calls[kind]}`;
}

function urql({ url, text, kind, variables, headers }: Operation): string {
  const calls: Record<Kinds, string> = {
    query: `const { data, error } = await client.query(document, variables);
console.log(JSON.stringify(data ?? error, null, 2));
`,
    mutation: `${repeat}
const own = { ...headers, 'idempotency-key': crypto.randomUUID() };
const { data, error } = await client.mutation(document, variables, { fetchOptions: { headers: own } });
console.log(JSON.stringify(data ?? error, null, 2));
`,
    subscription: `client
  .subscription(document, variables)
  .subscribe(({ data, error }) => console.log(JSON.stringify(data ?? error)));
`,
  };
  return `import { Client, fetchExchange, gql } from '@urql/core';

${keyOf}
const headers = {
${members(headers)}};
const client = new Client({
  url: ${literal(url)},
  exchanges: [fetchExchange],
  preferGetMethod: false,
${kind === 'subscription' ? '  fetchSubscriptions: true,\n' : ''}  fetchOptions: { headers },
});

const document = gql${template(text)};
const variables = ${json(variables)};
${calls[kind]}`;
}

const writers: Record<Language, (operation: Operation) => string> = {
  curl,
  fetch: viaFetch,
  'Apollo Client': apollo,
  urql,
};
