import { beforeAll, describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { currencyOf, receivableBody } from '../support/bodies.js';
import { runAllJobs, runJobs } from '../support/jobs.js';
import { type Edition, givenIn, must, type Speaker, tenantOf, useWorld } from '../support/world.js';
import { banksIn } from './bank-fixture.js';
import { activatedPartner, bodyOf } from './deposit-fixture.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const { receiver, recordNotice, received } = banksIn(world);
auditLedger(world);

let other: string;
beforeAll(async () => {
  other = await world.another();
});

const update = `mutation ($input: UpdateAccountSettingInput!) {
  updateAccountSetting(input: $input) { accountSetting { id autoReconcile } } }`;

async function settingOf(speaker: Speaker, id = speaker.id): Promise<{ id: string; autoReconcile: boolean }> {
  const { body } = await speaker.graph(`query ($id: ID!) { account(id: $id) { setting { id autoReconcile } } }`, {
    id,
  });
  return body.data.account.setting;
}

async function set(speaker: Speaker, autoReconcile: boolean, id = speaker.id): Promise<void> {
  const { id: setting } = await settingOf(speaker, id);
  const { body } = await speaker.graph(update, { input: { id: setting, autoReconcile } });
  expect(body.data?.updateAccountSetting.accountSetting).toEqual({ id: setting, autoReconcile });
}

async function invoice(speaker: Speaker, reference: string, amount: string): Promise<string> {
  const parts = { reference_number: reference, amount, currency: currencyOf[speaker.edition] };
  return (await must(speaker.post('/v1/receivables', receivableBody(parts)))).id;
}

async function paid(speaker: Speaker, descriptor: string, amount: string, more: object = {}): Promise<string> {
  const body = bodyOf(speaker, amount, { statement_descriptor: descriptor, ...more });
  const { id } = await must(speaker.post('/v1/deposits', body));
  await must(speaker.post(`/v1/test_helpers/deposits/${id}/complete`));
  return id;
}

const query = `query ($id: ID!) { deposit(id: $id) {
  pendingRest receivables { id }
  events(first: 20) { nodes { type requestId matchReasons allocations { receivable { id } amount } } } } }`;

/** What a deposit counts towards, and its events of reconciliations once they are numbered. */
async function stateOf(speaker: Speaker, id: string, root = speaker, live = false) {
  await world.database.call('number_events', [tenantOf(root), live, 1000]);
  const { body } = await speaker.graph(query, { id });
  expect(body.errors).toBeUndefined();
  const { pendingRest, receivables, events } = body.data.deposit;
  return {
    rest: pendingRest,
    with: receivables.map((each: { id: string }) => each.id),
    events: events.nodes
      .filter(({ type }: { type: string }) => type === 'deposit.reconciled')
      .map(({ type: _, ...event }: { type: string }) => event),
  };
}

const matched = (id: string, amount: string) => ({
  rest: '0.00',
  with: [id],
  events: [{ requestId: null, matchReasons: ['REFERENCE', 'AMOUNT'], allocations: [{ receivable: { id }, amount }] }],
});
const waiting = (amount: string) => ({ rest: amount, with: [], events: [] });

// The response is stored as JSON, and one from before the setting has no key for it.
it('is off in the replay of a response that is older than the setting', async () => {
  const user = await given.directUser(1);
  const { id } = await settingOf(user);
  const change = () =>
    user.graph(update, { input: { id, metadata: { order: '7' } } }, { 'Idempotency-Key': 'before the setting' });
  const first = await change();
  const [stored] = await world.sql`update idempotency set answer = answer - 'auto_reconcile'
    where key = 'before the setting' returning answer`;
  expect(stored!.answer).toMatchObject({ metadata: { order: '7' } });
  const replay = await change();
  expect(first.body.data.updateAccountSetting.accountSetting).toEqual({ id, autoReconcile: false });
  expect([replay.headers.get('idempotent-replayed'), replay.body.data]).toEqual(['true', first.body.data]);
});

describe.each<Edition>([1, 2])('deposits that are reconciled by themselves, Edition %i', (edition) => {
  it('are those with one exact match, once the setting is on', async () => {
    const user = await given.directUser(edition);
    expect((await settingOf(user)).autoReconcile).toBe(false);
    const [exact, likely] = [await invoice(user, 'AR-1', '10.00'), await invoice(user, 'AR-2', '20.00')];
    const before = await paid(user, 'AR-1', '10.00');
    await runAllJobs(user);
    expect(await stateOf(user, before)).toEqual(waiting('10.00'));
    await set(user, true);
    await runAllJobs(user);
    expect(await stateOf(user, before)).toEqual(matched(exact, '10.00'));
    const [part, twice] = [await paid(user, 'AR-2', '15.00'), await paid(user, 'no number', '20.00')];
    const late = await paid(user, 'AR-3', '30.00');
    await runAllJobs(user);
    expect(await stateOf(user, part)).toEqual(waiting('15.00'));
    expect(await stateOf(user, twice)).toEqual(waiting('20.00'));
    expect(await stateOf(user, late)).toEqual(waiting('30.00'));
    const whole = await paid(user, 'for AR-2', '20.00');
    await invoice(user, 'AR-3', '30.00');
    await runAllJobs(user);
    expect(await stateOf(user, whole)).toEqual(matched(likely, '20.00'));
    expect(await stateOf(user, late)).toEqual(waiting('30.00'));
  });

  it('are none where there are two candidates, nor after the one was voided', async () => {
    const user = await given.directUser(edition);
    await set(user, true);
    const [first] = [await invoice(user, 'TWO-1', '10.00'), await invoice(user, 'TWO-1', '10.00')];
    const deposit = await paid(user, 'TWO-1', '10.00');
    const gone = await invoice(user, 'GONE-1', '11.00');
    const unpaid = await paid(user, 'GONE-1', '11.00');
    await must(user.post(`/v1/receivables/${gone}/void`));
    await runAllJobs(user);
    expect(await stateOf(user, deposit)).toEqual(waiting('10.00'));
    expect(await stateOf(user, unpaid)).toEqual(waiting('11.00'));
    // By hand it is decided as before.
    const amounts = { receivables: [{ id: first, amount: '10.00' }] };
    await must(user.post(`/v1/deposits/${deposit}/reconcile`, amounts));
    expect((await stateOf(user, deposit)).events).toMatchObject([
      { requestId: expect.any(String), matchReasons: null, allocations: [{ receivable: { id: first } }] },
    ]);
  });

  it('are no more than before once the setting is off again', async () => {
    const user = await given.directUser(edition);
    await set(user, true);
    await invoice(user, 'OFF-1', '10.00');
    const deposit = await paid(user, 'OFF-1', '10.00');
    await set(user, false);
    await runAllJobs(user);
    expect(await stateOf(user, deposit)).toEqual(waiting('10.00'));
  });

  it('go to two deposits of one invoice once, by whichever worker', async () => {
    const user = await given.directUser(edition);
    await set(user, true);
    const invoices = await Promise.all([1, 2, 3, 4].map((n) => invoice(user, `RACE-${n}`, '10.00')));
    const deposits: string[] = [];
    for (const n of [1, 2, 3, 4, 1, 2, 3, 4]) deposits.push(await paid(user, `RACE-${n}`, '10.00'));
    await Promise.all([user, user.at(other), user, user.at(other)].map((speaker) => runJobs(speaker)));
    await runAllJobs(user);
    const found = await Promise.all(deposits.map((id) => stateOf(user, id)));
    for (const [i, id] of invoices.entries()) {
      const both = [found[i]!, found[i + 4]!].toSorted((one, other_) => Number(one.rest) - Number(other_.rest));
      expect(both).toEqual([matched(id, '10.00'), waiting('10.00')]);
    }
  });
});

describe('the setting', () => {
  it('of a user of a platform counts for its deposits and those of its partners, and for no others', async () => {
    const platform = await given.platform(1);
    const [user, without] = [await platform.connectedUser(), await platform.connectedUser()];
    // The platform sets it, as it may reconcile for its user.
    await set(platform.actingFor(user.id), true, user.id);
    expect([(await settingOf(user)).autoReconcile, (await settingOf(without)).autoReconcile]).toEqual([true, false]);
    const [partner, outsider] = [await activatedPartner(platform, user), await activatedPartner(platform, without)];
    const open = await invoice(user, 'P-1', '5.00');
    await Promise.all([invoice(without, 'P-1', '5.00'), invoice(platform, 'P-1', '5.00')]);
    const wire = { payment_method: 'domestic_wire' };
    const own = await paid(user, 'P-1', '5.00', { to: { account_id: partner.id }, ...wire });
    const others = await paid(without, 'P-1', '5.00', { to: { account_id: outsider.id }, ...wire });
    await runAllJobs(platform);
    expect(await stateOf(user, own, platform)).toEqual(matched(open, '5.00'));
    expect(await stateOf(without, others, platform)).toEqual(waiting('5.00'));
  });

  it('counts in live mode for the text of the bank, and does not reach the other mode', async () => {
    const to = await receiver(1);
    await set(to.live, true);
    expect((await settingOf(to.test)).autoReconcile).toBe(false);
    const id = await invoice(to.live, 'LIVE-7', '10.00');
    const notice = await recordNotice(received(to, { text: 'Invoice LIVE-7 with thanks' }));
    await runAllJobs(to.live, true);
    expect(await stateOf(to.live, notice.deposit!.id, to.live, true)).toEqual(matched(id, '10.00'));
  });

  it('is the graph alone: /v1 neither shows nor takes it', async () => {
    const user = await given.directUser(1);
    const { id } = await settingOf(user);
    const refused = await user.post(`/v1/account_settings/${id}`, { auto_reconcile: true });
    expect([refused.status, refused.fieldNames]).toEqual([400, ['account_setting.auto_reconcile']]);
    await set(user, true);
    expect(await must(user.get(`/v1/account_settings/${id}`))).not.toHaveProperty('auto_reconcile');
    await must(user.post(`/v1/account_settings/${id}`, { metadata: { a: 'b' } }));
    expect((await settingOf(user)).autoReconcile).toBe(true);
    const { body } = await user.graph(update, { input: { id, autoReconcile: null } });
    expect(body.errors.map(({ extensions }: any) => [extensions.code, extensions.argumentPath])).toEqual([
      ['PARAMETER_INVALID_EMPTY', ['input', 'autoReconcile']],
    ]);
  });
});
