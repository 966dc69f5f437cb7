import fs from 'node:fs';
import {
  buildClientSchema,
  getIntrospectionQuery,
  getNamedType,
  type GraphQLField,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  printSchema,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { graphText } from '../../src/server/build/print-schema.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { receivableBody } from '../support/bodies.js';
import {
  givenIn,
  must,
  nickname,
  payoutAddressBody,
  type Reply,
  type Speaker,
  useWorld,
  type World,
} from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const committed = fs.readFileSync(new URL('../../schema/graph.graphql', import.meta.url), 'utf8');

const modern = 'application/graphql-response+json';

const times = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

/** The names of the statements of a request, in order, without the look-up of the API key. */
async function statementsOf(of: World, ask: () => Promise<unknown>): Promise<string[]> {
  const { database } = of;
  const names: string[] = [];
  const { read, call } = database;
  // Counts each call and forwards it: every read is one statement, and every write one call of a function.
  database.read = ((...args: Parameters<typeof read>) => {
    // The same look-up has a separate plan for a single value.
    names.push(args[0].replace(/^ones:/, 'one:'));
    return read.apply(database, args);
  }) as typeof read;
  database.call = (...args) => {
    names.push(args[0]);
    return call.apply(database, args);
  };
  try {
    await ask();
  } finally {
    Object.assign(database, { read, call });
  }
  return names
    .filter((name) => !['key_owner', 'touch_api_key', 'take_allowance', 'count_senders'].includes(name))
    .sort();
}

describe('limits of an operation, over the wire', () => {
  let user: Speaker;
  beforeAll(async () => {
    user = await given.directUser(1);
  });

  const deep = (levels: number) => `viewer { account { ${'owner { '.repeat(levels - 3)} id ${'}'.repeat(levels - 1)}`;
  const bomb = (type: string, leaf: string) =>
    `${times(30, (i) => `fragment F${i} on ${type} { ...F${i + 1} ...F${i + 1} }`)} fragment F30 on ${type} { ` +
    `${leaf} }`;
  const create = (n: number, selection = 'account { id }') =>
    `c${n}: createAccount(input: { type: PARTNER, nickname: "Limit ${n}", businessDetails: { legalName: "L", ` +
    `email: "l@l.example", type: COMPANY, physicalAddress: { country: "US" } } }) { ${selection} }`;

  // Eight tokens for each operation.
  const operations = (count: number) => times(count, (n) => `query A${n} { viewer { mode } }`);

  const refused: [what: string, document: string, code: string][] = [
    ['17 levels', `{ ${deep(17)} }`, 'QUERY_TOO_DEEP'],
    [
      '17 levels of introspection',
      `{ __schema { types { ${'ofType { '.repeat(14)} name ${'} '.repeat(14)} } } }`,
      'QUERY_TOO_DEEP',
    ],
    ['31 aliases', `{ viewer { ${times(31, (n) => `a${n}: edition`)} } }`, 'QUERY_TOO_MANY_ALIASES'],
    ['11 root fields', `{ ${times(11, () => 'viewer { edition }')} }`, 'QUERY_TOO_MANY_ROOT_FIELDS'],
    ['11 directives', `{ viewer { ${times(11, () => 'edition @include(if: true)')} } }`, 'QUERY_TOO_MANY_DIRECTIVES'],
    ['1001 tokens', `{ viewer { edition mode permission onBehalf } } ${operations(124)}`, 'GRAPHQL_PARSE_FAILED'],
    ['11 mutations', `mutation { ${times(11, (n) => create(n))} }`, 'QUERY_TOO_MANY_ROOT_FIELDS'],
    [
      'a mutation that answers too deep',
      `mutation { ${create(1, `account { ${'owner { '.repeat(15)} id ${'}'.repeat(15)} }`)} }`,
      'QUERY_TOO_DEEP',
    ],
  ];
  it.each(refused)('refuse %s with 400 and a code, before any statement runs', async (_, document, code) => {
    let reply!: Reply;

    const statements = await statementsOf(world, async () => {
      reply = await user.graph(document, {}, { accept: modern });
    });

    expect(reply.status).toBe(400);
    expect(reply.body).not.toHaveProperty('data');
    expect(reply.body.errors.map((e: any) => e.extensions.code)).toEqual([code]);
    expect(statements).toEqual([]);
  });

  const passing: [what: string, document: string, data: unknown][] = [
    // A direct user has no owner, so the deeper levels are not executed; the depth of the document counts.
    ['16 levels', `{ ${deep(16)} }`, { viewer: { account: { owner: null } } }],
    [
      '30 aliases',
      `{ viewer { ${times(30, (n) => `a${n}: edition`)} } }`,
      { viewer: Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`a${n}`, 1])) },
    ],
    ['10 root fields', `{ ${times(10, () => 'viewer { edition }')} }`, { viewer: { edition: 1 } }],
    ['10 directives', `{ viewer { ${times(10, () => 'edition @include(if: true)')} } }`, { viewer: { edition: 1 } }],
  ];
  it.each(passing)('let %s pass', async (_, document, data) => {
    const reply = await user.graph(document, {}, { accept: modern });

    expect([reply.status, reply.body.errors, reply.body.data]).toEqual([200, undefined, data]);
  });

  it('let 1000 tokens pass', async () => {
    const reply = await user.post('/graphql', { query: operations(125), operationName: 'A124' }, { accept: modern });

    expect([reply.status, reply.body.errors, reply.body.data]).toEqual([200, undefined, { viewer: { mode: 'TEST' } }]);
  });

  it('report each limit once when a document exceeds several', async () => {
    const aliases = times(31, (n) => `a${n}: edition`);
    const reply = await user.graph(`{ ${deep(17)} viewer { ${aliases} } }`, {}, { accept: modern });

    expect(reply.body.errors.map((e: any) => e.extensions.code)).toEqual(['QUERY_TOO_DEEP', 'QUERY_TOO_MANY_ALIASES']);
  });

  // The library counts a billion selections before the gateway's own rules run, so the code is the library's.
  const bombs: [what: string, document: string][] = [
    ['root fields', `{ ...F0 } ${bomb('Query', 'viewer { edition }')}`],
    ['aliases', `{ viewer { account { ...F0 } } } ${bomb('Account', 'a: id')}`],
    ['plain fields', `{ viewer { account { ...F0 } } } ${bomb('Account', 'id')}`],
    ['mutations', `mutation { ...F0 } ${bomb('Mutation', create(1))}`],
  ];
  it.each(bombs)('refuse fragments that double 30 times to %s, before any statement runs', async (_, document) => {
    let reply!: Reply;

    const statements = await statementsOf(world, async () => {
      reply = await user.graph(document, {}, { accept: modern });
    });

    expect(reply.status).toBe(400);
    expect(reply.body).not.toHaveProperty('data');
    expect(reply.body.errors.map((e: any) => [e.extensions.code, e.extensions.validationErrorCode])).toEqual([
      ['GRAPHQL_VALIDATION_FAILED', 'MAX_RECURSIVE_SELECTIONS_EXCEEDED'],
    ]);
    expect(statements).toEqual([]);
  });

  it('allow the query of a dashboard', async () => {
    const platform = await given.platform(1);
    const connected = await platform.connectedUser({ nickname: 'Dashing' });
    const partner = await connected.partner({ nickname: 'Payer' });

    const reply = await platform.graph(dashboard, { first: 20 }, { accept: modern });

    expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
    const [user, self] = reply.body.data.accounts.nodes;
    expect([user.id, self.id]).toEqual([connected.id, platform.id]);
    expect(user.partners).toMatchObject({ totalCount: 1, nodes: [{ id: partner.id, owner: { id: connected.id } }] });
    expect(self.connectedUsers.nodes).toEqual([{ id: connected.id, nickname: 'Dashing' }]);
  });
});

