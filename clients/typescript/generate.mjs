/**
 * `npm run clients`: writes the generated parts of the client from the contract of /v1 and the schema of the graph,
 * and compiles it. The generator of types is in a package of its own, because it does not run with TypeScript 7.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = new URL('./', import.meta.url);
const root = new URL('../../', here);
const read = (name) => fs.readFileSync(new URL(name, root), 'utf8');

/** The types of the scalars as JSON, from the guide that lists them. */
const scalars = () => /^```json scalars\n([\s\S]*?)^```/m.exec(read('docs/dashboards.md'))[1].trim();

/** A hash of what the generated files are made from. Their first line has it, so that a test finds older ones. */
export function sourceHash() {
  const files = ['schema/openapi.json', 'schema/graph.graphql', 'clients/typescript/generate.mjs'];
  return createHash('sha256')
    .update([...files.map(read), scalars()].join('\0'))
    .digest('hex');
}

const comment = (text) => text.replaceAll('*/', String.raw`*\/`);
const capital = (name) => name[0].toUpperCase() + name.slice(1);

/** A schema without what types do not show: they are a third as long without examples. */
const plain = (schema) =>
  JSON.parse(
    JSON.stringify(schema, (key, value) => (/^(examples?$|x-)/.test(key) ? undefined : value)).replaceAll(
      '"type":"string","contentMediaType":"application/octet-stream"',
      '"type":"string","format":"binary"',
    ),
  );

/** A form has `metadata[key]` as fields of their own, for which the client takes the object. */
function bodyOf(type, { patternProperties, ...schema }) {
  if (type !== 'multipart/form-data' || !patternProperties) return schema;
  const metadata = {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Your own keys and values.',
  };
  return { ...schema, properties: { ...schema.properties, metadata } };
}

/** The operations of the contract, with the names of the types of what each takes and answers. */
function operationsOf(contract, schemas) {
  const parameter = (each) => (each.$ref ? contract.components.parameters[each.$ref.split('/').at(-1)] : each);
  return Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId: id, requestBody, responses } = operation;
      const parameters = (operation.parameters ?? []).map(parameter);
      const query = parameters.filter((each) => each.in === 'query');
      if (query.length > 0)
        schemas[`${capital(id)}Query`] = {
          type: 'object',
          description: `What \`${id}\` may select.`,
          properties: Object.fromEntries(
            query.map(({ name, description, schema }) => [name, { ...schema, description }]),
          ),
          additionalProperties: false,
        };
      const [[type, content] = []] = Object.entries(requestBody?.content ?? {});
      if (content?.schema && Object.keys(content.schema.properties ?? {}).length > 0)
        schemas[`${capital(id)}Body`] = { description: `What \`${id}\` takes.`, ...bodyOf(type, content.schema) };
      const answer = responses['200'].content?.['application/json']?.schema;
      const name = answer?.$ref?.split('/').at(-1);
      const list = parameters.some((each) => each.name === 'starting_after');
      return {
        ...{ id, path, list, form: type === 'multipart/form-data', method: method.toUpperCase() },
        docs: [`${operation.summary}.`, operation.description ?? '', `\`${method.toUpperCase()} ${path}\``],
        inPath: parameters.filter((each) => each.in === 'path').map((each) => each.name),
        query: schemas[`${capital(id)}Query`] && `${capital(id)}Query`,
        body: schemas[`${capital(id)}Body`] && `${capital(id)}Body`,
        needed: requestBody?.required === true,
        answer: list ? name.replace(/List$/, '') : name,
      };
    }),
  );
}

/** The method of an operation: what belongs to its path, then its body or query, then the options of a call. */
function methodOf({ id, path, method, list, form, docs, inPath, query, body, needed, answer }) {
  const input = body ? `body${needed ? '' : '?'}: v1.${body}` : query ? `query?: v1.${query}` : undefined;
  const parameters = [...inPath.map((name) => `${name}: string`), input, 'options?: CallOptions'].filter(Boolean);
  const address =
    inPath.length > 0 ? `\`${path.replaceAll(/\{(\w+)\}/g, '$${encodeURIComponent($1)}')}\`` : `'${path}'`;
  const sent = [body && 'body', query && 'query', form && 'form: true', 'options'].filter(Boolean).join(', ');
  const result = list ? `List<v1.${answer}>` : `Promise<${answer ? `v1.${answer}` : 'Response'}>`;
  const kind = list ? 'list' : answer ? 'call' : 'download';
  return `  /**
${docs
  .filter((text) => text !== '')
  .map((text) => `   * ${comment(text)}`)
  .join('\n   *\n')}
   */
  ${id}(${parameters.join(', ')}): ${result} {
    return this.#transport.${kind}('${method}', ${address}, { ${sent} });
  }`;
}

/** The types of all schemas: what is sent and answered, each with its description. */
async function typesOf(contract, schemas) {
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const { default: typescript } = await import('typescript');
  const blob = typescript.factory.createTypeReferenceNode('Blob');
  const document = { openapi: '3.1.0', info: contract.info, paths: {}, components: { schemas: plain(schemas) } };
  const tree = await openapiTS(JSON.stringify(document), {
    ...{ rootTypes: true, rootTypesNoSchemaPrefix: true, rootTypesKeepCasing: true, defaultNonNullable: false },
    transform: ({ format }) => (format === 'binary' ? blob : undefined),
  });
  return astToString(tree)
    .replaceAll(/^export type (?:paths|webhooks|operations|\$defs) = .*\n/gm, '')
    .replaceAll(' (enum property replaced by openapi-typescript)', '')
    .replaceAll(/^export type (\w+) =/gm, (line, name) =>
      schemas[name]?.description ? `/** ${comment(schemas[name].description)} */\n${line}` : line,
    );
}

function operationsText(operations) {
  return `import type { List } from '../list.js';
import type { CallOptions, Transport } from '../transport.js';
import type * as v1 from './types.js';

/** The operations of /v1, by the names that they have in the graph and in the reference. */
export class Operations {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

${operations.map(methodOf).join('\n\n')}
}
`;
}

/** The types of the graph for gql.tada, and the types of its scalars, which the guide lists. */
async function graphText() {
  const { typesText } = await import('../../src/sites/dashboard/schema-types.mjs');
  return `${typesText(read('schema/graph.graphql'))}
/** The types of the scalars. */
export type scalars = ${scalars().replaceAll(/: "(.*)"/g, ': $1')};
`;
}

async function main() {
  const contract = JSON.parse(read('schema/openapi.json'));
  const schemas = { ...contract.components.schemas };
  const operations = operationsOf(contract, schemas);
  const head = `// Generated by \`npm run clients\` from ${sourceHash()}; do not edit.\n`;
  const write = (name, text) => fs.writeFileSync(new URL(`src/generated/${name}`, here), `${head}${text}`);
  fs.mkdirSync(new URL('src/generated/', here), { recursive: true });
  write('types.ts', await typesOf(contract, schemas));
  write('operations.ts', operationsText(operations));
  write('graph.d.ts', await graphText());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
