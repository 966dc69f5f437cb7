import postgres from 'postgres';
import { type Losses, withSockets } from './socket.js';

/** An open connection. */
export type Client = postgres.Sql;

export type Connection = postgres.Options<Record<string, never>>;

/**
 * A client of the driver, without two of its faults.
 * - Lost statements (its issue 1130): between the error of a socket and its close, the driver still gives statements to
 *   the connection. They never get an answer, or the empty answer of the next connection, and the connection serves no
 *   further statement. So this client holds statements back while a socket of it is lost and not closed yet.
 * - Incomplete results: when a statement fails after PostgreSQL sent some of its rows, the driver leaves that many
 *   empty places before the rows of the next statement on this connection (its issues 1119 and 1181): that statement
 *   would seem to have found nothing. This client removes them.
 *
 * Statements inside `begin` are the driver's own; there, a failure ends the transaction.
 */
export function openClient(options: Connection): postgres.Sql {
  const gate = new Gate();
  const client = postgres(withSockets(options, gate));
  const unsafe: typeof client.unsafe = (...given) => mended(client.unsafe(...given), gate);
  const end: typeof client.end = (...given) => client.end(...given).finally(() => (gate.ended = true));
  const own: Partial<typeof client> = { unsafe, end };
  return new Proxy(client, {
    apply: (_, self, given) => mended(Reflect.apply(client, self, given), gate),
    get: (_, name) => Reflect.get(Object.hasOwn(own, name) ? own : client, name),
  });
}

/** Holds statements back while a connection is lost and not closed yet, which is within one turn of the event loop. */
class Gate implements Losses {
  ended = false;
  #lost = 0;
  #held: (() => void)[] = [];

  lost(): void {
    this.#lost++;
  }

  closed(): void {
    if (--this.#lost > 0) return;
    const held = this.#held;
    this.#held = [];
    for (const pass of held) pass();
  }

  pass(hand: () => void): void {
    if (this.#lost === 0) hand();
    else this.#held.push(hand);
  }
}

/**
 * A query of the driver, which takes its turn by its `handler` and ends by its `resolve`; its types declare none.
 */
function mended<Q>(query: Q, gate: Gate): Q {
  const own = query as { resolve?: (rows: unknown) => void; handler?: (query: Q) => void };
  const { resolve, handler } = own;
  // A helper of the driver, such as a list of values, is no query.
  if (!resolve || !handler) return query;
  // Variables first: V8 allocates a function that is assigned to a member at once among the long-lived objects.
  const end = (rows: unknown) => resolve(Array.isArray(rows) ? removeEmptyPlaces(rows) : rows);
  const hand = (given: Q) => gate.pass(() => handler(given));
  own.resolve = end;
  own.handler = hand;
  return query;
}

/**
 * The rows of a query, moved out of the array with which the driver ended it. The driver assigns functions to members
 * of each query, so V8 allocates them among the long-lived objects, and until its next full collection they keep the
 * query and that array. Rows that stayed there made collections of young objects three times as long:
 * docs/decisions/cheap-requests.md.
 */
export function movedRows<T>(given: T): T {
  if (!Array.isArray(given)) return given;
  // `splice` and a spread take the slow way of a class of arrays: 12 and 3.5 µs for 100 rows, and this 0.6.
  const rows: unknown[] = [];
  for (const row of given) rows.push(row);
  // They are not enumerable in the driver's array either.
  for (const name of ['columns', 'statement']) {
    if (name in given) Object.defineProperty(rows, name, { value: Reflect.get(given, name) });
  }
  given.length = 0;
  return rows as T;
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