/** The query of an application's first page. */
const dashboard = `query Dashboard($first: Int) {
  viewer { edition mode permission onBehalf account { id type status } }
  accounts(first: $first) {
    totalCount
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    nodes {
      id type status nickname created metadata
      businessDetails { legalName email physicalAddress { city country } }
      capability { multicurrencyExportsV1 }
      setting { id payouts { enabled interval reasonCodeNotEnabled } address { partner user } }
      connectedUsers(first: 5) { nodes { id nickname } }
      partners(first: 5) {
        totalCount
        nodes { id nickname status owner { id } addresses(first: 2) { nodes { id currency status } } }
      }
      addresses(first: 5) { nodes { id category currency status bankAccount { bankName last4 } account { id } } }
      persons(first: 5) { nodes { id fullName relationship { director owner representative } } }
      apiKeys(first: 5) { nodes { prefix permission lastUsedAt } }
      files(first: 5) { nodes { id purpose filename size } }
    }
  }
}`;

const introspection = getIntrospectionQuery({
  descriptions: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
});

describe('the schema', () => {
  it('is committed as it is emitted', () => {
    expect(graphText()).toBe(committed);
  });

  it('can be introspected completely, and equals the committed one', async () => {
    const user = await given.directUser(2);

    const reply = await user.graph(introspection, {}, { accept: modern });

    expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
    expect(`${printSchema(buildClientSchema(reply.body.data))}\n`).toBe(committed);
  });

  // The explorer shows the descriptions, and clients have no other manual of the graph.
  describe('describes', () => {
    const schema = buildGraph();
    const types = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type));
    const own = types.filter(
      (type) => isObjectType(type) || isInterfaceType(type) || isInputObjectType(type) || isEnumType(type),
    );
    const fields = own.flatMap((type) =>
      isObjectType(type) || isInterfaceType(type)
        ? Object.values(type.getFields()).map((field) => [type.name, field] as const)
        : [],
    );
    const inputs = own.filter(isInputObjectType);
    const undescribed = (entries: { name: string; description?: string | null | undefined }[]) =>
      entries.filter((entry) => !entry.description?.trim()).map((entry) => entry.name);

    it('every object, interface, enum and scalar', () => {
      const others = types.filter(
        (type) => !isInputObjectType(type) && !/^(Query|Mutation|String|Int|ID|Boolean)$/.test(type.name),
      );
      expect(undescribed(others)).toEqual([]);
    });

    it('every input object', () => {
      expect(undescribed(inputs)).toEqual([]);
    });

    it('every operation, and every other field that takes arguments', () => {
      const taking = fields.filter(([type, field]) => field.args.length > 0 || type === 'Query' || type === 'Mutation');
      expect(
        undescribed(taking.map(([type, field]) => ({ name: `${type}.${field.name}`, description: field.description }))),
      ).toEqual([]);
    });

    it('every argument except the id of an object and the input of a mutation, whose names are sufficient', () => {
      const args = fields.flatMap(([type, field]) =>
        field.args
          .filter(({ name }) => !['input', 'id', 'ids'].includes(name))
          .map((arg) => ({ name: `${type}.${field.name}(${arg.name})`, description: arg.description })),
      );
      expect(undescribed(args)).toEqual([]);
    });
  });
});

