import postgres from 'postgres';

export type Connection = postgres.Options<Record<string, never>>;

/** One connection that works through every pooler: no statement is prepared by name. */
export function single(connection: Connection, name: string, session: Record<string, unknown> = {}): postgres.Sql {
  return postgres({
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
