import { describe, expect, it } from 'vitest';
import { catalogue } from '../../src/errors/catalogue.js';
import { Amount, Currency } from '../../src/types/scalars.js';
import { refusals, refusalWords } from '../../src/sites/dashboard/format/refusals.js';

describe('a refusal in words for people', () => {
  it.each(Object.entries(refusals))('knows how the sentence of %s begins', (code, [start]) => {
    expect(catalogue[code as keyof typeof catalogue][1].startsWith(start)).toBe(true);
  });

  it('is that of its code where the gateway says its usual sentence', () => {
    expect(refusalWords('balance_insufficient', catalogue.balance_insufficient[1])).toBe(
      'There is not enough available money.',
    );
  });

  it('is the sentence that the gateway has for this case', () => {
    const sentence = 'Only an activated account can create live receivables. Activate the account first.';
    expect(refusalWords('status_invalid', sentence)).toBe(sentence);
  });

  it('has words of its own for some of these', () => {
    expect(refusalWords('status_invalid', 'receivables must not include a receivable that is void.')).toBe(
      'This invoice is void.',
    );
    const exceeds = (what: string) => refusalWords('amount_exceeds_reconcilable', `amount must be at most ${what}.`);
    expect([exceeds('what the receivable can still take'), exceeds('what is still pending of the deposit')]).toEqual([
      'This is more than is still open on the invoice.',
      'This is more than is left of the payment.',
    ]);
  });

  it('is of a text that is no amount and no currency for each field', () => {
    const refused = (scalar: { parseValue: (value: unknown) => unknown }, field: string) => {
      try {
        return String(scalar.parseValue('ten'));
      } catch (error) {
        return refusalWords('parameter_invalid', `${field} ${(error as Error).message}.`);
      }
    };
    expect(refused(Amount, 'invoice.amount')).toBe('This is not an amount, such as 10.00.');
    expect(refused(Currency, 'currency')).toBe('This is not a currency, such as USD.');
  });

  it('has the names of the graph as words', () => {
    expect(refusalWords('parameter_invalid', 'dueDate must be later than creationDate.')).toBe(
      'Due date must be later than creation date.',
    );
  });

  it('is the sentence of a code that it does not know, with a capital', () => {
    expect(refusalWords(undefined, 'amount is odd.')).toBe('Amount is odd.');
    expect(refusalWords('new_code', 'Not today.')).toBe('Not today.');
  });
});
