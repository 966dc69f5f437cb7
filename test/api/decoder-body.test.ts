import { describe, expect, it } from 'vitest';
import { partnerBody, pdf } from '../support/bodies.js';
import { details, nickname, type Reply, useWorld } from '../support/world.js';
import { decodersIn, expectErrorObject, sorted } from './decoder-fixture.js';

const world = useWorld({ worker: false });
const { callers, ask, bearer, json } = decodersIn(world);

describe('the errors of a body', () => {
  it('are all named in one response, one entry per field', async () => {
    const reply = await callers.user.post('/v1/accounts', {
      type: 'giant',
      extra: 1,
      business_details: {
        legal_name: 5,
        email: 'nobody',
        type: '',
        colour: 'red',
        physical_address: { country: 'INDIA', city: ['Pune'], planet: 'Earth' },
        estimated_monthly_volume: { amount: 10, currency: 'usd' },
      },
      metadata: { number: 1, [`k${'k'.repeat(40)}`]: 'v', long: 'v'.repeat(501), list: [], none: null, '': 'v' },
    });
    expect(sorted(reply)).toEqual([
      400,
      'parameter_invalid account.business_details.email',
      'parameter_invalid account.business_details.estimated_monthly_volume.amount',
      'parameter_invalid account.business_details.estimated_monthly_volume.currency',
      'parameter_invalid account.business_details.legal_name',
      'parameter_invalid account.business_details.physical_address.city',
      'parameter_invalid account.business_details.physical_address.country',
      'parameter_invalid account.metadata.',
      `parameter_invalid account.metadata.k${'k'.repeat(40)}`,
      'parameter_invalid account.metadata.list',
      'parameter_invalid account.metadata.long',
      'parameter_invalid account.metadata.number',
      'parameter_invalid account.type',
      'parameter_invalid_empty account.business_details.type',
      'parameter_missing account.nickname',
      'parameter_unknown account.business_details.colour',
      'parameter_unknown account.business_details.physical_address.planet',
      'parameter_unknown account.extra',
    ]);
  });

  // Rules other than the types find these errors; for the client they are one step.
  it('are all named in one response, whichever rule finds them', async () => {
    const { email: _, ...business } = details();
    const reply = await callers.user.post('/v1/accounts', {
      type: 'user',
      nickname: nickname(),
      business_details: { ...business, estimated_monthly_volume: { amount: '10.50', currency: 'JPY' } },
      metadata: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, 'v'])),
    });
    expect(sorted(reply)).toEqual([
      400,
      'parameter_invalid account.business_details.estimated_monthly_volume.amount',
      'parameter_invalid account.metadata',
      'parameter_invalid account.type',
      'parameter_missing account.business_details.email',
    ]);
  });

  it.each<[parameter: string, body: () => object]>([
    [
      'account.__proto__',
      () => JSON.parse(`{"__proto__": {"type": "partner"}, ${JSON.stringify(partnerBody()).slice(1)}`),
    ],
    ['account.constructor', () => partnerBody({ constructor: { name: 'x' } })],
    ['account.businessDetails', () => partnerBody({ businessDetails: details() })],
    ['account.id', () => partnerBody({ id: 'account_0' })],
    ['account.status', () => partnerBody({ status: 'activated' })],
    [
      'account.business_details.physicalAddress',
      () => partnerBody({ business_details: { ...details(), physicalAddress: {} } }),
    ],
  ])('report a parameter that the operation does not have: %s', async (parameter, body) => {
    expectErrorObject(await callers.user.post('/v1/accounts', body()), 400, `parameter_unknown ${parameter}`);
  });

  // JSON.parse uses the last of two values, while a person or a proxy may have read the first.
  describe('for a key that an object repeats', () => {
    const twice = (message: string, field: string) => ({
      code: 'parameter_invalid',
      message: `${message} is given more than once. Send it once.`,
      metadata: { field_name: field },
    });

    it.each<[title: string, body: string, problems: object[]]>([
      ['an amount', '{"amount":"1.00","amount":"2.00","currency":"USD"}', [twice('amount', 'deposit.amount')]],
      ['the same value twice', '{"amount":"1.00","amount":"1.00"}', [twice('amount', 'deposit.amount')]],
      ['one written with an escape', '{"amount":"1.00","\\u0061mount":"2.00"}', [twice('amount', 'deposit.amount')]],
      [
        'three times, with white space',
        '{"amount" :"1.00","amount"\n:"2.00","amount": 3}',
        [twice('amount', 'deposit.amount')],
      ],
      ['in an object', '{"to":{"account_id":"a","account_id":"b"}}', [twice('account_id', 'deposit.to.account_id')]],
      [
        'in a list',
        '{"receivables":[{"id":"a"},{"id":"a","amount":"1.00","amount":"2.00"}]}',
        [twice('amount', 'deposit.receivables[1].amount')],
      ],
      ['in metadata', '{"metadata":{"a":"1","a":"2"}}', [twice('metadata.a', 'deposit.metadata.a')]],
      [
        'twice over',
        '{"amount":"1","amount":"2","currency":"USD","currency":"INR"}',
        [twice('amount', 'deposit.amount'), twice('currency', 'deposit.currency')],
      ],
      ['of the name __proto__', '{"__proto__":{},"__proto__":{}}', [twice('__proto__', 'deposit.__proto__')]],
    ])('are refused on /v1: %s', async (_, body, problems) => {
      const before = (await callers.user.get('/v1/deposits')).body;
      const reply = await callers.user.post('/v1/deposits', body);
      expect([reply.status, reply.body.errors]).toEqual([400, problems]);
      expect((await callers.user.get('/v1/deposits')).body).toEqual(before);
    });

    const query = 'mutation ($input: CreateDepositInput!) { createDeposit(input: $input) { deposit { id } } }';
    it.each<[title: string, body: string, field: string]>([
      [
        'variables',
        `{"query":"${query}","variables":{"input":{"amount":"1.00","amount":"2.00"}}}`,
        'variables.input.amount',
      ],
      ['a query', `{"query":"{ viewer { mode } }","query":"${query}"}`, 'query'],
      ['variables twice', `{"query":"${query}","variables":{},"variables":{"input":{}}}`, 'variables'],
    ])('are refused on GraphQL: %s', async (_, body, field) => {
      const reply = await callers.user.post('/graphql', body);
      const message = `${field.split('.').at(-1)} is given more than once. Send it once.`;
      expect([reply.status, reply.body.data, reply.body.errors.length]).toEqual([400, undefined, 1]);
      expect(reply.body.errors[0]).toMatchObject({
        message,
        extensions: { code: 'PARAMETER_INVALID', error: { message, metadata: { field_name: `request.${field}` } } },
      });
    });

    it('are refused in the variables of a query string, in a literal, and in a form', async () => {
      const variables = encodeURIComponent('{"n":1,"n":2}');
      const asked = encodeURIComponent('query ($n: Int) { accounts(first: $n) { nodes { id } } }');
      const got = await callers.user.get(`/graphql?query=${asked}&variables=${variables}`);
      expect([got.status, got.fieldNames]).toEqual([400, ['request.variables.n']]);
      const literal = await callers.user.graph(
        'mutation { createDeposit(input: { amount: "1.00", amount: "2.00", currency: "USD" }) { deposit { id } } }',
      );
      expect([literal.status, literal.body.errors[0].message]).toEqual([
        400,
        'There can be only one input field named "amount".',
      ]);
      const form = new FormData();
      for (const value of ['logo', 'invoice']) form.append('purpose', value);
      for (const value of ['1', '2']) form.append('metadata[a]', value);
      form.append('file', new Blob([pdf]), 'a.pdf');
      const uploaded = await ask('/v1/files', { method: 'POST', headers: bearer(), body: form });
      expectErrorObject(uploaded, 400, 'parameter_invalid file.purpose', 'parameter_invalid file.metadata.a');
    });

    it('do not occur if a value only resembles a key', async () => {
      const text =
        '{"metadata":{"a":"{\\"amount\\":1,\\"amount\\":2}","b":": ","c":"\\":"},"amount":"1.00","currency":"USD"}';
      const reply = await callers.user.post('/v1/deposits', text);
      expect([reply.status, reply.body.metadata]).toEqual([200, JSON.parse(text).metadata]);
    });

    it('are refused, or the body is, at any depth', async () => {
      const depth = 15_000;
      const deep = `{"metadata":${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)},"amount":1,"amount":2}`;
      const reply = await ask('/v1/deposits', { method: 'POST', headers: json(), body: deep });
      expect([reply.status, reply.codes.length]).toEqual([400, 1]);
    });
  });

  it('never repeat what was sent', async () => {
    const secret = 'hush-4711';
    const reply = await callers.user.post('/v1/accounts', {
      type: secret,
      business_details: { email: secret, physical_address: { country: secret }, type: secret },
      nickname: [secret],
      metadata: secret,
    });
    expect(reply.status).toBe(400);
    expect(reply.body.errors).toHaveLength(7);
    expect(reply.text).not.toContain(secret);
  });
});

