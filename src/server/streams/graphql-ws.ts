import type { WebSocket } from '@fastify/websocket';
import type { FastifyRequest } from 'fastify';
import { type FormattedExecutionResult, GraphQLError, type GraphQLFormattedError, parse } from 'graphql';
import { CloseCode, makeServer, type Server, type SubscribePayload } from 'graphql-ws';
import { formatted } from '../../api/graphql/errors.js';
import { SubscriptionRefused, type SubscriptionResult } from '../../api/graphql/subscription.js';
import type { Context } from '../../operation/context.js';
import { catalogue } from '../../request/catalogue.js';
import { DomainError, retryAfter, sentenceOfGraph } from '../../request/problems.js';
import { weights } from '../../types/weights.js';
import { refuseMisshapen } from '../graphql-request.js';
import { documentNotFound, namesDocument, type PersistedDocuments } from '../persisted-documents.js';
import type { Follower } from './follower.js';
import type { Ending, Stream } from './streams.js';
import type { OpenSubscription, Subscriptions } from './subscriptions.js';

const pingMilliseconds = 12_000;
const initMilliseconds = 5_000;
/** How many connections may be without a key at one time. */
const strangersMax = 200;
/** A client that does not read what it was sent is disconnected when this many bytes wait for it. */
const unreadBytesMax = 4_000_000;
/** Clients of the protocol connect again after these codes. */
const codes = { restart: 1012, tryLater: 1013 };

/** What is known of a connection. */
interface Connected {
  socket: WebSocket;
  request: FastifyRequest;
  /** Set when the client has said who it is. */
  follower?: Follower;
  /** The connection itself, which ends with its key. */
  stream?: Stream;
}

/** What the endpoint needs. */
export interface WebSocketParts {
  subscriptions: Subscriptions;
  persisted: PersistedDocuments;
  onFault: (error: unknown, requestId: string) => void;
}

/**
 * Serves subscriptions over WebSockets, in the protocol graphql-transport-ws. A page cannot set the headers of a
 * WebSocket, so a client may send them in the payload of `connection_init`.
 */
export function subscriptionsByWebSocket(parts: WebSocketParts): (socket: WebSocket, request: FastifyRequest) => void {
  /** The connections whose caller is not known yet, in the order in which they came. */
  const strangers = new Set<Connected>();
  const server = makeServer<Record<string, unknown>, Connected>({
    connectionInitWaitTimeout: initMilliseconds,
    onConnect: async ({ extra, connectionParams }) => {
      const known = await connect(parts, extra, connectionParams ?? {});
      strangers.delete(extra);
      return known;
    },
    onSubscribe: async ({ extra }, _, payload) => {
      const begun = await begin(parts, extra, payload);
      // The library reads no more of the document than that it is a subscription.
      return Array.isArray(begun) ? begun : { schema: undefined as never, document, contextValue: begun };
    },
    subscribe: ({ contextValue }) => resultsOf(contextValue as Begun),
    onNext: (_, __, ___, ____, { extensions }) => extensions!.result as FormattedExecutionResult,
    onError: (_, __, ___, errors) => errors.map(({ message, extensions }) => ({ message, extensions })),
  });
  return (socket, request) => {
    const connected = { socket, request };
    strangers.add(connected);
    socket.once('close', () => strangers.delete(connected));
    // The one that has waited longest: a client sends its key as soon as it is connected.
    if (strangers.size > strangersMax) {
      const [first] = strangers;
      strangers.delete(first!);
      first!.socket.terminate();
    }
    accept(server, connected, parts.onFault);
  };
}

const document = parse('subscription { events { id } }');

type Wrapped = { extensions: { result: SubscriptionResult } };

/** A subscription that runs over a socket. */
interface Begun {
  open: OpenSubscription;
  socket: WebSocket;
}

/** Connects the library with a socket. */
function accept(server: Server<Connected>, connected: Connected, onFault: WebSocketParts['onFault']): void {
  const { socket, request } = connected;
  let answered = true;
  const ping = setInterval(() => {
    if (!answered) return socket.terminate();
    answered = false;
    socket.ping();
  }, pingMilliseconds);
  socket.on('pong', () => {
    answered = true;
  });
  // The sender of messages that have answers may read none of them.
  const refuseUnread = () => {
    if (socket.bufferedAmount > unreadBytesMax) socket.terminate();
  };
  socket.on('ping', refuseUnread).on('message', refuseUnread);
  const closed = server.opened(
    {
      protocol: socket.protocol,
      send: (data) => new Promise((resolve) => socket.send(data, () => resolve())),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (receive) =>
        void socket.on('message', (data) => {
          receive(String(data)).catch((error: unknown) => {
            onFault(error, request.id);
            socket.close(CloseCode.InternalServerError, 'Internal server error');
          });
        }),
    },
    connected,
  );
  socket.once('close', (code, reason) => {
    clearInterval(ping);
    connected.stream?.leave();
    void closed(code, String(reason));
  });
}

