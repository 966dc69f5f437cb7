import { getNamedType, isEnumType, isInputObjectType, isObjectType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { operations } from '../../src/resources/registry.js';
import { type Edition, givenIn, nickname, type Reply, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const schema = buildGraph();
let first: Speaker;
let second: Speaker;
beforeAll(async () => {
  [first, second] = await Promise.all([given.platform(1), given.platform(2)]);
});

const input = `input: { amount: "10.00", currency: INR, from: { accountId: "account_0" }, paymentMethods: [UPI],
  receivables: [{ id: "receivable_0" }], redirectUrl: "https://shop.example/" }`;
const only2 = (name: string) => `\`${name}\` is part of Edition 2 only.`;

describe('a field of the other edition', () => {
  it('is refused by its name, with its place in the document', async () => {
    const fields: [string, string][] = [
      ['createCheckout', `mutation {\n  createCheckout(${input}) { checkout { id } }\n}`],
      ['cancelCheckout', 'mutation {\n  cancelCheckout(input: { id: "checkout_0" }) { checkout { id } }\n}'],
      ['checkout', 'query {\n  checkout(id: "checkout_0") { id }\n}'],
      ['transaction', 'query {\n  transaction(id: "transaction_0") { id }\n}'],
    ];
    for (const [name, query] of fields)
      for (let i = 0; i < 3; i++) {
        const reply = await first.graph(query);
        const [error, ...others] = reply.body.errors;
        expect([name, others]).toEqual([name, []]);
        expect(error).toMatchObject({
          message: only2(name),
          locations: [{ line: 2, column: 3 }],
          path: [name],
          extensions: { code: 'ROUTE_MISSING', httpStatus: 404 },
        });
      }
  });

  it('leaves the other fields of the query their answers', async () => {
    const reply = await first.graph('{ viewer { edition } checkout(id: "checkout_0") { id } }');
    expect(reply.body.data).toEqual({ viewer: { edition: 1 }, checkout: null });
    expect(reply.body.errors).toHaveLength(1);
  });

  it('is a path that does not exist on /v1, with the reason', async () => {
    const reasons = {
      checkouts: 'Checkouts are part of Edition 2 only. Use a key of an account of it.',
      transactions: 'Transactions are part of Edition 2 only. Use a key of an account of it.',
      nothing: 'There is no such path. Check the address.',
    };
    for (const [path, message] of Object.entries(reasons)) {
      const { status, body } = await first.get(`/v1/${path}/x`);
      const errors = [{ code: 'route_missing', message, metadata: {} }];
      expect([status, body]).toEqual([404, { object: 'error', http_status_code: 404, errors }]);
    }
  });

  it('is an empty list where it is a list', async () => {
    expect((await first.graph('{ checkouts { nodes { id } } }')).body).toMatchObject({
      data: { checkouts: { nodes: [] } },
    });
  });
});

describe('a typing error', () => {
  const messages = async (me: Speaker, query: string, variables = {}) => {
    const reply = await me.graph(query, variables);
    return [reply.status, reply.body.errors.map(({ message }: { message: string }) => message)];
  };

  it('comes before what the edition does not have', async () => {
    const unknownField = `mutation { createCheckout(${input.replace('UPI', 'UPII')}) { checkoutt { id } } }`;
    const [status, found] = (await messages(first, unknownField)) as [number, string[]];
    expect([status, found.at(-1)]).toEqual([400, only2('createCheckout')]);
    expect(found.join(' ')).toContain('Cannot query field "checkoutt"');
    expect(found.join(' ')).toContain('paymentMethods');
    // Without the refusal at the end, these are the errors of Edition 2.
    expect(found.slice(0, -1)).toEqual(((await messages(second, unknownField)) as [number, string[]])[1]);

    const alone = `{ checkout(id: "checkout_0") { idd } }`;
    expect(await messages(first, alone)).toEqual([
      400,
      [expect.stringContaining('Cannot query field "idd"'), only2('checkout')],
    ]);
    const argument = '{ checkout(id: "checkout_0", colour: 1) { id } }';
    expect(await messages(first, argument)).toEqual([
      400,
      ['colour is not a parameter of this operation. Remove it and try again.', only2('checkout')],
    ]);
    const variable = 'query ($id: ID!) { checkout(id: $id) { id } }';
    expect(await messages(first, variable)).toEqual([
      400,
      ['id is required. Send it and try again.', only2('checkout')],
    ]);
  });

  it('comes with the place of the refused field', async () => {
    const { body } = await first.graph('{\n  viewer { mod }\n  checkout(id: "checkout_0") { id }\n}');
    expect(body.errors.map(({ locations }: { locations: object[] }) => locations)).toEqual([
      [{ line: 2, column: 12 }],
      [{ line: 3, column: 3 }],
    ]);
  });

  it('does not come before the permission of a key', async () => {
    const key = await first.graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    const reader = first.using(key.body.data.createApiKey.secret);
    expect((await reader.graph('mutation { createAccount(input: { colour: 1 }) { id } }')).codes).toEqual([
      'permission_denied',
    ]);
  });
});

describe('a refused value', () => {
  const methods: Record<Edition, string> = {
    1:
      'affirm, afterpay, check, domestic_credit, domestic_debit, domestic_fast_credit, domestic_wire, ' +
      'global_wire, klarna',
    2: 'card, upi, domestic_wire',
  };
  it.each([1, 2] as const)('is told what its edition accepts, and nothing of the other: %i', async (edition) => {
    const me = edition === 1 ? first : second;
    const said = (reply: Reply) => [reply.codes, reply.body.errors.map((error: Error) => error.message)];
    const invalid = (message: string) => [['parameter_invalid'], [message]];
    const [v1, graph] = [methods[edition], methods[edition].toUpperCase()];
    for (const value of ['x', edition === 1 ? 'upi' : 'klarna']) {
      const reply = await me.get(`/v1/deposits?payment_method=${value}`);
      expect(said(reply)).toEqual(invalid(`payment_method must be one of ${v1}.`));
    }
    const list = await me.graph('{ deposits(paymentMethod: [UPII]) { nodes { id } } }');
    expect(said(list)).toEqual(invalid(`paymentMethod[0] must be one of ${graph}.`));
  });

  it('is told what the operation accepts, where the type has more', async () => {
    const message = async (type: string) => {
      const { body } = await second.post('/v1/accounts', { type });
      const about = body.errors.filter(({ metadata }: any) => metadata.field_name === 'account.type');
      return about.map((error: Error) => error.message);
    };
    expect(await message('giant')).toEqual(['type must be partner.']);
    expect(await message('user')).toEqual([expect.stringContaining('type must be partner: only partners are created')]);
  });

  it('is told what its kind of account accepts', async () => {
    const [user, platform] = [await given.directUser(1), first];
    const scope = async (me: Speaker) => (await me.get('/v1/events/stream?scope=x')).body.errors[0].message;
    expect([await scope(user), await scope(platform)]).toEqual([
      'scope must be self.',
      'scope must be one of self, descendants.',
    ]);
  });
});

describe('a parameter of the other edition', () => {
  it('is refused itself, and nothing is said of what is in it', async () => {
    const volume = { amount: 5, colour: 'red' };
    const { body } = await second.post('/v1/accounts/connected', {
      business_details: { estimated_monthly_volume: volume },
    });
    expect(body.errors).toEqual([
      {
        code: 'parameter_unknown',
        message: 'estimated_monthly_volume is part of Edition 1 only. Leave it out.',
        metadata: { field_name: 'account.business_details.estimated_monthly_volume' },
      },
    ]);
  });

  it('is refused with the edition that it belongs to, through both APIs', async () => {
    const [user, other] = await Promise.all([first.connectedUser(), second.connectedUser()]);
    const account = { supporting_documentation: { physical_address_document: 'file_0' } };
    const refused = await first.post(`/v1/accounts/${user.id}`, account);
    expect(refused.body.errors[0].message).toBe('physical_address_document is part of Edition 2 only. Leave it out.');
    const graph = await second.graph(
      `mutation ($input: UpdateAccountInput!) { updateAccount(input: $input) { account { id } } }`,
      {
        input: {
          id: other.id,
          nickname: nickname(),
          businessDetails: { estimatedMonthlyVolume: { amount: '1000.00', currency: 'USD' } },
        },
      },
    );
    expect(graph.body.errors[0].message).toContain('Edition 1 only');
  });
});

describe('the description', () => {
  const described = (text: string | null | undefined) => /\bEdition [12]\b/.test(text ?? '');
  const fields = { ...schema.getQueryType()!.getFields(), ...schema.getMutationType()!.getFields() };

  it('of each operation and type of one edition names it', () => {
    const ofOne = [...operations.values()].filter(({ editions }) => editions?.length === 1);
    expect(ofOne.length).toBeGreaterThan(5);
    for (const { name } of ofOne) {
      expect([name, described(fields[name]!.description)]).toEqual([name, true]);
      const type = getNamedType(fields[name]!.type);
      expect([type.name, described(type.description)]).toEqual([type.name, true]);
    }
    expect(fields.checkouts!.description).toContain('It is empty in Edition 1.');
    expect(described(fields.accounts!.description)).toBe(false);
  });

  it('of each edge to such objects names it', () => {
    const edges = Object.values(schema.getTypeMap())
      .filter(isObjectType)
      .flatMap((type) => Object.values(type.getFields()).map((field) => ({ type, field })))
      .filter(({ type }) => ['Account', 'Deposit', 'Payment', 'Receivable'].includes(type.name))
      .filter(({ field }) => /^(Checkout|Transaction)(Connection)?$/.test(getNamedType(field.type).name));
    expect(edges.length).toBeGreaterThan(3);
    for (const { type, field } of edges)
      expect([`${type.name}.${field.name}`, described(field.description)]).toEqual([
        `${type.name}.${field.name}`,
        true,
      ]);
  });

  it('of parameters and values of one edition names it', () => {
    const method = schema.getType('DepositPaymentMethod')!;
    if (!isEnumType(method)) throw new Error('no enum');
    expect(
      Object.fromEntries(method.getValues().map(({ name, description }) => [name, described(description)])),
    ).toMatchObject({
      UPI: true,
      DOMESTIC_WIRE: false,
      KLARNA: true,
    });
    const update = schema.getType('UpdateAccountSettingInput')!;
    if (!isInputObjectType(update)) throw new Error('no input');
    expect(described(update.getFields().payouts!.description)).toBe(true);
  });
});
