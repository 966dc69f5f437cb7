import postgres from 'postgres';

/** An open connection. */
export type Client = postgres.Sql;

export type Connection = postgres.Options<Record<string, never>>;

/**
 * A client of the driver, with complete results. When a statement fails after PostgreSQL sent some of its rows, the
 * driver leaves that many empty places before the rows of the next statement on this connection (its issues 1119 and
 * 1181): that statement would seem to have found nothing. This client removes them. Statements inside `begin` are the
 * driver's own; there, a failure ends the transaction.
 */
export function openClient(options: Connection): postgres.Sql {
  const client = postgres(options);
  const unsafe: typeof client.unsafe = (...given) => withCompleteResult(client.unsafe(...given));
  return new Proxy(client, {
    apply: (_, self, given) => withCompleteResult(Reflect.apply(client, self, given)),
    get: (_, name) => (name === 'unsafe' ? unsafe : Reflect.get(client, name)),
  });
}

/** The driver settles a query by its `resolve`, which its types do not declare. */
function withCompleteResult<Q>(query: Q): Q {
  const settled = query as { resolve?: (rows: unknown) => void };
  // A helper of the driver, such as a list of values, is no query.
  const { resolve } = settled;
  if (resolve) settled.resolve = (rows) => resolve(Array.isArray(rows) ? removeEmptyPlaces(rows) : rows);
  return query;
}

function removeEmptyPlaces(rows: unknown[]): unknown[] {
  let empty = 0;
  while (empty < rows.length && !(empty in rows)) empty++;
  if (empty > 0) rows.splice(0, empty);
  return rows;
}

/** One connection that works through every pooler: no statement is prepared by name. */
export function single(connection: Connection, name: string, session: Record<string, unknown> = {}): postgres.Sql {
  return openClient({
    ...connection,
    connection: { ...connection.connection, ...session, application_name: name },
    max: 1,
    prepare: false,
    fetch_types: false,
    connect_timeout: 2,
    onnotice: () => {},
    // The driver's types ask for the types of columns, which this connection does not have.
  } as never);
}
