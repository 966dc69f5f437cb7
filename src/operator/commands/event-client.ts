import { setTimeout as sleep } from 'node:timers/promises';
import type { EventV1 } from './trigger/gateway.js';

/** Which events of which gateway are followed, and with which key. */
export interface Followed {
  gateway: string;
  key: string;
  after?: number | undefined;
  types?: string | undefined;
  scope?: string | undefined;
  /** Receives a line about a connection that was lost, or is there again. */
  say: (line: string) => void;
}

/** A gateway that refuses the key or the parameters, so that no other attempt makes sense. */
export class EventStreamError extends Error {}

const pauseMilliseconds = { first: 500, most: 10_000 };
/** A stream sends something every 15 s, so one that is silent for longer is lost. */
const silenceMilliseconds = 40_000;

/**
 * The events of a gateway as they happen, from its stream. After a disconnect it goes on after the last number, with
 * nothing missed or repeated.
 */
export async function* followEvents(followed: Followed): AsyncGenerator<EventV1, void, void> {
  let position = followed.after;
  for (let pause = pauseMilliseconds.first; ; pause = Math.min(pause * 2, pauseMilliseconds.most)) {
    let reason = 'the connection was closed';
    try {
      for await (const { id, event, data } of messagesOf(followed, position)) {
        if (event === 'end') {
          reason = await reasonOf(data);
          break;
        }
        pause = pauseMilliseconds.first;
        if (data !== undefined) yield JSON.parse(data) as EventV1;
        if (id !== undefined) position = Number(id);
      }
    } catch (error) {
      if (error instanceof EventStreamError) throw error;
      const { cause, message } = error as Error & { cause?: { message?: string; code?: string } };
      reason = cause?.code ?? cause?.message ?? message;
    }
    followed.say(`${reason}; the next attempt follows after event ${position ?? 'unknown'}`);
    await sleep(pause * (0.5 + Math.random() / 2));
  }
}

interface Message {
  id?: string;
  event?: string;
  data?: string;
}

/** The messages of one connection. */
async function* messagesOf(followed: Followed, position: number | undefined): AsyncGenerator<Message, void, void> {
  const url = new URL('/v1/events/stream', followed.gateway);
  if (position !== undefined) url.searchParams.set('after', String(position));
  if (followed.types !== undefined) url.searchParams.set('types', followed.types);
  if (followed.scope !== undefined) url.searchParams.set('scope', followed.scope);
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(new Error('the gateway was silent')), silenceMilliseconds);
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${followed.key}`, accept: 'text/event-stream' },
      signal: silent.signal,
    });
    if (!response.ok || !response.body) throw await refusalOf(response);
    let text = '';
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      timer.refresh();
      const messages = (text + piece).split('\n\n');
      text = messages.pop()!;
      for (const message of messages)
        yield Object.fromEntries(message.split('\n').map((line) => line.split(/: ?(.*)/s).slice(0, 2)));
    }
  } finally {
    clearTimeout(timer);
    silent.abort();
  }
}

/** The error of an answer: final, unless the gateway is busy or the allowance is used up. */
async function refusalOf(response: Response): Promise<Error> {
  const reason = await reasonOf(await response.text()).catch((error: unknown) => {
    if (error instanceof EventStreamError && (response.status === 429 || response.status >= 500)) return error.message;
    throw error;
  });
  return new Error(reason);
}

/** Why a stream ended or was refused. Throws where no other attempt makes sense. */
async function reasonOf(text: string | undefined): Promise<string> {
  let body: { http_status_code?: number; errors?: { code: string; message: string }[] };
  try {
    body = JSON.parse(text ?? '{}') as typeof body;
  } catch {
    throw new EventStreamError('The address answers no stream of events. Check --gateway.');
  }
  const reason = body.errors?.map(({ message }) => message).join(' ') ?? 'the stream has ended';
  const status = body.http_status_code ?? 503;
  if (status < 500 && status !== 429) throw new EventStreamError(reason);
  return reason;
}
