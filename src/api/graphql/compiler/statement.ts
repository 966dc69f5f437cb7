import { and, getTableColumns, is, Placeholder, type SQL, sql } from 'drizzle-orm';
import { type PgColumn, PgDialect, type PgTable } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/postgres-js';
import {
  type GraphQLEnumType,
  type GraphQLOutputType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { type Visibility, visibilityPredicate } from '../../../db/visibility.js';
import { type Link, listed, type Rows } from '../../../db/list-statement.js';
import { balance, booked } from '../../../resources/ledger/table.js';
import { type Listing, type PageRequest, readOf } from '../../../types/pagination.js';
import { type Branch, NotCompilable } from './tree.js';

/** What a list is asked for, and under which names its values travel. */
export interface Asked {
  request: PageRequest;
  visibility: Visibility;
  prefix: string;
}

/** A statement and the names of its parameters, in their order. It answers one row, or none when a root is missing. */
export interface Statement {
  text: string;
  names: string[];
}

/** What a statement depends on besides its query. */
export interface Terms {
  /** What ids resolve to. */
  visibility: Visibility;
  /** Of each branch that is a list. */
  lists: Map<Branch, Asked>;
  /** Of each branch that is a root object: the name under which its id travels. */
  ids: Map<Branch, string>;
}

const dialect = new PgDialect();
const builder = drizzle.mock();
/**
 * The longest statement. PostgreSQL keeps some hundred bytes per character on each connection; a dashboard has a third of
 * it, and a fragment that is used in many places, many times as much.
 */
const charactersMax = 16_000;
/** The values that all parts of a statement share. */
const shared = new Set(['tenant', 'live', 'context']);
/** The parameter of what a balance is in before its first movement. */
export const emptyCurrency = 'edition_currency';
/** Around each JSON value that PostgreSQL spells: control characters, which it writes as escapes inside any text. */
export const jsonBegin = '\u0001';
export const jsonEnd = '\u0002';
const spelled = (json: string) => `chr(1) || ${json} || chr(2)`;
/** Scalars that leave as they are stored. */
const scalarsAsStored = new Set([
  ...['ID', 'String', 'Boolean', 'Int', 'Currency', 'CountryCode', 'LocalDate', 'Metadata', 'JSONObject'],
]);
/** Of these, the ones that in a column are letters, digits and underscores. */
const scalarsOfOurs = new Set(['ID', 'Currency']);

/**
 * The statement that answers a query's data as JSON, in the shape and under the names that were asked for. Each table
 * that it reads has its tenant, mode and visibility predicate, by the same predicates as the statements of a resolver. Throws `NotCompilable`
 * for what only resolvers can answer, and for what would be too long. The data of a larger answer than `answerBytes` is
 * null: it does not leave PostgreSQL.
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
    // Without the offset PostgreSQL would look a root up once to see whether it is there, and once more to show it.
    const data = `select ${object(members)} as data from (select ${roots.join(', ')} offset 0) r where ${present.join(' and ')} offset 0`;
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

  /** The one row that a condition finds that the caller can see, as an object. */
  #row(table: Rows, condition: SQL, below: Branch[], prefix = ''): string {
    const alias = this.#alias();
    const from = this.#fragment(
      sql`select * from ${table as PgTable} where ${and(...visibilityPredicate(table, this.terms.visibility), condition)}`,
      prefix,
    );
    return `(select ${this.#object(below, table, alias)} from (${from}) ${alias})`;
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
      if (!rule) return value(field.type, place(node.name.value), branch.below);
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
      if (rule.read === 'balance') return this.#balance(branch.below, column);
      if (rule.read !== 'link') throw new NotCompilable();
      const found = this.#row(rule.table, sql`${rule.match} = ${sql.raw(column(rule.of))}`, branch.below);
      // What must be there and is not is for the resolvers to tell.
      return isNonNullType(field.type) ? `coalesce(${found}, absent())` : orNull(found);
    };
    return object(below.map((branch) => [branch.key, member(branch)]));
  }

  /** A page as its connection. Its rows are read once, with at least one more than are shown: it tells whether there are more. */
  #page(
    branch: Branch,
    table: Rows,
    listing: Listing,
    below: { parent: PgColumn | Link; of: SQL } | undefined,
  ): string {
    const asked = this.terms.lists.get(branch)!;
    const { request, prefix } = asked;
    const [alias, inner] = [this.#alias(), this.#alias()];
    const page = listed(builder, { table, listing, ...asked, ...below }, 'rows', readOf(request.size + 1));
    const rows = this.#fragment(page.getSQL(), prefix);
    // PostgreSQL refuses a parameter that nothing uses: its type would be anybody's guess.
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
    return `(select ${connection} from (select ${inner}.*, row_number() over () as n from (${rows}) ${inner}) ${alias}${oneRow})`;
  }

  /** Funds by compartment and currency; before the first movement there is the edition's currency, with nothing in it. */
  #balance(below: Branch[], column: (property: string) => string): string {
    const alias = this.#alias();
    const columns = getTableColumns(balance);
    const rows = this.#fragment(
      sql`select * from ${balance} where ${balance.tenantId} = ${sql.placeholder('tenant')} and ${balance.livemode} = ${sql.placeholder('live')} and ${balance.accountId} = ${sql.raw(column('id'))} and ${booked} order by ${balance.currency}`,
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
      const held = columns[name as 'available'];
      if (!held) throw new NotCompilable();
      const each = money(parts, amount(`${alias}."${held.name}"`), () => `${alias}."currency"`);
      const nothing = money(parts, `'0.00'`, first);
      const all = `'[' || coalesce(string_agg(${each}, ','), ${nothing}) || ']'`;
      return name === 'feeAdvance' ? `case ${column('kind')} when 'platform' then ${all} else '[]' end` : all;
    };
    return `(select ${object(below.map((part) => [part.key, member(part)]))} from (${rows}) ${alias}${oneRow})`;
  }

  /** A part of the statement as text, its parameters numbered among all of them. */
  #fragment(part: SQL, prefix: string): string {
    const { sql: written, params } = dialect.sqlToQuery(part);
    return written.replace(/\$(\d+)/g, (_, n: string) => {
      const param = params[Number(n) - 1];
      if (!is(param, Placeholder)) throw new Error('a value must be a parameter by name');
      const name = shared.has(param.name) || param.name === emptyCurrency ? param.name : prefix + param.name;
      const known = this.#names.indexOf(name);
      return `$${known >= 0 ? known + 1 : this.#names.push(name)}`;
    });
  }

  #alias(): string {
    return `t${this.#aliases++}`;
  }
}

