import { describe, expect, it } from 'vitest';
import { details, givenIn, nickname, useWorld } from './world.js';

const world = useWorld();
const given = givenIn(world);

describe('creating a partner', () => {
  it('answers the account with exactly the keys of the specification, in its order, in Edition 1', async () => {
    const user = await given.directUser(1);
    const name = nickname();

    const reply = await user.post('/v1/accounts', {
      type: 'partner',
      nickname: name,
      business_details: details('Blue Whale LLC'),
      metadata: { crm: '42' },
    });

    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^account_[0-9a-f]{32}$/),
      object: 'account',
      created: expect.any(Number),
      livemode: false,
      type: 'partner',
      sub_type: null,
      status: 'draft',
      nickname: name,
      address: 'deactivated',
      business_details: {
        legal_name: 'Blue Whale LLC',
        dba: null,
        email: 'ap@acme.example',
        website: null,
        date_of_incorporation: null,
        type: 'company',
        ids: { business: null, tax: null, tax_deduction: null, tax_gst: null, tax_trade: null },
        physical_address: {
          line1: '1 Wharf',
          line2: null,
          city: 'Pune',
          state: 'MH',
          postal_code: '411001',
          country: 'IN',
        },
        merchant_category_code: null,
        merchant_size: null,
        product_category: null,
        product_description: null,
        estimated_monthly_volume: null,
      },
      capability: { multicurrency_exports_v1: 'pending' },
      logo_id: null,
      metadata: { crm: '42' },
      parent_account_id: null,
      supporting_documentation: { id_document: null, ownership_structure_document: null },
      tos_acceptance: { ip: null, time: null, user_agent: null },
      link: null,
    });
    expect(Object.keys(reply.body)).toEqual(
      'id object created livemode type sub_type status nickname address business_details capability logo_id metadata parent_account_id supporting_documentation tos_acceptance link'.split(
        ' ',
      ),
    );
    expect((await user.get(`/v1/accounts/${reply.body.id}`)).body).toEqual(reply.body);
  });

  it('names everything that is missing in one answer, by edition', async () => {
    const first = await given.directUser(1);
    const second = await given.directUser(2);

    const reply = await first.post('/v1/accounts', {
      type: 'partner',
      business_details: { legal_name: '', website: 'https://x.example' },
    });
    expect([reply.status, ...reply.fieldNames.map((name, i) => `${reply.codes[i]} ${name}`)]).toEqual([
      400,
      'parameter_missing account.nickname',
      'parameter_invalid_empty account.business_details.legal_name',
      'parameter_missing account.business_details.email',
      'parameter_missing account.business_details.type',
      'parameter_missing account.business_details.physical_address.country',
    ]);
    const other = await second.post('/v1/accounts', { type: 'partner', business_details: { dba: 'x' } });
    expect(other.fieldNames).toEqual([
      'account.business_details.legal_name',
      'account.business_details.type',
      'account.business_details.physical_address.country',
      'account.business_details.physical_address.postal_code',
    ]);
  });

  it('refuses a nickname that another account of the tenant has, whatever its case, and leaves other tenants alone', async () => {
    const user = await given.directUser(1);
    const name = nickname();
    await user.partner({ nickname: name });

    const again = await user.post('/v1/accounts', {
      type: 'partner',
      nickname: name.toUpperCase(),
      business_details: details(),
    });
    expect([again.status, again.codes, again.fieldNames]).toEqual([409, ['nickname_taken'], ['account.nickname']]);
    const stranger = await given.directUser(1);
    expect((await stranger.partner({ nickname: name })).nickname).toBe(name);
  });
});
