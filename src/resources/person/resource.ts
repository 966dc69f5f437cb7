import { everyone } from '../../auth/permissions.js';
import { defineResource, extension, node, stored } from '../define.js';
import { personProblems, PersonResolver, PersonsOfAccount, personUpdateProblems } from './resolver.js';
import { person } from './table.js';
import { Person } from './type.js';
import { personV1 } from './v1.js';

export default defineResource({
  object: 'person',
  node: node('person', person, Person),
  stored: { person: stored(person, personV1) },
  resolvers: [PersonResolver, PersonsOfAccount],
  operations: {
    person: { access: 'read', callers: everyone, routes: [extension.get('/v1/persons/:id')] },
    persons: { access: 'read', callers: everyone, routes: [extension.list('/v1/persons')] },
    createPerson: {
      access: 'write',
      callers: everyone,
      rules: personProblems,
      routes: [extension.post('/v1/persons')],
    },
    updatePerson: {
      access: 'write',
      callers: everyone,
      rules: personUpdateProblems,
      routes: [extension.post('/v1/persons/:id')],
    },
    removePerson: { access: 'write', callers: everyone, routes: [extension.post('/v1/persons/:id/remove')] },
  },
  events: ['person.created', 'person.updated', 'person.removed'],
});
