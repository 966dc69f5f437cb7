import { describe, expect, it } from 'vitest';
import { cents } from '../support/bodies.js';
import { movementTotals } from '../../src/resources/balance/statement.js';
import { auditLedger } from '../support/audit.js';
import { activatedUser } from '../support/onboarding-profile.js';
import { advanceClock, runJobs } from '../support/jobs.js';
import { givenIn, must, payoutAddress, type Speaker, tenantOf, useWorld } from '../support/world.js';
import { completed, day, deposited, iso, reconciled } from './balance-fixture.js';
import { earn, end, payoutsOf } from './payout-fixture.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

type Json = any;
const funds = ['total', 'available', 'pending', 'processing', 'payoutProcessing', 'feeAdvance'];
const fields = `asOf from to currency opening { ${funds.map((name) => `${name} { amount currency }`).join(' ')} }
  closing { ${funds.map((name) => `${name} { amount }`).join(' ')} }
  totals { type count in { amount } out { amount } }`;
const document = (more: string) => `query ($id: ID!, $from: DateTime!, $to: DateTime!, $currency: Currency!,
  $first: Int!,
  $after: ID) { account(id: $id) { balanceStatement(from: $from, to: $to, currency: $currency) { ${more}
  movements(first: $first, after: $after) { nodes { created type amount { amount } balanceAfter { amount }
    payment { id } } edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } totalCount } } } }`;

interface Range {
  from: number;
  to: number;
  currency?: string;
}

const ask = (user: Speaker, { from, to, currency = 'USD' }: Range, first = 25, after?: string | null, id = user.id) =>
  user.graph(document(fields), { id, from: iso(from), to: iso(to), currency, first, after });

/** A whole statement, page by page; each page is checked to go on where the one before it ended. */
async function statementOf(user: Speaker, range: Range, first = 25): Promise<Json> {
  const movements: Json[] = [];
  let pages = 0;
  let after: string | null = null;
  for (;;) {
    const { body } = await ask(user, range, first, after);
    expect(body.errors).toBeUndefined();
    const { movements: page, ...statement } = body.data.account.balanceStatement;
    pages += 1;
    expect(page.nodes.length).toBeLessThanOrEqual(first);
    expect(page.pageInfo.hasPreviousPage).toBe(after !== null);
    movements.push(...page.nodes);
    after = page.pageInfo.endCursor;
    if (!page.pageInfo.hasNextPage) return { ...statement, movements, pages };
  }
}

/** Compares a statement with its own sums: it goes from its opening to its closing, by each way. */
function checkSums({ opening, closing, totals, movements }: Json): void {
  for (const { total, ...parts } of [opening, closing])
    expect(Object.values(parts).reduce((sum: bigint, { amount }: Json) => sum + cents(amount), 0n)).toBe(
      cents(total.amount),
    );
  const moved = totals.reduce((sum: bigint, each: Json) => sum + cents(each.in.amount) + cents(each.out.amount), 0n);
  expect(cents(opening.total.amount) + moved).toBe(cents(closing.total.amount));
  let balance = cents(opening.total.amount);
  for (const { amount, balanceAfter } of movements) {
    expect(amount.amount).not.toBe('0.00');
    balance += cents(amount.amount);
    expect(cents(balanceAfter.amount)).toBe(balance);
  }
  expect(balance).toBe(cents(closing.total.amount));
  for (const { type, count, ...sums } of totals) {
    const own = movements.filter((each: Json) => each.type === type).map(({ amount }: Json) => cents(amount.amount));
    const sum = (amounts: bigint[]) => amounts.reduce((all, amount) => all + amount, 0n);
    expect([type, count, cents(sums.in.amount), cents(sums.out.amount)]).toEqual([
      ...[type, own.length, sum(own.filter((amount: bigint) => amount > 0n))],
      sum(own.filter((amount: bigint) => amount < 0n)),
    ]);
  }
}

/** The midnight in a time zone that begins a month, in epoch seconds. */
function startOf(year: number, month: number, timeZone: string): number {
  const utc = Date.UTC(year, month, 1);
  const shown = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(utc);
  return (2 * utc - Date.parse(`${shown.replace(' ', 'T')}Z`)) / 1_000;
}

