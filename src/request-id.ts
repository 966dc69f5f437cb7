import { randomBytes } from 'node:crypto';

/** A new request id. It is in the header Request-Id, in the log line, in the event and in GraphQL's extensions. */
export const newRequestId = (): string => `req_${randomBytes(12).toString('hex')}`;
