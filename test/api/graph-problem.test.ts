import { beforeAll, describe, expect, it } from 'vitest';
import { catalogue, type ProblemCode } from '../../src/errors/catalogue.js';
import { resources } from '../../src/resources/define.js';
import '../../src/resources/registry.js';
import { receivableBody } from '../support/bodies.js';
import {
  givenIn,
  inputTypeOf,
  must,
  nickname,
  payoutAddressBody,
  payoutAddressInput,
  type Reply,
  type Speaker,
  useWorld,
} from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const modern = 'application/graphql-response+json';

describe('the problems of an operation', () => {
  let platform: Speaker;
  let user: Speaker;
  let taken: string;
  beforeAll(async () => {
    platform = await given.platform(1);
    user = await platform.connectedUser();
    taken = (await user.partner()).nickname;
  });

  const business = { legalName: 'L', email: 'l@l.example', type: 'COMPANY', physicalAddress: { country: 'US' } };
  const businessV1 = { legal_name: 'L', email: 'l@l.example', type: 'company', physical_address: { country: 'US' } };

  interface Row {
    mutation: 'createAccount' | 'createAddress' | 'createPerson';
    input: (ids: { id: string; taken: string }) => object;
    path: string;
    body: (ids: { id: string; taken: string }) => object;
    status: number;
    problems: [code: ProblemCode, fieldName: string, argumentPath: (string | number)[]][];
  }
  const rows: Record<string, Row> = {
    'everything missing': {
      mutation: 'createAccount',
      input: () => ({ type: 'PARTNER', businessDetails: { website: 'https://x.example' } }),
      path: '/v1/accounts',
      body: () => ({ type: 'partner', business_details: { website: 'https://x.example' } }),
      status: 400,
      problems: [
        ['parameter_missing', 'account.nickname', ['input', 'nickname']],
        ['parameter_missing', 'account.business_details.legal_name', ['input', 'businessDetails', 'legalName']],
        ['parameter_missing', 'account.business_details.email', ['input', 'businessDetails', 'email']],
        ['parameter_missing', 'account.business_details.type', ['input', 'businessDetails', 'type']],
        [
          'parameter_missing',
          'account.business_details.physical_address.country',
          ['input', 'businessDetails', 'physicalAddress', 'country'],
        ],
      ],
    },
    'members that the input type requires': {
      mutation: 'createAccount',
      input: () => ({ nickname: nickname() }),
      path: '/v1/accounts',
      body: () => ({ nickname: nickname() }),
      status: 400,
      problems: [
        ['parameter_missing', 'account.type', ['input', 'type']],
        ['parameter_missing', 'account.business_details', ['input', 'businessDetails']],
      ],
    },
    'null and an empty object where a value is required': {
      mutation: 'createAccount',
      input: () => ({ type: null, nickname: nickname(), businessDetails: {} }),
      path: '/v1/accounts',
      body: () => ({ type: null, nickname: nickname(), business_details: {} }),
      status: 400,
      problems: [
        ['parameter_invalid_empty', 'account.type', ['input', 'type']],
        ['parameter_invalid_empty', 'account.business_details', ['input', 'businessDetails']],
      ],
    },
    'a malformed value': {
      mutation: 'createAccount',
      input: () => ({ type: 'PARTNER', nickname: nickname(), businessDetails: { ...business, email: 'nobody' } }),
      path: '/v1/accounts',
      body: () => ({ type: 'partner', nickname: nickname(), business_details: { ...businessV1, email: 'nobody' } }),
      status: 400,
      problems: [['parameter_invalid', 'account.business_details.email', ['input', 'businessDetails', 'email']]],
    },
    'a malformed value and a missing one': {
      mutation: 'createAccount',
      input: () => ({ type: 'PARTNER', businessDetails: { ...business, email: 'nobody' } }),
      path: '/v1/accounts',
      body: () => ({ type: 'partner', business_details: { ...businessV1, email: 'nobody' } }),
      status: 400,
      problems: [
        ['parameter_invalid', 'account.business_details.email', ['input', 'businessDetails', 'email']],
        ['parameter_missing', 'account.nickname', ['input', 'nickname']],
      ],
    },
    'an enum value that does not exist': {
      mutation: 'createAccount',
      input: () => ({ type: 'PARTNER', nickname: nickname(), businessDetails: { ...business, type: 'GUILD' } }),
      path: '/v1/accounts',
      body: () => ({ type: 'partner', nickname: nickname(), business_details: { ...businessV1, type: 'guild' } }),
      status: 400,
      problems: [['parameter_invalid', 'account.business_details.type', ['input', 'businessDetails', 'type']]],
    },
    'a value of the wrong type, and an unknown member': {
      mutation: 'createAccount',
      input: () => ({ type: 'PARTNER', nickname: 5, businessDetails: business, colour: 'red' }),
      path: '/v1/accounts',
      body: () => ({ type: 'partner', nickname: 5, business_details: businessV1, colour: 'red' }),
      status: 400,
      problems: [
        ['parameter_unknown', 'account.colour', ['input', 'colour']],
        ['parameter_invalid', 'account.nickname', ['input', 'nickname']],
      ],
    },
    'metadata that break their rules': {
      mutation: 'createAccount',
      input: () => ({
        type: 'PARTNER',
        nickname: nickname(),
        businessDetails: business,
        metadata: { snake_case: 5, 'with.dot': 'x'.repeat(501), fine: 'x' },
      }),
      path: '/v1/accounts',
      body: () => ({
        type: 'partner',
        nickname: nickname(),
        business_details: businessV1,
        metadata: { snake_case: 5, 'with.dot': 'x'.repeat(501), fine: 'x' },
      }),
      status: 400,
      problems: [
        ['parameter_invalid', 'account.metadata.snake_case', ['input', 'metadata', 'snake_case']],
        ['parameter_invalid', 'account.metadata.with.dot', ['input', 'metadata', 'with.dot']],
      ],
    },
    'a nickname that is taken': {
      mutation: 'createAccount',
      input: (ids) => ({ type: 'PARTNER', nickname: ids.taken, businessDetails: business }),
      path: '/v1/accounts',
      body: (ids) => ({ type: 'partner', nickname: ids.taken, business_details: businessV1 }),
      status: 409,
      problems: [['nickname_taken', 'account.nickname', ['input', 'nickname']]],
    },
    'an object outside the visibility': {
      mutation: 'createAddress',
      input: () => payoutAddressInput('account_0'),
      path: '/v1/addresses',
      body: () => payoutAddressBody('account_0'),
      status: 404,
      problems: [['resource_missing', 'address.linked_id', ['input', 'linkedId']]],
    },
    'currencies that do not exist, and a rule of the edition': {
      mutation: 'createAddress',
      input: ({ id }) => payoutAddressInput(id, { currency: 'XXX', bankAccount: { number: '12341' } }),
      path: '/v1/addresses',
      body: ({ id }) => payoutAddressBody(id, { currency: 'XXX', bank_account: { number: '12341' } }),
      status: 400,
      problems: [
        ['parameter_invalid', 'address.currency', ['input', 'currency']],
        ['parameter_missing', 'address.bank_account.domestic_credit', ['input', 'bankAccount', 'domesticCredit']],
      ],
    },
    'a person with texts as booleans': {
      mutation: 'createPerson',
      input: ({ id }) => ({ accountId: id, fullName: 'F', relationship: { owner: 'yes', director: 1 } }),
      path: '/v1/persons',
      body: ({ id }) => ({ account_id: id, full_name: 'F', relationship: { owner: 'yes', director: 1 } }),
      status: 400,
      problems: [
        ['parameter_invalid', 'person.relationship.director', ['input', 'relationship', 'director']],
        ['parameter_invalid', 'person.relationship.owner', ['input', 'relationship', 'owner']],
      ],
    },
  };
  it.each(Object.entries(rows))('are one entry each, with the same content as on /v1: %s', async (_, row) => {
    const speaker = row.mutation === 'createPerson' ? platform : user;
    const ids = { id: user.id, taken };
    const type = inputTypeOf(row.mutation);

    const [graph, v1] = await Promise.all([
      speaker.graph(
        `mutation ($input: ${type}!) { ${row.mutation}(input: $input) { __typename } }`,
        { input: row.input(ids) },
        { accept: modern },
      ),
      speaker.post(row.path, row.body(ids)),
    ]);

    const problems = v1.body.errors.map((e: any) => [e.code, e.metadata.field_name]);
    expect([v1.status, problems]).toEqual([row.status, row.problems.map(([code, fieldName]) => [code, fieldName])]);
    expect(graph.body.errors.map(({ message, extensions }: any) => ({ message, extensions }))).toEqual(
      row.problems.map(([code, fieldName, argumentPath], i) => ({
        message: expect.any(String),
        extensions: {
          code: code.toUpperCase(),
          httpStatus: row.status,
          docUrl: `/docs/errors#${code}`,
          argumentPath,
          // Exactly the item of the /v1 response, including its message.
          error: { code, message: v1.body.errors[i].message, metadata: { field_name: fieldName } },
          requestId: graph.headers.get('request-id'),
        },
      })),
    );
  });

  const queries: Record<string, [document: string, search: string, problems: [string, string, (string | number)[]][]]> =
    {
      'a page of size zero': ['accounts(first: 0)', 'limit=0', [['parameter_invalid', 'account.limit', ['first']]]],
      'a page beyond the limit, backward': [
        'accounts(last: 101)',
        'limit=101',
        [['parameter_invalid', 'account.limit', ['last']]],
      ],
      'an unknown cursor': [
        'accounts(after: "account_0")',
        'starting_after=account_0',
        [['parameter_invalid', 'account.starting_after', ['after']]],
      ],
      'an unknown cursor, backward': [
        'accounts(before: "account_0")',
        'ending_before=account_0',
        [['parameter_invalid', 'account.ending_before', ['before']]],
      ],
      'a page size that is not a number': [
        'accounts(first: "ten")',
        'limit=ten',
        [['parameter_invalid', 'account.limit', ['first']]],
      ],
      'an unknown argument': [
        'accounts(colour: "red")',
        'colour=red',
        [['parameter_unknown', 'account.colour', ['colour']]],
      ],
      'a filter by an object outside the visibility': [
        'addresses(linkedId: "account_0", after: "address_0")',
        'starting_after=address_0&linked_id=account_0',
        [['parameter_invalid', 'address.starting_after', ['after']]],
      ],
    };
  it.each(Object.entries(queries))(
    'of a list have the same names as on /v1: %s',
    async (_, [field, search, problems]) => {
      const path = field.startsWith('accounts') ? '/v1/accounts' : '/v1/addresses';

      const [graph, v1] = await Promise.all([
        user.graph(`{ ${field} { nodes { id } } }`, {}, { accept: modern }),
        user.get(`${path}?${search}`),
      ]);

      const problemsOf = (reply: Reply) => reply.codes.map((code, i) => [code, reply.fieldNames[i]]);
      const expected = problems.map(([code, fieldName]) => [code, fieldName]);
      expect([v1.status, problemsOf(v1), problemsOf(graph)]).toEqual([400, expected, expected]);
      expect(graph.body.errors.map((e: any) => e.extensions.argumentPath)).toEqual(problems.map(([, , at]) => at));
    },
  );

  it('include every error that does not concern arguments', async () => {
    const reply = await user.graph(
      '{ viewer { pet } accounts(colour: "red") { nodes { id } } }',
      {},
      { accept: modern },
    );

    expect(reply.status).toBe(400);
    expect(reply.body.errors).toHaveLength(2);
    expect(reply.text).toContain('pet');
    expect(reply.text).toContain('colour');
  });

  it('in a nested field keep their path in the response', async () => {
    const reply = await user.graph('{ list: accounts { nodes { id mail: addresses(first: 101) { nodes { id } } } } }');

    expect(reply.status).toBe(200);
    const { path, extensions } = reply.body.errors[0];
    expect(path).toEqual(['list', 'nodes', 0, 'mail']);
    expect(extensions).toMatchObject({
      code: 'PARAMETER_INVALID',
      httpStatus: 400,
      argumentPath: ['first'],
      error: { code: 'parameter_invalid', metadata: { field_name: 'address.limit' } },
    });
  });
});

