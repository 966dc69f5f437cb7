import { DomainError, problem } from '../../errors/problems.js';
import { refuseRepeated } from '../http/single-headers.js';

/** The credentials that a client sends in the payload of `connection_init`, where it cannot set headers. */
export const credentialsOf = (params: Record<string, unknown>): [name: string, value: string][] =>
  Object.entries(params).filter(
    (entry): entry is [string, string] =>
      ['authorization', 'on-behalf-of'].includes(entry[0].toLowerCase()) && typeof entry[1] === 'string',
  );

const lengthMax = 500;

/** Refuses credentials that no headers could be: repeated, too long, or with other characters than printable ASCII. */
export function refuseUnlikeHeaders(credentials: [name: string, value: string][]): void {
  refuseRepeated({ raw: { rawHeaders: credentials.flat() } });
  for (const [name, value] of credentials)
    if (value.length > lengthMax || !/^[\x20-\x7E]*$/.test(value))
      throw new DomainError(
        problem('parameter_invalid', name, `must have at most ${lengthMax} characters, all of them printable ASCII`),
      );
}
