import { type Listing, type Page, type PageArgs } from '../../types/pagination.js';
import { pageRequest } from '../../types/page-request.js';
import type { ListStatement } from './stream.js';
import { listed, type Row, type Rows, shape, values } from './statement.js';
import { rowsOf } from './view.js';
import { seenBy } from './pages.js';
import { Scope } from '../scope.js';
import { listOf } from '../read/visibility.js';

/** More rows than any list has: the limit of a statement that reads a whole list. */
const rowsMax = 2_000_000_000;

/** Thrown in place of a page: what the page would have been of. */
class ListQuery extends Error {
  constructor(readonly statement: ListStatement) {
    super('A page was query for where the whole list is wanted.');
  }
}

/** A scope whose pages are not read, so that a resolver says which list a caller asks for after all its own checks. */
class ListScope extends Scope {
  override async page<T extends Rows>(table: T, all: Listing, args: PageArgs): Promise<Page<Row<T>>> {
    throw new ListQuery(statementOf(this, table, all, args));
  }
}

/**
 * The whole list of which a resolver would answer a page. `resolve` runs it with a scope of the given class, and what
 * it refuses is refused.
 */
export async function wholeList(resolve: (kind: typeof Scope) => unknown): Promise<ListStatement> {
  try {
    await resolve(ListScope);
  } catch (error) {
    if (error instanceof ListQuery) return error.statement;
    throw error;
  }
  throw new Error('a resolver of a list has read no page');
}

function statementOf({ caller, ownValues }: Scope, table: Rows, all: Listing, args: PageArgs): ListStatement {
  const seen = seenBy(caller, table, all);
  const request = pageRequest(seen, args);
  const [from, listing] = rowsOf(table, seen, request);
  const visibility = listOf(caller, request.includesDescendants);
  return {
    name: `whole:${shape(from, request, visibility)}`,
    build: (db) => listed(db, { table: from, listing, request, visibility }, 'rows', rowsMax),
    values: { ...ownValues, ...values(request) },
  };
}
