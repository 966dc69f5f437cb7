import { describe, expect, it, vi } from 'vitest';
import { personBody } from '../support/bodies.js';
import { patience } from '../support/scale.js';
import { assemble, type BusinessType, complete } from '../support/onboarding-profile.js';
import { details, givenIn, must, payoutAddressBody, useWorld } from '../support/world.js';
import { activate } from './activation-fixture.js';

vi.setConfig(patience);

const world = useWorld({ worker: false });
const given = givenIn(world);

const inIndia = { line1: '1 Wharf', city: 'Pune', state: 'MH', postal_code: '411001', country: 'IN' };
const bank = { bank_name: 'Bank of the Coast', number: '004501551234' };
const rightIds = { business: 'U52100RJ2014PTC041234', tax: 'AAPFU0939F', tax_gst: '27AAPFU0939F1ZV' };
const wrongIds = { business: 'U52100', tax: 'bad', tax_gst: '27AAPFU0939F1ZA' };
const query = 'query ($id: ID!) { account(id: $id) { requirements { fieldName message } } }';
const mutation = 'mutation ($input: ActivateAccountInput!) { activateAccount(input: $input) { account { id } } }';

describe.each([1, 2] as const)('a mistyped number, Edition %i', (edition) => {
  /** A profile that activates, of a business in India with these numbers. */
  const profileOf = (ids: object, type: BusinessType = 'company', place: object = inIndia) => {
    const whole = complete(edition, type);
    return { ...whole, details: { ...whole.details, ids, physical_address: place } };
  };

  it('is a requirement of an activation by both APIs, and a right one is none', async () => {
    const platform = await given.platform(edition);
    const id = await assemble(platform, profileOf(wrongIds));
    const expected = ['business', 'tax', 'tax_gst'].map((name) => `account.business_details.ids.${name}`);

    const asked = (await must(platform.graph(query, { id }))).data.account.requirements;
    const [rest, graph] = [await activate(platform, id), await platform.graph(mutation, { input: { id } })];

    expect(asked.map(({ fieldName }: { fieldName: string }) => fieldName)).toEqual(expected);
    expect(asked.map(({ message }: { message: string }) => message.split(' ', 2).join(' '))).toEqual([
      ...['A CIN', 'A PAN', 'A GSTIN'],
    ]);
    expect([rest.status, rest.fieldNames, graph.fieldNames]).toEqual([400, expected, expected]);
    await must(platform.post(`/v1/accounts/${id}`, { business_details: { ids: rightIds } }));
    expect((await activate(platform, id)).status).toBe(200);
  });

  it('is stored by a creation and an update all the same', async () => {
    const platform = await given.platform(edition);
    const id = await assemble(platform, profileOf(wrongIds));

    const changed = await must(platform.post(`/v1/accounts/${id}`, { business_details: { dba: 'Indigo' } }));

    expect(changed.business_details).toMatchObject({ dba: 'Indigo', ids: wrongIds });
  });

  it('is none outside India, or of a business that is no company', async () => {
    const platform = await given.platform(edition);
    const abroad = await assemble(platform, profileOf(wrongIds, 'company', { ...inIndia, country: 'SG' }));
    const business = await assemble(platform, profileOf({ business: 'UDYAM-RJ-01' }, 'business'));
    expect([(await activate(platform, abroad)).status, (await activate(platform, business)).status]).toEqual([
      200, 200,
    ]);
  });

  it('is the tax card of a person, whom the requirement names', async () => {
    const platform = await given.platform(edition);
    const id = await assemble(platform, profileOf(rightIds));
    const person = { ...personBody(id, ['director']), full_name: 'Asha Rao' };
    const made = await must(platform.post('/v1/persons', { ...person, identification: { tax_card_number: 'bad' } }));

    const [missing] = (await must(platform.graph(query, { id }))).data.account.requirements;

    expect(missing.fieldName).toBe('account.persons.identification.tax_card_number');
    expect(missing.message).toMatch(/^The tax card of Asha Rao: A PAN has 10 characters/);
    expect((await activate(platform, id)).fieldNames).toEqual([missing.fieldName]);
    await must(platform.post(`/v1/persons/${made.id}`, { identification: { tax_card_number: 'AAAPA1234A' } }));
    expect((await activate(platform, id)).status).toBe(200);
  });

  it('is the IFSC of a payout address in INR, which a new address replaces', async () => {
    const platform = await given.platform(edition);
    const id = await assemble(platform, { ...profileOf(rightIds), payoutAddress: false });
    const address = (domestic_credit: string) =>
      must(platform.post('/v1/addresses', payoutAddressBody(id, { bank_account: { ...bank, domestic_credit } })));
    const { id: first } = await address('XX');

    const reply = await activate(platform, id);

    expect([reply.status, reply.fieldNames]).toEqual([400, ['account.addresses.user_payout']]);
    expect(reply.body.errors[0].message).toContain('An IFSC has 11 characters');
    expect((await must(platform.post(`/v1/addresses/${first}`, { metadata: { a: 'b' } }))).metadata).toEqual({
      a: 'b',
    });
    await address('HDFC0001234');
    expect((await activate(platform, id)).status).toBe(200);
  });

  it('is nothing of a partner', async () => {
    const platform = await given.platform(edition);
    const partner = await platform.partner({
      business_details: { ...details(), ids: wrongIds, physical_address: inIndia },
    });
    expect((await must(platform.graph(query, { id: partner.id }))).data.account.requirements).toEqual([]);
  });
});
