import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { setServiceHold } from '../../src/operator/money/payouts.js';
import { checkoutBody, currencyOf, receivableBody } from '../support/bodies.js';
import { advanceAndRun, advanceClock, runAllJobs, runJobs } from '../support/jobs.js';
import { accountIn, activatedUser, movedBy } from '../support/onboarding-profile.js';
import { givenIn, must, payoutAddress, payoutAddressBody, type Speaker, tenantOf, useWorld } from '../support/world.js';
import { configure, day, earn, end, midnight, number, payoutsOf } from './payout-fixture.js';
import { sessionOf } from './session-fixture.js';

// No worker runs: nothing but the calls of a test changes what waits.
const world = useWorld({ worker: false });
const given = givenIn(world);

type Json = any;
const editions = [1, 2] as const;

const attentionText = `attention(scope: $scope) { asOf
  counts { kind severity count { value precision } }
  items(limit: 100) {
    kind severity nextAction since dueBy account { id } object { __typename id } count { value precision }
    amounts { amount currency }
  }
}`;

/** What waits for the caller, or for another account that it sees. */
async function attentionOf(speaker: Speaker, scope = 'DESCENDANTS', id = speaker.id): Promise<Json> {
  const query = `query ($id: ID!, $scope: AccountScope!) { account(id: $id) { ${attentionText} } }`;
  return (await must(speaker.graph(query, { id, scope }))).data.account.attention;
}

const itemsOf = async (...of: Parameters<typeof attentionOf>): Promise<Json[]> => (await attentionOf(...of)).items;
const kindsOf = async (...of: Parameters<typeof attentionOf>): Promise<string[]> =>
  (await itemsOf(...of)).map(({ kind }) => kind);
const byAmount = (one: Json, other: Json) => Number(one.amounts[0].amount) - Number(other.amounts[0].amount);
const secondsOf = (time: string) => Date.parse(time) / 1_000;

/** A deposit that has arrived, to the account or to an address of a partner. */
async function arrived(speaker: Speaker, amount: string, partner?: string): Promise<string> {
  const to = partner ?? speaker.id;
  const second = speaker.edition === 2 && { to: { account_id: to }, payment_method: 'upi' };
  const first = partner && { to: { account_id: partner } };
  const currency = currencyOf[speaker.edition];
  const { id } = await must(speaker.post('/v1/deposits', { amount, currency, ...first, ...second }));
  await must(speaker.post(`/v1/test_helpers/deposits/${id}/complete`));
  return id;
}

const invoiced = async (speaker: Speaker, amount: string, dates: object = {}): Promise<string> =>
  (
    await must(
      speaker.post(
        '/v1/receivables',
        receivableBody({ amount, currency: currencyOf[speaker.edition], due_date: '2099-01-01', ...dates }),
      ),
    )
  ).id;

const longAgo = { creation_date: '2026-01-01', due_date: '2026-01-31' };

