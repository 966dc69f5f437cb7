import { and, getTableColumns, is, Placeholder, type SQL, sql } from 'drizzle-orm';
import { type PgColumn, PgDialect, type PgTable } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/postgres-js';
import { type Visibility, visibilityPredicate } from '../../../db/read/visibility.js';
import { type Link, listed, type Rows } from '../../../db/list/statement.js';
import { valueIn } from '../../../resources/compiled-edges.js';
import type { Funds } from '../../../resources/edges.js';
import { type Listing, type PageRequest, readOf } from '../../../types/pagination.js';
import { isNonNullType } from 'graphql';
import { storedAs } from '../stored-names.js';
import { type Branch, NotCompilable } from './tree.js';
import { amount, constant, list, type Member, object, orNull, quoted, value } from './json.js';

/** The page request of a list, and the prefix of the names of its parameters. */
export interface ListRequest {
  request: PageRequest;
  visibility: Visibility;
  prefix: string;
}

/** A statement and the names of its parameters, in order. It returns one row, or none when a root object is missing. */
export interface Statement {
  text: string;
  names: string[];
}

/** The values on which a statement depends in addition to its query. */
export interface Terms {
  /** The visibility of the objects that ids refer to. */
  visibility: Visibility;
  /** The page request of each branch that is a list. */
  lists: Map<Branch, ListRequest>;
  /** The prefix of the id's parameter, for each branch that is a root object. */
  ids: Map<Branch, string>;
}

/** The SQL of the column of a row's property. */
type Column = (property: string) => string;

/** Makes a sub-select return exactly one row, even when it has no aggregate or reads no row. */
const oneRow = ' having true';
const dialect = new PgDialect();
const builder = drizzle.mock();
/**
 * The longest statement. PostgreSQL keeps some hundred bytes per character on each connection. A dashboard has a third
 * of this length, and one whose fragment is used in many places can have many times this length.
 */
const charactersMax = 16_000;
/** The parameter for the currency of a balance before its first movement. */
export const emptyCurrency = 'edition_currency';
/** The parameter for the currency that each balance of the edition shows, or null. */
export const shownCurrency = 'balance_currency';
/** The parameters that all parts of a statement share. */
const shared = new Set([
  ...['tenantId', 'livemode', 'actingAccount', 'statementSeconds'],
  ...[emptyCurrency, shownCurrency],
]);

/**
 * The statement that returns a query's data as JSON, in the selected shape and under the selected names. It reads every
 * table with the predicates for tenant, mode and visibility that a resolver's statement uses. Throws `NotCompilable`
 * for a query that only resolvers can answer, and for a statement that is too long. When the data is larger than
 * `answerBytes`, PostgreSQL returns null instead of it.
 */
export function statementOf(branches: Branch[], terms: Terms, answerBytes: number): Statement {
  return new Writer(terms).write(branches, answerBytes);
}

class Writer {
  readonly #names: string[] = [];
  #aliases = 0;

  constructor(private readonly terms: Terms) {}

  write(branches: Branch[], answerBytes: number): Statement {
    const roots = branches.map((branch, i) => `${this.#root(branch)} as r${i}`);
    const members = branches.map((branch, i): Member => [branch.key, `r."r${i}"`]);
    const present = branches.map((_, i) => `r."r${i}" is not null`);
    // `offset 0` prevents that PostgreSQL reads a root twice: once to check that it exists, and once to return it.
    const data = `select ${object(members)} as data from (select ${roots.join(', ')} offset 0) r
      where ${present.join(' and ')} offset 0`;
    const text = `select case when octet_length(d.data) <= ${answerBytes} then d.data end as data from (${data}) d`;
    if (text.length > charactersMax) throw new NotCompilable();
    return { text, names: this.#names };
  }

  #root(branch: Branch): string {
    const { rule, field, parent, below } = branch;
    if (!field) return constant(parent.name);
    if (rule?.read === 'page') return this.#page(branch, rule.table, rule.listing, undefined);
    if (rule?.read !== 'one') throw new NotCompilable();
    const id = sql`${rule.table.id} = ${sql.placeholder('id')}`;
    return this.#row(rule.table, id, below, this.terms.ids.get(branch)!);
  }

