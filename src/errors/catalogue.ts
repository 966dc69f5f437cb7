import type { GraphCode } from './graph-codes.js';

/**
 * The catalogue of error codes: each code has one status and one default message, and what the documentation says about
 * it: what it means, and what a client does then. A message says what is wrong and what to do. It never repeats the
 * invalid value.
 * Spec: Errors. Silent: every code but `parameter_invalid_empty`.
 */
export const catalogue = {
  parameter_missing: [
    400,
    'A required parameter is missing. Send it and try again.',
    'The operation needs a parameter that the request does not have, or has as null.',
    'Send the parameter that `metadata.field_name` names. The reference says which parameters an operation ' +
      'requires, and in which edition.',
  ],
  parameter_invalid_empty: [
    400,
    'A required parameter is empty. Retry with a valid value.',
    'A required parameter is an empty text, an empty list or an empty object.',
    'Send a value. To clear an optional member of an object, send null.',
  ],
  parameter_invalid: [
    400,
    'A parameter is not valid. Correct it and try again.',
    'A parameter has a value that its type, its bounds, its edition or another parameter does not allow.',
    'Read the message, which names the rule, and correct the parameter in `metadata.field_name`. An answer ' +
      'names all wrong parameters at once.',
  ],
  parameter_unknown: [
    400,
    'This is not a parameter of this operation. Remove it and try again.',
    'The request has a parameter that the operation does not know. It may be misspelt, or belong to the other edition.',
    'Remove the parameter, or compare its name with the reference.',
  ],
  body_invalid: [
    400,
    'The request body cannot be read. Send well-formed JSON, as Content-Type: application/json.',
    'The body is no JSON object in UTF-8, has a key twice, or comes with ' +
      'another content type than the operation takes.',
    'Send one well-formed JSON object with `Content-Type: ' +
      'application/json`; files are uploaded as `multipart/form-data`.',
  ],
  body_too_large: [
    400,
    'The request body is too large. Send less at once.',
    'The body has more bytes than `BODY_BYTES_MAX` allows, or an upload has more than 10 MB.',
    'Send fewer objects or shorter texts in one request.',
  ],
  request_too_expensive: [
    400,
    'The request costs more than the allowance can hold. Ask for less at once.',
    'The points that the request could cost are more than the allowance can ever hold, so waiting does not help.',
    'Ask for fewer objects: a smaller page, or fewer lists below lists.',
  ],
  answer_too_large: [
    400,
    'The answer is too large. Ask for fewer objects or fields at once.',
    'The answer would have more bytes than `ANSWER_BYTES_MAX` allows.',
    'Ask for a smaller page, or for fewer fields.',
  ],
  document_not_trusted: [
    400,
    'This gateway answers only the documents of its manifest ' +
      '(TRUSTED_DOCUMENTS=only). Ask its operator to add this one.',
    'The gateway runs with `TRUSTED_DOCUMENTS=only`, and the GraphQL document is not in its manifest.',
    'Send the hash of a document of the manifest, or ask the operator to add the document.',
  ],
  persisted_query_not_supported: [
    400,
    'Persisted queries are not supported here. Send the document itself as `query`.',
    'A hash of a document was sent to an endpoint that keeps no documents.',
    'Send the document itself as `query`.',
  ],
  idempotency_key_reused: [
    400,
    'This Idempotency-Key was used for another request. Use a new key for a new request.',
    'The `Idempotency-Key` belongs to an earlier request with other parameters or to another operation. The ' +
      'metadata names the parameters that differ.',
    'Use a new key for a new request, and the same key for repetitions of the same request only.',
  ],
  idempotency_key_ambiguous: [
    400,
    'An Idempotency-Key is for one mutation. Send one mutation field per operation.',
    'A GraphQL operation has several mutation fields and one `Idempotency-Key`, which could belong to any of them.',
    'Send one mutation field per operation.',
  ],
  account_requirements_missing: [
    400,
    'The account does not meet a requirement for activation. Update it and activate again.',
    'The account cannot be activated yet. The answer has an entry for each requirement that is missing, with ' +
      'alternatives where one of several is enough.',
    'Update the account with what the entries name, and activate it again. ' +
      '`Account.requirements` lists the same without an attempt.',
  ],
  account_not_updatable: [
    400,
    'Only a connected user in status draft can be updated.',
    'Only a connected user in status `draft` can be updated.',
    'Read the account to see its type and its status.',
  ],
  account_type_invalid: [
    400,
    'The operation is not possible for an account of this type. Use another account.',
    'An account of this type cannot have or do this, such as a partner with a payout.',
    'Use an account of the type that the message names.',
  ],
  status_invalid: [
    400,
    'The status of the object does not allow this operation. Read the object to see its status.',
    'The status of the object does not allow the operation, such as the payment of a cancelled checkout.',
    'Read the object to see its status. The same request is refused until the status changes.',
  ],
  authentication_required: [
    401,
    'Send an API key, as Authorization: Bearer <key> or as the username of HTTP Basic.',
    'The request has no API key and no token of a session.',
    'Send the key as `Authorization: Bearer sk_…`, or as the username of HTTP Basic with an empty password.',
  ],
  api_key_invalid: [
    401,
    'The API key is not valid. Check it, or create a new one.',
    'The key or token is unknown, mistyped, expired or revoked.',
    'Compare it with the key that you were given; make a new one when it was revoked. For a session, make the ' +
      'next one on your server. Do not retry with the same key.',
  ],
  balance_insufficient: [
    402,
    'The available funds are insufficient. Try again when more funds are available.',
    'The available funds of the account are less than the amount.',
    'Wait until pending funds are available, or send a smaller amount. The balance shows both.',
  ],
  amount_exceeds_reconcilable: [
    402,
    'The amount is more than can be reconciled. Send a smaller amount.',
    'The deposit has less money left than the amount that was to count towards receivables.',
    'Send a smaller amount, or choose another deposit.',
  ],
  amount_exceeds_deposit: [
    402,
    'The amount is more than the undisputed part of the deposit. Send a smaller amount.',
    'The amount of a dispute is more than the part of the deposit that is not disputed yet.',
    'Send a smaller amount.',
  ],
  address_unusable: [
    402,
    'The account has no usable receiving address. Activate the account, wait until its `address` is ' +
      '`activated`, or send another address.',
    'The account that was to receive has no address that is active and fits the payment.',
    'Activate the account, and wait until its `address` is `activated`, which comes a little later than its ' +
      '`status`; or create an address, or name another one.',
  ],
  acquirer_unavailable: [
    402,
    'No acquirer is configured for payments in live mode, so this checkout could not be paid. Ask the operator ' +
      'of the service to configure one, or use a test key.',
    'No acquirer is configured for live mode, so that the checkout could not be paid.',
    'Ask the operator of the gateway to connect an acquirer, or use a test key.',
  ],
  permission_denied: [
    403,
    'The API key lacks permission for this operation. Use a key that has it.',
    'The key or session may not call the operation: because of its permission, its role, the kind of its ' +
      'account or its mode, or the origin of the page.',
    'Use a key that has the permission. A platform acts for its user with the header `On-Behalf-Of`.',
  ],
  https_required: [
    403,
    'Plain HTTP is not accepted. Use HTTPS.',
    'The request came over plain HTTP, and keys travel over HTTPS only.',
    'Use the `https://` address, and replace the key: it has travelled in the clear.',
  ],
  resource_missing: [
    404,
    'There is no such object, or this API key may not see it. Check the id and the key.',
    'No object that the caller can see has this id. An object of another account or of the other mode is ' +
      'answered in the same way.',
    'Check the id, the mode of the key, and the account in `On-Behalf-Of`.',
  ],
  route_missing: [
    404,
    'There is no such path. Check the address.',
    'There is no such path, or only the other edition has it.',
    'Compare the path with the reference.',
  ],
  method_not_allowed: [
    405,
    'The path does not support this method; see the Allow header.',
    'The path exists, but not with this method.',
    'Use a method of the header `Allow`. Objects are updated by POST.',
  ],
  not_acceptable: [
    406,
    'GraphQL answers are application/json or application/graphql-response+json; accept one of them.',
    'The header `Accept` of a GraphQL request allows no format that the gateway has.',
    'Accept `application/graphql-response+json` or `application/json`.',
  ],
  request_timeout: [
    408,
    'The request did not arrive in time. Send it again completely and without pauses.',
    'The request did not arrive completely within 15 seconds. Nothing was stored.',
    'Send it again, with the same `Idempotency-Key`.',
  ],
  nickname_taken: [
    409,
    'Another account has this nickname. Choose another.',
    'Another account of the platform has this nickname.',
    'Choose another nickname.',
  ],
  seen_before: [
    409,
    'An object like this one exists, or an earlier row of the file has it, so the row was not stored.',
    'A row of an import has what an object has that exists: account, customer and reference number of a receivable, ' +
      'or legal name and address of a partner. It stands in the results of imports.',
    'Leave the row out. If it is another object, import its file again with `allow_duplicates`.',
  ],
  state_conflict: [
    409,
    'Another request changed the object meanwhile. Read the object again before you retry.',
    'Another request changed the object between the reading and the writing of this one. Nothing was stored.',
    'Read the object again, decide whether the request still makes sense, and send it again.',
  ],
  idempotency_key_in_use: [
    409,
    'The first request with this Idempotency-Key is still under way. Retry shortly.',
    'The first request with this `Idempotency-Key` is still under way.',
    'Wait for the seconds in `Retry-After`, and send the same request with the same key.',
  ],
  range_not_satisfiable: [
    416,
    'The range begins beyond the content. Content-Range has its length.',
    'The header `Range` of a download begins at or after the end of the content, as when all of it has arrived.',
    'Compare the length in `Content-Range` with what you have. Leave `Range` out to get the whole content.',
  ],
  rate_limit_exceeded: [
    429,
    'You sent too many requests. Retry after the time in Retry-After.',
    'The allowance of the root account in this mode is used up. Nothing ran and nothing was stored.',
    'Wait for the seconds in `Retry-After`. The header `RateLimit` shows what is left after each answer.',
  ],
  streams_exceeded: [
    429,
    'This key has as many streams as it may have. Close one before you open another.',
    'The key or session, or its root account in this mode, has as many open streams of events as it may have.',
    'Close a stream that is not needed, or read several types of events in one stream.',
  ],
  headers_too_large: [
    431,
    'The headers of the request are too large. Send fewer or shorter ones.',
    'The headers have more than 16 KB.',
    'Send fewer or shorter headers, such as fewer cookies.',
  ],
  service_fault: [
    500,
    'The service failed to handle the request. Retry later, and report the request id if the error persists.',
    'The gateway has a fault. Whether the write happened is recorded under its `Idempotency-Key`.',
    'Retry later with the same `Idempotency-Key`, and report the `Request-Id` if the error persists.',
  ],
  service_unavailable: [
    503,
    'The service is busy or restarting. Retry after the time in Retry-After.',
    'The gateway is busy, starting or stopping, or its database does not ' +
      'answer. Nothing was stored unless the answer got lost. When too much waits, `metadata.reason` names the queue ' +
      'that refused, such as `queue_requests` or `queue_writes`.',
    'Wait for the seconds in `Retry-After`, and send the same request with the same `Idempotency-Key`.',
  ],
} as const satisfies Record<string, readonly [status: number, message: string, meaning: string, remedy: string]>;
export type ProblemCode = keyof typeof catalogue;

/** The address of a code in the documentation, which the gateway itself serves. */
export const helpPath = (code: ProblemCode | GraphCode): string => `/docs/errors#${code}`;
