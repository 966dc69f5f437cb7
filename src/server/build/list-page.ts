import { getTableName, is, SQL } from 'drizzle-orm';
import { getTableConfig, PgColumn, PgDialect, type PgTable } from 'drizzle-orm/pg-core';
import { getNamedType, type GraphQLSchema, isInputObjectType } from 'graphql';
import { type Filter, type Lists, type OrderBy, scansOf } from '../../db/schema/lists.js';
import { shownFilters, snake } from '../../errors/problems.js';
import { checkout } from '../../resources/checkout/table.js';
import { resources } from '../../resources/define.js';
import type { Listing } from '../../types/pagination.js';

/** What serves some filters in an order. */
interface Served {
  filters: string;
  order: string;
  by: readonly string[];
  /** Why it is no index of the filter, where there is none. */
  because?: string | undefined;
}

/** The tables whose rows a view shows with a value that depends on the time. */
const tableOf: Readonly<Record<string, PgTable>> = { checkout_now: checkout };

/**
 * The page of the documentation with the index that serves each filter of a list, as text. `npm run schema` writes it
 * from the declarations of the lists.
 */
export function listPageText(schema: GraphQLSchema): string {
  const lists = resources.flatMap(({ node }) => (node ? [node] : []));
  const sections = lists
    .map(({ rows, listing, type }) => ({
      name: nounOf(listing),
      served: servedIn(rows as PgTable, listing, membersOf(schema, type.name)),
    }))
    .filter(({ served }) => served.length > 0)
    .toSorted((one, other) => one.name.localeCompare(other.name));
  return [
    '# Filters and their indexes',
    intro.join(' '),
    kinds.join(' '),
    ...sections.map(({ name, served }) => `## ${name}\n\n${tableText(served)}`),
    source.join(' ').concat('\n'),
  ].join('\n\n');
}

const intro = [
  'Each filter of a list is served by an index in the order of the list, so that a page reads some rows and not the',
  'whole list. The filters are those of the graph; on `/v1` they are in snake case. Filters in one row compose, those',
  'in brackets may be left out, and `created` is a range of each index in the order of creation. A further filter from',
  'another row is tried on the rows that an index finds. What no index serves is [refused](rest.md#searches). [The',
  'record](decisions/lists-are-keysets.md) has the reasons.',
];

const kinds = [
  'An index is for one kind of list: `root` is that of a platform or a direct user, `context` that of a connected',
  'user, `below` what a platform reaches beyond its own list, and the others the lists of one parent, such as an',
  'account.',
];

const source = [
  'Written by `npm run schema` from the declarations beside the tables (`src/db/schema/lists.ts`); a test compares',
  'them. A filter is its column there, what clients read of it in the listing, and the migration of its index. If no',
  'index serves a filter, the program names the filter and does not start.',
];

/** The filters of the root list of a type in the graph. Others belong to a path of /v1 or to an edge. */
function membersOf(schema: GraphQLSchema, type: string): ReadonlySet<string> {
  const lists = Object.values(schema.getQueryType()!.getFields());
  const filters = lists
    .filter((field) => getNamedType(field.type).name === `${type}Connection`)
    .flatMap(({ args }) => args.filter(({ name }) => name === 'filter'));
  const inputs = filters.map((filter) => getNamedType(filter.type)).filter(isInputObjectType);
  return new Set(inputs.flatMap((input) => Object.keys(input.getFields())));
}

/** The name of the objects of a list, in the plural. */
function nounOf({ object }: Listing): string {
  const noun = object.replaceAll('_', ' ').replace(/^api /, 'API ');
  const plural = noun.replace(/s$/, 'se').replace(/ry$/, 'rie').concat('s');
  return plural[0]!.toUpperCase() + plural.slice(1);
}

const tableText = (served: readonly Served[]): string =>
  [
    '| Filters | Order | Index |',
    '|---|---|---|',
    ...served.map(({ filters, order, by, because }) => {
      const index = by.map((name) => `\`${name}\``).join(', ');
      return `| ${filters} | ${order} | ${[index, because].filter(Boolean).join('. ')} |`;
    }),
  ].join('\n');

const byTime = 'newest or oldest first';

