import { DomainError, problem } from '../errors/problems.js';

/** The key of the header: Bearer, or the username of HTTP Basic with an empty password. Spec: Authentication 2, 3. */
export function secretOf(authorization: string | undefined): string {
  if (authorization === undefined || authorization.trim() === '')
    throw new DomainError(problem('authentication_required'));
  const [, scheme = '', credentials = ''] = /^(\S+)\s+(\S+)\s*$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return credentials;
  if (scheme.toLowerCase() === 'basic') {
    const [username = '', ...password] = Buffer.from(credentials, 'base64').toString('utf8').split(':');
    // A browser may keep credentials of Basic and send them of its own accord.
    if (username.startsWith('ses_')) throw invalid('Send a session token as Authorization: Bearer <token>.');
    if (password.join(':') === '') return username;
  }
  throw invalid();
}

/** The refusal of a key. */
export function invalid(message?: string): DomainError {
  return new DomainError(problem('api_key_invalid', undefined, message));
}
