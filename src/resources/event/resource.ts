import { isNotNull } from 'drizzle-orm';
import { GraphQLJSONObject } from 'graphql-scalars';
import { whenOld } from '../../operation/work.js';
import { ID } from 'type-graphql';
import { hideFromSessions } from '../../db/read/visibility.js';
import { everyone } from '../../auth/permissions.js';
import { Node } from '../../types/relay-node.js';
import { account } from '../account/table.js';
import { checkoutNow } from '../checkout/now.js';
import { MatchReason } from '../deposit/receivable-matches.js';
import { deposit } from '../deposit/table.js';
import { dispute } from '../dispute/table.js';
import { payout } from '../payout/table.js';
import { receivable } from '../receivable/table.js';
import { refund } from '../refund/table.js';
import { Allocation } from '../allocation/type.js';
import { defineResource, extension, readableNode, resources, stored } from '../define.js';
import { fields, link, many, node, one, page, value } from '../edges.js';
import { Event, EventConnection } from './type.js';
import { EventArgs, eventListing } from './listing.js';
import { EventTypeEnum, eventTypes } from './catalogue.js';
import { type EventRow, event } from './table.js';
import { allocationsOfEvent, matchReasonsOfEvent } from './allocations.js';
import { eventStream } from './stream.js';
import { eventObjectV1, eventV1 } from './v1.js';

// A session can read neither API keys nor sessions, so it does not see what happens to them.
hideFromSessions(event, {
  column: event.object,
  property: 'object',
  values: () => resources.flatMap(({ node: of, object }) => (of?.keysOnly ? [object] : [])),
});

export default defineResource({
  object: 'event',
  // Clients see an event once it has its number, by its id as in lists.
  node: node('event', event, Event, {
    listing: eventListing,
    connection: EventConnection,
    compiled: true,
    shown: ({ number }) => number !== null,
  }),
  stored: { event: stored(event, eventV1) },
  operations: {
    event: {
      reads: one('An event that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [extension.get('/v1/events/:id')],
    },
    events: {
      reads: many(
        EventArgs,
        "The events of the objects on the caller's lists, newest first. To follow events, page backward from " +
          'the last event that you know.',
      ),
      access: 'read',
      callers: everyone,
      routes: [extension.list('/v1/events')],
    },
  },
  restOperations: {
    eventStream: {
      access: 'read',
      callers: everyone,
      scopeOfPlatforms: true,
      rest: eventStream,
      refusals: ['streams_exceeded'],
    },
  },
  fields: [
    fields(event, {
      eventType: value(
        () => EventTypeEnum,
        ({ type }: EventRow) => (eventTypes.includes(type) ? type : null),
        {
          nullable: true,
          description: 'The `type` as a value of an enum. Null for a type of a later version of the service.',
          json: (column) => {
            const [type, known] = [column('type'), eventTypes.map((each) => `'${each}'`).join(',')];
            const name = `'"' || upper(replace(${type}, '.', '_')) || '"'`;
            return `case when ${type} in (${known}) then ${name} else 'null' end`;
          },
        },
      ),
      accountId: value(
        () => ID,
        ({ actingAccountId }: EventRow) => actingAccountId,
        {
          description: 'The account that it happened to: the root account or a connected user.',
          json: (column) => `'"' || ${column('actingAccountId')} || '"'`,
        },
      ),
      account: link(account, 'actingAccountId', { description: 'The account that it happened to.' }),
      customer: link(account, ['data', 'customer_id'], {
        nullable: true,
        description:
          'Of an event of a receivable: the customer that the invoice billed after it, with the details that it has ' +
          'now. Null where none was known, and for other events.',
      }),
      object: value(() => GraphQLJSONObject, eventObjectV1, {
        description: 'The object after the event, in the format of /v1.',
      }),
      allocations: value(() => [Allocation], allocationsOfEvent, {
        nullable: true,
        description:
          'Of a `deposit.reconciled`: what the deposit began to count towards, in the order of the request, as ' +
          'it then was. Null for other events, and for events that were stored before version 0.3.0.',
      }),
      matchReasons: value(() => [MatchReason], matchReasonsOfEvent, {
        nullable: true,
        description:
          'Of a `deposit.reconciled` that the service has done by itself (`AccountSetting.autoReconcile`): why it is ' +
          'the one exact match, with REFERENCE and AMOUNT and perhaps PAYER. Null for other events.',
      }),
      subject: value(
        () => Node,
        ({ objectId }: EventRow, { scope, caller }) => {
          const found = readableNode(objectId, caller);
          return found ? scope.find(found.rows, objectId) : null;
        },
        {
          nullable: true,
          description:
            'The object as it is now. Null if it no longer exists, and for an object without a type of its ' +
            'own, such as a block of payouts.',
        },
      ),
    }),
    ...[checkoutNow, deposit, dispute, payout, receivable, refund].map((table) =>
      fields(table, { events: page(event, event.objectId, { description: 'The events about it, newest first.' }) }),
    ),
    fields(account, {
      events: page(event, event.actingAccountId, {
        description:
          "The events of the objects on the account's own lists, newest first: of a user, its own and those of " +
          "its partners. Empty for a partner, whose events are its owner's.",
      }),
    }),
  ],
  sizes: { 'Event.allocations': 10 },
  work: {
    delete_old_events: whenOld({
      does: 'Deletes old events.',
      fn: 'delete_old_events',
      table: event,
      where: isNotNull(event.number),
      kept: ({ eventSeconds: seconds }) => (seconds === undefined ? undefined : { seconds, given: true }),
    }),
  },
});
