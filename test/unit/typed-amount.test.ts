import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimal, typedAmount } from '../../src/sites/dashboard/format/money.js';

describe('an amount as people type it', () => {
  it.each([
    ['10', '10.00'],
    ['10.5', '10.50'],
    ['007', '7.00'],
    ['1,250.00', '1250.00'],
    ['1,25,000.50', '125000.50'],
    ['₹1,25,000', '125000.00'],
    ['₹\u00a012,34,56,789.10', '123456789.10'],
    ['$1,250', '1250.00'],
    ['USD 1,250.00', '1250.00'],
    ['1250.00 usd', '1250.00'],
    ["1'250.00", '1250.00'],
    ['1 250.00', '1250.00'],
    ['1.250,00', '1250.00'],
    ['1.250.000', '1250000.00'],
    ['−5.00', '-5.00'],
    ['-$5.00', '-5.00'],
    ['1250.', '1250.00'],
  ])('%s is %s', (text, amount) => {
    expect(typedAmount(text, '.')).toBe(amount);
  });

  it('has the separator of the locale where there is one', () => {
    expect(['1,50', '1.250', '1.250.000,5'].map((text) => typedAmount(text, ','))).toEqual([
      ...['1.50', '1250.00', '1250000.50'],
    ]);
  });

  // What may be another amount elsewhere is for the gateway to refuse.
  it.each([
    ...['1,50', '1.250', '12,34', '1,2345', '1,25,00', '12,34,567,890', '1,234,56', '1.2.3', '1,2.3,4'],
    ...['', '.', ',', '-', 'abc', '1e3', '١٢', '10.005', '1--2', '.5', '10 000 00,', 'NaN', '9'.repeat(61)],
  ])('%j is left to the gateway', (text) => {
    expect(typedAmount(text, '.')).toBe(text);
  });

  it.each(['en-US', 'en-IN', 'de-DE', 'de-CH', 'fr-FR', 'sv-SE'])('is what %s writes', (locale) => {
    const format = new Intl.NumberFormat(locale, { minimumFractionDigits: 2 });
    const separator = format.formatToParts(0.5).find(({ type }) => type === 'decimal')!.value;
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), (value) => {
        expect(typedAmount(format.format(decimal(value)), separator)).toBe(decimal(value));
      }),
      { seed: 1 },
    );
  });
});