describe('a schema that is not public', () => {
  const closed = useWorld({ worker: false, environment: { INTROSPECTION: 'false', EXPLORER: 'false' } });
  let user: Speaker;
  beforeAll(async () => {
    user = await givenIn(closed).directUser(1);
  });

  const asking = {
    'the whole schema': introspection,
    'one type': '{ __type(name: "Account") { name fields { name } } }',
    'the schema next to data': '{ viewer { edition } s: __schema { queryType { name } } }',
    'the schema in a fragment': '{ ...A } fragment A on Query { __schema { types { name } } }',
    'the schema under a mutation': 'mutation { __schema { types { name } } }',
  };
  it.each(Object.entries(asking))('is not introspected by %s', async (_, document) => {
    const reply = await user.graph(document, {}, { accept: modern });

    expect(reply.status).toBe(400);
    expect(reply.body).not.toHaveProperty('data');
    expect(reply.text).not.toContain('AccountConnection');
  });

  it('still serves queries, and the type name of an object', async () => {
    const reply = await user.graph('{ __typename viewer { __typename edition } }', {}, { accept: modern });

    expect([reply.status, reply.body.data]).toEqual([
      200,
      { __typename: 'Query', viewer: { __typename: 'Viewer', edition: 1 } },
    ]);
  });

  it('has no explorer page and no file of it when the explorer is off, and the dashboard leads to none', async () => {
    const html = { headers: { accept: 'text/html' } };
    const [page, endpoint] = await Promise.all([
      fetch(`${closed.origin}/graphiql`, html),
      fetch(`${closed.origin}/graphql`, html),
    ]);

    expect([page.status, endpoint.status]).toEqual([404, 401]);
    const open = await (await fetch(`${world.origin}/graphiql`)).text();
    const [, script] = / src="([^"]+)"/.exec(open)!;
    const [there, here] = await Promise.all([world, closed].map(({ origin }) => fetch(`${origin}${script}`)));
    expect([there!.status, here!.status]).toEqual([200, 404]);
    const dashboards = await Promise.all(
      [world, closed].map(async ({ origin }) => (await fetch(`${origin}/dashboard`)).text()),
    );
    expect(dashboards.map((text) => text.includes('data-explorer="off"'))).toEqual([false, true]);
  });
});

