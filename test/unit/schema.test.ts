import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import graphqlEslint from '@graphql-eslint/eslint-plugin';
import { ESLint, type Linter } from 'eslint';
import {
  buildSchema,
  getNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  NoDeprecatedCustomRule,
  parse,
  validate,
} from 'graphql';
import { describe, expect, it } from 'vitest';

const schemas = ['graph', 'operator'] as const;
const pathOf = (name: string) => fileURLToPath(new URL(`../../schema/${name}.graphql`, import.meta.url));
const schemaOf = (name: string): GraphQLSchema => buildSchema(fs.readFileSync(pathOf(name), 'utf8'));

const recommended = graphqlEslint.configs['flat/schema-recommended'].rules;
const relay = graphqlEslint.configs['flat/schema-relay'].rules;

/** The rules of graphql-eslint. Those that differ from its own choice have their reason beside them. */
const rules: Linter.RulesRecord = {
  ...recommended,
  '@graphql-eslint/require-description': [
    'error',
    {
      types: true,
      rootField: true,
      FieldDefinition: true,
      InputValueDefinition: true,
      EnumValueDefinition: true,
      DirectiveDefinition: true,
    },
  ],
  // Balances, addresses of a person, payloads and other values have no identity of their own.
  '@graphql-eslint/strict-id-in-types': 'off',
};

/** The Relay rules, for the public schema: the operator's lists are pages with a cursor, and no connections. */
const relayRules: Linter.RulesRecord = {
  ...relay,
  // Connections also have `nodes`, and short lists of values are no connections. A test below looks at the nodes.
  '@graphql-eslint/relay-edge-types': [
    'error',
    { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false },
  ],
};

/** Findings that are accepted, each with its reason. */
const accepted: Record<string, Record<string, string>> = {
  graph: {
    // A statement is read from its opening balance on.
    'Field `movements` must contain an argument `last`, that return Int.': 'It has one direction.',
    'Field `movements` must contain an argument `before`, that return String or Scalar.': 'It has one direction.',
    'Field "filename" starts with the name of the parent type "File"': 'It is one word.',
    'Field "eventType" starts with the name of the parent type "Event"': 'The field `type` is the text on /v1.',
  },
  operator: {
    'Field "filename" starts with the name of the parent type "File"': 'It is one word.',
    'Field "rate" starts with the name of the parent type "Rate"': 'A rate has a rate and its currencies.',
  },
};

/** What graphql-eslint finds in a schema: the rule, the line and the message of each finding. */
async function findings(name: string): Promise<{ rule: string | null; line: number; message: string }[]> {
  const file = pathOf(name);
  const eslint = new ESLint({
    overrideConfigFile: true,
    overrideConfig: [
      {
        files: ['**/*.graphql'],
        languageOptions: {
          parser: graphqlEslint.parser,
          parserOptions: { graphQLConfig: { schema: file } },
        },
        // The plugin's rules are typed more narrowly than ESLint's own type of a rule allows.
        plugins: { '@graphql-eslint': { rules: graphqlEslint.rules } as unknown as ESLint.Plugin },
        rules: name === 'graph' ? { ...rules, ...relayRules } : rules,
      },
    ],
  });
  const results = await eslint.lintText(fs.readFileSync(file, 'utf8'), { filePath: file });
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, line, message }) => ({ rule: ruleId, line, message })),
  );
}

/** Every description of a schema, with the place that it describes. */
function* descriptions(schema: GraphQLSchema): Generator<[place: string, text: string | null | undefined]> {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || ['Boolean', 'Float', 'ID', 'Int', 'String'].includes(type.name)) continue;
    yield [type.name, type.description];
    if (isEnumType(type)) for (const value of type.getValues()) yield [`${type.name}.${value.name}`, value.description];
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields())) yield [`${type.name}.${field.name}`, field.description];
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      yield [`${type.name}.${field.name}`, field.description];
      for (const arg of field.args) yield [`${type.name}.${field.name}(${arg.name}:)`, arg.description];
    }
  }
}

