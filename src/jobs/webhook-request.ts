import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { Webhook } from 'standardwebhooks';
import type { WebhookAttemptObject } from '../resources/webhook-delivery/table.js';

const bodyBytesMax = 262_144;
const attemptMilliseconds = 15_000;
/** How much of the body of a response is kept. */
const responseCharactersMax = 1_024;
/** A longer body is not read: the connection is closed. */
const responseBytesMax = 65_536;
const retryAfterSecondsMax = 3_600;

/** An event as it is sent to an endpoint. */
export interface Message {
  id: string;
  body: string;
  url: string;
  /** The secrets that sign it, as receivers have them. */
  secrets: readonly string[];
  /** The time of the attempt, in seconds since 1970, by the clock of the database. */
  at: number;
}

/** What an attempt has led to. */
export interface Attempted {
  attempt: WebhookAttemptObject;
  /** The seconds for which the response asks to wait. */
  retryAfter: number | null;
  /** Whether no further attempt makes sense. */
  final: boolean;
  /** Whether the service could not sign, and so did not send. */
  unsigned?: true;
}

/**
 * Sends events by POST, signed as Standard Webhooks describe. It connects to public addresses alone: the agent checks
 * the address that each connection uses, after the name was resolved. No redirect is followed.
 */
export class WebhookRequests {
  readonly #agents: { http: http.Agent; https: https.Agent };

  constructor({
    local,
    ca,
    milliseconds = attemptMilliseconds,
    lookup,
  }: {
    /** Whether the addresses of this machine are allowed, too. */
    local: boolean;
    /** A certificate authority to trust in place of the usual ones. */
    ca?: string;
    /** The time limit of an attempt. */
    milliseconds?: number;
    /** How names are resolved; by default as the system does. */
    lookup?: LookupFunction;
  }) {
    const options = {
      keepAlive: true,
      timeout: milliseconds * 2,
      allowIPAddressList: local ? ['127.0.0.1', '::1'] : [],
      ...(ca && { ca }),
      ...(lookup && { lookup }),
    };
    this.#agents = { http: new RequestFilteringHttpAgent(options), https: new RequestFilteringHttpsAgent(options) };
    this.#milliseconds = milliseconds;
  }
  readonly #milliseconds: number;

  /** Makes one attempt. It throws nothing: a failure is part of what it returns. */
  async send(message: Message): Promise<Attempted> {
    const began = performance.now();
    const result = await this.#answerTo(message).catch((error: unknown) => ({ ...nothing, error: faultOf(error) }));
    const { status, error, response, retryAfter } = result;
    return {
      attempt: {
        at: message.at,
        milliseconds: Math.round(performance.now() - began),
        status,
        error,
        response,
      },
      retryAfter,
      final: status === 410,
    };
  }

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  async #answerTo({ id, body, url, secrets, at }: Message) {
    if (Buffer.byteLength(body) > bodyBytesMax) throw new Error(`the event is larger than ${bodyBytesMax} bytes`);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'Tidegate-Webhooks',
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, new Date(at * 1000), body)).join(' '),
    };
    const [send, agent] = url.startsWith('https:')
      ? [https.request, this.#agents.https]
      : [http.request, this.#agents.http];
    const signal = AbortSignal.timeout(this.#milliseconds);
    const options = { method: 'POST', headers, agent, signal, maxHeaderSize: 16_384 };
    const answer = await answered(() => send(url, options), body);
    const status = answer.statusCode!;
    const response = await beginningOf(answer).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error;
    });
    const error = status >= 200 && status < 300 ? null : `the response has status ${status}`;
    return { status, error, response, retryAfter: retryAfterOf(answer.headers['retry-after'], at) };
  }
}

/**
 * The response to a request. A receiver may close a connection that was kept since an earlier event without reading
 * from it; the event is then sent by another connection, because nothing is wrong with the receiver. Once a response
 * has begun, the event has arrived, and is not sent again.
 */
function answered(begin: () => ClientRequest, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = begin();
    let begun = false;
    let before = 0;
    // A receiver could go on for ever with answers that announce another one (1xx).
    request.on('information', () => {
      if (++before <= announcementsMax) return;
      // The event has arrived, and is not sent again.
      begun = true;
      reject(new Error(`the response does not come after ${announcementsMax} announcements (1xx)`));
      request.destroy();
    });
    request.on('response', (answer) => {
      begun = true;
      resolve(answer);
    });
    request.on('error', (error: Error & { code?: string }) => {
      if (!begun && request.reusedSocket && closedCodes.has(error.code)) resolve(answered(begin, body));
      else reject(error);
    });
    request.on('upgrade', (_, socket) => {
      socket.destroy();
      reject(new Error('the response changes the protocol'));
    });
    // No turn may wait for a request that is over, whatever it ended with.
    request.on('close', () => reject(new Error('the connection was closed')));
    request.end(body);
  });
}

/** The most answers that may announce the response: a server sends one or two, such as 103 with links to load. */
const announcementsMax = 8;
const closedCodes = new Set<string | undefined>(['ECONNRESET', 'EPIPE']);

const nothing = { status: null, response: null, retryAfter: null };

/** The beginning of the body of a response. A body that is short is read to its end, so that the connection stays. */
async function beginningOf(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    if (bytes < responseCharactersMax * 4) pieces.push(piece);
    bytes += piece.length;
    if (bytes > responseBytesMax) break;
  }
  // PostgreSQL stores neither NUL nor half of a character.
  const characters = [...Buffer.concat(pieces).toString('utf8').replaceAll('\0', '')];
  return characters.slice(0, responseCharactersMax).join('');
}

/** The seconds of a Retry-After header, an hour at most; null without one. */
function retryAfterOf(header: string | undefined, at: number): number | null {
  if (header === undefined) return null;
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : Math.ceil(Date.parse(header) / 1000 - at);
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), retryAfterSecondsMax);
}

/** Why there was no response, in words that reveal nothing about the network of the gateway. */
function faultOf(error: unknown): string {
  const { name, code = '', message } = error as Error & { code?: string };
  if (name === 'AbortError' || name === 'TimeoutError') return 'no complete response in time';
  if (/is not allowed/.test(message)) return 'the host has an address that is not public';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the host name has no address';
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  if (closedCodes.has(code)) return 'the connection was closed';
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code)) return `the certificate or TLS was not accepted (${code})`;
  if (code.startsWith('HPE_')) return 'the response is not HTTP';
  if (!code) return message;
  return `the connection failed (${code})`;
}
