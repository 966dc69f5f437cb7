import { payoutAddressBody, type Speaker } from '../support/world.js';

export const create = (speaker: Speaker, body: object) => speaker.post('/v1/addresses', body);
export const payout = (speaker: Speaker, more: object = {}) => payoutAddressBody(speaker.id, more);

export const keys =
  'id object created livemode category type status currency name is_reusable linked_object linked_id ' +
  'bank_account billing_details supporting_documentation vpa wallet metadata';