  /** The only row that matches a condition and is visible to the caller, as an object. */
  #row(table: Rows, condition: SQL, below: Branch[], prefix = ''): string {
    const alias = this.#alias();
    const from = this.#fragment(
      sql`select * from ${table as PgTable}
        where ${and(...visibilityPredicate(table, this.terms.visibility), condition)}`,
      prefix,
    );
    return `(select chr(3) || ${this.#object(below, table, alias)} from (${from}) ${alias})`;
  }

  /** The members of a row's object. */
  #object(below: Branch[], table: Rows, alias: string): string {
    const columns = getTableColumns(table as PgTable);
    const place = (property: string) => {
      const found = columns[property];
      if (!found) throw new NotCompilable();
      return { column: `${alias}."${found.name}"`, nullable: !found.notNull };
    };
    const column = (property: string) => place(property).column;
    const member = (branch: Branch): string => {
      const { field, rule, parent, node } = branch;
      if (!field) return constant(parent.name);
      if (!rule) return value(field.type, place(storedAs(field) ?? node.name.value), branch.below);
      if (rule.read === 'value') return rule.json(column);
      if (rule.read === 'object')
        return object(
          branch.below.map(({ key, field: own, parent: object, node: { name } }) => [
            key,
            own ? value(own.type, place(rule.of[name.value] ?? ''), []) : constant(object.name),
          ]),
        );
      if (rule.read === 'edge')
        return this.#page(branch, rule.table, rule.listing, { parent: rule.match, of: sql.raw(column('id')) });
      if (rule.read === 'funds') return this.#funds(rule.funds, branch.below, column);
      if (rule.read !== 'link') throw new NotCompilable();
      const found = this.#row(rule.table, sql`${rule.match} = ${sql.raw(valueIn(rule.of, column))}`, branch.below);
      // NULL in a non-null field: fall back to the resolvers.
      return isNonNullType(field.type) ? `coalesce(${found}, absent())` : orNull(found);
    };
    return object(below.map((branch) => [branch.key, member(branch)]));
  }

  /** A page as a connection. It reads at least one row more than it returns, to know whether there are more. */
  #page(
    branch: Branch,
    table: Rows,
    listing: Listing,
    below: { parent: PgColumn | Link; of: SQL } | undefined,
  ): string {
    const requested = this.terms.lists.get(branch)!;
    const { request, prefix } = requested;
    const [alias, inner] = [this.#alias(), this.#alias()];
    const page = listed(builder, { table, listing, ...requested, ...below }, 'rows', readOf(request.size + 1));
    const rows = this.#fragment(page.getSQL(), prefix);
    const size = () => `${this.#fragment(sql`${sql.placeholder('size')}`, prefix)}::int`;
    const shown = () => ` filter (where ${alias}.n <= ${size()})`;
    const node = ({ below }: Branch) => this.#object(below, table, alias);
    const ids = `array_agg(${alias}."id" order by ${alias}.n)`;
    const info: Record<string, () => string> = {
      hasNextPage: () => `(count(*) > ${size()})::text`,
      hasPreviousPage: () => `'false'`,
      startCursor: () => orNull(quoted(`(${ids})[1]`)),
      endCursor: () => orNull(quoted(`(${ids})[least(count(*), ${size()})]`)),
    };
    const member = (part: Branch): string => {
      const name = part.node.name.value;
      if (!part.field) return constant(part.parent.name);
      if (name === 'nodes') return list(node(part), shown());
      if (name === 'edges')
        return list(
          object(
            part.below.map((b) => [
              b.key,
              !b.field ? constant(b.parent.name) : b.node.name.value === 'node' ? node(b) : quoted(`${alias}."id"`),
            ]),
          ),
          shown(),
        );
      if (name !== 'pageInfo') throw new NotCompilable();
      return object(part.below.map((b) => [b.key, b.field ? info[b.node.name.value]!() : constant(b.parent.name)]));
    };
    const connection = object(branch.below.map((part) => [part.key, member(part)]));
    return `(select repeat(chr(3), least(count(*), ${size()})::int) || ${connection}
      from (select ${inner}.*, row_number() over () as n from (${rows}) ${inner}) ${alias}${oneRow})`;
  }

  /** The funds of an account, as `Funds` describes them. */
  #funds({ table, account, currency, where, compartments }: Funds, below: Branch[], column: Column): string {
    const alias = this.#alias();
    const amounts = Object.values(compartments).map(({ column: of }) => of);
    const zeros = sql.raw(amounts.map(() => '0,').join(''));
    const shown = sql`${sql.placeholder(shownCurrency)}::text`;
    // The currency that each balance of the edition shows has zeros where nothing was booked in it.
    const rows = this.#fragment(
      sql`select distinct on (1) * from (select ${sql.join([currency, ...amounts], sql`, `)}, 1 booked
        from ${table as PgTable} where ${table.tenantId} = ${sql.placeholder('tenantId')}
        and ${table.livemode} = ${sql.placeholder('livemode')} and ${account} = ${sql.raw(column('id'))} and ${where}
        union all select ${shown}, ${zeros} 0 where ${shown} is not null) x order by 1, booked desc`,
      '',
    );
    const money = (parts: Branch[], amount: string, currency: () => string) =>
      object(
        parts.map(({ key, field, parent, node }) => [
          key,
          !field ? constant(parent.name) : quoted(node.name.value === 'amount' ? amount : currency()),
        ]),
      );
    const first = () => `${this.#fragment(sql`${sql.placeholder(emptyCurrency)}`, '')}::text`;
    const member = ({ field, parent, node, below: parts }: Branch): string => {
      const name = node.name.value;
      if (!field) return constant(parent.name);
      if (name === 'accountId') return quoted(column('id'));
      if (name === 'livemode') return `${column('livemode')}::text`;
      const compartment = compartments[name];
      if (!compartment) throw new NotCompilable();
      const each = money(parts, amount(`${alias}."${compartment.column.name}"`), () => `${alias}."${currency.name}"`);
      const nothing = money(parts, `'0.00'`, first);
      const all = `'[' || coalesce(string_agg(${each}, ','), ${nothing}) || ']'`;
      const { kind } = compartment;
      return kind === undefined ? all : `case ${column('kind')} when '${kind}' then ${all} else '[]' end`;
    };
    const members = object(below.map((part) => [part.key, member(part)]));
    return `(select chr(3) || ${members} from (${rows}) ${alias}${oneRow})`;
  }

  /** A part of the statement as text. It numbers the parameters of the part among those of the complete statement. */
  #fragment(part: SQL, prefix: string): string {
    const { sql: written, params } = dialect.sqlToQuery(part);
    return written.replace(/\$(\d+)/g, (_, n: string) => {
      const param = params[Number(n) - 1];
      if (!is(param, Placeholder)) throw new Error('a value must be a parameter by name');
      const name = shared.has(param.name) ? param.name : prefix + param.name;
      const known = this.#names.indexOf(name);
      return `$${known >= 0 ? known + 1 : this.#names.push(name)}`;
    });
  }

  #alias(): string {
    return `t${this.#aliases++}`;
  }
}
