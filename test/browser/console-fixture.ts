import { randomUUID } from 'node:crypto';
import pino from 'pino';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { version } from '../../src/config/version.js';
import { LedgerChecks } from '../../src/jobs/ledger-checks.js';
import type { WorkObserver } from '../../src/jobs/work-queue.js';
import { pdfOf, personBody, receivableBody } from '../support/bodies.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { payOutLive, runDueJobs } from '../support/jobs.js';
import { complete } from '../support/onboarding-profile.js';
import {
  details,
  type Edition,
  eventually,
  must,
  nickname,
  payoutAddressBody,
  Speaker,
  tenantOf,
  type World,
} from '../support/world.js';
import { createRoot } from '../../src/operator/account/accounts.js';

/** What an outsider could have written. Shown as text, it does nothing. */
export const hostile = `<img src=x onerror=alert(1)><script>alert(2)</script>"'`;

type Json = any;

/** The ids that stand in the cells of tables as texts: names are there, and ids are small and of another kind. */
export const idsInCells = (page: Page): Promise<string[]> =>
  page.locator('main td').evaluateAll((cells) =>
    cells.flatMap((cell) => {
      const texts = cell.cloneNode(true) as HTMLElement;
      for (const code of texts.querySelectorAll('code')) code.remove();
      return [...(texts.textContent ?? '').matchAll(/[a-z]+_[0-9a-f]{20,}/g)].map(([id]) => id);
    }),
  );

/** The operator's graph for seeding what the console shows. */
export class ConsoleSeed {
  constructor(
    readonly world: World,
    private readonly key: string,
  ) {}

  async ask(query: string, input: object): Promise<Json> {
    const speaker = new Speaker(this.world, '', this.key, 1);
    const { status, body } = await speaker.post('/operator/graphql', { query, variables: { input } });
    expect([status, body.errors]).toEqual([200, undefined]);
    return body.data;
  }

  /** A root account with its clients in both modes, activated in live mode. */
  async root(type: 'platform' | 'user', edition: Edition, legalName: string) {
    const { operator } = this.world;
    const made = await createRoot(operator, {
      ...{ type, edition, nickname: nickname(), businessDetails: { legalName, type: 'company' } },
    });
    const { id } = made.account;
    await this.ask(verify, { id, outcome: 'ACTIVATED' });
    return {
      id,
      live: new Speaker(this.world, id, made.keys.live, edition),
      test: new Speaker(this.world, id, made.keys.test, edition),
    };
  }

  /** A connected user of Edition 2 that waits for its verdict, with documents and persons; its id. */
  async submitted(platform: Speaker, legalName: string, files: Document[] = []): Promise<string> {
    const profile = complete(2);
    const made = await platform.graph(
      'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }',
      { input: { nickname: legalName.slice(0, 100) } },
    );
    const id = made.body.data?.createConnectedUser.account.id as string;
    const [identity, tax] = await Promise.all(
      files.map(async ({ purpose, content, filename }) => (await must(platform.upload(purpose, content, filename))).id),
    );
    const identification = { tax_card_number: 'ABCPE1234F', ...(tax && { tax_card_image: tax }) };
    const { full_name: _, ...person } = personBody(id, ['director', 'owner']);
    await must(
      platform.post('/v1/persons', {
        ...person,
        full_name: `Meera Rao ${legalName === hostile ? hostile : ''}`.trim(),
        identification,
      }),
    );
    await must(platform.post('/v1/persons', { ...personBody(id, ['director']), full_name: 'Anand Iyer' }));
    await must(platform.post('/v1/addresses', payoutAddressBody(id)));
    await must(
      platform.post(`/v1/accounts/${id}`, {
        business_details: { ...profile.details, legal_name: legalName },
        ...(identity && { supporting_documentation: { id_document: identity } }),
      }),
    );
    await must(platform.post(`/v1/accounts/${id}/activate`));
    return id;
  }

