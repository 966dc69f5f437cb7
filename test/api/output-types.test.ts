import fc from 'fast-check';
import { type GraphQLObjectType, GraphQLScalarType, isScalarType, isSpecifiedScalarType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { pdf } from '../support/bodies.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { completeDeposit, givenIn, must, payoutAddress, type Speaker, tenantOf, useWorld } from '../support/world.js';
import { listPayouts } from '../../src/operator/money/payouts.js';

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

/** Rows with values that no function of this release writes, as the next release stores them. */
describe('a value that the next release stores', () => {
  let user: Speaker;
  let stored: { payments: string[]; payout: string; file: string };

  beforeAll(async () => {
    user = await given.directUser(1);
    const tenant = tenantOf(user);
    const payments: string[] = [];
    for (const type of ['refund', 'adjustment']) {
      const deposit = await must(user.post('/v1/deposits', { amount: '10.00', currency: 'USD' }));
      await completeDeposit(user, deposit.id);
      const [row] = await world.sql`
        update payment set type = ${type} where tenant_id = ${tenant} and deposit_id = ${deposit.id} returning id`;
      payments.push(row!.id);
    }
    const address = await payoutAddress(user);
    const payout = `payout_${'1'.repeat(32)}`;
    await world.sql`
      insert into payout (tenant_id, livemode, id, created, account_id, address_id, amount, currency, status,
        payment_id, source_amount, source_currency, rate, context_id, on_root_list)
      values (${tenant}, false, ${payout}, 1790000000, ${user.id}, ${address.id}, 1000, 'USD', 'returned',
        ${payments[0]!}, 1000, 'USD', 1, ${user.id}, true)`;
    const { id: file } = await must(
      user.upload('invoice', Buffer.from('%PDF-1.4\n%evidence\n%%EOF\n'), 'evidence.pdf'),
    );
    await world.sql`update file set purpose = 'dispute_evidence' where tenant_id = ${tenant} and id = ${file}`;
    stored = { payments, payout, file };
  });

  it('is shown by /v1, and filters its lists', async () => {
    const lists = await Promise.all(
      ['payments?type=refund&type=adjustment', 'payouts?status=returned', 'files?purpose=dispute_evidence'].map(
        async (path) => (await must(user.get(`/v1/${path}`))).data,
      ),
    );
    expect(lists.map((list) => list.map((one: any) => one.type ?? one.status ?? one.purpose))).toEqual([
      ['adjustment', 'refund'],
      ['returned'],
      ['dispute_evidence'],
    ]);
    expect(await must(user.get(`/v1/payouts/${stored.payout}`))).toMatchObject({
      status: 'returned',
      expected_arrival: null,
    });
  });

  it('is shown by the graph, by resolvers and by compiled queries', async () => {
    const query = `query ($payout: ID!, $file: ID!) {
      payments(type: [REFUND, ADJUSTMENT]) { nodes { type } }
      payouts(status: [RETURNED]) { nodes { status } }
      payout(id: $payout) { status expectedArrivalAt completedAt }
      files(purpose: [DISPUTE_EVIDENCE]) { nodes { purpose } }
      file(id: $file) { purpose }
    }`;
    const variables = { payout: stored.payout, file: stored.file };
    // A document is compiled from the third time on; a directive prevents it.
    const documents = [query, query, query, query, query.replace('{ purpose }', '{ purpose @include(if: true) }')];
    for (const document of documents) {
      const { body } = await user.graph(document, variables);
      expect([body.errors, body.data]).toEqual([
        undefined,
        {
          payments: { nodes: [{ type: 'ADJUSTMENT' }, { type: 'REFUND' }] },
          payouts: { nodes: [{ status: 'RETURNED' }] },
          payout: { status: 'RETURNED', expectedArrivalAt: null, completedAt: null },
          files: { nodes: [{ purpose: 'DISPUTE_EVIDENCE' }] },
          file: { purpose: 'DISPUTE_EVIDENCE' },
        },
      ]);
    }
  });

  it('is shown to operators', async () => {
    const { nodes } = await listPayouts(world.operator, { status: 'returned', livemode: false });
    expect(nodes.map(({ id, status }) => [id, status])).toEqual([[stored.payout, 'returned']]);
  });

  it('is counted by status', async () => {
    const { body } = await user.graph(
      '{ viewer { account { statusCounts { payouts { statuses { status count } } } } } }',
    );
    expect(body.data.viewer.account.statusCounts.payouts.statuses.at(-1)).toEqual({ status: 'RETURNED', count: 1 });
  });
});

it('the checks that the migration replaced hold for new rows, and did not read all rows that exist', async () => {
  const user = await given.directUser(1);
  const { id } = await must(user.upload('invoice', pdf, 'invoice.pdf'));
  await expect(world.sql`update file set purpose = 'selfie' where id = ${id}`).rejects.toThrow('file_purpose');
  const checks = await world.sql`
    select conname as name from pg_constraint where contype = 'c' and not convalidated and conname in
    ('payment_type', 'payout_status', 'file_purpose')`;
  expect(checks.length).toBe(3);
});
