import type { AnyVariables, Client, TypedDocumentNode } from 'urql';
import type { Done } from './write';

export interface Connection<Row> {
  nodes: readonly Row[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/** A row of a list in an answer. */
export type RowOf<List> = NonNullable<List> extends { nodes: readonly (infer Row)[] } ? Row : never;

/** How many rows a page of a complete list has: the most that the gateway gives at once. */
const rowsOfPage = 100;

/**
 * The pages of a list, one after the other, newest first, from the start or from `after`. The query has the variables
 * `$first` and `$after`. Throws the error of the first page that fails.
 */
export async function* pagesOf<Data, Variables extends AnyVariables, Row>(
  client: Client,
  query: TypedDocumentNode<Data, Variables & { first: number; after?: string | null }>,
  variables: Variables,
  connectionOf: (data: Done<Data>) => Connection<Row>,
  start: string | null = null,
): AsyncGenerator<Connection<Row>> {
  let after = start;
  do {
    const page = { ...variables, first: rowsOfPage, after };
    const { data, error } = await client.query(query, page, { requestPolicy: 'network-only' }).toPromise();
    if (error) throw error;
    const connection = connectionOf(data as Done<Data>);
    yield connection;
    after = connection.pageInfo.hasNextPage ? connection.pageInfo.endCursor : null;
  } while (after !== null);
}
