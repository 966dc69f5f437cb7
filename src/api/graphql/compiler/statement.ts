import { and, getTableColumns, is, Placeholder, type SQL, sql } from 'drizzle-orm';
import { PgDialect, type PgTable } from 'drizzle-orm/pg-core';
import { type Visibility, visibilityPredicate } from '../../../db/read/visibility.js';
import type { Rows } from '../../../db/list/statement.js';
import { type Rule, valueIn } from '../../../resources/compiled-edges.js';
import type { Funds } from '../../../resources/edges.js';
import { isNonNullType } from 'graphql';
import { storedAs } from '../stored-names.js';
import { type ListRequest, pageOf } from './page.js';
import { type Branch, NotCompilable } from './tree.js';
import {
  amount,
  constant,
  list,
  type Member,
  object,
  oneRow,
  orNull,
  type Place,
  type PlaceOf,
  placesIn,
  quoted,
  value,
} from './json.js';

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
  /** The prefix of the names of the parameters, for each branch that is a root object. */
  ids: Map<Branch, string>;
  /** The most objects of each branch that is a short list of links. */
  links: Map<Branch, number>;
}

/** The SQL of the column of a row's property. */
type Column = (property: string) => string;
const dialect = new PgDialect();
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

/** Writes a statement: its parts share the names of its parameters and aliases. */
class Writer {
  #aliases = 0;

  constructor(readonly terms: Terms) {}

  write(branches: Branch[], answerBytes: number): Statement {
    const roots = branches.map((branch, i) => `${this.#root(branch)} as r${i}`);
    const members = branches.map((branch, i): Member => [branch.key, `r."r${i}"`]);
    const present = branches.map((_, i) => `r."r${i}" is not null`);
    // `offset 0` prevents that PostgreSQL reads a root twice: once to check that it exists, and once to return it.
    const data = `select ${object(members)} as data from (select ${roots.join(', ')} offset 0) r
      where ${present.join(' and ')} offset 0`;
    const names: string[] = [];
    const named = `select case when octet_length(d.data) <= ${answerBytes} then d.data end as data from (${data}) d`;
    const text = named.replace(/\$\{([^{}]+)\}/g, (_, name: string) => {
      const known = names.indexOf(name);
      return `$${known >= 0 ? known + 1 : names.push(name)}`;
    });
    if (text.length > charactersMax) throw new NotCompilable({ path: '' }, 'Its statement would be too long.');
    return { text, names };
  }

