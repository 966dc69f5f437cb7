import { buildSchema, GraphQLError, getIntrospectionQuery, parse, specifiedRules, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { limitRule } from '../../src/api/graphql/limits.js';
import { limitsDefault } from '../../src/config/defaults.js';

const schema = buildSchema(`
  type Query { account: Account accounts: [Account!]! version: String }
  type Mutation { activate: Account }
  type Account { id: ID parent: Account }
`);

const codes = (document: string, limits = limitsDefault): unknown[] =>
  validate(schema, parse(document), [limitRule(limits)]).map((error) => error.extensions.code);

const times = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

/** One field nested in itself: `nested(2)` is `account { id }`. */
const nested = (depth: number, leaf = 'id'): string =>
  depth === 1 ? leaf : `account { ${'parent { '.repeat(depth - 2)}${leaf}${' }'.repeat(depth - 1)}`;

/** Fragments that each spread the next one twice, so that the last one is reached 2^count times. */
const bomb = (count: number, type: string, leaf: string): string =>
  `${times(count, (index) => `fragment F${index} on ${type} { ...F${index + 1} ...F${index + 1} }`)} fragment ` +
  `F${count} on ${type} { ${leaf} }`;

const introspection = getIntrospectionQuery({
  descriptions: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  experimentalDirectiveDeprecation: true,
  oneOf: true,
});

const deep = ['QUERY_TOO_DEEP'];
const aliased = ['QUERY_TOO_MANY_ALIASES'];
const wide = ['QUERY_TOO_MANY_ROOT_FIELDS'];
const directed = ['QUERY_TOO_MANY_DIRECTIVES'];

const rows: [name: string, document: string, expected: string[]][] = [
  ['an introspection with every option', introspection, []],
  ['16 levels', `{ ${nested(16)} }`, []],
  ['17 levels', `{ ${nested(17)} }`, deep],
  ['17 levels of introspection', `{ __schema { types { ${'ofType { '.repeat(14)} name ${'} '.repeat(14)} } } }`, deep],
  [
    '16 levels through inline fragments and spreads, which are no levels themselves',
    '{ ... on Query { ...Outer } } fragment Outer on Query { account { ... { ...Inner } } } fragment Inner on ' +
      `Account { ${'parent { '.repeat(14)} id ${'} '.repeat(14)} }`,
    [],
  ],
  [
    '17 levels through nested fragments',
    `{ account { ...A } } fragment A on Account { ${'parent { '.repeat(8)} ...B ${'} '.repeat(8)} } fragment B ` +
      `on Account { ${'parent { '.repeat(7)} id ${'} '.repeat(7)} }`,
    deep,
  ],
  ['30 aliases', `{ account { ${times(30, (n) => `a${n}: id`)} } }`, []],
  ['31 aliases', `{ account { ${times(31, (n) => `a${n}: id`)} } }`, aliased],
  ['31 aliases of __typename', `{ account { ${times(31, (n) => `a${n}: __typename`)} } }`, aliased],
  [
    '4 times 8 aliases in one fragment',
    '{ account { ...A parent { ...A parent { ...A parent { ...A } } } } } fragment A on Account { ' +
      `${times(8, (n) => `a${n}: id`)} }`,
    aliased,
  ],
  ['10 root fields', `{ ${times(10, () => 'version')} }`, []],
  ['11 root fields', `{ ${times(11, () => 'version')} }`, wide],
  ['11 mutations', `mutation { ${times(11, (n) => `a${n}: activate { id }`)} }`, wide],
  [
    '12 root fields by fragments',
    `{ ...A ...A ... on Query { ...A } } fragment A on Query { ${times(4, () => 'version')} }`,
    wide,
  ],
  ['40 fields that are not at the root', `{ account { ${times(40, () => 'id')} } }`, []],
  ['10 directives', `{ version ${times(10, () => '@skip(if: false)')} }`, []],
  ['11 directives', `{ version ${times(11, () => '@skip(if: false)')} }`, directed],
  [
    '11 directives on the operation, a variable, fields, spreads and fragments',
    'query ($a: ID @x) @x { account @x { ...A @x ... @x { ...A @x } } } fragment A on Account @x { id @x ' +
      'parent @x { id } }',
    directed,
  ],
  ['a bomb of fields', `{ account { ...F0 } } ${bomb(30, 'Account', 'id')}`, []],
  ['a bomb of root fields', `{ ...F0 } ${bomb(30, 'Query', 'version')}`, wide],
  ['a bomb of aliases', `{ account { ...F0 } } ${bomb(30, 'Account', 'a: id')}`, aliased],
  ['a bomb of directives', `{ account { ...F0 } } ${bomb(30, 'Account', 'id @skip(if: false)')}`, directed],
  ['a spread of a missing fragment', '{ ...Missing }', []],
  ['a fragment that is not used', `{ version } fragment A on Query { ${nested(20)} }`, []],
  [
    'two operations over two limits, each named once',
    `query A { ${nested(17)} } query B { ${nested(17)} } query C { ${times(11, () => 'version')} }`,
    [...deep, ...wide],
  ],
];

describe('limits of a GraphQL operation', () => {
  it.each(rows)('%s', (_name, document, expected) => {
    expect(codes(document)).toEqual(expected);
  });

  it('counts a bomb of 2^1000 fields by visiting each fragment a few times and not each field', () => {
    const fragments = 1000;
    const document = parse(`{ ...F0 } ${bomb(fragments, 'Query', 'version')}`);
    let looks = 0;
    for (const definition of document.definitions) {
      if (definition.kind !== 'FragmentDefinition') continue;
      const { selectionSet } = definition;
      Object.defineProperty(definition, 'selectionSet', {
        enumerable: true,
        get: () => {
          looks++;
          return selectionSet;
        },
      });
    }
    expect(validate(schema, document, [limitRule(limitsDefault)])).toHaveLength(1);
    expect(looks).toBeGreaterThan(0);
    expect(looks).toBeLessThan(20 * fragments);
  });

  // The rule must end by itself, because every rule visits the document before any of them can stop the others.
  it('leaves circular fragments to the standard rule', () => {
    const document = parse(
      '{ account { ...A } } fragment A on Account { parent { ...B } } fragment B on Account { ...A id }',
    );
    const messages = validate(schema, document, [limitRule(limitsDefault), ...specifiedRules]).map(
      (error) => error.message,
    );
    expect(messages).toEqual([expect.stringContaining('Cannot spread fragment "A" within itself')]);
  });

  it('names the limit in its message, and repeats nothing of the document', () => {
    const [error] = validate(schema, parse('query Secret { account { id } }'), [
      limitRule({ ...limitsDefault, depth: 1 }),
    ]);
    expect(error).toBeInstanceOf(GraphQLError);
    expect(error?.message).toContain('deeper than 1 levels');
    expect(JSON.stringify(error)).not.toMatch(/Secret|account|locations/);
  });
});
