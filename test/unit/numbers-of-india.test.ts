import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { companyNumber, gstin, ifsc, maskedPan, pan, type NumberFormat } from '../../src/types/india.js';
import { masked } from '../../src/resources/person/encryption.js';

// GSTINs that are published, so their check characters were not computed by the code that is tested.
const published = ['27AAPFU0939F1ZV', '29AAGCB7383J1Z4', '24AAACC1206D1ZM', '33AAACR5055K1ZE'];

const cases: [string, NumberFormat, string[], string[]][] = [
  [
    'an IFSC',
    ifsc,
    ['HDFC0001234', 'SBIN0AB12CD', ' hdfc0001234 '],
    ['XX', 'HDFC1001234', 'HDFC000123', 'HDFC00012345', 'HDFCO001234', '0HDF0001234', 'HDFC0 01234', '021000021'],
  ],
  ['a PAN', pan, ['AAACA1234A', 'abcpe1234f'], ['bad', 'AAAC1234A', 'AAACA12345', 'AAACA1234AA', 'AAACAI234A']],
  [
    'a GSTIN',
    gstin,
    [...published, '27aapfu0939f1zv'],
    ['27AAPFU0939F1ZA', '27AAPFU0939FIZV', '27APAFU0939F1ZV', '27AAPFU0939F1Z', 'G', 'AAPFU0939F1ZV'],
  ],
  [
    'the number of a company or of a limited liability partnership',
    companyNumber,
    ['U52100RJ2014PTC041234', 'L17110MH1973PLC019786', 'AAB-1234', 'AAB1234', 'F01234'],
    ['U52100', 'U52100RJ14PTC041234', 'X52100RJ2014PTC041234', 'AAB-12345', 'AAB--1234', 'B'],
  ],
];

describe.each(cases)('%s', (_, { holds }, right, wrong) => {
  it.each(right)('may be %s', (text) => expect(holds(text)).toBe(true));
  it.each([...wrong, ''])('is not %s', (text) => expect(holds(text)).toBe(false));
  it('is no long text', () => expect(holds(`${right[0]}${' '.repeat(100)}`)).toBe(false));
});

describe('the check character of a GSTIN', () => {
  it('finds each wrong character', () => {
    const character = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ');
    fc.assert(
      fc.property(fc.constantFrom(...published), fc.nat(14), character, (number, at, other) => {
        fc.pre(number[at] !== other);
        return !gstin.holds(`${number.slice(0, at)}${other}${number.slice(at + 1)}`);
      }),
    );
  });
});

describe('a PAN that is masked, or was stored before numbers were', () => {
  it.each(['AAACA1234A', 'abcpe1234f'])('%s is seen to be one', (text) => {
    expect([maskedPan.holds(masked(text)), maskedPan.holds(text)]).toEqual([true, true]);
  });
  it.each(['bad', 'AAACA12345', 'AAACA1234', 'AAACAI23OA'])('%s is seen not to be one', (text) => {
    expect([maskedPan.holds(masked(text)), maskedPan.holds(text)]).toEqual([false, false]);
  });
});
