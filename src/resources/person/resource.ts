import { everyone } from '../../auth/permissions.js';
import { account } from '../account/table.js';
import { file } from '../file/table.js';
import { usedByPerson } from '../file/reference.js';
import { defineResource, extension, stored } from '../define.js';
import { fields, link, many, node, one, page, value } from '../edges.js';
import { PersonArgs, personListing } from './listing.js';
import { personProblems, personUpdateLimits } from './rules.js';
import { PersonResolver } from './resolver.js';
import { person } from './table.js';
import { PersonIdentification, Person, PersonConnection, PersonRoles } from './type.js';
import { identificationOf, personV1, relationshipOf } from './v1.js';

export default defineResource({
  object: 'person',
  node: node('person', person, Person, { listing: personListing, connection: PersonConnection }),
  stored: { person: stored(person, personV1) },
  resolvers: [PersonResolver],
  operations: {
    person: {
      reads: one('A person that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [extension.get('/v1/persons/:id')],
    },
    persons: {
      reads: many(PersonArgs, "The persons of the accounts on the caller's list."),
      access: 'read',
      callers: everyone,
      routes: [extension.list('/v1/persons')],
    },
    createPerson: {
      access: 'write',
      callers: everyone,
      rules: personProblems,
      refusals: ['account_type_invalid', 'status_invalid'],
      routes: [extension.post('/v1/persons')],
    },
    updatePerson: {
      access: 'write',
      callers: everyone,
      limits: personUpdateLimits,
      refusals: ['account_not_updatable'],
      routes: [extension.post('/v1/persons/:id')],
    },
    removePerson: {
      access: 'write',
      callers: everyone,
      refusals: ['account_not_updatable'],
      routes: [extension.post('/v1/persons/:id/remove')],
    },
  },
  fields: [
    fields(person, {
      relationship: value(() => PersonRoles, relationshipOf, {
        description: 'The roles of the person in the business.',
      }),
      identification: value(() => PersonIdentification, identificationOf, {
        description: 'How the person is identified.',
      }),
      account: link(account, 'accountId', { description: 'The account of the business.' }),
      taxCardImage: link(file, ['identification', 'taxCardImage'], {
        nullable: true,
        description: 'The file behind `identification.taxCardImage`.',
      }),
      passportImage: link(file, ['identification', 'passportImage'], {
        nullable: true,
        description: 'The file behind `identification.passportImage`.',
      }),
    }),
    fields(file, {
      usedByPersons: page(person, usedByPerson, {
        description: 'The persons that the file identifies, by an image of a tax card or a passport.',
      }),
    }),
    fields(account, {
      persons: page(person, person.accountId, {
        description: "Directors, owners and representatives of the account's business.",
      }),
    }),
  ],
  events: {
    'person.created': 'A person of an account was added.',
    'person.updated': 'Details of a person were changed.',
    'person.removed': 'A person was removed from an account.',
  },
});
