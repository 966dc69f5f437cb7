import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { AccountRow } from '../../src/resources/account/table.js';
import { pollStatus } from '../../src/hosted/status-poll.js';
import { payerScope } from '../../src/hosted/session.js';
import { transaction } from '../../src/resources/transaction/table.js';
import { checkoutBody, receivableBody } from './bodies.js';
import { runAllJobs } from './jobs.js';
import { must, nickname, Speaker, withLiveAcquirer, type World } from './world.js';
import { createRoot, verifyAccount } from '../../src/operator/account/accounts.js';

/** A checkout and the address of its page. */
export interface CheckoutFixture {
  id: string;
  url: string;
  path: string;
  token: string;
  receivableIds: string[];
}

export const shop = 'https://shop.example';
const redirectDefault = `${shop}/back?order=7&note=a%20b`;

/** A root user that is paid through the hosted page, and a partner that pays. */
export class PayeeFixture {
  constructor(
    readonly world: World,
    readonly user: Speaker,
    readonly live: Speaker,
    readonly partnerId: string,
  ) {}

  static async open(world: World, businessDetails: object = {}): Promise<PayeeFixture> {
    const { account, keys } = await createRoot(world.operator, {
      type: 'user',
      edition: 2,
      nickname: nickname(),
      businessDetails: { legalName: 'Malabar Spice Traders LLP', type: 'company', ...businessDetails },
    } as never);
    const user = new Speaker(world, account.id, keys.test, 2);
    const partner = await user.partner();
    return new PayeeFixture(world, user, new Speaker(world, account.id, keys.live, 2), partner.id);
  }

  get tenantId(): string {
    return this.user.id.replace('account_', '');
  }

  async receivable(amount = '1000.00', reference = `INV ${nickname()}`, speaker = this.user): Promise<string> {
    const reply = await speaker.post(
      '/v1/receivables',
      receivableBody({ amount, currency: 'INR', reference_number: reference }),
    );
    expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
    return reply.body.id;
  }

  /** Creates a checkout for a new receivable of the same amount, unless `receivableIds` names others. */
  async checkoutFixture(options: Partial<CheckoutFixtureOptions> = {}): Promise<CheckoutFixture> {
    const { amount = '1000.00', methods = ['upi', 'cards'], redirect = redirectDefault } = options;
    const { speaker = this.user, partnerId = this.partnerId } = options;
    const receivableIds = options.receivableIds ?? [await this.receivable(amount, undefined, speaker)];
    const more = { amount, payment_methods: methods, redirect_url: redirect };
    const reply = await speaker.post('/v1/checkouts', checkoutBody(partnerId, receivableIds, more));
    expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
    const url = /^<(.+)>; rel="payment"$/.exec(reply.headers.get('link') ?? '')![1]!;
    const { pathname } = new URL(url);
    return { id: reply.body.id, url, path: pathname, token: pathname.split('/')[2]!, receivableIds };
  }

  /** Activates the user and a new partner in live mode, as a live checkout needs; returns the partner's id. */
  async goLive(): Promise<string> {
    const { world, live } = this;
    await verifyAccount(world.operator, await world.operator.account(live.id, true), 'activated');
    const partner = await live.partner();
    expect((await live.post(`/v1/accounts/${partner.id}/activate`)).status).toBe(200);
    const row: AccountRow = await world.operator.account(partner.id, true);
    if (row.status !== 'activated') await verifyAccount(world.operator, row, 'activated');
    return partner.id;
  }

  /** Creates a live checkout through another gateway, which has a live acquirer; its URL leads to this gateway. */
  async liveCheckoutFixture(): Promise<CheckoutFixture> {
    const partnerId = await this.goLive();
    const origin = await this.world.another({ acquirers: withLiveAcquirer });
    const elsewhere = this.live.at(origin);
    const checkout = await this.checkoutFixture({ speaker: elsewhere, partnerId });
    return { ...checkout, url: `${this.world.origin}${checkout.path}` };
  }

  /** Calls a test helper, which must succeed; returns the checkout. */
  help(checkout: CheckoutFixture, verb: 'pay' | 'decline' | 'expire', body: object = {}): Promise<any> {
    return must(this.user.post(`/v1/test_helpers/checkouts/${checkout.id}/${verb}`, body));
  }

  async seen(checkout: CheckoutFixture): Promise<any> {
    return (await this.user.get(`/v1/checkouts/${checkout.id}`)).body;
  }

  /** Advances the test clock and runs the jobs that are then due, as a worker would. */
  async pass(seconds: number): Promise<void> {
    const reply = await this.user.post('/v1/test_helpers/clock', { advance_seconds: seconds });
    expect(reply.status).toBe(200);
    await this.work();
  }

