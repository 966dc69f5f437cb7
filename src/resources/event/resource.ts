import { everyone } from '../../auth/permissions.js';
import { defineResource, extension, node, stored } from '../define.js';
import { Event, EventResolver } from './resolver.js';
import { event } from './table.js';
import { eventV1 } from './v1.js';

export default defineResource({
  object: 'event',
  // An event is there once it has its number, as in lists.
  node: node('event', event, Event, ({ number }) => number !== null),
  stored: { event: stored(event, eventV1) },
  resolvers: [EventResolver],
  operations: {
    event: { access: 'read', callers: everyone, routes: [extension.get('/v1/events/:id')] },
    events: { access: 'read', callers: everyone, routes: [extension.list('/v1/events')] },
  },
});
