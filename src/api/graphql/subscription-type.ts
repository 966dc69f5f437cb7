import {
  type DefinitionNode,
  type DocumentNode,
  getOperationAST,
  type GraphQLEnumType,
  GraphQLError,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  Kind,
  OperationTypeNode,
} from 'graphql';
import type { Context } from '../../operation/context.js';
import { eventStreamArgs, eventTypeArg } from '../../resources/event/stream.js';
import type { EventRow } from '../../resources/event/table.js';

/** What one result of a subscription is made from: the event, or nothing where an object is read again. */
export interface SubscriptionRoot {
  row?: EventRow;
}

/** What subscriptions are made from: the events, and a sign whenever an object may have changed. */
export interface Following {
  events: (args: object) => Promise<AsyncIterable<object | undefined>>;
  changes: (field: string, args: { id?: string }) => Promise<AsyncIterable<object | undefined>>;
}

const live: Readonly<Record<string, string>> = {
  node: 'An object that the caller can see, at once and whenever it has changed; null when there is none.',
  checkout: 'A checkout that the caller can see, at once and whenever it or one of its attempts has changed.',
  balance: "An account's funds, at once and whenever they have changed.",
};

/** The names of the subscriptions that send an object at once and whenever it has changed. */
export const liveFields: ReadonlySet<string> = new Set(Object.keys(live));

/** The operation of either API whose permission a subscription needs. */
export const operationOfSubscription = (field: string): string => (liveFields.has(field) ? field : 'eventStream');

/**
 * The root type of subscriptions. A subscription that sends an object has the arguments of the query of the same name,
 * and each of its results is the answer to that query.
 */
export function subscriptionType(
  query: GraphQLObjectType,
  event: GraphQLOutputType,
  scope: GraphQLEnumType,
  eventType: GraphQLEnumType,
): GraphQLObjectType {
  const { fields } = query.toConfig();
  const ofQuery = (name: string) => ({
    type: fields[name]!.type,
    args: fields[name]!.args ?? {},
    description: live[name]!,
    subscribe: (following: Following, args: { id?: string }) => following.changes(name, args),
  });
  return new GraphQLObjectType<unknown, Context>({
    name: 'Subscription',
    description:
      'What happens, when it happens: over server-sent events or a WebSocket. An operation has one of these fields.',
    fields: {
      events: {
        type: new GraphQLNonNull(event),
        args: { ...eventStreamArgs(scope), ...eventTypeArg(eventType) },
        description:
          'The events of the objects on the lists of the caller, in the order of their numbers. After a ' +
          'disconnect, subscribe again after the last number: nothing is missed or repeated.',
        subscribe: (following, args) => (following as Following).events(args),
        resolve: (root) => (root as SubscriptionRoot).row,
      },
      ...Object.fromEntries(Object.keys(live).map((name) => [name, ofQuery(name)])),
    },
  });
}

/** Whether a definition of a document is a subscription. */
export const isSubscription = (definition: DefinitionNode): boolean =>
  definition.kind === Kind.OPERATION_DEFINITION && definition.operation === OperationTypeNode.SUBSCRIPTION;

/** Refuses a subscription whose client did not ask for a stream. */
export function refuseSubscription(document: DocumentNode, operationName: string | undefined): void {
  const operation = getOperationAST(document, operationName);
  if (!operation || !isSubscription(operation)) return;
  const message =
    'Subscriptions are answered as server-sent events, for requests with the header `Accept: ' +
    'text/event-stream`, or over a WebSocket. See docs/streams.md.';
  throw new GraphQLError(message, { extensions: { code: 'OPERATION_NOT_SUPPORTED', http: { status: 400 } } });
}
