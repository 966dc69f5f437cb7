import { expect } from 'vitest';
import { type Edition, must, type Speaker } from '../support/world.js';

export const createMutation =
  'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }';
export const updateMutation =
  'mutation ($input: UpdateAccountInput!) { updateAccount(input: $input) { account { id } } }';
export const update = (speaker: Speaker, id: string, body: object) => speaker.post(`/v1/accounts/${id}`, body);
export const read = (speaker: Speaker, id: string) => must(speaker.get(`/v1/accounts/${id}`));
export const emptyIds = { business: null, tax: null, tax_deduction: null, tax_gst: null, tax_trade: null };
export const emptyPlace = { line1: null, line2: null, city: null, state: null, postal_code: null, country: null };

/** A connected user without any details, exactly as /v1 shows it, with its keys in order. */
export const blank = (edition: Edition, id: string) => ({
  id,
  object: 'account',
  created: expect.any(Number),
  livemode: false,
  type: 'user',
  sub_type: null,
  status: 'draft',
  nickname: null as string | null,
  address: 'deactivated',
  business_details: {
    legal_name: null,
    dba: null,
    email: null,
    website: null,
    date_of_incorporation: null,
    type: null,
    ids: emptyIds,
    physical_address: emptyPlace,
    merchant_category_code: null,
    merchant_size: null,
    product_category: null,
    product_description: null,
    ...(edition === 1 && { estimated_monthly_volume: null }),
  },
  capability: edition === 1 ? { multicurrency_exports_v1: 'pending' } : {},
  logo_id: null,
  metadata: null,
  parent_account_id: null,
  supporting_documentation:
    edition === 1
      ? { id_document: null, ownership_structure_document: null }
      : { id_document: null, physical_address_document: null },
  tos_acceptance: { ip: null, time: null, user_agent: null },
  link: null,
});