describe('wrong arguments of a field below the root', () => {
  let user: Speaker;
  beforeAll(async () => {
    user = await given.directUser(1);
  });

  const range = 'from: "2026-01-01T00:00:00Z", to: "2026-01-31T00:00:00Z"';
  it.each([
    [`depositTotals(from: "today", to: "2026-01-31T00:00:00Z", interval: DAY) { amount }`, 'account.from', ['from']],
    [`depositChart(${range}, interval: HOUR) { asOf }`, 'account.interval', ['interval']],
    [`depositChart(${range}, interval: DAY, timeZone: 7) { asOf }`, 'account.time_zone', ['timeZone']],
    [`balanceHistory(${range}, interval: DAY, scope: ALL) { amount }`, 'account.scope', ['scope']],
    [`balanceStatement(${range}, currency: $c) { currency }`, 'account.currency', ['currency']],
    [`balance(asOf: "now") { asOf }`, 'account.as_of', ['asOf']],
    [`topUsers(${range}, currency: $c) { asOf }`, 'account.currency', ['currency']],
    [`topUsers(${range}, limit: 1.5) { asOf }`, 'account.limit', ['limit']],
    [`attention { items(limit: 1.5) { since } }`, 'attention.limit', ['limit']],
    [
      `receivableAgeing { currencies { byCustomer(limit: 1.5) { customerCount } } }`,
      'ageing_of_currency.limit',
      ['limit'],
    ],
    [`topUsers(${range}, first: 3) { asOf }`, 'account.first', ['first'], 'unknown'],
    [`topUsers(from: "2026-01-01T00:00:00Z") { asOf }`, 'account.to', ['to'], 'missing'],
    [`depositsIn(filter: { currency: [$c] }) { totalCount }`, 'deposit.currency', ['filter', 'currency', 0]],
    [`depositsIn(first: "x") { totalCount }`, 'deposit.limit', ['first']],
  ])('are named, with the place of the field: %s', async (field, fieldName, at, kind = 'invalid') => {
    const variable = field.includes('$c');
    const ask = (document: string) => user.graph(document, variable ? { c: 'usd' } : {}, { accept: modern });
    const declared = variable ? 'query ($c: Currency!)' : 'query';
    for (const document of [
      `${declared} { viewer { account { ${field} } } }`,
      `${declared} { viewer { ... on Viewer { account { ...F } } } } fragment F on Account { ${field} }`,
    ]) {
      const { status, body } = await ask(document);
      const [{ message, locations, extensions }] = body.errors.filter(
        ({ extensions: { code } }: any) => code !== 'GRAPHQL_VALIDATION_FAILED',
      );
      expect([status, 'data' in body]).toEqual([400, false]);
      expect([extensions.code, extensions.argumentPath]).toEqual([`PARAMETER_${kind.toUpperCase()}`, at]);
      expect(extensions.error.metadata.field_name).toBe(fieldName);
      expect(message).toMatch(new RegExp(`^${at.filter((step) => typeof step === 'string').at(-1)}\\b`));
      const column = document.indexOf(kind === 'unknown' ? 'first: 3' : fieldOf(field)) + 1;
      expect(locations).toEqual([{ line: 1, column }]);
    }
  });

  /** The text of the field that has the arguments, which may be within another one. */
  const fieldOf = (text: string) => /\w+\(.*/.exec(text)![0];

  it.each([
    [`topUsers(limit: 0, ${range}) { asOf }`, 'account.limit'],
    ['attention { items(limit: 0) { since } }', 'attention.limit'],
    ['receivableAgeing { currencies { byCustomer(limit: 101) { customerCount } } }', 'ageing_of_currency.limit'],
  ])('have the same names when the field refuses them: %s', async (field, fieldName) => {
    await must(user.post('/v1/receivables', receivableBody()));
    const { body } = await user.graph(`{ viewer { account { ${field} } } }`);
    const [{ message, extensions }] = body.errors;
    expect([message.split(' ')[0], extensions.argumentPath]).toEqual(['limit', ['limit']]);
    expect(extensions.error.metadata.field_name).toBe(fieldName);
  });
});

describe('an object that is missing or not visible', () => {
  /** The root fields that read an object by its id, and the others that answer one object. */
  const missing = {
    ...Object.fromEntries(
      resources.flatMap(({ node, operations = {} }) =>
        Object.entries(operations)
          .filter(([, { reads }]) => reads?.read === 'one')
          .map(([name]) => [name, `${name}(id: "${node!.prefix}_0")`]),
      ),
    ),
    adjustment: 'adjustment(id: "payment_0")',
    balance: 'balance(accountId: "account_0")',
    balanceAggregate: 'balanceAggregate(accountId: "account_0")',
    bankDetails: 'bankDetails(id: "deposit_0")',
  };
  let second: Speaker;
  beforeAll(async () => {
    second = await given.directUser(2);
  });

  it('is selected by every nullable root field that is no list, and by node', async () => {
    const reply = await second.graph('{ __type(name: "Query") { fields { name type { kind name } } } }');
    const objects = reply.body.data.__type.fields.filter(
      ({ type }: any) => /^(OBJECT|INTERFACE)$/.test(type.kind) && !type.name.endsWith('Connection'),
    );
    expect(objects.map((field: any) => field.name).sort()).toEqual([...Object.keys(missing), 'node'].sort());
  });

  // Each query runs four times: a compiled statement answers a document that is repeated.
  it.each(Object.entries(missing))(
    'is null at its path, and the other fields have their values: %s',
    async (name, asked) => {
      const query =
        `query ${name} { viewer { edition } own: account(id: "${second.id}") { id } gone: ${asked} { __typename ` +
        '} accounts { nodes { id } } }';
      for (let ask = 0; ask < 4; ask++) {
        const { status, body } = await second.graph(query);
        expect([status, body.data]).toEqual([
          200,
          {
            viewer: { edition: 2 },
            own: { id: second.id },
            gone: null,
            accounts: { nodes: [{ id: second.id }] },
          },
        ]);
        expect(body.errors.map(({ path, extensions }: any) => [path, extensions.code, extensions.httpStatus])).toEqual([
          [['gone'], 'RESOURCE_MISSING', 404],
        ]);
      }
    },
  );

  it('is null in the edition that lacks its type, where its list is empty and /v1 has no such path', async () => {
    const user = await given.directUser(1);
    const { status, body } = await user.graph(
      `{ viewer { edition } checkouts(status: [COMPLETED]) { nodes { id } edges { cursor } totalCount pageInfo {
        hasNextPage hasPreviousPage } }
         checkout(id: "checkout_0") { id } transaction(id: "transaction_0") { id } account(id: "${user.id}") {
         checkoutsIn { totalCount } } }`,
    );
    expect([status, body.data]).toEqual([
      200,
      {
        viewer: { edition: 1 },
        checkouts: {
          nodes: [],
          edges: [],
          totalCount: 0,
          pageInfo: { hasNextPage: false, hasPreviousPage: false },
        },
        checkout: null,
        transaction: null,
        account: { checkoutsIn: { totalCount: 0 } },
      },
    ]);
    expect(body.errors.map(({ path, extensions }: any) => [path, extensions.code])).toEqual([
      [['checkout'], 'ROUTE_MISSING'],
      [['transaction'], 'ROUTE_MISSING'],
    ]);
    const wrong = await user.graph('{ checkouts(first: 101) { nodes { id } } }');
    expect(wrong.body.errors[0].message).toBe('first must be from 1 to 100.');
    const bad = await user.graph('{ checkouts(status: [gone]) { nodes { id } } }');
    expect([bad.status, bad.codes]).toEqual([400, ['parameter_invalid']]);
    for (const path of ['/v1/checkouts', '/v1/checkouts/checkout_0'])
      expect([(await user.get(path)).status, (await user.get(path)).codes]).toEqual([404, ['route_missing']]);
  });
});

describe('an internal error', () => {
  const broken = useWorld({ worker: false });
  const message =
    'The service failed to handle the request. Retry later, and report the request id if the error persists.';
  let user: Speaker;
  beforeAll(async () => {
    user = await givenIn(broken).directUser(1);
    expect((await user.get('/v1/persons')).status).toBe(200);
    // From here on PostgreSQL refuses statements on persons, with the statement and its parameters in the driver's
    // error.
    await broken.sql`alter table person rename to person_gone`;
  });

  const secret = 'ABCPE1234F';
  const person = {
    fullName: 'Leaky Lakshmi',
    relationship: { director: true },
    identification: { taxCardNumber: secret },
  };
  const personV1 = {
    full_name: 'Leaky Lakshmi',
    relationship: { director: true },
    identification: { tax_card_number: secret },
  };
  const ofPerson = 'ABCPE1234F|Leaky|Lakshmi|person_gone|create_person';
  const leak = new RegExp(`${ofPerson}|relation|select |insert |postgres|drizzle|node_modules|42P01|stack`, 'i');
  const itemOf = { code: 'service_fault', message, metadata: {} };

  const v1: Record<string, () => Promise<Reply>> = {
    'a list': () => user.get('/v1/persons'),
    'an object': () => user.get(`/v1/persons/person_${secret}`),
    'a creation': () => user.post('/v1/persons', personV1),
  };
  it.each(Object.entries(v1))('is 500 on /v1 and reveals nothing about its cause, in %s', async (_, ask) => {
    const reply = await ask();

    expect([reply.status, reply.body]).toEqual([500, { object: 'error', http_status_code: 500, errors: [itemOf] }]);
    expect([...reply.headers.values()].join('\n') + reply.text).not.toMatch(leak);
    expect(reply.headers.get('request-id')).toMatch(/^req_\w+$/);
  });

  const graph: Record<string, [document: string, path: (string | number)[], variables?: object]> = {
    'a list': ['{ persons { nodes { id } } }', ['persons']],
    'an edge': ['{ viewer { account { persons { nodes { id } } } } }', ['viewer', 'account', 'persons']],
    'an object': [`{ node(id: "person_${secret}") { id } }`, ['node']],
    'a creation': [
      'mutation ($input: CreatePersonInput!) { createPerson(input: $input) { person { id } } }',
      ['createPerson'],
      { input: person },
    ],
  };
  it.each(Object.entries(graph))('is masked in the graph, in %s', async (_, [document, path, variables]) => {
    const reply = await user.graph(document, variables, { accept: modern });

    const requestId = reply.headers.get('request-id');
    // The operation ran, so the status of the response is 200; the status of the fault is in the error.
    expect(reply.status).toBe(200);
    expect(reply.body.errors).toEqual([
      {
        message,
        locations: expect.any(Array),
        path,
        extensions: {
          ...{ code: 'SERVICE_FAULT', httpStatus: 500, docUrl: '/docs/errors#service_fault' },
          ...{ error: itemOf, requestId },
        },
      },
    ]);
    expect(JSON.stringify([reply.body.errors, reply.body.extensions])).not.toMatch(leak);
  });

  it('leaves the fields that do not depend on the failed part unchanged', async () => {
    const reply = await user.graph('{ viewer { edition } gone: node(id: "person_1") { id } }');

    expect([reply.status, reply.body.data]).toEqual([200, { viewer: { edition: 1 }, gone: null }]);
    expect(reply.codes).toEqual(['service_fault']);
    expect((await user.get('/v1/accounts')).status).toBe(200);
  });

  it('has its status and message in the catalogue, from which the documentation is made', () => {
    expect(catalogue.service_fault.slice(0, 2)).toEqual([500, message]);
  });
});