/** Identifies the caller of a connection, or closes the connection. */
async function connect(
  { subscriptions }: WebSocketParts,
  connected: Connected,
  params: Record<string, unknown>,
): Promise<boolean> {
  const { socket, request } = connected;
  const headers = { ...request.headers };
  for (const [name, value] of Object.entries(params))
    if (/^(authorization|on-behalf-of)$/i.test(name) && typeof value === 'string') headers[name.toLowerCase()] = value;
  const follower = subscriptions.follower(Object.create(request, { headers: { value: headers } }) as FastifyRequest);
  try {
    const { caller } = await follower.context();
    const stream = follower.enter(caller, { identify: follower.identify, destroy: () => socket.terminate() });
    stream.onEnd = (ending) => closeFor(socket, ending);
    Object.assign(connected, { follower, stream });
    // The client may have left meanwhile.
    if (socket.readyState !== socket.OPEN) stream.leave();
    return true;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const comesBack = error.status === 429 || retryAfter(error.problems) !== undefined;
    closeFor(socket, { problems: error.problems, comesBack }, codes.tryLater);
    return false;
  }
}

/** Whether the key is not valid any more, so that nothing on the connection can go on. */
const isUnknown = ([first]: Ending['problems']) => first !== undefined && catalogue[first.code][0] === 401;

/** Closes a socket with the reason, which may have 123 bytes. */
function closeFor(socket: WebSocket, { problems, comesBack }: Ending, later = codes.restart): void {
  const [first] = problems;
  const unknown = isUnknown(problems) ? CloseCode.Unauthorized : CloseCode.Forbidden;
  const reason = Buffer.from(first ? sentenceOfGraph(first) : '');
  const text =
    reason.length <= 123
      ? reason
      : `${reason
          .subarray(0, 119)
          .toString()
          .replace(/\uFFFD$/, '')}…`;
  socket.close(comesBack ? later : unknown, text);
}

/** Begins a subscription, or returns the errors for which it is refused. */
async function begin(
  { subscriptions, persisted }: WebSocketParts,
  { follower, socket }: Connected,
  payload: SubscribePayload,
): Promise<Begun | GraphQLError[]> {
  let context: Context | undefined;
  try {
    context = await follower!.context();
    const { charge } = context.budget;
    await charge?.take(weights.request);
    charge?.count(weights.request);
    // The library demands a text of clients that send a hash.
    const asked = follower!.asking(context, { ...payload, query: payload.query || undefined });
    refuseMisshapen(asked, namesDocument, { subscriptions: true });
    const { body } = persisted.resolved(asked) ?? {};
    if (!body) return [errorOf(documentNotFound(asked.id))];
    const open = await subscriptions.open(follower!, context, body as SubscribePayload, {
      destroy: () => socket.terminate(),
    });
    if (open) return { open, socket };
    const text = 'Only subscriptions are answered over a WebSocket. Send queries and mutations by POST.';
    return [errorOf({ message: text, extensions: { code: 'OPERATION_NOT_SUPPORTED', requestId: asked.id } })];
  } catch (error) {
    if (error instanceof SubscriptionRefused) return error.errors.map(errorOf);
    if (error instanceof DomainError)
      return error.problems.map((each) => errorOf(formatted(each, context?.requestId ?? '')));
    throw error;
  } finally {
    context?.budget.charge?.settled(false);
  }
}

const errorOf = ({ message, extensions }: GraphQLFormattedError) =>
  new GraphQLError(message, { extensions: extensions ?? {} });

/**
 * The results of a subscription. One that ends although its client should come back closes the connection, because the
 * message `complete` says that nothing more comes. The library calls `return` when the client ends the subscription; it
 * formats errors, which are formatted here already, so the result is a part of what it is given.
 */
function resultsOf({ open: { stream, results }, socket }: Begun): AsyncGenerator<Wrapped, void, void> {
  async function* sent(): AsyncGenerator<Wrapped, void, void> {
    try {
      for await (const { result } of stream.sent(results)) if (result) yield { extensions: { result } };
      const { ending } = stream;
      if (ending && (ending.comesBack || isUnknown(ending.problems))) closeFor(socket, ending);
    } finally {
      stream.leave();
    }
  }
  const generator = sent();
  const end = generator.return.bind(generator);
  generator.return = (value) => {
    // A generator that waits for an event does not see the call.
    stream.leave();
    return end(value);
  };
  return generator;
}
