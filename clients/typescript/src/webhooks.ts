import type { Event } from './generated/types.js';

/** Why a delivery was not taken. Answer it with 400. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

/** A delivery, and by what it is verified. */
export interface Delivery {
  /** The body exactly as it arrived, before anything has parsed it. */
  body: string | Uint8Array;
  headers: Headers | Record<string, string | readonly string[] | undefined>;
  /** The secret of the endpoint, `whsec_…`, or several of them while you change it. */
  secret: string | readonly string[];
  /** How many seconds the time of the delivery may be away from now: 300 by default. */
  tolerance?: number;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const decoded = (text: string) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/**
 * The event of a delivery, once its signature and time are verified. Standard Webhooks: an HMAC with SHA-256 of the
 * id, the time and the body. Any secret and any signature of the header may agree; each is compared in constant time.
 * With a `query` of the endpoint the body is its result, so name its type: `verifyWebhook<{ data: … }>(…)`.
 */
export async function verifyWebhook<T = Event>({ body, headers, secret, tolerance = 300 }: Delivery): Promise<T> {
  const get = (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    if (typeof value !== 'string' || value === '') throw new WebhookError(`The header ${name} is missing.`);
    return value;
  };
  const [id, timestamp, signatures] = [get('webhook-id'), get('webhook-timestamp'), get('webhook-signature')];
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookError('The header webhook-timestamp is no time.');
  const away = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (away > tolerance) throw new WebhookError(`The time of the delivery is ${Math.round(away)} seconds away.`);
  const content = typeof body === 'string' ? bytesOf(body) : body;
  const head = bytesOf(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + content.length);
  signed.set(head);
  signed.set(content, head.length);
  for (const each of typeof secret === 'string' ? [secret] : secret)
    if (await isSigned(each, signatures, signed)) return JSON.parse(new TextDecoder().decode(content));
  throw new WebhookError('No signature is by this secret.');
}

async function isSigned(secret: string, signatures: string, signed: BufferSource): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const raw = decoded(secret.replace(/^whsec_/, ''));
  const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['verify']);
  for (const signature of signatures.split(' ').slice(0, 16)) {
    const [version, text = ''] = signature.split(',');
    if (version !== 'v1' || !/^[\w+/]{43}=$/.test(text)) continue;
    if (await crypto.subtle.verify(algorithm, key, decoded(text), signed)) return true;
  }
  return false;
}
