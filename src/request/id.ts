import { randomFillSync } from 'node:crypto';

const timeLength = 12;
const randomLength = 12;
/** Random numbers for many ids at a time: one call for them costs more than all other work for an id. */
const pool = new Uint32Array(1_024);
let next = pool.length;
let [formattedAt, timeText, last] = [0, '', 0];

/**
 * A new request id. It is in the header Request-Id, in the log line, in the event, in GraphQL's extensions and in the
 * request log of the account. It begins with the time in milliseconds, and the random number behind it grows within a
 * millisecond, so that the ids of one process have the order of the requests. It is no secret.
 */
export function newRequestId(): string {
  const now = Date.now();
  if (now !== formattedAt) {
    [formattedAt, timeText] = [now, now.toString(16).padStart(timeLength, '0')];
    // Of 48 bits, the highest is free for what the requests of the same millisecond add.
    last = random() * 2 ** 15 + (random() >>> 17);
  } else last += 1 + random();
  return `req_${timeText}${last.toString(16).padStart(randomLength, '0')}`;
}

/** A random number of 32 bits. */
function random(): number {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  return pool[next++]!;
}