describe.each(schemas)('the schema %s', (name) => {
  it('passes the rules of graphql-eslint for schemas', async () => {
    const found = await findings(name);
    const reasons = accepted[name] ?? {};
    expect(found.filter(({ message }) => !Object.hasOwn(reasons, message))).toEqual([]);
    const messages = found.map(({ message }) => message);
    expect(
      Object.keys(reasons).filter((message) => !messages.includes(message)),
      'accepted findings that no longer occur',
    ).toEqual([]);
  });

  it('describes every type, field, argument, input field and enum value by whole sentences', () => {
    const wrong = [...descriptions(schemaOf(name))].filter(([, text]) => !text || !/^[A-Z1`].*[.\])`]$/s.test(text));
    expect(wrong).toEqual([]);
  });
});

it('objects of lists implement Node, except for those that are read through other objects only', () => {
  const edges = Object.values(schemaOf('graph').getTypeMap())
    .filter(isObjectType)
    .filter(({ name }) => name.endsWith('Edge'));
  expect(edges.length).toBeGreaterThan(10);
  const others = edges.filter((edge) => {
    const node = getNamedType(edge.getFields().node!.type);
    return !isObjectType(node) || !node.getInterfaces().some(({ name }) => name === 'Node');
  });
  expect(others.map(({ name }) => name).toSorted()).toEqual(['AllocationEdge', 'BalanceMovementEdge']);
});

it('lists have the orders of the type of their objects, and none of another type', () => {
  const lists = Object.values(schemaOf('graph').getTypeMap())
    .filter(isObjectType)
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ path: `${type.name}.${field.name}`, field })))
    .filter(({ field }) => getNamedType(field.type).name.endsWith('Connection'));
  const orders = lists.map(({ path, field }) => {
    const order = field.args.find(({ name }) => name === 'orderBy');
    return [path, getNamedType(field.type).name.replace(/Connection$/, 'Order'), order && String(order.type)];
  });
  expect(new Set(orders.map(([, order]) => order)).size).toBeGreaterThan(20);
  const others = orders.filter(([, expected, order]) => order !== expected).map(([path]) => path);
  // These have one order.
  expect(others.toSorted()).toEqual([
    'AgeingOfBucket.receivables',
    'BalanceStatement.movements',
    'CheckoutStatusCount.checkouts',
    'Deposit.allocations',
    'DepositChartStep.deposits',
    'DepositStatusCount.deposits',
    'Payout.allocations',
    'PayoutStatusCount.payouts',
    'Receivable.allocations',
    'ReceivableStatusCount.receivables',
    'UserTotal.deposits',
  ]);
  // A filter takes several currencies; the one of an order has another name.
  const currencies = lists.flatMap(({ field }) => field.args.filter(({ name }) => name === 'currency'));
  expect(new Set(currencies.map(({ type }) => String(type)))).toEqual(new Set(['[Currency!]']));
});

it('finds a field, an argument and an enum value without a description', () => {
  const schema = buildSchema('type Query { a(b: Int): E } enum E { V }');
  expect([...descriptions(schema)].filter(([, text]) => !text).map(([place]) => place)).toEqual([
    'Query',
    'Query.a',
    'Query.a(b:)',
    'E',
    'E.V',
  ]);
});

