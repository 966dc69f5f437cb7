import { useRef, useState } from 'react';
import { type AnyVariables, type CombinedError, createRequest, type TypedDocumentNode, useClient } from 'urql';
import { refusalWords, required } from '../format/refusals';

/** What went wrong with a request, in words for people. */
export interface Failure {
  messages: string[];
  /** The messages of single inputs, by the path of the input: `invoice.amount`. */
  fields: Record<string, string>;
  /** The codes of those messages, as /v1 writes them. */
  codes?: Record<string, string>;
  /** The gateway's own sentences, where others are said in their place. */
  details?: string[];
  requestId?: string | undefined;
}

/**
 * The answer to a request of which nothing was refused. Its fields are nullable because each can be refused alone, and
 * then the request has an error. The objects in it are nullable for mutations to come, which may answer without them.
 */
export type Done<Data> = { [Field in keyof Data]: WithObjects<NonNullable<Data[Field]>> };
type WithObjects<Payload> = {
  [Member in keyof Payload]: NonNullable<Payload[Member]> extends object
    ? NonNullable<Payload[Member]>
    : Payload[Member];
};

/** Reads the failure of a request. Messages that name an input are sorted to it, and the others are for the form. */
export function failureOf(error: CombinedError): Failure {
  const [messages, details]: [string[], Set<string>] = [[], new Set()];
  const failure: Failure = { messages, fields: {}, codes: {} };
  for (const { message, extensions } of error.graphQLErrors) {
    failure.requestId ??= extensions.requestId as string | undefined;
    const path = (extensions.argumentPath as (string | number)[] | undefined)?.filter((part) => part !== 'input');
    const field = path?.join('.');
    const { code } = (extensions.error ?? {}) as { code?: string };
    const words = refusalWords(code, message);
    // A form says with its figure how much an amount exceeds.
    const isFigure = code?.startsWith('amount_exceeds_');
    if (words !== required && (isFigure || words.toLowerCase() !== message.toLowerCase())) details.add(message);
    if (!field) messages.push(words);
    else if (!(field in failure.fields)) {
      failure.fields[field] = words;
      failure.codes![field] = code ?? '';
    }
  }
  if (error.networkError) messages.push('The gateway could not be reached. Check the connection and try again.');
  return details.size > 0 ? { ...failure, details: [...details] } : failure;
}

/**
 * Sends a mutation. Until one has succeeded, the next try has the same idempotency key, so nothing is done twice: an
 * error may say nothing of the outcome, and a refused request leaves no record of its key. `apiKey` takes the place of
 * the session, for what no session may do; it is sent with this request and not kept.
 */
export function useWrite<Data, Variables extends AnyVariables>(mutation: TypedDocumentNode<Data, Variables>) {
  const client = useClient();
  const [state, setState] = useState<{ pending: boolean; failure?: Failure | undefined }>({ pending: false });
  const attempt = useRef<{ content: string; key: string } | null>(null);

  const write = async (variables: Variables, apiKey?: string): Promise<Done<Data> | undefined> => {
    const content = JSON.stringify(variables);
    if (attempt.current?.content !== content) attempt.current = { content, key: crypto.randomUUID() };
    // The options of one request replace those of the client, so they begin with the client's headers.
    const { fetchOptions } = client.createRequestOperation('mutation', createRequest(mutation, variables)).context;
    const usual = typeof fetchOptions === 'function' ? fetchOptions() : fetchOptions;
    const headers: Record<string, string> = {
      ...(usual?.headers as Record<string, string>),
      'idempotency-key': attempt.current.key,
    };
    if (apiKey) headers.authorization = `Bearer ${apiKey}`;
    setState({ pending: true });
    const { data, error } = await client.mutation(mutation, variables, { fetchOptions: { headers } }).toPromise();
    if (!error) attempt.current = null;
    setState({ pending: false, failure: error && failureOf(error) });
    return error ? undefined : (data as Done<Data>);
  };
  return { ...state, write, reset: () => setState({ pending: false }) };
}