describe('a statement of account', () => {
  it('goes from opening to closing in each month of each time zone, with payouts that fail and return', async () => {
    const user = await given.directUser(1);
    await payoutAddress(user);
    const begin = await advanceClock(user, 1);
    for (let i = 0; i < 8; i++) {
      const { deposit } = await earn(user, `${100 + i}.0${i}`);
      await completed(user, `${7 + i}.30`);
      if (i === 2) await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/reverse`));
      if (i === 5) await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/dispute`, { reason_code: 'general' }));
      await advanceClock(user, 9 * day + 40_000 * i);
      await runJobs(user);
      const [payout] = await payoutsOf(user, '?status=processing');
      if (payout) await end(user, 'REST', payout.id, (['settle', 'fail', 'settle'] as const)[i % 3]!);
    }
    const now = await advanceClock(user, 1);
    const whole = await statementOf(user, { from: begin - day, to: now + day }, 100);
    checkSums(whole);
    expect(whole.movements.length).toBeGreaterThan(15);
    expect(new Set(whole.totals.map(({ type }: Json) => type))).toEqual(new Set(['DEPOSIT', 'DISPUTE', 'PAYOUT']));
    for (const currency of ['USD', 'INR'])
      for (const timeZone of ['UTC', 'Asia/Kolkata', 'America/Los_Angeles', 'Pacific/Kiritimati']) {
        const found: Json[] = [];
        let closing: Json;
        const first = new Date(begin * 1_000);
        const year = first.getUTCFullYear();
        for (let month = first.getUTCMonth() - 1; startOf(year, month, timeZone) <= now; month++) {
          const range = { from: startOf(year, month, timeZone), to: startOf(year, month + 1, timeZone), currency };
          const statement = await statementOf(user, range, 2);
          checkSums(statement);
          const inside = statement.movements.map(({ created }: Json) => Date.parse(created) / 1_000);
          expect(inside.filter((time: number) => time < range.from || time >= range.to)).toEqual([]);
          if (closing) expect(statement.opening.total.amount).toBe(closing.total.amount);
          if (statement.movements.length > 2) expect(statement.pages).toBeGreaterThan(1);
          const { body } = await user.graph(
            `{ viewer { account { balance(asOf: "${iso(range.from - 1)}") { available { amount currency } } } } }`,
          );
          const then = body.data.viewer.account.balance.available.find((each: Json) => each.currency === currency);
          expect(statement.opening.available.amount).toBe(then?.amount ?? '0.00');
          ({ closing } = statement);
          found.push(...statement.movements);
        }
        const all = await statementOf(user, { from: begin - 40 * day, to: now + day, currency }, 100);
        expect([timeZone, found]).toEqual([timeZone, all.movements]);
        expect(all.movements.length).toBeGreaterThan(3);
      }
  });

  it('of a platform has the transfers of its users, and that of a user what was transferred', async () => {
    const platform = await given.platform(2, { subType: 'aggregator' });
    const user = await activatedUser(platform);
    const deposit = await completed(user, '40.00');
    await reconciled(user, deposit, '30.00');
    const now = await advanceClock(platform, 1);
    const range = { from: now - day, to: now + day, currency: 'INR' };
    const [own, of] = [await statementOf(user, range, 1), await statementOf(platform, range)];
    for (const statement of [own, of]) checkSums(statement);
    const typesOf = ({ movements }: Json) => movements.map(({ type, amount }: Json) => [type, amount.amount]);
    expect(typesOf(own)).toEqual([
      ['DEPOSIT', '40.00'],
      ['TRANSFER', '-30.00'],
    ]);
    expect(typesOf(of)).toEqual([['TRANSFER', '30.00']]);
    expect([own.closing.pending.amount, of.closing.available.amount]).toEqual(['10.00', '30.00']);
  });

  it('of a day has the deposits that were completed on it, whenever they were created', async () => {
    const user = await given.directUser(1);
    await completed(user, '10.00');
    const { id } = await deposited(user, '20.00');
    const end = await advanceClock(user, 2 * day);
    await must(user.post(`/v1/test_helpers/deposits/${id}/complete`));
    const paid = `query ($id: ID!, $from: DateTime!, $to: DateTime!) { account(id: $id) {
      balanceStatement(from: $from, to: $to, currency: USD) {
        movements(first: 100) { nodes { created payment { source { ... on Deposit { id completedAt } } } } } } } }`;
    const { body } = await user.graph(paid, { id: user.id, from: iso(end), to: iso(end + day) });
    const { nodes } = body.data.account.balanceStatement.movements;
    expect(nodes).toEqual([
      { created: expect.any(String), payment: { source: { id, completedAt: nodes[0].created } } },
    ]);
  });

  it('begins no page within a posting, whatever cursor is sent', async () => {
    const user = await given.directUser(1);
    for (const amount of ['10.00', '20.00', '30.00']) await reconciled(user, await completed(user, amount), amount);
    const now = await advanceClock(user, 1);
    const range = { from: now - day, to: now + day };
    const all = await statementOf(user, range);
    const [{ version }] = (await world.sql`select max(version) as version from entry
      where tenant_id = ${tenantOf(user)} and account_id = ${user.id}`) as [{ version: string }];
    expect(Number(version)).toBe(9);
    for (let after = 0; after <= 12; after++) {
      const { body } = await ask(user, range, 25, String(after));
      const { nodes, pageInfo } = body.data.account.balanceStatement.movements;
      expect([after, nodes]).toEqual([after, all.movements.slice(all.movements.length - nodes.length)]);
      expect([after, pageInfo.hasNextPage]).toEqual([after, false]);
    }
  });

  it('is empty where nothing was booked, and has all entries where its time is not over', async () => {
    const user = await given.directUser(1);
    await completed(user, '5.00');
    const now = await advanceClock(user, 1);
    const none = await statementOf(user, { from: now - 9 * day, to: now - 8 * day });
    expect([none.opening.total.amount, none.closing.total.amount, none.totals, none.movements]).toEqual([
      ...['0.00', '0.00'],
      ...[[], []],
    ]);
    const other = await statementOf(user, { from: now - day, to: now + day, currency: 'EUR' });
    expect([other.opening.total, other.movements]).toEqual([{ amount: '0.00', currency: 'EUR' }, []]);
    const later = await statementOf(user, { from: now + 9 * day, to: now + 10 * day });
    expect([later.opening.total.amount, later.movements]).toEqual(['5.00', []]);
  });

  it('refuses a range that ends before it begins or is too long, and pages and cursors that are none', async () => {
    const user = await given.directUser(1);
    const range = { from: 1_700_000_000, to: 1_700_000_000 + day };
    const refused = async (...args: [Range, number?, (string | null)?]) => {
      const reply = await ask(user, ...args);
      return [reply.codes, reply.fieldNames];
    };
    expect(await refused({ ...range, to: range.from })).toEqual([['parameter_invalid'], ['account.to']]);
    expect(await refused({ ...range, to: range.from + 401 * day })).toEqual([['parameter_invalid'], ['account.to']]);
    for (const first of [0, 101])
      expect(await refused(range, first)).toEqual([['parameter_invalid'], ['account.first']]);
    for (const after of ['', '-1', 'account_x', '9'.repeat(40)])
      expect(await refused(range, 25, after)).toEqual([['parameter_invalid'], ['account.after']]);
  });

  it('adds up no more entries than its bound, which the message names', async () => {
    const money = { amount: 0n, currency: 'USD' };
    const none = { total: money, available: money, pending: money, processing: money };
    const funds = { ...none, payoutProcessing: money, feeAdvance: money };
    const range = { asOf: 2, from: 1, to: 2, currency: 'USD', opening: funds, closing: funds };
    const statement = { ...range, accountId: 'account_1', first: 7, last: 100_008 };
    // It refuses before it reads, so it needs no database.
    const refused = movementTotals(statement, { scope: undefined as never });
    await expect(refused).rejects.toThrow('more than 100000 entries');
  });

  it("is not another tenant's, and a cursor of another account tells nothing of it", async () => {
    const [user, outsider] = await Promise.all([given.directUser(1), given.directUser(1)]);
    await completed(user, '5.00');
    await completed(user, '6.00');
    const now = await advanceClock(outsider, 1);
    const range = { from: now - day, to: now + day };
    const reply = await ask(outsider, range, 25, null, user.id);
    expect([reply.codes, reply.body.data]).toEqual([['resource_missing'], { account: null }]);
    const cursor = (await ask(user, range, 1)).body.data.account.balanceStatement.movements.pageInfo.endCursor;
    const { body } = await ask(outsider, range, 25, cursor);
    expect(body.data.account.balanceStatement.movements).toMatchObject({ nodes: [], edges: [] });
  });
});