  /**
   * A live payout under way, of money that a bank has reported, with more that its notice says; its payee, its id and
   * the receiving address.
   */
  async payout(legalName: string, amount: string, noted: object = {}) {
    const { live, id } = await this.root('user', 1, legalName);
    const { issueAddress } = await this.ask(issue, {
      ...{ accountId: id, currency: 'USD', bankAccount: { number: '000123456789', bankName: 'Bank of the Coast' } },
    });
    const addressId: string = issueAddress.address.id;
    await must(live.post('/v1/addresses', payoutAddressBody(id, { billing_details: details().physical_address })));
    const { recordBankNotice } = await this.ask(notice, {
      ...{ reference: `WIRE-${amount}`, addressId, amount, currency: 'USD', ...noted },
    });
    const receivable = await must(live.post('/v1/receivables', receivableBody({ amount })));
    await this.ask(reconcile, {
      ...{ id: recordBankNotice.notice.deposit.id, receivables: [{ id: receivable.id, amount }] },
    });
    await this.ask(setRate, { accountId: id, source: 'USD', target: 'INR', rate: '83.25' });
    await payOutLive(live);
    const tenant = tenantOf(live);
    // Where the world has a worker, that may be making it.
    const [payout] = await eventually(
      async () => (await must(live.get('/v1/payouts'))).data,
      (found) => found.length > 0,
    );
    return { accountId: id, live, tenant, payoutId: payout.id as string, addressId };
  }

  /** A payment of 51 invoices of a dollar each, which wait for their payout; its id. */
  async divided({ live, addressId }: { live: Speaker; addressId: string }): Promise<string> {
    const { recordBankNotice } = await this.ask(notice, {
      ...{ reference: 'WIRE-51', addressId, amount: '51.00', currency: 'USD' },
    });
    const invoices = Array.from({ length: 51 }, () => live.post('/v1/receivables', receivableBody({ amount: '1.00' })));
    const receivables = (await Promise.all(invoices.map(must))).map(({ id }) => ({ id, amount: '1.00' }));
    const { id } = recordBankNotice.notice.deposit;
    await this.ask(reconcile, { id, receivables });
    return id;
  }

