import { Column, getTableColumns, is, noopDecoder, Param, Placeholder, SQL, type Table } from 'drizzle-orm';

/** A Drizzle statement, prepared by name. */
export interface Prepared {
  execute(values?: Record<string, unknown>): Promise<unknown>;
}

/** A statement whose parameters and columns were analysed once. */
export interface Mapped {
  text: string;
  /** How many columns its rows have. */
  width: number;
  /** The values of its parameters, from those of the placeholders. */
  valuesOf: (values: Record<string, unknown>) => unknown[];
  /** A row of values as Drizzle would return it. */
  rowOf: (values: unknown[]) => Record<string, unknown>;
}
/** A Drizzle statement that is not prepared yet. */
export interface Preparable {
  toSQL(): { sql: string };
  prepare(name: string): Prepared;
}

/** Drizzle's own data of a statement: its parameters, and where each result column belongs and how it is decoded. */
interface DrizzleStatement {
  queryString: string;
  params: unknown[];
  fields?: { path: string[]; field: Column | SQL | SQL.Aliased }[];
}

/**
 * A statement with its parameters and columns analysed once. Drizzle analyses them again for each value, which took a
 * seventh of the time of a dashboard, and wraps each run in tracing spans and a cache that are not in use. Undefined
 * for a statement whose columns Drizzle has to put together itself.
 */
export function fastRowMapper(statement: Prepared): Mapped | undefined {
  // Drizzle's types do not declare these members of a prepared statement.
  const { queryString, params, fields } = statement as unknown as DrizzleStatement;
  if (!fields || fields.some(({ path }) => path.length > 2)) return undefined;
  const fills = params.map(fillOf);
  const columns = fields.map(({ path, field }) => ({
    outer: path.length > 1 ? path[0] : undefined,
    name: path.at(-1)!,
    decode: decoderOf(field),
  }));
  return {
    text: queryString,
    width: columns.length,
    valuesOf: (values) => fills.map((fill) => fill(values)),
    rowOf: (values) => {
      const row: Record<string, unknown> = {};
      for (let i = 0; i < columns.length; i++) {
        const { outer, name, decode } = columns[i]!;
        const value = values[i];
        const decoded = value === null || decode === undefined ? value : decode(value);
        if (outer === undefined) row[name] = decoded;
        else ((row[outer] ??= {}) as Record<string, unknown>)[name] = decoded;
      }
      return row;
    },
  };
}

/** The value of a statement's parameter, as a function of the values of the placeholders. */
function fillOf(param: unknown): (values: Record<string, unknown>) => unknown {
  const { name, encoder } = is(param, Param)
    ? { name: is(param.value, Placeholder) ? param.value.name : undefined, encoder: param.encoder }
    : { name: is(param, Placeholder) ? param.name : undefined, encoder: undefined };
  if (name === undefined) return () => param;
  return (values) => {
    if (!(name in values)) throw new Error(`no value for ${name}`);
    return encoder ? encoder.mapToDriverValue(values[name]) : values[name];
  };
}

interface Decoded {
  decoder: { mapFromDriverValue(value: unknown): unknown };
}

/** The function that decodes a column's values; undefined if the driver's values need no decoding. */
function decoderOf(field: Column | SQL | SQL.Aliased): ((value: unknown) => unknown) | undefined {
  const { decoder } = (is(field, Column) ? { decoder: field } : is(field, SQL) ? field : field.sql) as Decoded;
  const same = is(decoder, Column)
    ? decoder.mapFromDriverValue === Column.prototype.mapFromDriverValue
    : decoder === noopDecoder;
  return same ? undefined : (value) => decoder.mapFromDriverValue(value);
}

/** Converts a raw row to the shape that Drizzle gives rows of the table. */
export function fromRow<T extends Table>(table: T, raw: Record<string, unknown>): T['$inferSelect'] {
  const row: Record<string, unknown> = {};
  for (const { property, name, decode } of columnsOf(table)) {
    const value = raw[name];
    row[property] = value === null || value === undefined ? null : decode === undefined ? value : decode(value);
  }
  return row as T['$inferSelect'];
}

interface Named {
  property: string;
  name: string;
  decode: ((value: unknown) => unknown) | undefined;
}
const columnsOfTables = new WeakMap<Table, Named[]>();

function columnsOf(table: Table): Named[] {
  let columns = columnsOfTables.get(table);
  if (!columns) {
    columns = Object.entries(getTableColumns(table)).map(([property, column]) => ({
      property,
      name: column.name,
      decode: decoderOf(column),
    }));
    columnsOfTables.set(table, columns);
  }
  return columns;
}