describe.each(editions)('what needs attention, Edition %i', (edition) => {
  const currency = currencyOf[edition];

  it('is nothing for an account that is activated and new, in each mode by itself', async () => {
    const user = await given.directUser(edition);
    expect(await attentionOf(user)).toEqual({ asOf: expect.any(String), counts: [], items: [] });
    const { test, live } = await given.platformBoth(edition);
    const { id } = await live.connectedUser();
    const drafts = await itemsOf(live);
    expect(drafts.map(({ kind, account }) => [kind, account.id])).toEqual([
      ['ACCOUNT_INCOMPLETE', live.id],
      ['ACCOUNT_INCOMPLETE', id],
    ]);
    // The other mode has other objects.
    expect(await attentionOf(test)).toMatchObject({ counts: [], items: [] });
  });

  it('is a payout that failed, until the next one takes its money', async () => {
    const user = await given.directUser(edition);
    await must(user.post('/v1/addresses', payoutAddressBody(user.id)));
    await advanceClock(user, day);
    await earn(user, '10.00');
    await midnight(user);
    const [payout] = await payoutsOf(user);
    expect(await itemsOf(user)).toEqual([]);
    await must(end(user, 'REST', payout.id, 'fail'));
    const { updated_at: failed } = await must(user.get(`/v1/payouts/${payout.id}`));
    const item = {
      ...{ kind: 'PAYOUT_FAILED', severity: 'CRITICAL', nextAction: 'CHECK_PAYOUT_ADDRESS', dueBy: null },
      ...{ account: { id: user.id }, object: { __typename: 'Payout', id: payout.id } },
      ...{ count: { value: 1, precision: 'EXACT' }, amounts: [{ amount: payout.amount, currency: payout.currency }] },
    };
    const { items, counts } = await attentionOf(user);
    expect(items).toEqual([{ ...item, since: expect.any(String) }]);
    if (failed) expect(secondsOf(items[0].since)).toBe(failed);
    expect(counts).toEqual([{ kind: 'PAYOUT_FAILED', severity: 'CRITICAL', count: { value: 1, precision: 'EXACT' } }]);
    const retried = async () =>
      (await must(user.graph(`{ payout(id: "${payout.id}") { retriedBy { id } } }`))).data.payout.retriedBy;
    expect(await retried()).toBeNull();

    await midnight(user);
    const [next] = await payoutsOf(user, '?status=processing');
    expect(next.source_amount).toBe(payout.amount);
    expect(await retried()).toEqual({ id: next.id });
    expect(await itemsOf(user)).toEqual([]);
    await must(end(user, 'REST', next.id, 'settle'));
    await must(end(user, 'REST', next.id, 'return'));
    expect(await itemsOf(user)).toMatchObject([{ kind: 'PAYOUT_FAILED', object: { id: next.id } }]);
  });

  /** What is said of an account whose available money is not paid out. */
  const blockedAt = ({ id }: Speaker, ...amounts: object[]) => ({
    ...{ kind: 'PAYOUTS_BLOCKED', severity: 'CRITICAL', nextAction: 'UNBLOCK_PAYOUTS', dueBy: null, amounts },
    ...{ account: { id }, object: { __typename: 'Account', id }, count: { value: 1, precision: 'EXACT' } },
  });

  it('is money that was due and could not be paid out, until nothing is in its way', async () => {
    const user = await given.directUser(edition);
    const ten = { amount: '10.00', currency };
    await earn(user, '10.00');
    expect(await itemsOf(user)).toEqual([]);
    await midnight(user);
    const [block] = await world.sql`select created from payout_block where account_id = ${user.id}`;
    const { items, counts } = await attentionOf(user);
    expect(items).toEqual([{ ...blockedAt(user, ten), since: expect.any(String) }]);
    expect(secondsOf(items[0].since)).toBe(Number(block!.created));
    const { count, kind, severity } = items[0];
    expect(counts).toEqual([{ kind, severity, count }]);
    // It is all that is available by then, in each currency.
    await earn(user, '5.00', 'USD');
    await midnight(user);
    const dollars = { amount: '5.00', currency: 'USD' };
    const both = edition === 1 ? [{ amount: '15.00', currency }] : [ten, dollars];
    expect(await itemsOf(user)).toEqual([{ ...items[0], amounts: both }]);
    // An account that is stopped as a whole is told so alone.
    await must(user.post(`/v1/test_helpers/accounts/${user.id}/hold`));
    await setServiceHold(world.operator, await world.operator.account(user.id, false), true);
    expect(await kindsOf(user)).toEqual(['ACCOUNT_ON_HOLD']);
    await setServiceHold(world.operator, await world.operator.account(user.id, false), false);
    await must(user.post(`/v1/test_helpers/accounts/${user.id}/verify`));
    // It is as `payoutsBlockedBy` says, also where the payout is made later.
    if (edition === 2) {
      // There is no rate into the currency of this address.
      await payoutAddress(user, 'CHF');
      expect(await itemsOf(user)).toMatchObject([{ kind: 'PAYOUTS_BLOCKED', amounts: both }]);
    }
    await payoutAddress(user, 'INR');
    expect(await itemsOf(user)).toEqual([]);
    await midnight(user);
    expect([await itemsOf(user), (await payoutsOf(user)).length]).toEqual([[], edition]);
  });

  it('is money of users whose payouts are disabled, for them and their platform', async () => {
    const platform = await given.platform(edition);
    const [user, neighbour] = [await activatedUser(platform), await activatedUser(platform)];
    const hold = async (of: Speaker, on: boolean) =>
      setServiceHold(world.operator, await world.operator.account(of.id, false), on);
    // Without money nothing is blocked.
    await hold(user, true);
    expect([await itemsOf(platform), await itemsOf(user)]).toEqual([[], []]);
    await earn(user, '10.00');
    const item = { ...blockedAt(user, { amount: '10.00', currency }), since: null };
    expect([await itemsOf(platform), await itemsOf(user), await itemsOf(user, 'SELF')]).toEqual([
      [item],
      [item],
      [item],
    ]);
    expect([await itemsOf(platform, 'SELF'), await itemsOf(neighbour)]).toEqual([[], []]);
    if (edition === 1) {
      await configure(platform, { enabled: false }, neighbour.id);
      await earn(neighbour, '3.00');
      const two = [item, { ...item, ...blockedAt(neighbour, { amount: '3.00', currency }) }];
      const { counts, items } = await attentionOf(platform);
      expect(items.toSorted(byAmount)).toEqual(two.toSorted(byAmount));
      expect(counts).toMatchObject([{ kind: 'PAYOUTS_BLOCKED', count: { value: 2, precision: 'EXACT' } }]);
      await configure(platform, { enabled: true }, neighbour.id);
    }
    await hold(user, false);
    expect(await itemsOf(platform)).toEqual([]);
  });

  it('is money that is not reconciled, what is overdue and a dispute, as sums, the dispute first', async () => {
    const user = await given.directUser(edition);
    const one = await arrived(user, '100.00');
    await advanceClock(user, 60);
    await arrived(user, '23.45');
    const late = await invoiced(user, '70.00', longAgo);
    await invoiced(user, '30.00');
    const disputed = await arrived(user, '40.00');
    await must(user.post(`/v1/test_helpers/deposits/${disputed}/dispute`, { amount: '40.00' }));
    const [dispute] = (await must(user.get('/v1/disputes'))).data;

    const items = await itemsOf(user);
    const open = (await must(user.get('/v1/deposits?unreconciled=true'))).data;
    expect(items).toMatchObject([
      {
        ...{
          kind: 'DISPUTE_OPEN',
          nextAction: 'RESPOND_TO_DISPUTE',
          object: { __typename: 'Dispute', id: dispute.id },
        },
        ...{ amounts: [{ amount: '40.00', currency }], count: { value: 1, precision: 'EXACT' } },
      },
      {
        ...{
          kind: 'RECEIVABLE_OVERDUE',
          object: { __typename: 'Receivable', id: late },
          since: '2026-02-01T00:00:00Z',
        },
        ...{ nextAction: 'REMIND_CUSTOMER', amounts: [{ amount: '70.00', currency }], dueBy: null },
      },
      {
        ...{ kind: 'DEPOSIT_UNRECONCILED', nextAction: 'RECONCILE', object: { __typename: 'Deposit', id: one } },
        ...{ count: { value: open.length, precision: 'EXACT' }, amounts: [{ amount: '123.45', currency }] },
      },
    ]);
    expect(items).toHaveLength(3);
    expect(secondsOf(items[0].dueBy)).toBe(dispute.respond_by);
    expect(secondsOf(items[2].since)).toBe(open.at(-1).created);

    // What was answered, or can no longer be, waits no more.
    await advanceClock(user, 8 * day);
    expect(await kindsOf(user)).toEqual(['RECEIVABLE_OVERDUE', 'DEPOSIT_UNRECONCILED']);
    await must(user.post(`/v1/receivables/${late}/void`));
    const rest = await invoiced(user, '100.00');
    await must(user.post(`/v1/deposits/${one}/reconcile`, { receivables: [{ id: rest, amount: '100.00' }] }));
    expect(await itemsOf(user)).toMatchObject([{ kind: 'DEPOSIT_UNRECONCILED', amounts: [{ amount: '23.45' }] }]);
  });

  it('is what the statuses of users say, and since when', async () => {
    const platform = await given.platform(edition);
    const ids: Json = {};
    for (const status of ['draft', 'verifying', 'activated', 'deactivated'] as const) {
      ids[status] = await accountIn(platform, 'connected user', status);
      await accountIn(platform, 'partner', status);
      await advanceClock(platform, 100);
    }
    ids.hold = await accountIn(platform, 'connected user', 'hold');
    const items = await itemsOf(platform);
    expect(items).toMatchObject([
      { kind: 'ACCOUNT_ON_HOLD', severity: 'CRITICAL', nextAction: 'CONTACT_OPERATOR', account: { id: ids.hold } },
      { kind: 'ACCOUNT_INCOMPLETE', severity: 'WARNING', nextAction: 'COMPLETE_ACCOUNT', account: { id: ids.draft } },
      { kind: 'ACCOUNT_VERIFYING', severity: 'INFO', nextAction: 'WAIT', account: { id: ids.verifying } },
    ]);
    expect(items).toHaveLength(3);
    for (const { account, amounts, object, since } of items) {
      const { statusSince } = (await must(platform.graph(`{ account(id: "${account.id}") { statusSince } }`))).data
        .account;
      expect([amounts, object, since]).toEqual([[], { __typename: 'Account', id: account.id }, statusSince]);
    }
    // An account itself is told that it is closed; those below it may be.
    expect(await kindsOf(platform, 'SELF', ids.deactivated)).toEqual(['ACCOUNT_DEACTIVATED']);
    expect(await kindsOf(platform, 'SELF', ids.activated)).toEqual([]);
    const before = await advanceClock(platform, 1_000);
    await must(movedBy.hold(platform, ids.activated));
    const [, held] = await itemsOf(platform);
    expect(held.account.id).toBe(ids.activated);
    expect(secondsOf(held.since)).toBeGreaterThanOrEqual(before);
  });

  it('is of the users of a platform, each with its account, and of a user alone where the user asks', async () => {
    const platform = await given.platform(edition);
    const other = await given.platform(edition);
    const [user, neighbour] = [await activatedUser(platform), await activatedUser(platform)];
    const outsider = await activatedUser(other);
    const partner = await user.partner();
    await must(platform.post(`/v1/accounts/${partner.id}/activate`));
    await advanceAndRun(platform, 61);
    const own = await arrived(user, '11.00');
    const ofPartner = await arrived(user, '12.00', partner.id);
    await arrived(neighbour, '13.00');
    await invoiced(neighbour, '14.00', longAgo);
    await arrived(outsider, '15.00');

    const short = (items: Json[]) =>
      items.map(({ kind, account, amounts }) => [kind, account.id, ...amounts.map((each: Json) => each.amount)]);
    const ofUser = ['DEPOSIT_UNRECONCILED', user.id, '23.00'];
    const ofNeighbour = [
      ['RECEIVABLE_OVERDUE', neighbour.id, '14.00'],
      ['DEPOSIT_UNRECONCILED', neighbour.id, '13.00'],
    ];
    expect(short(await itemsOf(platform))).toEqual([ofNeighbour[0], ofUser, ofNeighbour[1]]);
    expect(await itemsOf(platform, 'SELF')).toEqual([]);
    for (const speaker of [user, platform.actingFor(user.id)]) {
      expect(short(await itemsOf(speaker, 'DESCENDANTS', user.id))).toEqual([ofUser]);
      expect(short(await itemsOf(speaker, 'SELF', user.id))).toEqual([[...ofUser.slice(0, 2), '11.00']]);
    }
    expect(short(await itemsOf(platform, 'DESCENDANTS', user.id))).toEqual([ofUser]);
    expect((await itemsOf(user))[0].object.id).toBe([own, ofPartner].toSorted()[0]);
    expect(short(await itemsOf(await sessionOf(user)))).toEqual([ofUser]);
    // What a partner received waits for its owner.
    for (const speaker of [platform, user])
      expect(short(await itemsOf(speaker, 'SELF', partner.id))).toEqual([[...ofUser.slice(0, 2), '12.00']]);
    for (const id of [platform.id, neighbour.id, outsider.id]) {
      const { body } = await user.graph(
        `{ account(id: "${id}") { ${attentionText.replace('$scope', 'DESCENDANTS')} } }`,
      );
      expect(body.data.account).toBeNull();
    }
    const many = `{ accounts(filter: { type: [USER] }, first: 10) { nodes { id
      attention(scope: DESCENDANTS) { items { kind account { id } amounts { amount } } } } } }`;
    const { nodes } = (await must(platform.graph(many))).data.accounts;
    expect(Object.fromEntries(nodes.map(({ id, attention }: Json) => [id, short(attention.items)]))).toEqual({
      [user.id]: [ofUser],
      [neighbour.id]: ofNeighbour,
    });
  });
});

