import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { receivableBody } from '../support/bodies.js';
import { seedsOf } from '../support/scale.js';
import { activatedPartner } from './balance-fixture.js';
import { givenIn, must, type Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const query = `query ($id: ID!) { deposit(id: $id) { receivableMatches {
  exact reasons amount { amount currency } receivable { id } } } }`;

interface Match {
  exact: boolean;
  reasons: string[];
  amount: { amount: string; currency: string };
  receivable: { id: string };
}

async function matchesOf(speaker: Speaker, id: string): Promise<Match[]> {
  const { body } = await speaker.graph(query, { id });
  expect(body.errors).toBeUndefined();
  return body.data.deposit.receivableMatches;
}

const words = ({ exact, reasons, receivable, amount }: Match) =>
  [exact ? 'exact' : 'likely', receivable.id, amount.amount, ...reasons].join(' ');

async function invoice(speaker: Speaker, reference: string, amount: string, more: object = {}, currency = 'USD') {
  const body = receivableBody({ reference_number: reference, amount, currency }, more);
  const { id } = await must(speaker.post('/v1/receivables', body));
  return id as string;
}

async function paid(speaker: Speaker, descriptor: string, amount: string, more: object = {}) {
  const { id } = await must(
    speaker.post('/v1/deposits', {
      ...{ amount, currency: 'USD', payment_method: 'domestic_wire', statement_descriptor: descriptor },
      ...more,
    }),
  );
  await must(speaker.post(`/v1/test_helpers/deposits/${id}/complete`));
  return id as string;
}

describe('the receivables that a deposit may pay', () => {
  let user: Speaker;
  beforeAll(async () => {
    user = await given.directUser(1);
  });

  it('are told by reference and amount, by the reference alone, and by the amount alone', async () => {
    const [both, part, alone] = [
      await invoice(user, 'INV-1001', '100.10'),
      await invoice(user, 'INV-1002', '500.00'),
      await invoice(user, 'XY/77', '41.07'),
    ];
    const of = async (descriptor: string, amount: string) =>
      (await matchesOf(user, await paid(user, descriptor, amount))).map(words);
    expect(await of('Payment inv 1001, thanks', '100.10')).toEqual([`exact ${both} 100.10 REFERENCE AMOUNT`]);
    expect(await of('INV-1002', '20.00')).toEqual([`likely ${part} 20.00 REFERENCE`]);
    expect(await of('INV-1002 rest', '700.00')).toEqual([`likely ${part} 500.00 REFERENCE`]);
    expect(await of('no number', '41.07')).toEqual([`likely ${alone} 41.07 AMOUNT`]);
    expect(await of('INV-10011', '3.00')).toEqual([]);
    expect(await of('INV', '3.00')).toEqual([]);
    expect(await of('1001', '3.00')).toEqual([]);
    expect(await of('INV-1001 INV-1002', '41.07')).toEqual([
      ...[`likely ${both} 41.07 REFERENCE`, `likely ${part} 41.07 REFERENCE`].toSorted(),
      `likely ${alone} 41.07 AMOUNT`,
    ]);
  });

  it('are not exact where two fit, and not told by an amount that many have', async () => {
    const owner = await given.directUser(1);
    const twins = [await invoice(owner, 'T-1', '9.99'), await invoice(owner, 'T-1', '9.99')];
    const found = await matchesOf(owner, await paid(owner, 'T-1', '9.99'));
    expect(found.map(words).toSorted()).toEqual(twins.map((id) => `likely ${id} 9.99 REFERENCE AMOUNT`).toSorted());
    for (let i = 0; i < 4; i++) await invoice(owner, `S-${i}`, '20.00');
    expect(await matchesOf(owner, await paid(owner, 'monthly', '20.00'))).toEqual([]);
  });

  it('are not exact where more receivables have the reference than are looked at', async () => {
    const owner = await given.directUser(1);
    // Many have the amount, so that it tells none of them.
    for (let i = 0; i < 5; i++) await invoice(owner, `S-${i}`, '20.00');
    const first = await invoice(owner, 'RENT-01', '20.00');
    const last = async () => {
      const id = await invoice(owner, 'RENT-01', '20.00');
      await must(owner.post(`/v1/receivables/${id}/void`));
    };
    for (let i = 0; i < 18; i++) await last();
    const deposit = await paid(owner, 'rent 01', '20.00');
    expect((await matchesOf(owner, deposit)).map(words)).toEqual([`exact ${first} 20.00 REFERENCE AMOUNT`]);
    await last();
    expect((await matchesOf(owner, deposit)).map(words)).toEqual([`likely ${first} 20.00 REFERENCE AMOUNT`]);
    // The longest reference is looked up first, so that frequent ends of others do not hide it.
    for (let i = 0; i < 20; i++) await invoice(owner, `C${i}-0815`, '20.00');
    const mine = await invoice(owner, 'Z-0815', '20.00');
    for (let i = 0; i < 20; i++) await invoice(owner, `D${i}-0815`, '20.00');
    const found = await matchesOf(owner, await paid(owner, 'Z-0815', '20.00'));
    expect(found.map(words)).toEqual([`likely ${mine} 20.00 REFERENCE AMOUNT`]);
  });

  it('are told by whole words of each text, also by the last ones of long texts', async () => {
    const owner = await given.directUser(1);
    const [short, long, both] = [
      await invoice(owner, 'INV-12', '1.00'),
      await invoice(owner, 'INV-123', '2.00'),
      await invoice(owner, '77-88', '3.00'),
    ];
    const named = async (descriptor: string, text?: string) => {
      const id = await paid(owner, descriptor, '9.00');
      await world.sql`update deposit set bank_details = ${text === undefined ? null : ({ text } as any)}
        where tenant_id = ${tenantOf(owner)} and id = ${id}`;
      return (await matchesOf(owner, id)).map(({ receivable }) => receivable.id);
    };
    const prose = 'we pay what we owe for all the goods that came in the last weeks of';
    expect(await named(`${prose} INV-123`)).toEqual([long]);
    expect(await named('', `${prose} INV-123`)).toEqual([long]);
    expect(await named('INV-12', `${prose} INV-123`)).toEqual([short, long].toSorted());
    // The bank kept 140 characters: the number may have been longer.
    const cut = `${prose} `.padEnd(134, 'x ');
    expect(await named('', `${cut}INV-12`)).toEqual([]);
    expect(await named('', `${cut}INV-12`.slice(1))).toEqual([short]);
    // The end of one text and the beginning of the other are no reference.
    expect(await named('77', '88')).toEqual([]);
    expect(await named('77-88', '77')).toEqual([both]);
    // Of texts with many numbers not all are looked up.
    const numbers = Array.from({ length: 14 }, (_, i) => `${500 + i}`).join(' ');
    const last = await invoice(owner, 'Q-9', '4.00');
    const exact = async (text: string) => {
      const [match] = await matchesOf(owner, await paid(owner, text, '4.00'));
      return [match?.receivable.id, match?.exact];
    };
    expect([await exact(`Q-9 ${numbers}`), await exact('Q-9 500 501')]).toEqual([
      [last, false],
      [last, true],
    ]);
    expect(await exact(`Q-9 ${'and so on '.repeat(14)}`)).toEqual([last, false]);
  });

  it('are those of a customer first, also among many with the amount', async () => {
    const owner = await given.directUser(1);
    const customer = await owner.partner();
    for (let i = 0; i < 5; i++) await invoice(owner, `S-${i}`, '20.00');
    const mine = await invoice(owner, 'S-mine', '20.00', { customer_id: customer.id });
    const deposit = await paid(owner, 'monthly', '20.00', { from: { account_id: customer.id } });
    expect((await matchesOf(owner, deposit)).map(words)).toEqual([`likely ${mine} 20.00 AMOUNT PAYER`]);
  });

  it('are of what is left of the deposit and open of the receivable', async () => {
    const owner = await given.directUser(1);
    const [one, two] = [await invoice(owner, 'A-1', '70.00'), await invoice(owner, 'B-1', '30.00')];
    const deposit = await paid(owner, 'A-1 and B-1', '100.00');
    await must(owner.post(`/v1/deposits/${deposit}/reconcile`, { receivables: [{ id: one, amount: '70.00' }] }));
    expect((await matchesOf(owner, deposit)).map(words)).toEqual([`exact ${two} 30.00 REFERENCE AMOUNT`]);
    await must(owner.post(`/v1/receivables/${two}/void`));
    expect(await matchesOf(owner, deposit)).toEqual([]);
  });

  it('are those of the receiving account, in the currency of the deposit', async () => {
    const platform = await given.platform(1);
    const [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const mine = await invoice(user, 'M-1', '5.00');
    await invoice(other, 'M-1', '5.00');
    await invoice(platform, 'M-1', '5.00');
    await invoice(user, 'M-1', '5.00', {}, 'EUR');
    const partner = await activatedPartner(platform, user);
    const { id } = await must(
      user.post('/v1/deposits', {
        ...{ amount: '5.00', currency: 'USD', payment_method: 'domestic_wire', statement_descriptor: 'M-1' },
        to: { account_id: partner.id },
      }),
    );
    expect(await matchesOf(user, id)).toEqual([]);
    await must(user.post(`/v1/test_helpers/deposits/${id}/complete`));
    for (const speaker of [user, platform, platform.actingFor(user.id)])
      expect((await matchesOf(speaker, id)).map(words)).toEqual([`exact ${mine} 5.00 REFERENCE AMOUNT`]);
  });
});

describe.each(seedsOf('api/receivable-match'))('the matches of a list, seed %i', (seed) => {
  it('are what a plain comparison of all pairs finds', async () => {
    const owner = await given.directUser(1);
    const references = ['INV-1', 'INV-2', 'ABC 12/3', 'ABC 12', 'Ä-7', '2026/11'];
    const reference = fc.constantFrom(...references);
    const cents = fc.constantFrom(100, 250, 333);
    const invoices = fc.sample(fc.tuple(reference, cents), { numRuns: 8, seed });
    const text = fc.tuple(fc.constantFrom('', 'pay ', 'X-'), reference, fc.constantFrom('', ' thanks', '9'));
    const payments = fc.sample(fc.tuple(text, cents), { numRuns: 12, seed });
    const amount = (n: number) => `${Math.floor(n / 100)}.${String(n % 100).padStart(2, '0')}`;
    const stored: { id: string; reference: string; cents: number }[] = [];
    for (const [reference, cents] of invoices)
      stored.push({ id: await invoice(owner, reference, amount(cents)), reference, cents });
    const plain = (text: string) =>
      ` ${text
        .normalize('NFKD')
        .replaceAll(/[\u0300-\u036F]/g, '')
        .toLowerCase()
        .split(/[^a-z0-9]+/)
        .filter(Boolean)
        .join(' ')} `;
    for (const [parts, cents] of payments) {
      const said = parts.join('');
      const deposit = await paid(owner, said, amount(cents));
      const found = await matchesOf(owner, deposit);
      const fits = stored.map((each) => ({
        ...each,
        named: plain(said).includes(plain(each.reference)) && plain(each.reference).length >= 5,
        equal: each.cents === cents,
      }));
      const exact = fits.filter(({ named, equal }) => named && equal);
      const same = fits.filter(({ equal }) => equal);
      const expected = fits.filter(({ named, equal }) => named || (equal && same.length < 4));
      expect(found.length).toBe(Math.min(expected.length, 3));
      expect(found.filter((each) => each.exact).map(({ receivable }) => receivable.id)).toEqual(
        exact.length === 1 ? [exact[0]!.id] : [],
      );
      const score = (id: string) => {
        const { named, equal } = fits.find((each) => each.id === id)!;
        return Number(named) * 4 + Number(equal) * 2;
      };
      const best = expected.map(({ id }) => score(id)).toSorted((a, b) => b - a);
      expect(found.map(({ receivable }) => score(receivable.id))).toEqual(best.slice(0, 3));
    }
  });
});

it('the matches of a deposit cost twenty points, and those that there are', async () => {
  const user = await given.directUser(1);
  const costOf = async (more: string) =>
    (await user.graph(`{ deposits(first: 10) { nodes { id ${more} } } }`)).cost!.requested;
  expect((await costOf('receivableMatches { exact }')) - (await costOf(''))).toBe(10 * (20 + 3));
});
