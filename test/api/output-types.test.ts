import fc from 'fast-check';
import { type GraphQLObjectType, GraphQLScalarType, isScalarType, isSpecifiedScalarType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { givenIn, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const schema = buildGraph();

describe('a scalar of the graph', () => {
  const scalars = Object.values(schema.getTypeMap()).filter(isScalarType);
  const texts = scalars.filter(
    (type: GraphQLScalarType) =>
      !isSpecifiedScalarType(type) && !['Amount', 'DateTime', 'Metadata', 'JSONObject', 'SafeInt'].includes(type.name),
  );

  it('of texts is one of these', () => {
    expect(texts.map(({ name }) => name).toSorted()).toEqual(
      ['CountryCode', 'Currency', 'EmailAddress', 'IP', 'LocalDate', 'URL'].toSorted(),
    );
  });

  it.each(texts)('answers every text as it is stored: $name', (type) => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => type.serialize(text) === text));
  });
});

describe('a field of a text with a format', () => {
  it.each([
    ['BusinessDetails.email', 'EmailAddress'],
    ['BusinessDetails.dateOfIncorporation', 'LocalDate'],
    ['PostalAddress.country', 'CountryCode'],
    ['TosAcceptance.ip', 'IP'],
    ['Checkout.url', 'URL!'],
    ['Checkout.redirectUrl', 'URL!'],
  ])('has the name of the specification and the scalar of the format: %s', (path, scalar) => {
    const [type = '', name = ''] = path.split('.');
    const field = (schema.getType(type) as GraphQLObjectType).getFields()[name]!;
    expect([String(field.type), field.deprecationReason ?? null]).toEqual([scalar, null]);
  });
});

describe('a value that was stored before its format was checked', () => {
  const details = {
    email: 'nobody at "home"',
    dateOfIncorporation: '31.1.2001',
    physicalAddress: { country: 'Neverland' },
  };
  const query = `query ($id: ID!) {
    account(id: $id) {
      businessDetails {
        email dateOfIncorporation physicalAddress { country }
      }
      tosAcceptance { ip }
    }
  }`;
  const shown = { businessDetails: details, tosAcceptance: { ip: 'localhost' } };

  it('is answered by the resolvers and by compiled queries alike, without an error', async () => {
    const platform = await given.platform(1);
    const { id } = await platform.connectedUser();
    await world.sql`
      update account
      set business_details = ${world.sql.json(details)}, tos_acceptance = ${world.sql.json({ ip: 'localhost' })}
      where id = ${id}`;
    const same = async (document: string) => {
      const { body } = await platform.graph(document, { id });
      expect([body.errors, body.data.account]).toEqual([undefined, shown]);
    };
    // A document is compiled from the third time on; a directive prevents it.
    for (let i = 0; i < 4; i++) await same(query);
    await same(query.replace('account(id: $id)', 'account(id: $id) @include(if: true)'));
  });
});

describe('a payment by card or UPI', () => {
  let payee: PayeeFixture;
  let user: Speaker;
  beforeAll(async () => {
    payee = await PayeeFixture.open(world);
    user = payee.user;
  });

  it('has its method and details with their types, on checkout, attempt and deposit and in figures', async () => {
    const query = `{ deposits(first: 2) { nodes {
      method paymentMethod paymentMethodDetails amountMoney { amount currency } amount currency
      methodDetails { __typename ... on CardDetails { brand last4 expiryMonth expiryYear } ... on UpiDetails { vpa } }
      checkout { id methods paymentMethods url redirectUrl
        effectiveTransaction { method methodDetails { __typename } grossMoney: amountMoney { amount currency } } }
    } } }`;
    for (const payment_method of ['card', 'upi']) {
      const { id } = await payee.checkoutFixture();
      const { status } = await user.post(`/v1/test_helpers/checkouts/${id}/pay`, { payment_method });
      expect(status).toBe(200);
    }
    const { body } = await user.graph(query);
    expect(body.errors).toBeUndefined();
    const [upi, card] = body.data.deposits.nodes;
    for (const [row, name] of [
      [upi, 'UPI'],
      [card, 'CARD'],
    ] as const) {
      expect([row.method, row.paymentMethod, row.checkout.effectiveTransaction.method]).toEqual([name, name, name]);
      expect(row.amountMoney).toEqual({ amount: row.amount, currency: row.currency });
      const { body: shown, headers } = await user.get(`/v1/checkouts/${row.checkout.id}`);
      expect(row.checkout.redirectUrl).toBe(shown.redirect_url);
      expect(headers.get('link')).toBe(`<${row.checkout.url}>; rel="payment"`);
      expect(row.checkout.methods.toSorted()).toEqual(['CARD', 'UPI']);
    }
    const { brand, last4, expiry_month: expiryMonth, expiry_year: expiryYear } = card.paymentMethodDetails.card;
    expect(card.methodDetails).toEqual({ __typename: 'CardDetails', brand, last4, expiryMonth, expiryYear });
    expect(upi.methodDetails).toEqual({ __typename: 'UpiDetails', vpa: upi.paymentMethodDetails.upi.vpa });
  });
});
