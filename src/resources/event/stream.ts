import { and, asc, gt, isNotNull, lte, type SQL, sql } from 'drizzle-orm';
import {
  type GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  GraphQLID,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql';
import { isParent } from '../../db/schema/filter-index.js';
import type { Scope } from '../../db/scope.js';
import { listOf, seesRow, visibilityPredicate } from '../../db/read/visibility.js';
import { DomainError, type Problem, problem } from '../../errors/problems.js';
import { AccountScope, onlyOfPlatforms } from '../../types/account-scope.js';
import { SafeInt } from '../../types/scalars.js';
import { account } from '../account/table.js';
import type { RestRoute } from '../define.js';
import { type EventRow, event } from './table.js';
import { patternsOf, typeProblems, typesText } from './type-patterns.js';

/** The arguments of a stream of events. `afterNumber` is the parameter `after` of /v1, which has no `eventType`. */
export interface EventStreamArgs {
  afterNumber?: number | null;
  types?: string[] | null;
  eventType?: string[] | null;
  accountId?: string | null;
  scope?: AccountScope;
}

const descriptions = {
  after:
    'The number of the last event that you know: the stream begins with the next one. 0 begins with the oldest ' +
    'event. Without it, the stream begins with the next event that happens.',
  types: typesText,
  accountId: 'Only events of this account: the root account or a connected user.',
  scope: 'Of a platform, DESCENDANTS has also the events of its connected users, and of all partners.',
};

/** The arguments of a stream of events in the graph. */
export const eventStreamArgs = (scope: GraphQLEnumType): GraphQLFieldConfigArgumentMap => ({
  afterNumber: { type: SafeInt, description: descriptions.after },
  types: { type: new GraphQLList(new GraphQLNonNull(GraphQLString)), description: descriptions.types },
  accountId: { type: GraphQLID, description: descriptions.accountId },
  scope: {
    type: new GraphQLNonNull(scope),
    defaultValue: AccountScope.SELF,
    description: descriptions.scope,
  },
});

/** The types of a stream as the graph has them. */
export const eventTypeArg = (eventType: GraphQLEnumType): GraphQLFieldConfigArgumentMap => ({
  eventType: {
    type: new GraphQLList(new GraphQLNonNull(eventType)),
    description: 'Only events of these types, as `Event.eventType` has them. It excludes `types`.',
  },
});

/** The stream of events on /v1. Spec: extension. */
export const eventStream: RestRoute = {
  method: 'GET',
  path: '/v1/events/stream',
  extension: true,
  summary: 'Follow events as they happen',
  description:
    'Sends the events of the objects on the lists of the caller as server-sent events: `id` is the number of ' +
    'the event, and `data` is the event. After a disconnect, send the last `id` as `Last-Event-ID`, which a ' +
    'browser does by itself: nothing is missed or repeated. A comment and the position come every 15 seconds. ' +
    'The event `end` says in an error object why the stream ends.',
  parameters: [
    {
      name: 'after',
      in: 'query',
      description: descriptions.after,
      schema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    },
    {
      name: 'types',
      in: 'query',
      description: descriptions.types,
      schema: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 100 },
    },
    { name: 'account_id', in: 'query', description: descriptions.accountId, schema: { type: 'string' } },
    {
      name: 'scope',
      in: 'query',
      description: descriptions.scope.replace('DESCENDANTS', '`descendants`'),
      schema: { type: 'string', enum: Object.values(AccountScope), default: AccountScope.SELF },
    },
    {
      name: 'Last-Event-ID',
      in: 'header',
      description: 'The last `id` of an earlier stream; it counts instead of `after`.',
      schema: { type: 'string', pattern: '^\\d{1,16}$' },
    },
  ],
  content: ['text/event-stream'],
};

/** How an API names the position at which a stream begins. */
export type PositionField = 'event.after' | 'event.after_number';

/** The problems of the arguments of a stream that need no look at the database. */
export function eventStreamProblems(
  { afterNumber, types, eventType, scope }: EventStreamArgs,
  kind: string,
  field: PositionField,
): Problem[] {
  const problems = [...typeProblems(types, 'event.types'), ...typeProblems(eventType, 'event.event_type')];
  if (types && eventType)
    problems.push(
      problem('parameter_invalid', 'event.event_type', 'cannot be combined with types. Leave out one of them.'),
    );
  if (afterNumber != null && afterNumber < 0)
    problems.push(problem('parameter_invalid', field, 'must not be negative'));
  if (scope === AccountScope.DESCENDANTS && kind !== 'platform')
    problems.push(problem('parameter_invalid', 'event.scope', onlyOfPlatforms));
  return problems;
}

