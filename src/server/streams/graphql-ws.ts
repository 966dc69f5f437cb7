import type { WebSocket } from '@fastify/websocket';
import type { FastifyRequest } from 'fastify';
import { type FormattedExecutionResult, GraphQLError, type GraphQLFormattedError, parse } from 'graphql';
import { CloseCode, makeServer, type Server, type SubscribePayload } from 'graphql-ws';
import { formatted } from '../../api/graphql/errors.js';
import { SubscriptionRefused, type SubscriptionResult } from '../../api/graphql/subscription.js';
import type { Context } from '../../operation/context.js';
import type { Caller } from '../../request/caller.js';
import { catalogue } from '../../errors/catalogue.js';
import { DomainError, retryAfter, sentenceOfGraph } from '../../errors/problems.js';
import { weights } from '../../types/weights.js';
import { refuseMisshapen } from '../graphql/request.js';
import { documentNotFound, namesDocument, type PersistedDocuments } from '../graphql/persisted-documents.js';
import type { Follower } from './follower.js';
import { credentialsOf, refuseUnlikeHeaders } from './connection-params.js';
import { Inbox, spaced } from './inbox.js';
import { pinged } from './pings.js';
import type { Ending, Stream } from './streams.js';
import type { OpenSubscription, Subscriptions } from './subscriptions.js';

const initMilliseconds = 5_000;
/** How many connections may be without a key at one time. */
const unidentifiedMax = 200;
/** Clients of the protocol connect again after these codes. */
const codes = { restart: 1012, tryLater: 1013 };

/** What is known of a connection. */
interface Connected {
  socket: WebSocket;
  request: FastifyRequest;
  /** Closes the connection, and ends all that goes on for it. */
  close: (code: number, reason: string) => void;
  /** Set when the client has said who it is. */
  known?: Known;
  /** Called when the work of a message is done but for the sending, for which a client may take long. */
  done?: () => void;
}

/** The caller of a connection. */
interface Known {
  follower: Follower;
  caller: Caller;
  /** The connection itself, which ends with its key. */
  stream: Stream;
  /** For how many milliseconds the next message has to wait, because this one was refused. */
  wait: number;
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
  const unidentified = new Set<Connected>();
  const next = spaced();
  const server = makeServer<Record<string, unknown>, Connected>({
    connectionInitWaitTimeout: initMilliseconds,
    onConnect: async ({ extra, connectionParams }) => {
      const known = await connect(parts, extra, connectionParams ?? {});
      unidentified.delete(extra);
      return known;
    },
    onPing: ({ extra }) => extra.done?.(),
    onSubscribe: async ({ extra }, _, payload) => {
      const begun = await begin(parts, extra, payload).finally(extra.done);
      // The library reads no more of the document than that it is a subscription.
      return Array.isArray(begun) ? begun : { schema: undefined as never, document, contextValue: begun };
    },
    subscribe: ({ contextValue }) => resultsOf(contextValue as Begun),
    onNext: (_, __, ___, ____, { extensions }) => extensions!.result as FormattedExecutionResult,
    onError: (_, __, ___, errors) => errors.map(({ message, extensions }) => ({ message, extensions })),
  });
  return (socket, request) => {
    const connected = accept(server, socket, request, { onFault: parts.onFault, next });
    unidentified.add(connected);
    socket.once('close', () => unidentified.delete(connected));
    // The one that has waited longest: a client sends its key as soon as it is connected.
    if (unidentified.size > unidentifiedMax) {
      const [first] = unidentified;
      unidentified.delete(first!);
      first!.socket.terminate();
    }
  };
}

const document = parse('subscription { events { id } }');

type Wrapped = { extensions: { result: SubscriptionResult } };

/** A subscription that runs over a socket. */
interface Begun {
  open: OpenSubscription;
  connected: Connected;
}

/** Connects the library with a socket. */
function accept(
  server: Server<Connected>,
  socket: WebSocket,
  request: FastifyRequest,
  { onFault, next }: Pick<WebSocketParts, 'onFault'> & { next: () => Promise<void> },
): Connected {
  const close = (code: number, reason: string) => {
    socket.close(code, reason);
    end(code, reason);
  };
  const connected: Connected = { socket, request, close };
  let receive: (text: string) => Promise<void>;
  // A message that the library cannot work on ends the connection.
  const received = (message: Buffer) =>
    receive(String(message)).catch((error: unknown) => {
      // The library repeats the payload of a ping, which may be nested too deeply.
      if (error instanceof RangeError) return close(CloseCode.BadRequest, 'Invalid message received');
      onFault(error, request.id);
      close(CloseCode.InternalServerError, 'Internal server error');
    });
  const inbox = new Inbox(
    socket,
    (message) => worked(connected, next, () => received(message)),
    () => close(codes.tryLater, 'Too many messages wait for their turns. Send them more slowly.'),
  );
  const stopPings = pinged(socket);
  let closed: ReturnType<typeof server.opened> | undefined;
  const end = (code: number, reason: string) => {
    stopPings();
    inbox.close();
    connected.known?.stream.leave();
    void closed?.(code, reason);
  };
  // The library closes a connection of another protocol at once.
  closed = server.opened(
    {
      protocol: socket.protocol,
      send: (data) => new Promise((resolve) => socket.send(data, () => resolve())),
      close,
      onMessage: (given) => (receive = given),
    },
    connected,
  );
  socket.on('message', (data: Buffer) => inbox.add(data));
  socket.once('close', (code, reason) => end(code, String(reason)));
  return connected;
}

