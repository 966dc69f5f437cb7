import { PayoutReasonCode } from '../../src/resources/payout/table.js';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type GraphQLEnumType, getNamedType, isEnumType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { receivableBody } from '../support/bodies.js';
import { assemble, complete } from '../support/onboarding-profile.js';
import {
  completeDeposit,
  eventually,
  givenIn,
  must,
  partnerRows,
  payoutAddressBody,
  type Speaker,
  useWorld,
} from '../support/world.js';

const world = useWorld();
const given = givenIn(world);

/** Where /v1 or the graph, for a type without an object of /v1, shows each status and reason of the graph's objects. */
const shown: Record<string, string> = {
  AccountStatus: 'account.status',
  AccountAddressState: 'account.address',
  CapabilityStatus: 'account.capability.*',
  PayoutsDisabledReason: 'account_setting.payouts.reason_code_not_enabled',
  AddressStatus: 'address.status',
  AllocationStatus: 'allocation.status',
  BulkStatus: 'export.status',
  VpaState: 'address.vpa.upi.*',
  WalletProvider: 'address.wallet.provider',
  WebhookDeliveryStatus: 'webhook_delivery.status',
  CheckoutStatus: 'checkout.status',
  DepositStatus: 'deposit.status',
  ChangeRequestStatus: 'change_request.status',
  DisputeStatus: 'dispute.status',
  DepositReasonCode: 'deposit.reason_code',
  ImportRowStatus: 'import_row.status',
  PaymentStatus: 'payment.status',
  PayoutReasonCode: 'payout.reason_code',
  PayoutStatus: 'payout.status',
  ReceivableStatus: 'receivable.status',
  RefundStatus: 'refund.status',
  TransactionStatus: 'transaction.status',
  TransactionReasonCode: 'transaction.reason_code',
};
/** Objects whose members all have the same set of values. */
const hashes = ['account.capability', 'address.vpa.upi'];
/** Values that only the operator, time or a fault can cause; test/api/export.test.ts reaches those of exports. */
const outOfReach = [
  'account_setting.payouts.reason_code_not_enabled service_hold',
  ...['running', 'failed', 'expired'].map((status) => `export.status ${status}`),
];

/** The statuses and reasons that the objects of the graph can have. */
function states(): GraphQLEnumType[] {
  const fields = Object.values(buildGraph().getTypeMap())
    .filter((type) => isObjectType(type))
    .flatMap((type) => Object.values(type.getFields()).map((field) => getNamedType(field.type)));
  return [...new Set(fields.filter((type) => isEnumType(type)))].filter(({ name }) =>
    /(Status|State|ReasonCode|PayoutsDisabledReason|WalletProvider)$/.test(name),
  );
}

/** Every value that objects of /v1 have shown, by its place. */
class Seen {
  readonly values = new Set<string>();

  look(objects: any[]): void {
    for (const object of objects) this.#collect(object, object.object);
  }

  #collect(value: unknown, place: string): void {
    if (typeof value === 'string') this.values.add(`${place} ${value}`);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value))
      this.#collect(member, hashes.includes(place) ? `${place}.*` : `${place}.${name}`);
  }

  /** All events of the tenant's objects, and their current state. */
  async of(root: Speaker): Promise<void> {
    await eventually(
      () =>
        world.sql`select 1 from event where tenant_id = ${root.id.replace('account_', '')} and number is null limit 1`,
      (rows) => rows.length === 0,
    );
    for (const list of ['events', 'payments']) {
      for (let after = ''; ; ) {
        const { data, has_next } = await must(root.get(`/v1/${list}?limit=10${after}`));
        this.look(list === 'events' ? data.map((event: any) => event.data.object) : data);
        if (!has_next) break;
        after = `&starting_after=${data.at(-1).id}`;
      }
    }
  }
}

