import fs from 'node:fs';
import { buildSchema, isEnumType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { changeWords } from '../../src/sites/dashboard/format/changes.js';
import { formatMoney } from '../../src/sites/dashboard/format/money.js';
import { eventWords } from '../../src/sites/dashboard/format/words.js';

const invoice = {
  ...{ id: 'receivable_1', object: 'receivable', currency: 'USD', status: 'open', description: null, metadata: {} },
  ...{ amount_locked: '0.00', amount_settled_payouts: '0.00', amount_reconcilable: '100.00' },
  ...{ amount_maximum_reconcilable: '100.00', deposit_ids_amount_locked: [] },
  invoice: { amount: '100.00', due_date: '2026-12-31', reference_number: 'INV-1' },
  system_message: [],
};
const usd = (amount: string) => `${formatMoney({ amount, currency: 'USD' })} USD`;
const updated = (before: object, after: object) =>
  changeWords('receivable.updated', { ...invoice, ...after }, { ...invoice, ...before });

describe('an update in the timeline', () => {
  it.each([
    [{}, { amount_locked: '40.00', amount_reconcilable: '60.00' }, `${usd('40.00')} paid`],
    [
      { amount_locked: '40.00' },
      { amount_locked: '100.00', amount_reconcilable: '0.00', status: 'locked' },
      `${usd('60.00')} paid`,
    ],
    [
      { amount_locked: '40.00', amount_reconcilable: '60.00', deposit_ids_amount_locked: ['deposit_1'] },
      { amount_settled_payouts: '40.00', amount_reconcilable: '60.00' },
      `${usd('40.00')} paid out`,
    ],
    [
      { amount_settled_payouts: '40.00' },
      { amount_locked: '40.00', deposit_ids_amount_locked: ['deposit_1'] },
      `${usd('40.00')} came back from a payout`,
    ],
    [{ amount_locked: '40.00' }, {}, `${usd('40.00')} of what was paid is taken back`],
    [
      { amount_settled_payouts: '40.00' },
      {},
      `${usd('40.00')} of what was paid is taken back; ${usd('40.00')} came back from a payout`,
    ],
    [{}, { description: 'Tea' }, 'Description changed'],
    [{}, { metadata: { order: '7' } }, 'Metadata changed'],
    [{}, { description: 'Tea', metadata: { order: '7' } }, 'Description and metadata changed'],
    [{}, { amount_maximum_reconcilable: '80.00', amount_reconcilable: '80.00' }, 'Most to be paid here changed'],
    [{}, { system_message: [{ code: 'x' }] }, 'Note of the service changed'],
    [{}, { amount_locked: '1.00', description: 'Tea' }, `${usd('1.00')} paid; description changed`],
    [{}, {}, 'Receivable updated'],
  ])('of an invoice from %j to %j is told', (before, after, words) => {
    expect(updated(before, after)).toBe(words);
  });

  it('of an invoice says from whom and to whom it has gone', () => {
    const [before, after] = [
      { id: 'account_a', name: 'Tea House' },
      { id: 'account_b', name: 'Tea House' },
    ];
    const words = (now: typeof before | null, past: typeof before | null, changed = {}) =>
      changeWords('receivable.updated', { ...invoice, ...changed }, invoice, { now, past });
    expect(words(after, before)).toBe('Customer changed from Tea House to Tea House');
    expect(words(after, null)).toBe('Customer changed to Tea House');
    expect(words(null, before)).toBe('Customer changed from Tea House');
    expect(words(after, { ...after, name: 'Its old name' })).toBe('Receivable updated');
    expect(words(after, before, { description: 'Tea' })).toBe(
      'Customer changed from Tea House to Tea House; description changed',
    );
  });

  it('of an account names its inner members, and three at most', () => {
    const account = (nickname: string, details: object) => ({ nickname, business_details: details });
    const words = (details: object) =>
      changeWords('account.updated', account('New', details), account('Old', { url: 'a', legal_name: 'b', dba: 'c' }));
    expect(words({ url: 'a', legal_name: 'b', dba: 'c' })).toBe('Nickname changed');
    expect(words({ url: 'x', legal_name: 'y', dba: 'c' })).toBe('Nickname, URL and legal name changed');
    expect(words({ url: 'x', legal_name: 'y', dba: 'z' })).toBe('Nickname, URL and other details changed');
  });

  it('is only an update without the event before it, and other events say what they are', () => {
    expect(changeWords('receivable.updated', { ...invoice, description: 'Tea' })).toBe('Receivable updated');
    expect(changeWords('receivable.voided', { ...invoice, description: 'Tea' }, invoice)).toBe('Receivable voided');
  });
});

describe('an event in words', () => {
  const type = buildSchema(fs.readFileSync('schema/graph.graphql', 'utf8')).getType('EventType');
  const events = isEnumType(type) ? type.getValues().map(({ value }) => value as string) : [];
  /** The types of events in the form of the graph, such as `RECEIVABLE_CREATED`, with their nouns on /v1. */
  const nouns = ['account', 'checkout', 'deposit', 'payout', 'receivable', 'refund', 'dispute'];

  it('has no word of the ledger for what happens to money', () => {
    const said = events.flatMap((event) => {
      const noun = nouns.find((each) => event.startsWith(`${each.toUpperCase()}_`));
      if (!noun) return [];
      return [eventWords(`${noun}.${event.slice(noun.length + 1).toLowerCase()}`, { amount: '1.00' })];
    });
    expect(said.length).toBeGreaterThan(25);
    const ledger = /\b(deposit|initialized|processing|locked|reconciled|settled|unreconciled)\b|_/i;
    expect(said.filter((words) => ledger.test(words))).toEqual([]);
  });
});