/** Which events of a tenant and mode a stream has. */
export interface EventFilter {
  /** Patterns of LIKE; null for all types. */
  patterns: readonly string[] | null;
  accountId: string | null;
  /** Whether the events of the accounts below a platform are included. */
  descendants: boolean;
  /** The id of an object: only events about it, or whose object refers to it. */
  mentions: string | null;
}

/** The filter of a stream's arguments. Refuses an account that the caller cannot see. */
export async function filterOf(scope: Scope, args: EventStreamArgs): Promise<EventFilter> {
  const accountId = args.accountId ?? null;
  if (accountId !== null) await scope.one(account, accountId, 'event.account_id');
  return {
    patterns: patternsOf(args.types ?? args.eventType ?? null),
    accountId,
    descendants: args.scope === AccountScope.DESCENDANTS,
    mentions: null,
  };
}

const p = sql.placeholder;
/** The most events of one read. */
export const eventsOfReadMax = 100;
/** The most numbers that one read looks at: events that a filter leaves out cost, too. */
const numbersMax = 1_000;

/** Events in the order of their numbers, and the number up to which all events of the filter are known then. */
export interface EventsRead {
  rows: EventRow[];
  position: number;
}

/** The next events after a number that the caller can see. All numbers up to `last` have to be committed. */
export async function eventsAfter(scope: Scope, filter: EventFilter, after: number, last: number): Promise<EventsRead> {
  const until = Math.min(last, after + numbersMax);
  const { patterns, accountId, descendants, mentions } = filter;
  const visibility = listOf(scope.caller, accountId !== null || descendants);
  const given = { patterns: patterns !== null, account: accountId !== null, mentions: mentions !== null };
  const name = Object.entries(given).flatMap(([part, is]) => (is ? [part] : []));
  const rows = await scope.read<EventRow>(
    `events_after:${visibility}:${name.join(',')}`,
    (db) => {
      const conditions: SQL[] = [
        ...visibilityPredicate(event, visibility),
        gt(event.number, p('after')),
        lte(event.number, p('until')),
      ];
      if (given.patterns) conditions.push(sql`${event.type} like any(${p('patterns')})`);
      if (given.account) conditions.push(isParent(event.actingAccountId, sql`${p('account')}`));
      else if (visibility === 'actingAccount')
        conditions.push(isParent(event.actingAccountId, sql`${p('actingAccount')}`));
      if (given.mentions)
        conditions.push(
          sql`(${event.objectId} = ${p('mentions')} or strpos(${event.data}::text, ${p('mentions')}) > 0)`,
        );
      return db
        .select()
        .from(event)
        .where(and(...conditions))
        .orderBy(asc(event.number))
        .limit(eventsOfReadMax);
    },
    {
      ...{ after, until },
      ...(given.patterns && { patterns }),
      ...(given.account && { account: accountId }),
      ...(given.mentions && { mentions }),
    },
  );
  const seen = rows.filter((row) => seesRow(scope.caller, event, row));
  return { rows: seen, position: rows.length < eventsOfReadMax ? until : rows.at(-1)!.number! };
}

/** Refuses a position whose next events were deleted, so that no reader has a gap. */
export async function refuseDeleted(scope: Scope, after: number, field: PositionField): Promise<void> {
  if (after === 0) return;
  const [oldest] = await scope.read<{ number: number }>(
    'oldest_event',
    (db) =>
      db
        .select({ number: event.number })
        .from(event)
        .where(and(...visibilityPredicate(event, 'all'), isNotNull(event.number)))
        .orderBy(asc(event.number))
        .limit(1),
    {},
  );
  if (oldest && oldest.number > after + 1)
    throw new DomainError(
      problem(
        'resource_missing',
        field,
        `The events up to ${oldest.number - 1} were deleted, so the stream would have a gap. Read the objects ` +
          `themselves, and begin with ${oldest.number - 1}.`,
      ),
    );
}