  /** Polls the acquirer and runs the due jobs of the database. */
  async work(): Promise<void> {
    await this.pollStatus();
    await runAllJobs(this.user);
  }

  /** Polls the acquirer for the status of due attempts, as a worker would. */
  async pollStatus(): Promise<void> {
    const faults: unknown[] = [];
    const { database } = this.world;
    const due = await database.write('claim_status_polls', this.tenantId, false, null, { limit: 50 }, transaction);
    const scope = payerScope(database, { tenantId: this.tenantId, livemode: false });
    await pollStatus(scope, due, (error) => faults.push(error));
    expect(faults).toEqual([]);
  }

  /** The attempts to pay a checkout, oldest first, as they are stored. */
  async attempts(checkout: CheckoutFixture): Promise<any[]> {
    return this.world
      .sql`select id, created, status, reason_code, payment_method, payment_method_details as details, deposit_id
      from transaction where checkout_id = ${checkout.id} order by id`;
  }

  /**
   * Checks that checkouts, deposits, receivables and balances add up to the same money. Here no receivable is too small
   * for its payment.
   */
  async agrees(): Promise<void> {
    const { sql } = this.world;
    const [t, a] = [this.tenantId, this.user.id];
    const [sums] = await sql`select
      (select coalesce(sum(amount), 0) from checkout where tenant_id = ${t}
      and deposit_id is not null)::text as credited,
      (select coalesce(sum(amount), 0) from deposit where tenant_id = ${t} and status = 'completed')::text as deposited,
      (select coalesce(sum(amount_locked), 0) from receivable where tenant_id = ${t})::text as locked,
      (select coalesce(sum(available), 0) from balance where tenant_id = ${t} and account_id = ${a})::text as available,
      (select coalesce(sum(pending + processing + payout_processing), 0) from balance
      where tenant_id = ${t})::text as elsewhere,
      (select count(*) from checkout where tenant_id = ${t} and deposit_id is not null)::text as checkouts,
      (select count(*) from transaction where tenant_id = ${t} and status = 'succeeded')::text as successes,
      (select count(*) from deposit where tenant_id = ${t} and status = 'completed')::text as deposits`;
    const { credited, checkouts } = sums!;
    expect(sums).toEqual({
      ...{ credited, deposited: credited, locked: credited, available: credited, elsewhere: '0' },
      ...{ checkouts, successes: checkouts, deposits: checkouts },
    });
  }
}

export interface CheckoutFixtureOptions {
  amount: string;
  methods: ('upi' | 'cards')[];
  redirect: string;
  receivableIds: string[];
  speaker: Speaker;
  partnerId: string;
}

/** Creates payees whose money a test compares at its end; payees stay until the end of the test file. */
export function payeesIn(world: World) {
  const payees: PayeeFixture[] = [];
  return {
    async open(businessDetails?: object): Promise<PayeeFixture> {
      const payee = await PayeeFixture.open(world, businessDetails);
      payees.push(payee);
      return payee;
    },
    /** Checks the ledger's invariants, and the sums of every payee. */
    async agree(): Promise<void> {
      expect(await world.sql`select rule, what from violations`).toEqual([]);
      for (const payee of payees) await payee.agrees();
    },
  };
}

/** The fields of a card form, with the key of a new attempt. */
export const cardForm = (number: string, more: Record<string, string> = {}): Record<string, string> => ({
  attempt: `${randomUUID()}-card`,
  number,
  expiry: '12/34',
  code: '737',
  name: 'Asha Rao',
  ...more,
});

/** Sends a form as a browser without scripts does, and follows no redirect. */
export function submit(url: string, fields: Record<string, string>, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields), ...init });
}

/** Sends a form that must be accepted: the answer leads back to the page. */
export async function submitAccepted(url: string, fields: Record<string, string>): Promise<void> {
  const { status } = await submit(url, fields);
  expect(status).toBe(303);
}

/** Starts a UPI attempt; returns its transaction id, which its UPI code carries. */
export async function upiCode(payee: PayeeFixture, checkout: CheckoutFixture): Promise<string> {
  const before = new Set((await payee.attempts(checkout)).map(({ id }) => id));
  await submitAccepted(`${checkout.url}/upi`, { attempt: `${randomUUID()}-upi` });
  return (await payee.attempts(checkout)).find(({ id }) => !before.has(id))!.id;
}

export const cards = {
  good: '4242 4242 4242 4242',
  declined: '4000 0000 0000 0002',
  short: '4000 0000 0000 9995',
  pending: '4000 0000 0000 3220',
  late: '4000 0000 0000 0341',
};
