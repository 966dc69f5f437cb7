import { GraphQLError } from 'graphql';

/**
 * The catalogue of error codes: the one status that each code has, and its sentence.
 * A message says what is wrong and what to do; it never repeats the offending value.
 * Spec: Errors. Silent: every code but `parameter_invalid_empty`.
 */
export const catalogue = {
  parameter_missing: [400, 'A required parameter is missing. Send it and try again.'],
  parameter_invalid_empty: [400, 'A required parameter is empty. Retry with a valid value.'],
  parameter_invalid: [400, 'A parameter is not valid. Correct it and try again.'],
  parameter_unknown: [400, 'This is not a parameter of this operation. Remove it and try again.'],
  body_invalid: [400, 'The request body cannot be read. Send well-formed JSON, as Content-Type: application/json.'],
  body_too_large: [400, 'The request body is too large. Send less at once.'],
  idempotency_key_reused: [400, 'This Idempotency-Key was used for another request. Use a new key for a new request.'],
  idempotency_key_ambiguous: [
    400,
    'An Idempotency-Key stands for one mutation. Send one mutation field per operation.',
  ],
  account_requirements_missing: [
    400,
    'The account lacks something that activation requires. Supply it and activate again.',
  ],
  account_not_updatable: [400, 'Only a connected user in status draft can be updated.'],
  account_type_invalid: [400, 'The operation is not possible for an account of this type.'],
  status_invalid: [400, 'The state of the object does not allow this.'],
  authentication_required: [401, 'Send an API key, as Authorization: Bearer <key> or as the username of HTTP Basic.'],
  api_key_invalid: [401, 'The API key is not valid. Check it, or create a new one.'],
  balance_insufficient: [402, 'The available funds do not suffice.'],
  amount_exceeds_reconcilable: [402, 'The amount is more than can be reconciled.'],
  amount_exceeds_deposit: [402, 'The amount is more than the undisputed rest of the deposit.'],
  address_unusable: [
    402,
    'The account has no usable receiving address. Activate the account, or name another address.',
  ],
  acquirer_unavailable: [
    402,
    'No acquirer is configured that could take the payment in live mode, so nobody could pay this checkout. Ask the operator of the service to configure one, or use a test key.',
  ],
  permission_denied: [403, 'The API key lacks permission for this operation.'],
  https_required: [403, 'Plain HTTP is not accepted. Use HTTPS.'],
  resource_missing: [404, 'There is no such object within the reach of this API key.'],
  route_missing: [404, 'There is no such path.'],
  method_not_allowed: [405, 'The path does not support this method; see the Allow header.'],
  not_acceptable: [
    406,
    'GraphQL answers are application/json or application/graphql-response+json; accept one of them.',
  ],
  nickname_taken: [409, 'Another account has this nickname. Choose another.'],
  state_conflict: [409, 'Another request changed the object meanwhile. Read it again and decide anew.'],
  idempotency_key_in_use: [409, 'The first request with this Idempotency-Key is still under way. Retry shortly.'],
  rate_limit_exceeded: [429, 'Too many requests. Retry after the time in Retry-After.'],
  service_fault: [500, 'Something failed on our side. Retry later, and name the request id if it persists.'],
  service_unavailable: [503, 'The service is busy or restarting. Retry after the time in Retry-After.'],
} as const satisfies Record<string, readonly [status: number, message: string]>;
export type ProblemCode = keyof typeof catalogue;

/** A name of the graph as /v1 spells it. */
export const snake = remembered((name) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`));
/** A name of /v1 as the graph spells it. */
export const camel = remembered((name) => name.replace(/_([a-z0-9])/g, (_, c: string) => c.toUpperCase()));

/** The names of the schema are few and asked for again and again; what clients invent beside them must not pile up. */
function remembered(spell: (name: string) => string): (name: string) => string {
  const [namesMax, lengthMax] = [2_000, 60];
  const known = new Map<string, string>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const spelled = spell(name);
    if (known.size >= namesMax) known.clear();
    if (name.length <= lengthMax) known.set(name, spelled);
    return spelled;
  };
}

/** The page arguments of the graph as /v1 spells them. */
export const listNames: Record<string, string> = {
  first: 'limit',
  last: 'limit',
  after: 'starting_after',
  before: 'ending_before',
};

/** One thing that is wrong. `field` is the object, a dot and the parameter's path as /v1 spells it. */
export interface Problem {
  code: ProblemCode;
  field?: string | undefined;
  /** Where the graph has it, when `field` does not tell: /v1 has one `limit` for `first` and `last`. */
  path?: readonly (string | number)[] | undefined;
  message: string;
  /** More for the error's metadata, such as the alternatives to a missing document. */
  metadata?: Record<string, unknown> | undefined;
}

/** A problem with the catalogue's sentence, or one of its own. */
export function problem(
  code: ProblemCode,
  field?: string,
  message?: string,
  metadata?: Record<string, unknown>,
): Problem {
  return { code, field, message: message ?? catalogue[code][1], metadata };
}

/** Nobody reads more at once, and an answer must not grow many times larger than what was asked. */
export const problemsMax = 100;

/**
 * The one error that we throw on purpose: everything that is wrong in one step, told at once; of very many, the first 100.
 * Its status is that of its first code. Spec: Errors.
 */
export class Refusal extends GraphQLError {
  readonly problems: Problem[];
  constructor(...problems: Problem[]) {
    const first = problems[0] ?? problem('service_fault');
    super(first.message, { extensions: { code: first.code.toUpperCase() } });
    this.problems = problems.slice(0, problemsMax);
  }
  get status(): number {
    return catalogue[this.problems[0]?.code ?? 'service_fault'][0];
  }
}

/** The error object of /v1, key by key. Spec: Error object. */
export function errorV1(problems: Problem[]) {
  return {
    object: 'error',
    http_status_code: catalogue[problems[0]?.code ?? 'service_fault'][0],
    errors: problems.map(itemV1),
  };
}

/** One entry of the error object; the graph carries the same in `extensions.error`. */
export function itemV1({ code, field, message, metadata }: Problem) {
  return { code, message, metadata: { ...(field === undefined ? {} : { field_name: field }), ...metadata } };
}

/** How long a client should wait before it retries, in seconds, for the codes that invite it. */
export function retryAfter(problems: Problem[]): number | undefined {
  const code = problems[0]?.code;
  return code === 'idempotency_key_in_use' || code === 'service_unavailable' || code === 'rate_limit_exceeded'
    ? 1
    : undefined;
}