type Member = [key: string, expression: string];

/** Makes a sub-select one row of all that it reads, also where nothing in it is a sum and where nothing is read. */
const oneRow = ' having true';

/** JSON is put together as text: PostgreSQL's own builders look up the type of every value in every row. */
function object(members: Member[]): string {
  return `${members.map(([key, json], i) => `'${i === 0 ? '{' : ','}"${key}":' || ${json}`).join(' || ')} || '}'`;
}

const list = (each: string, shown: string) => `'[' || coalesce(string_agg(${each}, ',')${shown}, '') || ']'`;
/** Text of ours as JSON: it has no character that would have to be escaped. */
const quoted = (words: string) => `'"' || ${words} || '"'`;
const orNull = (json: string) => `coalesce(${json}, 'null')`;
const constant = (name: string) => `'"${name}"'`;

/** Where a value is: a column, or a member of an object. */
type Place = { column: string; nullable: boolean } | { object: string; member: string };

/** A value as its type's serialization has it: JSON as text, and never null, or the object around it would be gone. */
function value(type: GraphQLOutputType, place: Place, below: Branch[], required = false): string {
  if (isNonNullType(type)) return value(type.ofType, place, below, true);
  const stored = 'column' in place;
  const raw = stored ? place.column : `(${place.object} -> '${place.member}')`;
  const words = stored ? place.column : `(${place.object} ->> '${place.member}')`;
  const there = stored && !place.nullable;
  // What must be there and is not, or has no name, is for the resolvers to tell.
  const nothing = required || there ? 'absent()' : `'null'`;
  const known = (json: string) => (there && !isEnumType(type) ? json : `coalesce(${json}, ${nothing})`);
  if (isListType(type)) {
    const each = isNonNullType(type.ofType) ? type.ofType.ofType : type.ofType;
    if (!isScalarType(each) || !scalarsAsStored.has(each.name)) throw new NotCompilable();
    return known(spelled(`to_json(${raw})::text`));
  }
  if (isObjectType(type)) {
    const members = below.map(({ key, field, parent, node, below: parts }): Member => {
      if (!field) return [key, constant(parent.name)];
      return [key, value(field.type, { object: raw, member: node.name.value }, parts)];
    });
    return `case when jsonb_typeof(${raw}) = 'object' then ${object(members)} else ${nothing} end`;
  }
  if (isEnumType(type)) return known(quoted(enumName(type, words)));
  if (type.name === 'Amount') return known(quoted(amount(stored ? raw : `${words}::bigint`)));
  if (type.name === 'DateTime') {
    const seconds = stored ? raw : `${words}::bigint`;
    return known(quoted(`to_char(to_timestamp(${seconds}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`));
  }
  if (!isScalarType(type) || !scalarsAsStored.has(type.name)) throw new NotCompilable();
  const json = type.name === 'Metadata' || type.name === 'JSONObject';
  if (!stored) return known(json ? spelled(`${raw}::text`) : `${raw}::text`);
  if (scalarsOfOurs.has(type.name)) return known(quoted(raw));
  if (json) return known(spelled(`${raw}::text`));
  return known(type.name === 'String' ? `to_json(${raw}::text)::text` : `${raw}::text`);
}

/** The name of a stored enum value. */
function enumName(type: GraphQLEnumType, stored: string): string {
  const values = type.getValues();
  if (values.every(({ name, value: v }) => name === String(v).toUpperCase())) return `upper(${stored})`;
  return `case ${stored} ${values.map(({ name, value: v }) => `when '${v}' then '${name}'`).join(' ')} end`;
}

/** Minor units as the wire spells them: two decimals, always. */
function amount(minor: string): string {
  return `case when ${minor} < 0 then '-' else '' end || abs(${minor}) / 100 || '.' || lpad((abs(${minor}) % 100)::text, 2, '0')`;
}
