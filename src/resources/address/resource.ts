import { everyone, ownAccounts } from '../../auth/permissions.js';
import { defineResource, get, list, node, post, stored } from '../define.js';
import { AddressesOfAccount, addressProblems, AddressResolver } from './resolver.js';
import { address } from './table.js';
import { Address } from './type.js';
import { addressV1 } from './v1.js';

export default defineResource({
  object: 'address',
  node: node('address', address, Address),
  stored: { address: stored(address, addressV1) },
  resolvers: [AddressResolver, AddressesOfAccount],
  operations: {
    address: { access: 'read', callers: everyone, routes: [get('/v1/addresses/:id')] },
    addresses: { access: 'read', callers: everyone, routes: [list('/v1/addresses')] },
    createAddress: {
      access: 'write',
      callers: everyone,
      relations: ownAccounts,
      rules: addressProblems,
      routes: [post('/v1/addresses')],
    },
    updateAddress: { access: 'write', callers: everyone, routes: [post('/v1/addresses/:id')] },
  },
  events: [
    ...['address.created', 'address.updated', 'address.expired'],
    ...['address.pending_deactivation', 'address.deactivated'],
  ],
});