describe('the statements of a query', () => {
  let few: Speaker;
  let many: Speaker;
  const usersOf = { few: 2, many: 40 };

  /** A checkout with a declined attempt and a successful one. */
  async function paidCheckout(user: Speaker, partner: string): Promise<Reply> {
    const receivable = await user.post('/v1/receivables', receivableBody({ currency: 'INR' }));
    const made = await user.post('/v1/checkouts', {
      ...{ amount: '60.00', currency: 'INR', from: { account_id: partner }, payment_methods: ['upi'] },
      receivables: [{ id: receivable.body.id }],
      redirect_url: 'https://shop.example/',
    });
    await must(user.post(`/v1/test_helpers/checkouts/${made.body.id}/decline`));
    return user.post(`/v1/test_helpers/checkouts/${made.body.id}/pay`);
  }

  /** A platform whose users each have an address, a person, a file and a partner. */
  async function platformOf(users: number): Promise<Speaker> {
    const platform = await given.platform(2);
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    const create =
      'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }';
    await Promise.all(
      Array.from({ length: users }, async () => {
        const made = await platform.graph(create, { input: { nickname: nickname() } });
        const id: string = made.body.data.createConnectedUser.account.id;
        const user = platform.actingFor(id);
        const [logo, document, card] = await Promise.all([
          user.upload('logo', png, 'logo.png'),
          user.upload('identity_document', png, 'id.png'),
          user.upload('identity_document', png, 'card.png'),
        ]);
        const replies = await Promise.all([
          user.partner().then((partner) => paidCheckout(user, partner.id)),
          platform.post('/v1/addresses', payoutAddressBody(id)),
          platform.post('/v1/persons', {
            account_id: id,
            full_name: 'Meera Rao',
            relationship: { owner: true },
            identification: { tax_card_image: card.body.id },
          }),
          platform.post(`/v1/accounts/${id}`, {
            logo_id: logo.body.id,
            supporting_documentation: { id_document: document.body.id },
          }),
        ]);
        for (const reply of replies) if (reply.status !== 200) throw new Error(reply.text);
      }),
    );
    return platform;
  }
  beforeAll(async () => {
    [few, many] = await Promise.all([platformOf(usersOf.few), platformOf(usersOf.many)]);
  });

  const costOf = async (speaker: Speaker, document: string): Promise<string[]> => {
    let reply!: Reply;
    const statements = await statementsOf(world, async () => {
      reply = await speaker.graph(document);
    });
    expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
    return statements;
  };

  const schema = buildGraph();
  const edges = edgesOf(schema);

  it('are counted for every list of the graph and every edge from its objects', () => {
    const named = new Set(edges.map(([name]) => name.split(' ')[0]));
    for (const edge of ['accounts.partners', 'accounts.setting', 'accounts.requirements', 'persons.taxCardImage'])
      expect(named).toContain(edge);
    expect(edges.length).toBeGreaterThanOrEqual(43);
  });

  // One statement for the list and one per edge on the path; a page's count or its check for a next page may need one
  // more.
  it.each(edges)('are as many for 40 parents as for 2: %s', async (_, document, bound) => {
    const [two, forty] = [await costOf(few, document), await costOf(many, document)];

    expect(forty).toEqual(two);
    expect(forty.length).toBeLessThanOrEqual(bound);
  });

  it('are one per edge of a dashboard three levels deep', async () => {
    const document = `{
      accounts(first: 50) {
        nodes {
          setting { id }
          owner { id }
          partners(first: 5) { nodes { addresses(first: 5) { nodes { account { owner { id } } } } setting { id } } }
          addresses(first: 5) { nodes { account { id } } }
          persons(first: 5) { nodes { account { id } taxCardImage { id account { id } } } }
          apiKeys(first: 5) { nodes { prefix } }
        }
      }
    }`;

    const [two, forty] = [await costOf(few, document), await costOf(many, document)];

    // One for the list and one for each of the 14 edges, minus the edges whose objects another batch has already read:
    // whether two edges to the same table share a batch depends on which parents PostgreSQL returns first.
    expect([...new Set(forty)]).toEqual([...new Set(two)]);
    for (const statements of [two, forty]) expect(statements.length).toBeLessThanOrEqual(15);
  });

  it('are as many for 40 nodes by id as for 2', async () => {
    const listed = await many.graph('{ accounts(first: 40) { nodes { id } } persons(first: 40) { nodes { id } } }');
    const ids: string[] = [...listed.body.data.accounts.nodes, ...listed.body.data.persons.nodes].map((n) => n.id);
    expect(ids).toHaveLength(80);
    const cost = (some: string[]) => costOf(many, `{ nodes(ids: ${JSON.stringify(some)}) { id } }`);

    expect(await cost(ids)).toEqual(await cost([ids[0]!, ids[79]!]));
    expect(await cost(ids)).toHaveLength(2);
  });
});