describe('what the migration fills in', () => {
  const filled = readFileSync('drizzle/0060_attention.sql', 'utf8')
    .split('--> statement-breakpoint')
    .filter((statement) => /^update /im.test(statement));

  it('is what the functions store: since when a status is, and the payout that took the money again', async () => {
    const platform = await given.platform(1);
    for (const status of ['draft', 'verifying', 'deactivated', 'hold'] as const) {
      await accountIn(platform, 'connected user', status);
      await advanceClock(platform, 100);
    }
    const user = await given.directUser(1);
    await must(user.post('/v1/addresses', payoutAddressBody(user.id)));
    await earn(user, '10.00');
    for (const verb of ['fail', 'settle', 'fail'] as const) {
      await midnight(user);
      const [payout] = await payoutsOf(user, '?status=processing');
      await must(end(user, 'REST', payout.id, verb));
      if (verb === 'settle') await must(end(user, 'REST', payout.id, 'return'));
    }
    const tenants = [platform, user].map(tenantOf);
    const stored = async () => ({
      since: await world.sql<{ id: string; since: string }[]>`select id, status_since as since from account
        where tenant_id = any(${tenants}) and not livemode and status <> 'activated' order by id`,
      retried: await world.sql`select id, status, retried_by from payout where tenant_id = any(${tenants})
        order by id`,
    });
    const before = await stored();
    expect(before.since).toHaveLength(4);
    expect(before.retried.map(({ status, retried_by: by }) => [status, by === null])).toEqual([
      ['failed', false],
      ['returned', false],
      ['failed', true],
    ]);
    for (const speaker of [platform, user]) await number(speaker);
    await world.sql`update account set status_since = null where tenant_id = any(${tenants})`;
    await world.sql`update payout set retried_by = null where tenant_id = any(${tenants})`;
    expect(filled).toHaveLength(2);
    for (const statement of filled) await world.sql.unsafe(statement);
    const after = await stored();
    expect(after.retried).toEqual(before.retried);
    for (const [i, { id, since }] of after.since.entries()) {
      expect(id).toBe(before.since[i]!.id);
      // The event of a change may be a second later.
      expect([0, 1]).toContain(Number(since) - Number(before.since[i]!.since));
    }
  });
});

