import type { Json } from './schemas.js';

const text = (description: string, more: Json = {}): Json => ({ description, schema: { type: 'string', ...more } });

const responseHeaderSchemas: Record<string, Json> = {
  'Request-Id': text('The id of the request, which is also in the log of the service.'),
  RateLimit: text('What remains of the allowance (`r`), and the seconds until it is full (`t`).'),
  'RateLimit-Policy': text('The most that the allowance holds (`q`), and the seconds in which it fills (`w`).'),
  'Retry-After': { description: 'The seconds after which to retry.', schema: { type: 'integer' } },
  'Idempotent-Replayed': text('Present when the response repeats that of an earlier request.', { const: 'true' }),
  'Tidegate-Consistency': text(
    'Present when replicas answer reads, on responses to writes: send it with later requests, and they find ' +
      'this write on every gateway.',
  ),
  'WWW-Authenticate': text('How to authenticate.'),
  ETag: text('The version of the answer, for `If-None-Match`.'),
  'Content-Range': {
    ...text('The part of the content that the response has, and the length of the whole.'),
    example: 'bytes 0-1048575/4194304',
  },
  Link: text('The address of the payment page.'),
  HelpLink: {
    ...text('The entry of each error code in the documentation, which the gateway serves.'),
    example: '</docs/errors#parameter_missing>; rel="help"',
  },
};

/** The headers of responses, with the recorded examples. `docs/rest.md` explains them. */
export function responseHeaders(recorded: Record<string, string>): Json {
  const entries = Object.entries(responseHeaderSchemas).map(([name, header]) => {
    const example = recorded[name.toLowerCase()];
    const { type } = header.schema as Json;
    return [name, { ...header, ...(example && { example: type === 'integer' ? Number(example) : example }) }];
  });
  return Object.fromEntries(entries) as Json;
}

/** The headers that requests may have. */
export const requestHeaders: Json = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes a retry safe: the same key with the same parameters answers the object of the first request. It ' +
      'is kept for at least 24 hours.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$' },
  },
  OnBehalfOf: {
    name: 'On-Behalf-Of',
    in: 'header',
    required: false,
    description:
      'A platform acts as one of its connected users: lists show what that user sees, and new objects belong to it.',
    schema: { type: 'string', minLength: 1 },
  },
  TidegateConsistency: {
    name: 'Tidegate-Consistency',
    in: 'header',
    required: false,
    description:
      'The last value that a response to a write had: lists and figures then have at least that write. ' +
      '`primary` reads the present.',
    schema: { type: 'string', pattern: '^([A-Za-z0-9_-]{22}|primary)$' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of an earlier answer. If nothing has changed, the response is 304 without a body.',
    schema: { type: 'string' },
  },
};
