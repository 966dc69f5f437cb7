import fs from 'node:fs';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client/core';
import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import {
  buildSchema,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
  parse,
  validate,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { cacheOptions } from '../../examples/dashboard/cache.js';
import { givenIn, nickname, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const schemaOf = (name: string) => buildSchema(fs.readFileSync(`schema/${name}.graphql`, 'utf8'));
const schema = schemaOf('graph');
const guide = fs.readFileSync('docs/dashboards.md', 'utf8');
/** The block of the guide with a word after its language. */
const blockOf = (word: string) => new RegExp(`^\`\`\`\\w+ ${word}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(guide)![1]!;

const objects = Object.values(schema.getTypeMap())
  .filter(isObjectType)
  .filter((type) => !isIntrospectionType(type));
const named = (name: string) => schema.getType(name);

describe('the map of scalars in the guide', () => {
  const scalars = JSON.parse(blockOf('scalars')) as Record<string, string>;

  it('has every scalar of the schema, and no other', () => {
    const own = Object.values(schema.getTypeMap()).filter((type) => isScalarType(type) && !isSpecifiedScalarType(type));
    expect(Object.keys(scalars)).toEqual(own.map(({ name }) => name).toSorted());
  });

  it('generates types in which every scalar has its type', async () => {
    const generate = (config: object) =>
      codegen({
        ...{ filename: 'graph.ts', documents: [], schema: parse(fs.readFileSync('schema/graph.graphql', 'utf8')) },
        ...{ plugins: [{ typescript: {} }], pluginMap: { typescript }, config: { strictScalars: true, ...config } },
      });
    const text = await generate({ scalars });
    for (const [name, type] of Object.entries(scalars))
      expect(text).toContain(`${name}: { input: ${type}; output: ${type}; }`);
    expect(text).not.toMatch(/: any\b/);
    await expect(generate({ scalars: { ...scalars, Amount: undefined } })).rejects.toThrow('Amount');
  });
});

describe("the rules for Apollo's cache in the example", () => {
  let user: Speaker;
  beforeAll(async () => {
    user = await given.directUser(2);
  });

  const clientOf = (cache: InMemoryCache) =>
    new ApolloClient({
      cache,
      link: new HttpLink({ uri: `${world.origin}/graphql`, headers: { authorization: `Bearer ${user.key}` } }),
    });

  it('cover every object without an id that is part of another object, and no other type', () => {
    const parts = new Set(
      objects
        .filter((type) => type !== schema.getMutationType())
        .flatMap((type) => Object.values(type.getFields()))
        .filter(({ type }) => !isListType(getNullableType(type)))
        .map(({ type }) => getNamedType(type))
        .flatMap((type): GraphQLNamedType[] => (isUnionType(type) ? [...type.getTypes()] : [type]))
        .filter(isObjectType)
        .filter((type) => !type.getInterfaces().some(({ name }) => name === 'Node'))
        .map(({ name }) => name)
        // A page is replaced by another page, an allocation is a member of a page, and a dry run answers its argument.
        .filter((name) => !/(Connection|PageInfo|Allocation|DryRun)$/.test(name)),
    );
    // Only a payload has the test clock.
    parts.add('TestClock');
    expect(Object.keys(cacheOptions.typePolicies!).toSorted()).toEqual([...parts].toSorted());
  });

  it('name the types of the interface Node', () => {
    const node = named('Node');
    const types = isInterfaceType(node) ? schema.getPossibleTypes(node).map(({ name }) => name) : [];
    const unions = Object.values(schema.getTypeMap()).filter(isUnionType);
    expect(cacheOptions.possibleTypes).toEqual({
      Node: types.toSorted(),
      ...Object.fromEntries(unions.map((union) => [union.name, union.getTypes().map((each) => each.name)])),
    });
  });

  const first = gql`{ viewer { mode account { id businessDetails { legalName } setting { id payouts { interval } } } }
    }`;
  const second = gql`{ viewer { edition account { id businessDetails { email } setting { id payouts { enabled } } } }
    }`;

  it('keep the fields of a part that a later query does not select', async () => {
    const client = clientOf(new InMemoryCache(cacheOptions));
    const before = await client.query({ query: first });
    await client.query({ query: second });
    expect(client.readQuery({ query: first })).toEqual(before.data);
    // Without the rules, the first query would have to be sent again.
    const plain = clientOf(new InMemoryCache());
    await plain.query({ query: first });
    await plain.query({ query: second });
    expect(plain.readQuery({ query: first })).toBeNull();
  });

  it('show an object that a mutation changed in each place, also by id and through fragments on Node', async () => {
    const client = clientOf(new InMemoryCache(cacheOptions));
    const partner = await user.partner({ nickname: nickname() });
    const list = gql`{ accounts(first: 5) { nodes { id status } } }`;
    const byId = gql`query ($id: ID!) { node(id: $id) { ...Named } } fragment Named on Node { id ... on Account { status
      } }`;
    await client.query({ query: list });
    await client.query({ query: byId, variables: { id: partner.id } });
    const activate = gql`
      mutation ($input: ActivateAccountInput!) { activateAccount(input: $input) { account { id status } } }`;
    const { data } = await client.mutate<any>({ mutation: activate, variables: { input: { id: partner.id } } });
    const { status } = data.activateAccount.account;
    expect(status).not.toBe('DRAFT');
    const shown = client.readQuery<any>({ query: list }).accounts.nodes.find(({ id }: any) => id === partner.id);
    expect(shown.status).toBe(status);
    expect(client.readQuery<any>({ query: byId, variables: { id: partner.id } }).node.status).toBe(status);
  });
});

describe('the query examples of the documentation', () => {
  const pages = [
    'README.md',
    ...fs.readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((page) => `docs/${page}`),
  ];
  const examples = pages
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) => {
      const text = fs.readFileSync(page, 'utf8');
      const marked = [...text.matchAll(/^```graphql\n([\s\S]*?)^```/gm)].map(([, query]) => query!);
      const sent = [...text.matchAll(/^\w*graph\w* '((?:query|mutation|\{)[^']*)'/gm)].map(([, query]) => query!);
      return [...marked, ...sent].map((query): [string, string] => [page, query]);
    });

  it('are found on several pages', () => {
    expect(examples.length).toBeGreaterThan(5);
  });

  it.each(examples)('compile against a schema, and select nothing deprecated: %s %#', (_, query) => {
    const document = parse(query);
    const faults = [schema, schemaOf('operator')].map((each) => validate(each, document).map(({ message }) => message));
    expect(faults).toContainEqual([]);
    expect(query).not.toMatch(/\b(?:systemMessage|disputes) /);
  });
});