describe('what needs attention', () => {
  it('is a checkout that expired, until its invoice is paid or has another checkout', async () => {
    const user = await given.directUser(2);
    const partner = await user.partner();
    const [one, other] = [await invoiced(user, '60.00'), await invoiced(user, '60.00')];
    const open = async (receivable: string) =>
      (await must(user.post('/v1/checkouts', checkoutBody(partner.id, [receivable])))).id;
    const [first, second] = [await open(one), await open(other)];
    expect(await itemsOf(user)).toEqual([]);
    // The second one is marked by a job, and the first one reads as expired before.
    await must(user.post(`/v1/test_helpers/checkouts/${second}/expire`));
    expect(await itemsOf(user)).toMatchObject([{ kind: 'CHECKOUT_EXPIRED', object: { id: second } }]);
    await advanceClock(user, 2 * day);
    const [item] = await itemsOf(user);
    expect(item).toMatchObject({
      ...{ severity: 'INFO', nextAction: 'SEND_NEW_CHECKOUT', count: { value: 2, precision: 'EXACT' } },
      ...{ amounts: [{ amount: '120.00', currency: 'INR' }], object: { __typename: 'Checkout', id: second } },
    });
    await runAllJobs(user);
    expect(await itemsOf(user)).toEqual([item]);
    await open(one);
    expect(await itemsOf(user)).toMatchObject([{ count: { value: 1 }, object: { id: second } }]);
    expect(first).not.toBe(second);
    await must(user.post(`/v1/receivables/${other}/void`));
    expect(await itemsOf(user)).toEqual([]);
    await advanceClock(user, day + 60);
    expect(await kindsOf(user)).toEqual(['CHECKOUT_EXPIRED']);
    await advanceClock(user, 7 * day);
    expect(await kindsOf(user)).toEqual([]);
  });

  it('says at least where not all that expired was read', async () => {
    const user = await given.directUser(2);
    const partner = await user.partner();
    for (let i = 0; i < 25; i++) {
      const body = checkoutBody(partner.id, [await invoiced(user, '60.00')]);
      const { id } = await must(user.post('/v1/checkouts', body));
      await must(user.post(`/v1/test_helpers/checkouts/${id}/expire`));
    }
    expect(await itemsOf(user)).toMatchObject([
      { kind: 'CHECKOUT_EXPIRED', count: { value: 20, precision: 'AT_LEAST' }, amounts: null },
    ]);
  });

  it('is a dispute that can be answered, behind many whose time is over', async () => {
    const user = await given.directUser(1);
    const disputed = await arrived(user, '40.00');
    const open = (amount: string) => must(user.post(`/v1/test_helpers/deposits/${disputed}/dispute`, { amount }));
    for (let i = 0; i < 101; i++) await open('0.01');
    await advanceClock(user, 30 * day);
    expect(await kindsOf(user)).toEqual(['DEPOSIT_UNRECONCILED']);
    await open('2.00');
    const [newest] = (await must(user.get('/v1/disputes?limit=1'))).data;
    const [first] = await itemsOf(user);
    expect(first).toMatchObject({ kind: 'DISPUTE_OPEN', object: { id: newest.id }, count: { value: 1 } });
  });

  it("is a dispute of what a user's partner received, for the user and its platform", async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    const partner = await user.partner();
    await must(platform.post(`/v1/accounts/${partner.id}/activate`));
    await advanceAndRun(platform, 61);
    const deposit = await arrived(user, '10.00', partner.id);
    await must(user.post(`/v1/test_helpers/deposits/${deposit}/dispute`, { amount: '10.00' }));
    const [dispute] = (await must(user.get('/v1/disputes'))).data;
    for (const speaker of [platform, user])
      expect(await itemsOf(speaker)).toMatchObject([
        { kind: 'DISPUTE_OPEN', account: { id: user.id }, object: { id: dispute.id }, amounts: [{ amount: '10.00' }] },
      ]);
    await must(user.post(`/v1/disputes/${dispute.id}/accept`));
    expect(await kindsOf(platform)).toEqual([]);
  });

  it('is first what waits since a time that is not known', async () => {
    const platform = await given.platform(1);
    const first = await accountIn(platform, 'connected user', 'hold');
    const old = await accountIn(platform, 'connected user', 'hold');
    await world.sql`update account set status_since = null where tenant_id = ${tenantOf(platform)} and id = ${old}`;
    // As many as are read, and one that waits less long.
    await world.sql`insert into account
      (tenant_id, livemode, id, created, kind, edition, status, status_since, address, address_key, nickname,
      business_details, metadata, supporting_documentation, tos_acceptance, owner_id, context_id, on_root_list)
      select tenant_id, livemode, id || n, created, kind, edition, status, created + n, address, address_key,
        nickname || n, business_details, metadata, supporting_documentation, tos_acceptance, owner_id, context_id,
        on_root_list
      from account cross join generate_series(1, 101) n where tenant_id = ${tenantOf(platform)} and id = ${first}`;
    const items = await itemsOf(platform);
    expect(items[0]).toMatchObject({ kind: 'ACCOUNT_ON_HOLD', account: { id: old }, since: null });
    expect(items).toHaveLength(100);
  });

  it('counts up to a hundred objects, and adds up no more', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    for (let n = 0; n < 10; n++) await Promise.all(Array.from({ length: 10 }, () => invoiced(user, '1.00', longAgo)));
    const all = { value: 100, precision: 'EXACT' };
    expect(await itemsOf(platform)).toMatchObject([{ count: all, amounts: [{ amount: '100.00' }] }]);
    await invoiced(user, '1.00', longAgo);
    const more = { value: 100, precision: 'AT_LEAST' };
    for (const speaker of [platform, user]) {
      const { counts, items } = await attentionOf(speaker);
      expect(counts).toMatchObject([{ kind: 'RECEIVABLE_OVERDUE', count: more }]);
      expect(items).toMatchObject([{ count: more, amounts: null }]);
    }
  });

  it('has as many items as are asked for, and refuses other numbers', async () => {
    const user = await given.directUser(1);
    await arrived(user, '1.00');
    await invoiced(user, '1.00', longAgo);
    const ask = (limit: number) =>
      user.graph(`{ viewer { account { attention { counts { kind } items(limit: ${limit}) { kind } } } } }`);
    const { counts, items } = (await must(ask(1))).data.viewer.account.attention;
    expect([counts.length, items]).toEqual([2, [{ kind: 'RECEIVABLE_OVERDUE' }]]);
    for (const limit of [0, 101, -1]) expect((await ask(limit)).codes).toEqual(['parameter_invalid']);
    await runJobs(user);
  });
});
