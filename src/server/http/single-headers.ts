import { DomainError, type Problem, problem } from '../../errors/problems.js';

/**
 * The headers that a request may have only once, by their names in small letters: those of which the gateway reads one
 * value. Node joins some that are repeated to another value, such as another idempotency key, and of others it keeps
 * the first, where a proxy may have read the last.
 */
const singleHeaders = new Map(
  [
    'Authorization',
    'Content-Encoding',
    'Content-Type',
    'Host',
    'Idempotency-Key',
    'If-Range',
    'Last-Event-ID',
    'On-Behalf-Of',
    'Origin',
    'Range',
    'Sec-Fetch-Site',
    'Tidegate-Consistency',
    'X-Tidegate-Dashboard',
    'X-Tidegate-Operator',
  ].map((name) => [name.toLowerCase(), name]),
);

/** Most other headers are left out by their length, which costs less than their names in small letters. */
const lengths = new Set([...singleHeaders.keys()].map((name) => name.length));

/** Refuses a request that has a header of these twice, even with equal values. Silent: repeated headers. */
export function refuseRepeated({ raw: { rawHeaders } }: { raw: { rawHeaders: readonly string[] } }): void {
  const seen = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const written = rawHeaders[i]!;
    if (!lengths.has(written.length)) continue;
    const name = singleHeaders.get(written.toLowerCase());
    if (name === undefined) continue;
    if (seen.has(name)) throw new DomainError(repeatedHeader(name));
    seen.add(name);
  }
}

/** The problem of a header that a request has twice. */
export const repeatedHeader = (name: string): Problem =>
  problem('parameter_invalid', name, `The header ${name} is repeated. Send it once.`);