// A page of another release may still ask for them; ours are examples of how to ask.
describe.each([
  ['the dashboard', 'graph', (name: string) => !name.startsWith('console/')],
  ["the operator's console", 'operator', (name: string) => name.startsWith('console/')],
] as const)('the documents of %s', (_, schema, isOfIt) => {
  it('ask for no deprecated field and send no deprecated argument', () => {
    const folder = 'src/sites/dashboard';
    const texts = fs
      .readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts') && isOfIt(name))
      .flatMap((name) => [...fs.readFileSync(`${folder}/${name}`, 'utf8').matchAll(/graphql\(\s*`([^`]*)`/g)])
      .map(([, text]) => text!);
    expect(texts.length).toBeGreaterThan(10);
    const built = schemaOf(schema);
    const found = texts.flatMap((text) => validate(built, parse(text), [NoDeprecatedCustomRule]));
    expect(found.map(({ message }) => message)).toEqual([]);
  });
});

describe('the documents of the guides', () => {
  const pages = ['README.md', ...fs.readdirSync('docs').map((name) => `docs/${name}`)].filter((name) =>
    name.endsWith('.md'),
  );
  /** Queries of shell commands and of examples. What a shell puts into them is no matter. */
  const asked = [
    /\bgraph '(\{[^']*)'/g,
    /"query": "(\{[^"]*)"\}/g,
    /```graphql\n([^`]*)```/g,
    /=> graphql\(`([^`]*)`/g,
  ];
  const texts = pages.flatMap((name) => {
    const page = fs.readFileSync(name, 'utf8');
    const inSentences = [...page.matchAll(/`(createExport\([^`]*)`/g)].map(
      ([, text]) => `mutation { ${text} { __typename } }`,
    );
    const documents = asked.flatMap((pattern) => [...page.matchAll(pattern)].map(([, text]) => text!));
    return [...documents, ...inSentences].map((text) => [name, text] as const);
  });

  it('are found', () => expect(texts.length).toBeGreaterThan(10));

  it.each(texts)('ask for no deprecated field and send no deprecated argument: %s', (_, text) => {
    const found = validate(schemaOf('graph'), parse(text), [NoDeprecatedCustomRule]);
    expect(found.map(({ message }) => message)).toEqual([]);
  });
});

/** The reserved words of languages in which clients call operations by their ids, by the form of the id there. */
const reserved: [languages: string, form: (id: string) => string, words: string][] = [
  [
    'JavaScript and TypeScript',
    (id) => id,
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends ' +
      'false finally for function if implements import in instanceof interface let new null package private ' +
      'protected public return static super switch this throw true try typeof var void while with yield',
  ],
  [
    'Java',
    (id) => id,
    'abstract assert boolean break byte case catch char class const continue default do double else enum extends ' +
      'false final finally float for goto if implements import instanceof int interface long native new null ' +
      'package private protected public return short static strictfp super switch synchronized this throw throws ' +
      'transient true try void volatile while',
  ],
  [
    'Python',
    (id) => id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    'False None True and as assert async await break class continue def del elif else except finally for from global ' +
      'if import in is lambda nonlocal not or pass raise return try while with yield match case type print exec',
  ],
  [
    'Go, if the function is not exported',
    (id) => id,
    'break case chan const continue default defer else fallthrough for func go goto if import interface map package ' +
      'range return select struct switch type var',
  ],
  // Methods begin with a capital letter there, and no reserved word does: `event` is one.
  [
    'C#',
    (id) => id.charAt(0).toUpperCase() + id.slice(1),
    'abstract as base bool break byte case catch char checked class const continue decimal default ' +
      'delegate do double else enum event explicit extern false finally fixed float for foreach goto if ' +
      'implicit in int interface internal is lock long namespace new null object operator out override ' +
      'params private protected public readonly ref return sbyte sealed short sizeof stackalloc static ' +
      'string struct switch this throw true try typeof uint ulong unchecked unsafe ushort using virtual ' +
      'void volatile while',
  ],
];

describe('the ids of operations of the contract', () => {
  const { paths, webhooks } = JSON.parse(fs.readFileSync(pathOf('openapi').replace(/graphql$/, 'json'), 'utf8'));
  const ids = Object.values<Record<string, { operationId: string }>>({ ...paths, ...webhooks }).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );

  it('are found, each once, and are names in every language', () => {
    expect(ids.length).toBeGreaterThan(150);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]*$/.test(id))).toEqual([]);
    expect(ids).toEqual(expect.arrayContaining(['getImport', 'getExport']));
  });

  it.each(reserved)('are no reserved words of %s', (_, form, words) => {
    expect(ids.filter((id) => words.split(' ').includes(form(id)))).toEqual([]);
  });
});

describe('the client for TypeScript', () => {
  it('is generated from the committed contract and schema: otherwise run `npm run clients`', async () => {
    const folder = new URL('../../clients/typescript/', import.meta.url);
    const { headOf } = (await import(new URL('generate.mjs', folder).href)) as { headOf: (text: string) => string };
    const generated = new URL('src/generated/', folder);
    const texts = fs.readdirSync(generated).map((name) => fs.readFileSync(new URL(name, generated), 'utf8'));
    expect(texts).toHaveLength(3);
    for (const text of texts) {
      const head = text.slice(0, text.indexOf('\n') + 1);
      expect(head).toBe(headOf(text.slice(head.length)));
    }
  });
});
