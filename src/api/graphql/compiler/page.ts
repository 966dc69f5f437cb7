import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/postgres-js';
import { unpaged } from '../../../db/list/pages.js';
import { listed } from '../../../db/list/statement.js';
import type { Visibility } from '../../../db/read/visibility.js';
import type { Columns } from '../../../resources/edges.js';
import { type Listing, type PageRequest, readOf, totalCountMax } from '../../../types/pagination.js';
import { weights } from '../../../types/weights.js';
import { isCountOnly } from '../query-parts.js';
import { constant, list, object, oneRow, orNull, type PlaceOf, placesIn, quoted } from './json.js';
import { type Branch, NotCompilable } from './tree.js';

/** The page request of a list, and the prefix of the names of its parameters. */
export interface ListRequest {
  listing: Listing;
  request: PageRequest;
  visibility: Visibility;
  prefix: string;
}

/** What of the writer of a statement its pages use. */
interface Writer {
  terms: { lists: Map<Branch, ListRequest> };
  alias(): string;
  fragment(part: SQL, prefix?: string): string;
  object(below: Branch[], placeOf: PlaceOf): string;
}

/** The statements of a page: those of the resolvers. */
interface Source {
  columns: Columns;
  /** The rows of the page and at least one more, to know whether there are more. */
  rows: SQL;
  /** The ids of the whole list, at most one more than are counted. */
  ids: () => SQL;
  /** Whether an object is on the other side of an object of the page, which is given by the SQL of its id. */
  behind: (id: string) => SQL;
}

const builder = drizzle.mock();

function sourceOf({ rule }: Branch, { listing, request, visibility }: ListRequest, of: SQL | undefined): Source {
  if (rule?.read === 'computed')
    return {
      columns: rule.pages.columns,
      rows: rule.pages.rows(request, of!),
      ids: () => rule.pages.ids(of!),
      // A page with a cursor is left to the resolvers.
      behind: () => sql`false`,
    };
  if (rule?.read !== 'edge' && rule?.read !== 'page') throw new NotCompilable();
  const { table } = rule;
  const query = { table, listing, visibility, ...(rule.read === 'edge' && of && { parent: rule.match, of }) };
  const { backward } = request;
  return {
    columns: getTableColumns(table as PgTable),
    rows: listed(builder, { ...query, request }, 'rows', readOf(request.size + 1)).getSQL(),
    ids: () => listed(builder, { ...query, request: unpaged(request) }, 'ids', totalCountMax + 1).getSQL(),
    behind: (id) => {
      const other = { ...query, request: { ...request, backward: !backward }, cursor: sql.raw(id) };
      return sql`exists (${listed(builder, other, 'ids', 1)})`;
    },
  };
}

/** A page as a connection: a root list, or that of the parent whose id `of` is. */
export function pageOf(writer: Writer, branch: Branch, of?: SQL): string {
  const requested = writer.terms.lists.get(branch)!;
  const { request, prefix } = requested;
  const { backward } = request;
  const [alias, inner] = [writer.alias(), writer.alias()];
  const source = sourceOf(branch, requested, of);
  const rows = writer.fragment(source.rows, prefix);
  const size = () => `${writer.fragment(sql`${sql.placeholder('size')}`, prefix)}::int`;
  const each = (json: string) =>
    list(json, backward ? ` order by ${alias}.n desc` : '', ` filter (where ${alias}.n <= ${size()})`);
  const node = ({ below }: Branch) => writer.object(below, placesIn(source.columns, alias));
  // The ids are those of the statement's direction, and the page is in the list's.
  const ids = `array_agg(${alias}."id" order by ${alias}.n)`;
  const last = () => `(${ids})[least(count(*), ${size()})]`;
  const [start, end] = backward ? [last, () => `(${ids})[1]`] : [() => `(${ids})[1]`, last];
  const ahead = () => `(count(*) > ${size()})::text`;
  // Looking behind a page costs as much as an object.
  const behind = () =>
    request.cursor === undefined
      ? `'false'`
      : `chr(3) || (${writer.fragment(source.behind(backward ? end() : start()), prefix)})::text`;
  const info: Record<string, () => string> = {
    hasNextPage: backward ? behind : ahead,
    hasPreviousPage: backward ? ahead : behind,
    startCursor: () => orNull(quoted(start())),
    endCursor: () => orNull(quoted(end())),
  };
  const edge = (part: Branch) => {
    if (!part.field) return constant(part.parent.name);
    return part.node.name.value === 'node' ? node(part) : quoted(`${alias}."id"`);
  };
  const member = (part: Branch): string => {
    const name = part.node.name.value;
    if (!part.field) return constant(part.parent.name);
    if (name === 'nodes') return each(node(part));
    if (name === 'edges') return each(object(part.below.map((b) => [b.key, edge(b)])));
    if (name === 'totalCount') return totalOf(writer.fragment(source.ids(), prefix));
    if (name !== 'pageInfo') throw new NotCompilable();
    return object(part.below.map((b) => [b.key, b.field ? info[b.node.name.value]!() : constant(b.parent.name)]));
  };
  const connection = object(branch.below.map((part) => [part.key, member(part)]));
  // Of a list of which only the number is asked, no object is charged.
  const counted = isCountOnly(branch.below.map((part) => part.node.name.value))
    ? ''
    : `repeat(chr(3), least(count(*), ${size()})::int) || `;
  // Only the resolvers find out why nothing follows a cursor.
  const shown =
    request.cursor === undefined ? connection : `case when count(*) > 0 then ${connection} else absent() end`;
  return `(select ${counted}${shown}
    from (select ${inner}.*, row_number() over () as n from (${rows}) ${inner}) ${alias}${oneRow})`;
}

/** The number of the objects of a list, with the points of the count. */
function totalOf(ids: string): string {
  const points = `(least(f.n, ${totalCountMax}) * ${weights.total} + ${totalCountMax - 1}) / ${totalCountMax}`;
  const shown = `case when f.n <= ${totalCountMax} then f.n::text else 'null' end`;
  return `(select repeat(chr(4), greatest(${points}, 1)) || ${shown}
    from (select count(*)::int as n from (${ids}) i) f)`;
}