  #root(branch: Branch): string {
    const { rule, field, parent, below } = branch;
    if (!field) return constant(parent.name);
    if (rule?.read === 'page') return pageOf(this, branch);
    const prefix = this.terms.ids.get(branch);
    if (rule?.read === 'one')
      return this.#row(rule.table, sql`${rule.table.id} = ${sql.placeholder('id')}`, below, prefix);
    if (rule?.read !== 'caller') throw new NotCompilable(branch);
    const of = (property: string) => `${this.fragment(sql`${sql.placeholder(property)}`, prefix)}::text`;
    return this.object(below, (property) => ({ column: of(property), nullable: true }));
  }

  /** The only row that matches a condition and is visible to the caller, as an object. */
  #row(table: Rows, condition: SQL, below: Branch[], prefix?: string): string {
    const alias = this.alias();
    return `(select chr(3) || ${this.object(below, placesIn(getTableColumns(table as PgTable), alias))}
      from (${this.#visible(table, condition, prefix)}) ${alias})`;
  }

  #visible(table: Rows, condition: SQL, prefix?: string): string {
    return this.fragment(
      sql`select * from ${table as PgTable}
        where ${and(...visibilityPredicate(table, this.terms.visibility), condition)}`,
      prefix,
    );
  }

  /** The members of a row's object. */
  object(below: Branch[], placeOf: PlaceOf): string {
    const place = (property: string): Place => {
      const found = placeOf(property);
      if (!found) throw new NotCompilable();
      return found;
    };
    const column: Column = (property) => {
      const found = place(property);
      if (!('column' in found)) throw new NotCompilable();
      return found.column;
    };
    const member = (branch: Branch): string => {
      const { field, rule, parent, node } = branch;
      if (!field) return constant(parent.name);
      if (!rule) return value(field.type, place(storedAs(field) ?? node.name.value), branch.below);
      if (rule.read === 'value') return rule.json(column);
      if (rule.read === 'jsonb')
        return value(field.type, { column: `(${rule.jsonb(column)})`, nullable: true }, branch.below);
      if (rule.read === 'stored') return value(field.type, { column: this.fragment(rule.as), nullable: false }, []);
      if (rule.read === 'object')
        return object(
          branch.below.map(({ key, field: own, parent: object, node: { name } }) => [
            key,
            own ? value(own.type, place(rule.of[name.value] ?? ''), []) : constant(object.name),
          ]),
        );
      if (rule.read === 'edge' || rule.read === 'computed') return pageOf(this, branch, sql.raw(column('id')));
      if (rule.read === 'links') return this.#links(branch, rule, column);
      if (rule.read === 'funds') return this.#funds(rule.funds, branch.below, column);
      if (rule.read !== 'link') throw new NotCompilable(branch);
      const found = this.#row(rule.table, sql`${rule.match} = ${sql.raw(valueIn(rule.of, column))}`, branch.below);
      // NULL in a non-null field: fall back to the resolvers.
      return isNonNullType(field.type) ? `coalesce(${found}, absent())` : orNull(found);
    };
    return object(below.map((branch) => [branch.key, at(branch, () => member(branch))]));
  }

  /**
   * A short list of the objects whose ids a row or a table of links has, in the order of the ids. A longer list is left
   * to the resolvers, and so is one without an object that has to be there.
   */
  #links(branch: Branch, { table, of, each }: Rule & { read: 'links' }, column: Column): string {
    const [key, alias] = [this.alias(), this.alias()];
    const ids =
      typeof of === 'string'
        ? `select * from unnest(${column(of)}) with ordinality u(id, n)`
        : this.fragment(
            sql`select u.id, min(u.n) as n from (select ${of.child} as id,
                row_number() over (order by ${of.links.created} desc, ${of.links.id} desc) as n
              from ${of.links as PgTable} where ${of.links.tenantId} = ${sql.placeholder('tenantId')}
                and ${of.links.livemode} = ${sql.placeholder('livemode')} and ${of.parent} = ${sql.raw(column('id'))}
                and ${of.where}) u group by u.id`,
          );
    // By `any`, PostgreSQL looks each object up by its key. With `=`, it could read the whole table.
    const row = this.#visible(table, sql`${table.id} = any(array[${sql.raw(`${key}.id`)}])`);
    const shown = `chr(3) || ${this.object(branch.below, placesIn(getTableColumns(table as PgTable), alias))}`;
    const found = each ? `case when ${alias}."id" is null then absent() else ${shown} end` : shown;
    return `(select case when count(*) > ${this.terms.links.get(branch)!} then absent()
        else ${list(found, ` order by ${key}.n`)} end
      from (${ids}) ${key} ${each ? 'left' : 'inner'} join lateral (${row}) ${alias} on true${oneRow})`;
  }

  /** The funds of an account, as `Funds` describes them. */
  #funds({ table, account, currency, where, compartments }: Funds, below: Branch[], column: Column): string {
    const alias = this.alias();
    const amounts = Object.values(compartments).map(({ column: of }) => of);
    const zeros = sql.raw(amounts.map(() => '0,').join(''));
    const shown = sql`${sql.placeholder(shownCurrency)}::text`;
    // The currency that each balance of the edition shows has zeros where nothing was booked in it.
    const rows = this.fragment(
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
    const first = () => `${this.fragment(sql`${sql.placeholder(emptyCurrency)}`, '')}::text`;
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

  /** A part of the statement as text, which may be put into another part. It has its parameters by their names. */
  fragment(part: SQL, prefix = ''): string {
    const { sql: written, params } = dialect.sqlToQuery(part);
    return written.replace(/\$(\d+)/g, (_, n: string) => {
      const param = params[Number(n) - 1];
      if (!is(param, Placeholder)) throw new Error('a value must be a parameter by name');
      return `\${${shared.has(param.name) ? param.name : prefix + param.name}}`;
    });
  }

  alias(): string {
    return `t${this.#aliases++}`;
  }
}

/** Says of a part that has no SQL where it is. */
function at(branch: Branch, written: () => string): string {
  try {
    return written();
  } catch (error) {
    if (error instanceof NotCompilable && error.left.length === 0) throw new NotCompilable(branch);
    throw error;
  }
}