describe('a message', () => {
  interface Said {
    v1: () => Promise<Reply>;
    graph: () => Promise<Reply>;
    /** The messages of both APIs if they are the same, or else those of each. */
    says: string[] | { v1: string[]; graph: string[] };
  }
  const list = (asked: string) => () => callers.user.graph(`{ ${asked} { nodes { id } } }`);
  const accountInput = { type: 'PARTNER', businessDetails: {} };
  const create = (input: object) => () =>
    callers.user.graph('mutation ($input: CreateAccountInput!) { createAccount(input: $input) { account { id } } }', {
      input: { ...accountInput, ...input },
    });
  const deposit = (input: object) => () =>
    callers.user.graph('mutation ($input: CreateDepositInput!) { createDeposit(input: $input) { deposit { id } } }', {
      input,
    });
  const missing = (...names: string[]) => names.map((name) => `${name} is required. Send it and try again.`);
  const methods =
    'affirm, afterpay, check, domestic_credit, domestic_debit, ' +
    'domestic_fast_credit, domestic_wire, global_wire, klarna';
  const statuses = ['initialized', 'processing', 'completed', 'cancelled', 'failed', 'reversed'];

  it.each<[title: string, said: Said]>([
    [
      'of an enum in a filter',
      {
        v1: () => callers.user.get('/v1/deposits?status=COMPLETED'),
        graph: list('deposits(status: [completed])'),
        says: {
          v1: [`status must be one of ${statuses.join(', ')}.`],
          graph: [`status[0] must be one of ${statuses.map((status) => status.toUpperCase()).join(', ')}.`],
        },
      },
    ],
    [
      'of an enum in an input',
      {
        v1: () => callers.user.post('/v1/addresses', { category: 'USER_PAYOUT', type: 'x' }),
        graph: () =>
          callers.user.graph(
            'mutation { createAddress(input: { category: user_payout, type: BANK_ACCOUNT }) { address { id } } }',
          ),
        says: {
          v1: [
            'category must be user_payout.',
            'type must be bank_account.',
            ...missing('currency', 'linked_id', 'linked_object', 'name', 'bank_account', 'billing_details'),
          ],
          graph: [
            'category must be USER_PAYOUT.',
            ...missing('currency', 'linkedId', 'linkedObject', 'name', 'bankAccount', 'billingDetails'),
          ],
        },
      },
    ],
    [
      'of an amount of nothing',
      {
        v1: () => callers.user.post('/v1/deposits', { amount: '0.00', currency: 'USD' }),
        graph: deposit({ amount: '0.00', currency: 'USD' }),
        says: ['amount must be greater than zero.'],
      },
    ],
    [
      'of too large an amount',
      {
        v1: () => callers.user.post('/v1/deposits', { amount: '10000000000000.00', currency: 'USD' }),
        graph: deposit({ amount: '10000000000000.00', currency: 'USD' }),
        says: ['amount must be at most 9999999999999.99.'],
      },
    ],
    [
      'of an amount with a leading zero',
      {
        v1: () => callers.user.post('/v1/deposits', { amount: '01.00', currency: 'USD' }),
        graph: deposit({ amount: '01.00', currency: 'USD' }),
        says: ['amount must be a decimal string with two places or none and no leading zero, such as "10.00".'],
      },
    ],
    [
      'of a value of the other edition',
      {
        v1: () => callers.user.post('/v1/deposits', { amount: '1.00', currency: 'USD', payment_method: 'upi' }),
        graph: deposit({ amount: '1.00', currency: 'USD', paymentMethod: 'UPI' }),
        says: {
          v1: [`payment_method must be one of ${methods}.`],
          graph: [`paymentMethod must be one of ${methods.toUpperCase()}.`],
        },
      },
    ],
    [
      'of arguments that contradict each other',
      {
        v1: () => callers.user.get('/v1/accounts?starting_after=account_0&ending_before=account_1'),
        graph: list('accounts(before: "account_1", after: "account_0")'),
        says: {
          v1: ['ending_before cannot be combined with starting_after. Leave out one of them.'],
          graph: ['before cannot be combined with after. Leave out one of them.'],
        },
      },
    ],
    [
      'of both ends of a list',
      {
        v1: () => callers.user.get('/v1/accounts?limit=0'),
        graph: list('accounts(first: 2, last: 2)'),
        says: {
          v1: ['limit must be a whole number from 1 to 10.'],
          graph: ['last cannot be combined with first. Leave out one of them.'],
        },
      },
    ],
    [
      'of a cursor of nothing',
      {
        v1: () => callers.user.get('/v1/accounts?starting_after=account_0'),
        graph: list('accounts(after: "account_0")'),
        says: {
          v1: ['starting_after must be the id of an object of this list.'],
          graph: ['after must be the id of an object of this list.'],
        },
      },
    ],
    [
      'of a time',
      {
        v1: () => callers.user.get('/v1/accounts?created.gte=x'),
        graph: list('accounts(created: { gte: "x" })'),
        says: {
          v1: ['created.gte must be a whole number.'],
          graph: ['created.gte must be a time in ISO 8601, such as 2026-01-31T12:00:00Z.'],
        },
      },
    ],
    [
      'of a country',
      {
        v1: () =>
          callers.user.post('/v1/accounts', {
            type: 'partner',
            nickname: 'n',
            business_details: { ...details(), physical_address: { country: 'Peru' } },
          }),
        graph: create({
          nickname: 'n',
          businessDetails: {
            legalName: 'A',
            email: 'a@b.example',
            type: 'COMPANY',
            physicalAddress: { country: 'Peru' },
          },
        }),
        says: ['country must be a two-letter ISO 3166-1 country code, such as US.'],
      },
    ],
    [
      'of an email address and an object',
      {
        v1: () =>
          callers.user.post('/v1/accounts', {
            type: 'partner',
            nickname: 'n',
            business_details: { ...details(), email: 'x', physical_address: 'Peru' },
          }),
        graph: create({
          nickname: 'n',
          businessDetails: { legalName: 'A', email: 'x', type: 'COMPANY', physicalAddress: 'Peru' },
        }),
        says: {
          v1: ['email must be an email address.', 'physical_address must be a hash.'],
          graph: ['email must be an email address.', 'physicalAddress must be an input object.'],
        },
      },
    ],
    [
      'of a date',
      {
        v1: () => callers.user.post('/v1/receivables', { invoice: { creation_date: 'x' } }),
        graph: () =>
          callers.user.graph(
            'mutation ($input: CreateReceivableInput!) { createReceivable(input: $input) { receivable { id } } }',
            {
              input: { invoice: { creationDate: 'x' } },
            },
          ),
        says: {
          v1: [
            ...missing('currency', 'amount'),
            'creation_date must be a date, as YYYY-MM-DD.',
            ...missing('currency', 'due_date', 'reference_number', 'purpose_code', 'transaction_type'),
          ],
          graph: [
            ...missing('currency', 'amount'),
            'creationDate must be a date, as YYYY-MM-DD.',
            ...missing('currency', 'dueDate', 'referenceNumber', 'purposeCode', 'transactionType'),
          ],
        },
      },
    ],
    [
      'of the type of account that is created',
      {
        v1: () => callers.user.post('/v1/accounts', { ...partnerBody(), type: 'user' }),
        graph: create({
          type: 'USER',
          nickname: 'n',
          businessDetails: {
            legalName: 'A',
            email: 'a@b.example',
            type: 'COMPANY',
            physicalAddress: { country: 'IN' },
          },
        }),
        says: {
          v1: [
            'type must be partner: only partners are created through this call. A platform creates a connected ' +
              'user with POST /v1/accounts/connected, and a partner of a ' +
              'connected user with the header On-Behalf-Of.',
          ],
          graph: [
            'type must be PARTNER: only partners are created through this call. A platform creates a connected ' +
              'user with createConnectedUser, and a partner of a connected user with the header On-Behalf-Of.',
          ],
        },
      },
    ],
    [
      'of metadata',
      {
        v1: () => callers.user.post('/v1/deposits', { amount: '1.00', currency: 'USD', metadata: { 'a.b': 1 } }),
        graph: deposit({ amount: '1.00', currency: 'USD', metadata: { 'a.b': 1 } }),
        says: ['metadata.a.b must be a string.'],
      },
    ],
    [
      'of an optional parameter that is empty',
      {
        v1: () => callers.user.get('/v1/accounts?status=&type=user'),
        graph: list('accounts(created: { gte: "" })'),
        says: {
          v1: ['status is empty. Send a value, or leave it out.'],
          graph: ['created.gte is empty. Send a value, or leave it out.'],
        },
      },
    ],
    [
      'of a member of the setting that is null',
      {
        v1: async () => {
          const { data } = (await callers.user.get('/v1/account_settings')).body;
          return callers.user.post(`/v1/account_settings/${data[0].id}`, { address_currency: null });
        },
        graph: async () => {
          const { data } = (await callers.user.get('/v1/account_settings')).body;
          return callers.user.graph(
            'mutation ($input: UpdateAccountSettingInput!) { updateAccountSetting(input: $input) { ' +
              'accountSetting { id } } }',
            { input: { id: data[0].id, addressCurrency: null } },
          );
        },
        says: {
          v1: ['address_currency is empty. Send a value, or leave it out.'],
          graph: ['addressCurrency is empty. Send a value, or leave it out.'],
        },
      },
    ],
    [
      'that a function of the database raises',
      {
        v1: async () => {
          const { data } = (await callers.platform.get(`/v1/account_settings?account_id=${callers.platform.id}`)).body;
          return callers.platform.post(`/v1/account_settings/${data[0].id}`, {
            payouts: { weekly_anchor: 1, interval: 'daily' },
          });
        },
        graph: async () => {
          const { data } = (await callers.platform.get(`/v1/account_settings?account_id=${callers.platform.id}`)).body;
          return callers.platform.graph(
            'mutation ($input: UpdateAccountSettingInput!) { updateAccountSetting(input: $input) { ' +
              'accountSetting { id } } }',
            { input: { id: data[0].id, payouts: { weeklyAnchor: 1, interval: 'DAILY' } } },
          );
        },
        says: {
          v1: ['weekly_anchor is possible with a weekly interval only. Choose that interval, or leave this out.'],
          graph: ['weeklyAnchor is possible with a weekly interval only. Choose that interval, or leave this out.'],
        },
      },
    ],
  ])('is a sentence with its subject, in the names of its API: %s', async (_, { v1, graph, says }) => {
    const [rest, answer] = [await v1(), await graph()];
    const ought = Array.isArray(says) ? { v1: says, graph: says } : says;
    const messages = (reply: Reply) => reply.body.errors.map((e: any) => e.message);
    expect({ v1: messages(rest), graph: messages(answer) }).toEqual(ought);
  });

  it('cuts the name of a parameter at 100 characters, on both APIs', async () => {
    const name = 'n'.repeat(60_000);
    const cut = `${`account.${name}`.slice(0, 99)}…`;
    const v1 = await callers.user.post('/v1/accounts', { ...partnerBody(), [name]: 1 });
    expectErrorObject(v1, 400, `parameter_unknown ${cut}`);
    const key = await callers.user.post('/v1/accounts', partnerBody({ metadata: { [name]: '1' } }));
    expect([key.status, key.text.length < 1_000]).toEqual([400, true]);
    const again = await callers.user.post('/v1/accounts', `{"${name}":1,"${name}":2}`);
    expect([again.status, again.text.length < 1_000]).toEqual([400, true]);
    for (const graph of [
      await callers.user.graph(
        'mutation ($input: CreateAccountInput!) { createAccount(input: $input) { account { id } } }',
        {
          input: { [name]: 1 },
        },
      ),
      await callers.user.graph(`{ ${name} }`),
      await callers.user.graph(`{ accounts(${name}: 1) { nodes { id } } }`),
      await callers.user.graph(`{ viewer { mode } } ${name}`),
      await callers.user.graph(`{ accounts(status: [${name}]) { nodes { id } } }`),
      await callers.user.graph(`{ accounts { nodes { depositsIn(first: "${name}") { nodes { id } } } } }`),
      await callers.user.graph(
        `{ accounts { nodes { depositsIn(first: "${name.replaceAll('nnn', 'n n')}") { nodes { id } } } } }`,
      ),
    ]) {
      expect([graph.status, graph.text.slice(0, 2_000)]).toEqual([400, graph.text]);
      expect(graph.text).not.toContain(name.slice(0, 101));
    }
  });
});
