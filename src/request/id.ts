import { randomFillSync } from 'node:crypto';

const timeLength = 6;
const randomLength = 6;
/** Random bytes for many ids at a time: one call for them costs more than all other work for an id. */
const pool = Buffer.allocUnsafe(randomLength * 512);
let next = pool.length;
let [formattedAt, timeText] = [0, ''];

/**
 * A new request id. It is in the header Request-Id, in the log line, in the event, in GraphQL's extensions and in the
 * request log of the account. It begins with the time in milliseconds, so that the ids of a second have the order of
 * the requests. It is no secret.
 */
export function newRequestId(): string {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  next += randomLength;
  const now = Date.now();
  if (now !== formattedAt) [formattedAt, timeText] = [now, now.toString(16).padStart(timeLength * 2, '0')];
  return `req_${timeText}${pool.toString('hex', next - randomLength, next)}`;
}
