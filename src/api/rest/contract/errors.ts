import type { Operation } from '../../../operation/operation.js';
import { catalogue, type ProblemCode } from '../../../errors/catalogue.js';
import type { Examples } from './examples.js';
import type { Json } from './schemas.js';
import { pascal } from './wording.js';

/** The codes with which any operation may refuse a request. */
const everywhere: readonly ProblemCode[] = [
  ...(['parameter_invalid', 'parameter_invalid_empty', 'parameter_unknown', 'body_invalid'] as const),
  ...(['body_too_large', 'request_too_expensive', 'answer_too_large', 'authentication_required'] as const),
  ...(['api_key_invalid', 'permission_denied', 'https_required', 'resource_missing', 'request_timeout'] as const),
  // An operation of the other edition, and an id that is not well-formed in a path.
  'route_missing',
  ...(['rate_limit_exceeded', 'headers_too_large', 'service_fault', 'service_unavailable'] as const),
];
/** Further codes of every write. */
const ofWrites: readonly ProblemCode[] = [
  ...(['parameter_missing', 'idempotency_key_reused', 'state_conflict', 'idempotency_key_in_use'] as const),
];
/** All codes with which an operation may refuse a request, by status. */
export function refusalsOf({ access, refusals = [] }: Operation): Map<number, ProblemCode[]> {
  const codes = new Set<ProblemCode>([...everywhere, ...(access === 'write' ? ofWrites : []), ...refusals]);
  const byStatus = new Map<number, ProblemCode[]>();
  // In the order of the catalogue, which is that of the statuses.
  for (const code of Object.keys(catalogue) as ProblemCode[]) {
    const [status] = catalogue[code];
    if (codes.has(code)) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

/** The error object. Spec: Error object. */
export const errorSchema: Json = {
  type: 'object',
  description: 'What is wrong with a request: an entry for each problem, at most 100.',
  properties: {
    object: { type: 'string', const: 'error' },
    http_status_code: { type: 'integer', description: 'The status of the response.' },
    errors: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          code: {
            type: 'string',
            enum: Object.keys(catalogue),
            description: 'The kind of the problem, for programs. New codes may be added.',
          },
          message: { type: 'string', description: 'What is wrong and what to do, for people.' },
          metadata: {
            type: 'object',
            properties: {
              field_name: {
                type: 'string',
                description: 'The offending parameter: the object, a dot and the path, such as `account.type`.',
              },
              nearest_url: {
                type: 'string',
                description:
                  'Of a combination of parameters of a list that no index serves: the path and the query of the ' +
                  'nearest list that works, if they have at most 2,000 characters.',
              },
              reason: {
                type: 'string',
                description:
                  'Of a `service_unavailable` because too much waits: the queue that refused, such as ' +
                  '`queue_requests` or `queue_writes`. New ones may be added.',
              },
            },
            additionalProperties: true,
            description: 'The offending parameter and other details.',
          },
        },
        required: ['code', 'message', 'metadata'],
        additionalProperties: false,
      },
    },
  },
  required: ['object', 'http_status_code', 'errors'],
  additionalProperties: false,
};

/** The name of the response for a status with these codes; operations with the same codes share one. */
export function refusalName(status: number, codes: readonly ProblemCode[]): string {
  const written = ofWrites.filter((code) => catalogue[code][0] === status);
  // A read may have one of the codes of writes.
  const writes = written.length > 0 && written.every((code) => codes.includes(code));
  const own = codes.filter((code) => !everywhere.includes(code) && !(writes && written.includes(code)));
  return ['Error', status, writes ? 'OfWrite' : '', ...own.map(pascal)].join('');
}

/** The response of an operation for a status, with the codes that it may have. */
export function refusal(status: number, codes: readonly ProblemCode[], examples: Examples): Json {
  const recorded = codes.filter((code) => examples.errors[code]);
  return {
    description: codes.map((code) => `\`${code}\`: ${catalogue[code][1]}`).join('\n\n'),
    'x-codes': codes,
    headers: {
      'Request-Id': { $ref: '#/components/headers/Request-Id' },
      Link: { $ref: '#/components/headers/HelpLink' },
      ...(status === 401 && { 'WWW-Authenticate': { $ref: '#/components/headers/WWW-Authenticate' } }),
      ...([409, 429, 503].includes(status) && { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }),
      ...(status === 416 && { 'Content-Range': { $ref: '#/components/headers/Content-Range' } }),
      ...(![401, 408, 431].includes(status) && rateHeaders),
    },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        ...(recorded.length > 0 && {
          examples: Object.fromEntries(recorded.map((code) => [code, { value: examples.errors[code] }])),
        }),
      },
    },
  };
}

/** The headers about the allowance, which answers to an identified caller have. */
export const rateHeaders: Json = {
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimit-Policy' },
};
