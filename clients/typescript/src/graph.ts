import { errorOf, type Problem, problemsOf, TidegateError } from './error.js';
import type { CallOptions, Transport } from './transport.js';

/** A document with the types of its variables and its result, as gql.tada and GraphQL Code Generator make them. */
export interface TypedDocument<Result, Variables> {
  __apiType?: (variables: Variables) => Result;
}

/** The answer of the graph: a field that was refused is null, with a problem, and the rest is there. */
export interface GraphAnswer<Result> {
  data: Result;
  problems: Problem[];
}

/** Sends a document to the graph. An answer without data is thrown. */
export async function graph<Result>(
  transport: Transport,
  document: string | TypedDocument<Result, never>,
  variables: unknown,
  options: CallOptions | undefined,
): Promise<GraphAnswer<Result>> {
  const body = { query: transport.textOf(document), variables };
  const response = await transport.send('POST', '/graphql', { body, options });
  if (response.status >= 500) throw await errorOf(response);
  const text = await response.text();
  const problems = problemsOf(text);
  const { data } = JSON.parse(text);
  if (!data) throw new TidegateError(response.status, problems, response.headers.get('request-id') ?? undefined);
  return { data, problems };
}