/** An exporter and a platform reach every state, using only calls of /v1 with a test key. */
describe('every status and reason, reached by a test key with documented calls', () => {
  const seen = new Seen();
  let user: Speaker;
  let platform: Speaker;
  let payer: string;
  /** Answers each path with the status that it names. */
  const receiver = http.createServer((request, response) => {
    request.resume();
    response.writeHead(Number(request.url!.slice(1))).end();
  });
  afterAll(() => new Promise((resume) => receiver.close(resume)));
  beforeAll(async () => {
    [user, platform] = await Promise.all([given.directUser(2), given.platform(1)]);
  });

  const help = (path: string, body: object = {}, me = user) => must(me.post(`/v1/test_helpers/${path}`, body));
  const is = (path: string, wanted: (body: any) => boolean, me = user) =>
    eventually(
      async () => (await must(me.get(`/v1/${path}`))) as any,
      (body) => wanted(body),
    );
  const partner = async () => {
    const { id } = await user.partner();
    await must(user.post(`/v1/accounts/${id}/activate`));
    await is(`accounts/${id}`, ({ status, address }) => status === 'activated' && address === 'activated');
    return id as string;
  };
  const deposited = (amount: string) =>
    must(
      user.post('/v1/deposits', { amount, currency: 'INR', to: { account_id: user.id }, payment_method: 'upi' }),
    ) as Promise<{ id: string }>;
  /** Looks at the allocations of a deposit, which only the graph shows. */
  const allocated = async (deposit: string) => {
    const query = 'query ($id: ID!) { deposit(id: $id) { allocations { nodes { status } } } }';
    const { nodes } = (await user.graph(query, { id: deposit })).body.data.deposit.allocations;
    expect(nodes).toHaveLength(1);
    seen.look([{ object: 'allocation', status: nodes[0].status.toLowerCase() }]);
  };
  const receivable = () =>
    must(user.post('/v1/receivables', receivableBody({ currency: 'INR' }))) as Promise<{ id: string }>;

  /** Also makes the payer of change requests and checkouts. */
  const partners = async () => {
    payer = await partner();
    const other = await partner();
    await help(`accounts/${other}/hold`);
    await help(`accounts/${other}/verify`);
    await must(user.post(`/v1/accounts/${other}/deactivate`));

    const [address] = (await must(user.get(`/v1/addresses?linked_id=${payer}`))).data;
    await help(`addresses/${address.id}/expire`);

    for (const provider of ['affirm', 'afterpay', 'klarna', 'paypal_external'])
      await help(`accounts/${payer}/wallet`, { provider });
  };

  const deposits = async () => {
    const reasons = ['cancelled', 'duplicate', 'general', 'high_risk', 'incorrect_amount'];
    /** Takes the steps with a new deposit, and with another one when the sandbox has completed it meanwhile. */
    const steps = async (take: (id: string) => Promise<unknown>) => {
      for (let attempt = 1; ; attempt++)
        try {
          return await take((await deposited('1.00')).id);
        } catch (error) {
          if (attempt === 10 || !String(error).includes('status_invalid')) throw error;
        }
    };
    for (const reason_code of [...reasons, 'poor_image_quality', 'unmatched_details'])
      await steps((id) => help(`deposits/${id}/fail`, { reason_code }));
    await steps(async (id) => {
      seen.look((await must(user.get('/v1/payments'))).data);
      await help(`deposits/${id}/cancel`);
    });
    await steps(async (id) => {
      await help(`deposits/${id}/process`);
      await help(`deposits/${id}/complete`);
      await help(`deposits/${id}/reverse`);
    });
  };

  const payouts = async () => {
    // An address that is replaced while a payout to it is in progress.
    await must(user.post('/v1/addresses', payoutAddressBody(user.id)));
    const earned = await deposited('100.00');
    await completeDeposit(user, earned.id);
    const [paid, voided] = [await receivable(), await receivable()];
    await must(user.post(`/v1/receivables/${voided.id}/void`));
    await must(user.post(`/v1/deposits/${earned.id}/reconcile`, { receivables: [{ id: paid.id, amount: '100.00' }] }));
    await allocated(earned.id);
    for (const end of [...Object.values(PayoutReasonCode), 'settle']) {
      await help('clock', { advance_seconds: 86_400 });
      const { data } = await is('payouts?status=processing', (list) => list.data.length === 1);
      await allocated(earned.id);
      const { id } = data[0];
      if (end !== 'settle') await help(`payouts/${id}/fail`, { reason_code: end });
      else {
        await must(user.post('/v1/addresses', payoutAddressBody(user.id)));
        await help(`payouts/${id}/settle`);
        await allocated(earned.id);
        await help(`payouts/${id}/return`);
      }
    }
    await allocated(earned.id);
  };

  const refunds = async () => {
    for (const end of ['succeed', 'fail']) {
      const { id } = await deposited('1.00');
      await completeDeposit(user, id);
      const refund = await must(user.post('/v1/refunds', { deposit_id: id }));
      await help(`refunds/${refund.id}/${end}`);
    }
  };

  const changeRequests = async () => {
    for (const end of ['accept', 'decline', 'withdraw']) {
      const asked = { account_id: payer, business_details: { dba: `Known as ${end}` } };
      const { id } = await must(user.post('/v1/change_requests', asked));
      if (end === 'withdraw') await must(user.post(`/v1/change_requests/${id}/${end}`));
      else await help(`change_requests/${id}/${end}`);
    }
  };

  const disputes = async () => {
    for (const end of ['', 'respond', 'accept', 'win', 'lose']) {
      const { id } = await deposited('1.00');
      await completeDeposit(user, id);
      await help(`deposits/${id}/dispute`);
      const [dispute] = (await must(user.get('/v1/disputes?limit=1'))).data;
      if (end === 'win' || end === 'lose') await help(`disputes/${dispute.id}/${end}`);
      else if (end) await must(user.post(`/v1/disputes/${dispute.id}/${end}`, end === 'respond' ? { text: 'No' } : {}));
    }
  };

  const deliveries = async () => {
    await new Promise<void>((resume) => receiver.listen(0, '127.0.0.1', resume));
    const { port } = receiver.address() as AddressInfo;
    const answers = { 200: 'succeeded', 410: 'failed', 500: 'pending' };
    for (const [status, reached] of Object.entries(answers)) {
      const url = `http://127.0.0.1:${port}/${status}`;
      const { id } = await must(user.post('/v1/webhook_endpoints', { url, event_types: ['webhook_endpoint.tested'] }));
      await must(user.post(`/v1/webhook_endpoints/${id}/test`));
      const { data } = await is(
        `webhook_endpoints/${id}/deliveries`,
        (list) => list.data[0]?.attempts.length === 1 && list.data[0].status === reached,
      );
      seen.look(data);
    }
  };

  const checkouts = async () => {
    const checkout = async () =>
      must(
        user.post('/v1/checkouts', {
          ...{ amount: '1.00', currency: 'INR', from: { account_id: payer }, payment_methods: ['cards', 'upi'] },
          ...{ receivables: [{ id: (await receivable()).id }], redirect_url: 'https://shop.example/' },
        }),
      ) as Promise<{ id: string }>;
    for (const reason_code of ['declined', 'insufficient_funds', 'expired', 'duplicate'])
      await help(`checkouts/${(await checkout()).id}/decline`, { reason_code });
    await help(`checkouts/${(await checkout()).id}/pay`);
    await help(`checkouts/${(await checkout()).id}/expire`);
    await must(user.post(`/v1/checkouts/${(await checkout()).id}/cancel`));
  };

  const exportsAndImports = async () => {
    await must(user.post('/v1/exports', { list: '/v1/files', format: 'csv' }));
    const { id: file } = await must(user.upload('import', partnerRows(), 'rows.csv'));
    // The second import of the same rows has seen them before.
    for (const dry_run of [true, false, false]) {
      const { id } = await must(user.post('/v1/imports', { kind: 'partners', file_id: file, dry_run }));
      await is(`imports/${id}`, ({ status }) => status === 'completed');
      seen.look((await must(user.get(`/v1/imports/${id}/rows`))).data);
    }
    await eventually(
      () => must(user.get('/v1/exports')),
      ({ data }) => data[0].status === 'completed',
    );
  };

  const connectedUsers = async () => {
    const connected = await assemble(platform, complete(1));
    // Only the setting shows what cannot be paid yet; activation changes the account.
    seen.look((await must(platform.get(`/v1/account_settings?account_id=${connected}`))).data);
    await must(platform.post(`/v1/accounts/${connected}/activate`));
    await is(`accounts/${connected}`, ({ status }) => status === 'activated', platform);
    const [setting] = (await must(platform.get(`/v1/account_settings?account_id=${connected}`))).data;
    await help(`accounts/${connected}/hold`, {}, platform);
    await help(`accounts/${connected}/verify`, {}, platform);
    await must(platform.post(`/v1/account_settings/${setting.id}`, { payouts: { enabled: false } }));
  };

  it('is of a type that has a place here', () => {
    expect(
      states()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(Object.keys(shown).toSorted());
  });

  it('is among those of the schema, and none is missing', async () => {
    await partners();
    await deposits();
    await payouts();
    await refunds();
    await changeRequests();
    await disputes();
    await deliveries();
    await checkouts();
    await exportsAndImports();
    await connectedUsers();
    await seen.of(user);
    await seen.of(platform);

    const missing = states().flatMap((type) =>
      type
        .getValues()
        .map(({ value }) => `${shown[type.name]} ${value}`)
        .filter((one) => !seen.values.has(one)),
    );
    expect(missing).toEqual(outOfReach);
  });
});