/**
 * Does the work of a message of a connection: in a turn of the caller once it is known, without the sending of
 * answers and results. Who sends the next message after a refusal for too many requests has to wait.
 */
async function worked(connected: Connected, next: () => Promise<void>, receive: () => Promise<void>): Promise<void> {
  const { known } = connected;
  if (!known) return receive();
  const { follower, stream, caller } = known;
  await follower.message(stream, caller, async () => {
    await next();
    // The client may have left meanwhile.
    if (stream.ending) return;
    const done = new Promise<void>((resume) => {
      connected.done = resume;
    });
    await Promise.race([receive(), done]);
  });
  if (known.wait > 0) await stream.pause(known.wait);
  known.wait = 0;
}

/** Identifies the caller of a connection, or closes the connection. */
async function connect(
  { subscriptions }: WebSocketParts,
  connected: Connected,
  params: Record<string, unknown>,
): Promise<boolean> {
  const { socket, request, close } = connected;
  const sent = credentialsOf(params);
  const headers = {
    ...request.headers,
    ...Object.fromEntries(sent.map(([name, value]) => [name.toLowerCase(), value])),
  };
  const follower = subscriptions.follower(Object.create(request, { headers: { value: headers } }) as FastifyRequest);
  try {
    refuseUnlikeHeaders(sent);
    const { caller } = await follower.context();
    const stream = follower.enter(caller, { identify: follower.identify, destroy: () => socket.terminate() });
    stream.onEnd = (ending) => closeFor(close, ending);
    connected.known = { follower, stream, caller, wait: 0 };
    // The client may have left meanwhile.
    if (socket.readyState !== socket.OPEN) stream.leave();
    return true;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const comesBack = error.status === 429 || retryAfter(error.problems) !== undefined;
    closeFor(close, { problems: error.problems, comesBack }, codes.tryLater);
    return false;
  }
}

/** Whether the key is not valid any more, so that nothing on the connection can go on. */
const isUnknown = ([first]: Ending['problems']) => first !== undefined && catalogue[first.code][0] === 401;

/** Closes a connection with the reason, which may have 123 bytes. */
function closeFor(close: Connected['close'], { problems, comesBack }: Ending, later = codes.restart): void {
  const [first] = problems;
  const unknown = isUnknown(problems) ? CloseCode.Unauthorized : CloseCode.Forbidden;
  const reason = Buffer.from(first ? sentenceOfGraph(first) : '');
  const text =
    reason.length <= 123
      ? reason.toString()
      : `${reason
          .subarray(0, 119)
          .toString()
          .replace(/\uFFFD$/, '')}…`;
  close(comesBack ? later : unknown, text);
}

/** Begins a subscription, or returns the errors for which it is refused. */
async function begin(
  parts: WebSocketParts,
  connected: Connected,
  payload: SubscribePayload,
): Promise<Begun | GraphQLError[]> {
  const known = connected.known!;
  const { follower, stream } = known;
  let context: Context | undefined;
  try {
    context = await follower.context();
    const { budget } = context;
    const open = () => opened(parts, connected, context!, payload);
    return await follower.timed(budget, () => stream.whileOpen(budget, open));
  } catch (error) {
    if (!(error instanceof SubscriptionRefused || error instanceof DomainError)) throw error;
    if (!stream.ending && (error.status === 429 || error.status === 503)) known.wait = follower.refused(known.caller);
    if (error instanceof SubscriptionRefused) return error.errors.map(errorOf);
    return error.problems.map((each) => errorOf(formatted(each, context?.requestId ?? '')));
  } finally {
    context?.budget.charge?.finish(false);
  }
}

async function opened(
  { subscriptions, persisted }: WebSocketParts,
  connected: Connected,
  context: Context,
  payload: SubscribePayload,
): Promise<Begun | GraphQLError[]> {
  const { follower } = connected.known!;
  const { charge } = context.budget;
  await charge?.take(weights.request);
  charge?.count(weights.request);
  follower.refuseMore(context.caller);
  // The library demands a text of clients that send a hash.
  const asked = follower.asking(context, { ...payload, query: payload.query || undefined });
  refuseMisshapen(asked, namesDocument, { subscriptions: true });
  const { body } = persisted.resolved(asked) ?? {};
  if (!body) return [errorOf(documentNotFound(asked.id))];
  const destroy = () => connected.socket.terminate();
  const open = await subscriptions.open(follower, context, body as SubscribePayload, { destroy });
  if (open) return { open, connected };
  const text = 'Only subscriptions are answered over a WebSocket. Send queries and mutations by POST.';
  return [errorOf({ message: text, extensions: { code: 'OPERATION_NOT_SUPPORTED', requestId: asked.id } })];
}

const errorOf = ({ message, extensions }: GraphQLFormattedError) =>
  new GraphQLError(message, { extensions: extensions ?? {} });

/**
 * The results of a subscription. One that ends although its client should come back closes the connection, because the
 * message `complete` says that nothing more comes. The library calls `return` when the client ends the subscription; it
 * formats errors, which are formatted here already, so the result is a part of what it is given.
 */
function resultsOf({ open: { stream, results }, connected }: Begun): AsyncGenerator<Wrapped, void, void> {
  async function* sent(): AsyncGenerator<Wrapped, void, void> {
    try {
      for await (const { result } of stream.sent(results)) if (result) yield { extensions: { result } };
      const { ending } = stream;
      if (ending && (ending.comesBack || isUnknown(ending.problems))) closeFor(connected.close, ending);
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
