import { randomFillSync } from 'node:crypto';

const length = 12;
/** Random bytes for many ids at a time: one call for them costs more than all other work for an id. */
const pool = Buffer.allocUnsafe(length * 256);
let next = pool.length;

/** A new request id. It is in the header Request-Id, in the log line, in the event and in GraphQL's extensions. */
export function newRequestId(): string {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  next += length;
  return `req_${pool.toString('hex', next - length, next)}`;
}