  /**
   * A proposal that waits, a reversal that waits for its deposit, a job that fails, a success that does not match its
   * attempt, two gateways of which one is gone, and a check of the ledger.
   */
  async troubles(
    { tenant, addressId, accountId }: { tenant: string; addressId: string; accountId: string },
    reference: string,
  ): Promise<void> {
    const { database, sql } = this.world;
    await this.ask(propose, {
      ...{ accountId, mode: 'LIVE', credit: { amount: '4.00', currency: 'USD' }, reason: hostile.slice(0, 200) },
    });
    await this.ask(notice, { reference, event: 'REVERSED', addressId, amount: '75.50', currency: 'USD' });
    await sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      values (${tenant}, true, 'job_bad', 1, ${'no_such_kind'}, ${hostile}, '{}', 1)`;
    await runDueJobs(this.world, tenant, true);
    await database.call('seal_postings', [tenant, true, 50]);
    await this.#mismatch();
    await database.work('report_gateway_process', ['gateway_gone', hostile, 4_242, '0.3.0']);
    await sql`update gateway_process set seen_at = seen_at - 600`;
    await database.work('report_gateway_process', ['gateway_alive', 'pay-1', 4_243, version]);
    const observer = { checked: () => {}, ledger: () => {} } as Partial<WorkObserver> as WorkObserver;
    const stop = new AbortController().signal;
    await new LedgerChecks(database, pino({ level: 'silent' }), 86_400, observer, stop).round();
  }

  /**
   * A live refund that waits for the operator, and a dispute beyond what it has left, which the account has answered
   * with a text and a file; the deposit of both.
   */
  async returning({ live, addressId }: { live: Speaker; addressId: string }, text: string): Promise<string> {
    const { recordBankNotice } = await this.ask(notice, {
      ...{ reference: 'CARD-1', addressId, amount: '90.00', currency: 'USD', payer: { name: text.slice(0, 140) } },
    });
    const id: string = recordBankNotice.notice.deposit.id;
    await must(live.post('/v1/refunds', { deposit_id: id, amount: '30.00', reason: text }));
    const { openDispute } = await this.ask(open, {
      ...{ id, amount: '75.00', reasonCode: 'DUPLICATE', acquirerReason: text, reference: 'CB-1' },
    });
    const disputeId: string = openDispute.dispute.id;
    const file = await must(live.upload('dispute_evidence', pdfOf('evidence'), `${text.replaceAll('/', '')}.pdf`));
    await must(live.post(`/v1/disputes/${disputeId}/respond`, { text, file_ids: [file.id] }));
    return id;
  }

  /** A success that an acquirer reports with another card than the payer has used. */
  async #mismatch(): Promise<void> {
    const payee = await PayeeFixture.open(this.world);
    const { id, details } = await this.#attempt(payee, (await payee.checkoutFixture()).id, false);
    const others = { card: { ...details.card, last4: '4242' } };
    await this.#call(payee, false, 'decide_transaction', { id, details: others, status: 'succeeded' });
  }

  /** A live attempt whose time is over, and of which the acquirer has not said how it ended; its payee and checkout. */
  async undecided(): Promise<{ payee: PayeeFixture; checkoutId: string }> {
    const payee = await PayeeFixture.open(this.world);
    const { id: checkoutId } = await payee.liveCheckoutFixture();
    const { id } = await this.#attempt(payee, checkoutId, true);
    await this.world.sql`update transaction set expires_at = created - 1 where id = ${id}`;
    return { payee, checkoutId };
  }

  /** An attempt to pay by a card, which the acquirer has. */
  async #attempt(payee: PayeeFixture, checkoutId: string, live: boolean) {
    const attempt = { checkoutId, attemptKey: randomUUID(), paymentMethod: 'card', seconds: 480 };
    const { id } = await this.#call(payee, live, 'begin_transaction', attempt);
    const details = { card: { brand: 'visa', last4: '0002', expiry_month: 1, expiry_year: 2031 } };
    await this.#call(payee, live, 'decide_transaction', { id, details, status: 'processing' });
    return { id: id as string, details };
  }

  async #call(
    { tenantId }: PayeeFixture,
    live: boolean,
    name: 'begin_transaction' | 'decide_transaction',
    args: object,
  ): Promise<Json> {
    return (await this.world.database.call(name, [tenantId, live, '{}', JSON.stringify(args)]))[0];
  }
}

export interface Document {
  purpose: 'identity_document';
  content: Uint8Array;
  filename: string;
}

const mutation = (name: string, type: string, selection: string) =>
  `mutation ($input: ${type}!) { ${name}(input: $input) { ${selection} } }`;
const verify = mutation('verifyAccount', 'VerifyAccountInput', 'account { id }');
const issue = mutation('issueAddress', 'IssueAddressInput', 'address { id }');
export const notice = mutation('recordBankNotice', 'RecordBankNoticeInput', 'notice { deposit { id } }');
const reconcile = mutation('reconcileDeposit', 'ReconcileDepositInput', 'deposit { id }');
const open = mutation('openDispute', 'OpenDisputeInput', 'dispute { id }');
const propose = mutation('proposeAdjustment', 'ProposeAdjustmentInput', 'adjustment { id }');
const setRate = mutation('setRate', 'SetRateInput', 'rate { rate }');

/** A picture and a PDF. */
export async function documents(chromium: Browser): Promise<Document[]> {
  const page = await chromium.newPage({ viewport: { width: 320, height: 200 } });
  await page.setContent('<h1>Certificate</h1>');
  const contents = [await page.screenshot(), await page.pdf()];
  await page.close();
  const names = ['certificate.png', 'tax-card.pdf'];
  return contents.map((content, i) => ({
    purpose: 'identity_document',
    content: new Uint8Array(content),
    filename: names[i]!,
  }));
}
