/**
 * The codes that only GraphQL has, with their status: limits of documents, and faults of a document before any resolver
 * runs. /v1 has no documents, so it has none of them.
 */
export const graphCatalogue = {
  GRAPHQL_PARSE_FAILED: [
    400,
    'The document is no GraphQL, or has more tokens than `GRAPHQL_TOKENS_MAX` allows.',
    'Correct the syntax at the place that `locations` names.',
  ],
  GRAPHQL_VALIDATION_FAILED: [
    400,
    'The document does not fit the schema: an unknown field, a missing argument, a value of another type.',
    'Compare the document with the reference. A generated client finds such errors before it sends anything.',
  ],
  BAD_USER_INPUT: [
    400,
    'A variable has a value that its type does not allow, or is missing.',
    'Correct the variable that the message names.',
  ],
  BAD_REQUEST: [
    400,
    'The request is no GraphQL request, such as one without `query`.',
    'Send a JSON object with `query`, and with `variables` and `operationName` where they are needed.',
  ],
  OPERATION_RESOLUTION_FAILURE: [
    400,
    'The document has several operations, and `operationName` names none of them.',
    'Send the name of the operation that is to run.',
  ],
  OPERATION_NOT_SUPPORTED: [
    400,
    'The document has an operation of a kind that this endpoint does not run.',
    'Send a query or a mutation.',
  ],
  QUERY_TOO_DEEP: [
    400,
    'Fields are nested deeper than `GRAPHQL_DEPTH_MAX` allows.',
    'Ask for the lower objects in a second query, by their ids.',
  ],
  QUERY_TOO_MANY_ALIASES: [
    400,
    'The document has more aliases than `GRAPHQL_ALIASES_MAX` allows.',
    'Use `nodes(ids:)` or a list with a filter in place of one alias per object.',
  ],
  QUERY_TOO_MANY_ROOT_FIELDS: [
    400,
    'The operation has more root fields than `GRAPHQL_ROOT_FIELDS_MAX` allows.',
    'Split the operation.',
  ],
  QUERY_TOO_MANY_DIRECTIVES: [400, 'The document has more than 10 directives.', 'Remove directives.'],
  QUERY_TOO_LARGE: [
    400,
    'The pages of the query multiply to more nodes than `GRAPHQL_NODES_MAX` allows.',
    'Ask for smaller pages, above all of lists below lists.',
  ],
  PERSISTED_QUERY_NOT_FOUND: [
    200,
    "The gateway does not have the document of this hash, as in Apollo's automatic persisted queries.",
    'Send the same request with the document; clients of Apollo do so themselves.',
  ],
} as const satisfies Record<string, readonly [status: number, meaning: string, remedy: string]>;
export type GraphCode = keyof typeof graphCatalogue;