function servedIn(rows: PgTable, listing: Listing, members: ReadonlySet<string>): Served[] {
  const table = tableOf[getTableName(rows)] ?? rows;
  const { filters, keys = {}, orders = {}, conditions = {} } = listing;
  const keyed = new Set(Object.values(keys).flat());
  const isShown = (name: string) => members.has(nameInGraph(listing.object, name).split(/[.`]/)[0]!);
  return [
    ...Object.entries(keys)
      .filter(([, parts]) => parts.every(isShown))
      .map(([key, parts]) => ({
        filters: partsText(listing, parts),
        order: byTime,
        by: namesOf(table, listing, key),
      })),
    ...Object.entries(filters)
      .filter(([name]) => !keyed.has(name) && isShown(name))
      .map(([name, filter]) => otherwise(table, listing, name, filter)),
    ...Object.entries(orders).flatMap(([name, by]) =>
      Object.entries(by.keys).flatMap(([key, parts]): Served[] => {
        const order = `\`${snake(name).toUpperCase()}_DESC\`, \`_ASC\``;
        const range = by.view ? undefined : `a range of \`${name}\``;
        const needed = by.view ? viewText(by.view) : partsText(listing, parts, by.one);
        const common = { order, by: namesOf(table, listing, key, by) };
        const implied = Object.entries(conditions).filter(
          ([, { order: of, filter }]) => of === name && parts.includes(filter) && parts.length === 1,
        );
        return [
          { ...common, filters: [needed, range].filter(Boolean).join(', ') },
          ...implied.map(([condition]) => ({ ...common, filters: `\`${condition}\`` })),
        ];
      }),
    ),
  ];
}

/** The filters of a key: those in brackets may be left out, where the key has all values of them. */
function partsText({ all = {}, object }: Listing, parts: readonly string[], one: OrderBy['one'] = {}): string {
  return parts
    .map((part) => {
      const name = `\`${nameInGraph(object, part)}\``;
      if (one[part] !== undefined) return `one ${name}`;
      return parts.length > 1 && all[part] ? `(${name})` : name;
    })
    .join(', ');
}

const viewText = ({ takes, required }: NonNullable<OrderBy['view']>): string =>
  takes.map((name) => (name === required.name ? `\`${name}\`` : `(\`${name}\`)`)).join(', ');

/** The name of a filter in the graph, which has the type of an event as \`types\` and \`eventType\`. */
function nameInGraph(object: string, name: string): string {
  const argument = object === 'event' && name === 'type' ? 'types' : name;
  const shown = [...shownFilters].find(([, of]) => of === argument)?.[0];
  return shown === undefined ? argument : argument === 'types' ? `${argument}\`, \`${shown}` : shown;
}

/** What serves a filter that is in no key. */
function otherwise(table: PgTable, listing: Listing, name: string, filter: Filter): Served {
  const columns = is(filter, PgColumn)
    ? [filter]
    : 'either' in filter
      ? filter.either
      : 'selective' in filter
        ? [filter.selective]
        : [];
  const because = !is(filter, PgColumn) && 'derived' in filter ? filter.because : undefined;
  const alone = listing.exclusive?.[name] ? ' alone' : '';
  return {
    filters: `\`${nameInGraph(listing.object, name)}\`${alone}`,
    order: byTime,
    by: columns.flatMap((column) => indexesBy(table, column, listing.order?.name ?? 'created')),
    because: because && `None. ${because}`,
  };
}

/** The indexes of a key of a list, in the order by time or in another one, as `indexesOf` names them. */
function namesOf(table: PgTable, lists: Lists, key: string, by?: OrderBy): string[] {
  const { below, onlyScans } = lists;
  const prefix = getTableName(table) + (by ? `_${by.as}` : '');
  const ofCallers = onlyScans || by?.view ? [] : ['root', 'context_by', ...(below ? ['below'] : [])];
  const scans = scansOf(by ?? lists).filter(([, { keys: only }]) => !only || only.includes(key));
  return [...ofCallers.map((of) => `${prefix}_${of}_${key}`), ...scans.map(([scan]) => `${scan}_by_${key}`)];
}

const dialect = new PgDialect();

/** The indexes of a list whose first keys are the tenant, the mode and a column or its hash, in whatever order. */
function indexesBy(table: PgTable, { name }: PgColumn, order: string): string[] {
  const { indexes, uniqueConstraints } = getTableConfig(table);
  const hash = `hashtext("${getTableName(table)}"."${name}")`;
  const found = indexes.flatMap(({ config }) => {
    const [one, other, third, then] = config.columns.map(textOf);
    const key = [one, other, third].find((each) => each !== 'tenant_id' && each !== 'livemode');
    const isWhole = !config.where || textOf(config.where)?.endsWith(' is not null');
    return isWhole && then === order && (key === name || key === hash) ? [config.name!] : [];
  });
  const unique = uniqueConstraints.filter(({ columns }) => columns[2]?.name === name && columns.length === 3);
  return [...found, ...unique.map((each) => each.getName()!)];
}

const textOf = (part: object): string | undefined =>
  is(part, SQL) ? dialect.sqlToQuery(part).sql : (part as { name?: string }).name;
