import { everyone, ownAccounts } from '../../auth/permissions.js';
import { account } from '../account/table.js';
import { defineResource, get, list, post, stored } from '../define.js';
import { fields, link, many, node, one, page, value } from '../edges.js';
import { AddressArgs, AddressOfAccountArgs, addressListing } from './listing.js';
import { addressProblems } from './rules.js';
import { AddressResolver } from './resolver.js';
import { address, LinkedObject } from './table.js';
import { Address, AddressConnection } from './type.js';
import { addressV1 } from './v1.js';

export default defineResource({
  object: 'address',
  node: node('address', address, Address, { listing: addressListing, connection: AddressConnection, compiled: true }),
  stored: { address: stored(address, addressV1) },
  resolvers: [AddressResolver],
  operations: {
    address: {
      reads: one('An address that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [get('/v1/addresses/:id')],
    },
    addresses: {
      reads: many(AddressArgs, "The addresses of the accounts on the caller's list."),
      access: 'read',
      callers: everyone,
      routes: [list('/v1/addresses')],
    },
    createAddress: {
      access: 'write',
      callers: everyone,
      relations: ownAccounts,
      keysOnly: 'create addresses',
      rules: addressProblems,
      accepts: { category: ['user_payout'], type: ['bank_account'] },
      routes: [post('/v1/addresses')],
    },
    updateAddress: {
      access: 'write',
      callers: everyone,
      keysOnly: 'update addresses',
      routes: [post('/v1/addresses/:id')],
    },
  },
  fields: [
    fields(address, {
      linkedObject: value(
        () => LinkedObject,
        () => 'account',
        { description: 'What owns the address: always ACCOUNT.' },
      ),
      account: link(account, 'linkedId', { description: 'The account that owns it.' }),
    }),
    fields(account, {
      addresses: page(address, address.linkedId, {
        args: AddressOfAccountArgs,
        description: "The account's addresses, newest first.",
      }),
    }),
  ],
  events: {
    'address.created': 'An address was created by a request, or issued by a bank.',
    'address.updated': 'Details of an address were changed.',
    'address.expired': 'A virtual account has expired.',
    'address.pending_deactivation':
      'A new payout address replaces this one, which is deactivated after its last payout.',
    'address.deactivated': 'An address was deactivated.',
  },
});
