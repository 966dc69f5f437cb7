import { expect } from 'vitest';
import { checkoutBody, currencyOf, pdf, personBody, receivableBody } from '../support/bodies.js';
import { endBulk, importRow, payOutLive } from '../support/jobs.js';
import { loggedRequest, must, nickname, payoutAddressBody, Speaker } from '../support/world.js';
import { depositBody } from './isolation-probes.js';
import { type Earnings, type Holdings, hook } from './isolation-requests.js';
import { issueAddress, verifyAccount } from '../../src/operator/account/accounts.js';
import { recordBankNotice } from '../../src/operator/money/bank.js';
import { passTime } from '../../src/operator/job/test-clock.js';
import { openDispute } from '../../src/operator/money/disputes.js';
import { setRate } from '../../src/operator/money/payouts.js';

const tenantOf = ({ key }: Speaker) => key.split('_')[2]!;
const isLive = ({ key }: Speaker) => key.startsWith('sk_live_');
/** Has the owner's partner activate and pay, with the consequences, in either mode. */
async function earn(owner: Speaker, partnerId: string): Promise<Earnings> {
  const { operator } = owner.world;
  const live = isLive(owner);
  const root = await operator.account(`account_${tenantOf(owner)}`, live);
  if (root.status === 'draft') await verifyAccount(operator, root, 'activated');
  await operator.as(root, 'activateAccount', { id: partnerId });
  const partner = await verifyAccount(operator, await operator.account(partnerId), 'activated');
  const currency = currencyOf[owner.edition];
  let deposit: string;
  if (live) {
    const address = await issueAddress(operator, partner, {
      category: 'service_receive',
      currency,
      bankAccount: { number: '1234567890' },
    });
    const reference = nickname();
    const notice = await recordBankNotice(operator, {
      reference,
      event: 'received',
      addressId: address.id,
      amount: 100_00n,
      currency,
    });
    deposit = notice.deposit!.id;
  } else {
    // The sandbox issues the addresses in two steps.
    for (let step = 0; step < 2; step++) await passTime(operator, root, 5);
    deposit = (await owner.post('/v1/deposits', depositBody(owner, { to: { account_id: partnerId } }))).body.id;
    await must(owner.post(`/v1/test_helpers/deposits/${deposit}/complete`));
  }
  const first = async (path: string) => (await owner.get(path)).body.data[0].id as string;
  const [payment, bt] = await Promise.all([
    first(`/v1/payments?account_id=${partnerId}`),
    first(`/v1/accounts/${partnerId}/balance_transactions`),
  ]);
  const isRoot = owner.id === root.id;
  const receivable = await owner.post('/v1/receivables', receivableBody({ currency: currencyOf[owner.edition] }));
  expect(receivable.status).toBe(live && !isRoot ? 400 : 200);
  if (isRoot) {
    if (live) await setRate(operator, root, 'USD', 'INR', '83');
    const receivables = [{ id: receivable.body.id, amount: '40.00' }];
    expect((await owner.post(`/v1/deposits/${deposit}/reconcile`, { receivables })).status).toBe(200);
    if (live) await payOutLive(owner);
    // Payouts are daily, and settle a minute later.
    else await passTime(operator, root, 90_000);
  }
  const refund = (await must(owner.post('/v1/refunds', { deposit_id: deposit, amount: '1.00' }))).id as string;
  const dispute = await disputeOf(owner, deposit);
  const paid = owner.edition === 2 && root.kind !== 'platform' && receivable.status === 200;
  const session = paid ? await checkoutOf(owner, partnerId, receivable.body.id) : {};
  await owner.world.database.call('number_events', [tenantOf(owner), live, 500]);
  return {
    ...session,
    bt,
    deposit,
    payment,
    refund,
    dispute,
    event: await first('/v1/events'),
    ...(receivable.status === 200 && { receivable: receivable.body.id }),
    ...(isRoot && { payout: await first('/v1/payouts'), allocation: await allocationOf(owner, deposit) }),
  };
}