/**
 * A query for each list of the graph, each edge of its objects and each form of its arguments, with the maximum number
 * of statements.
 */
function edgesOf(schema: GraphQLSchema): [name: string, document: string, bound: number][] {
  const paged = (field: GraphQLField<unknown, unknown>) => field.args.some((arg) => arg.name === 'first');
  const nodeOf = (type: GraphQLOutputType): GraphQLObjectType => {
    const connection = getNamedType(type) as GraphQLObjectType;
    return getNamedType(connection.getFields().nodes!.type) as GraphQLObjectType;
  };
  const leaf = (type: GraphQLObjectType) =>
    Object.values(type.getFields()).find((f) => !isObjectType(getNamedType(f.type)) && f.args.length === 0)!.name;
  const isList = (type: GraphQLOutputType): boolean =>
    type instanceof GraphQLNonNull ? isList(type.ofType) : type instanceof GraphQLList;

  return Object.values(schema.getQueryType()!.getFields())
    .filter(paged)
    .flatMap((list) =>
      Object.values(nodeOf(list.type).getFields()).flatMap((edge) => {
        const type = getNamedType(edge.type);
        if (!isObjectType(type)) return [];
        // A nested object is read with its row.
        if (!paged(edge) && !isList(edge.type) && type.getInterfaces().length === 0) return [];
        const asked = (name: string, selection: string, bound: number): [string, string, number] => [
          `${list.name}.${edge.name}${name}`,
          `{ ${list.name}(first: 100) { nodes { id ${edge.name}${selection} } } }`,
          bound,
        ];
        if (paged(edge)) {
          const own = leaf(nodeOf(edge.type));
          return [
            asked(' nodes', `(first: 2) { nodes { ${own} } }`, 2),
            asked(' from behind', `(last: 2) { nodes { ${own} } }`, 2),
            asked(' totalCount', '(first: 2) { totalCount }', 3),
            asked(' pageInfo', '(first: 2) { pageInfo { hasNextPage hasPreviousPage } }', 3),
            asked(' pageInfo from behind', '(last: 2) { pageInfo { hasNextPage hasPreviousPage } }', 3),
          ];
        }
        // Fields with figures over time need a range.
        const takes = (argument: string) => edge.args.some(({ name }) => name === argument);
        const span = 'from: "2026-01-01T00:00:00Z", to: "2026-01-08T00:00:00Z"';
        const range = takes('interval') ? `(${span}, interval: DAY)` : takes('from') ? `(${span})` : '';
        // Requirements may read several kinds of objects, but the number of statements does not depend on the number of
        // parents.
        if (isList(edge.type)) return [asked('', `${range} { ${leaf(type)} }`, 5)];
        // A deposit refers to its checkout through its payment, which is a separate edge.
        const between = edge.name === 'checkout' && list.name === 'deposits' ? 1 : 0;
        return [asked('', ` { ${leaf(type)} }`, 2 + between)];
      }),
    );
}