/** A dispute of a deposit, opened by the bank in live mode. */
async function disputeOf(owner: Speaker, deposit: string): Promise<string> {
  if (isLive(owner)) {
    const opened = { id: deposit, amount: 100n, reasonCode: 'general' as const, reference: deposit };
    return (await openDispute(owner.world.operator, opened)).dispute!.id;
  }
  const { to } = await must(owner.post(`/v1/test_helpers/deposits/${deposit}/dispute`, { amount: '1.00' }));
  return (await must(owner.get(`/v1/disputes?account_id=${to.account_id}`))).data[0].id as string;
}

/** The cursor of the only allocation of a deposit. */
async function allocationOf(owner: Speaker, deposit: string): Promise<string> {
  const query = 'query ($id: ID!) { deposit(id: $id) { allocations { edges { cursor } } } }';
  const [edge] = (await owner.graph(query, { id: deposit })).body.data.deposit.allocations.edges;
  return edge.cursor;
}

/** A checkout with an attempt in progress, which no test helper creates in live mode. */
async function checkoutOf(owner: Speaker, partner: string, receivable: string) {
  const made = await owner.post('/v1/checkouts', checkoutBody(partner, [receivable], { amount: '1.00' }));
  expect([made.fieldNames, made.status]).toEqual([[], 200]);
  const args = { checkoutId: made.body.id, attemptKey: 'a', paymentMethod: 'upi', seconds: 480 };
  const [row] = await owner.world.database.call('begin_transaction', [
    ...[tenantOf(owner), isLive(owner), '{}', JSON.stringify(args)],
  ]);
  return { checkout: made.body.id as string, transaction: row!.id as string };
}

/** A webhook endpoint, and a delivery to it that is not made. */
async function webhooks(owner: Speaker) {
  const made = await owner.post('/v1/webhook_endpoints', hook);
  const webhook = made.body.id as string;
  expect((await owner.post(`/v1/webhook_endpoints/${webhook}/test`)).status).toBe(200);
  const { body } = await owner.get(`/v1/webhook_endpoints/${webhook}/deliveries`);
  return { webhook, delivery: body.data[0].id as string };
}

const csv = new TextEncoder().encode('currency\nUSD');

/** An export and an import that no worker does, and a row of the import. */
async function bulk(owner: Speaker) {
  await endBulk(owner);
  const exported = (await owner.post('/v1/exports', { list: '/v1/files', format: 'csv' })).body.id as string;
  const file_id = (await owner.upload('import', csv)).body.id as string;
  const imported = (await owner.post('/v1/imports', { kind: 'receivables', file_id })).body.id as string;
  return { export: exported, import: imported, import_row: await importRow(owner, imported) };
}

export async function holdings(owner: Speaker): Promise<Holdings> {
  const [partner, address, person, file, key, session] = await Promise.all([
    owner.partner(),
    owner.post('/v1/addresses', payoutAddressBody(owner.id)),
    owner.post('/v1/persons', personBody()),
    owner.upload('identity_document', pdf),
    owner.graph('mutation { createApiKey(input: { permission: FULL }) { apiKey { id } } }'),
    owner.post('/v1/sessions', { role: 'read' }),
  ]);
  const setting = await owner.graph('query ($id: ID!) { account(id: $id) { setting { id } } }', { id: partner.id });
  const asked = { account_id: partner.id, business_details: { dba: 'Harbour' } };
  const changed = await must(owner.post('/v1/change_requests', asked));
  return {
    account: partner.id,
    account_setting: setting.body.data.account.setting.id,
    address: address.body.id,
    change_request: changed.id,
    file: file.body.id,
    key: key.body.data.createApiKey.apiKey.id,
    ...(await webhooks(owner)),
    ...(await bulk(owner)),
    person: person.body.id,
    session: session.body.id,
    req: await loggedRequest(owner),
    ...(await earn(owner, partner.id)),
  };
}
