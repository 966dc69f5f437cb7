import type postgres from 'postgres';
import { ofDeployment } from './tables.js';

/** A rule that something in the schema breaks, and what breaks it. */
export interface Offence {
  rule: string;
  what: string;
}

/** A function of the schema, as PostgreSQL stores it. */
interface Defined {
  name: string;
  body: string;
  volatility: 'i' | 's' | 'v';
}

/**
 * What Citus refuses, or does wrongly, in the statements of plpgsql functions. A plain PostgreSQL runs all of it, so
 * that only a lint finds it there. Each rule was seen on a real cluster.
 */
const rules = {
  reading: 'a function that reads tables is called in a statement over tables: call it before, into a variable',
  volatile: 'a function that is not immutable is called in an update or delete: call it before, into a variable',
  simpleCase: 'a case compares a variable in a statement over tables: write `case when v_kind = …`',
  values: 'a subquery stands among the values of an insert: read it before, into a variable',
  insertSelect: 'an insert selects from a table: read the rows before, into an array, and insert from its unnest',
  lateral: 'a lateral has no table in its from: give it one, or read its value before',
  row: 'a query inside a join selects a complete row: name its columns, or read the rows before',
  conflicts: 'an insert that selects counts the rows that met a conflict, too: read what `returning` has',
} as const;

/** Checks the bodies of all functions, and the views. */
export async function functionOffences(sql: postgres.ISql): Promise<Offence[]> {
  const relations = await sql`
    select relname::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v')`;
  const tables = new Set(relations.map(({ name }) => String(name)).filter((name) => !(name in ofDeployment)));
  const functions = await sql<Defined[]>`
    select p.proname::text as name, p.prosrc as body, p.provolatile::text as volatility
    from pg_proc p join pg_language l on l.oid = p.prolang
    where p.pronamespace = 'public'::regnamespace and l.lanname = 'plpgsql' order by 1`;
  const views = await sql<{ name: string; body: string }[]>`
    select viewname::text as name, definition as body from pg_views where schemaname = 'public' order by 1`;
  const reading = readers(functions, tables);
  const mutable = new Set(functions.filter(({ volatility }) => volatility !== 'i').map(({ name }) => name));
  const found: Offence[] = [];
  for (const { name, body } of functions)
    for (const statement of statementsOf(body))
      for (const rule of brokenBy(statement, tables, reading, mutable))
        found.push({ rule, what: `${name}: ${brief(statement)}` });
  for (const { name, body } of functions)
    for (const [table, insert] of conflictsCounted(body))
      if (tables.has(table)) found.push({ rule: rules.conflicts, what: `${name}: ${brief(insert)}` });
  for (const { name, body } of views) if (hasEmptyLateral(body)) found.push({ rule: rules.lateral, what: name });
  return found;
}

/** The functions that read or write a table, by themselves or through another function. */
function readers(functions: Defined[], tables: Set<string>): Set<string> {
  const found = new Set(
    functions.filter(({ body }) => statementsOf(body).some((text) => usesTable(text, tables))).map(({ name }) => name),
  );
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const { name, body } of functions) if (calls(without(body), found)) found.add(name);
  }
  return found;
}

function brokenBy(statement: string, tables: Set<string>, reading: Set<string>, mutable: Set<string>): string[] {
  const broken: string[] = [];
  if (!usesTable(statement, tables)) return broken;
  if (calls(statement, reading)) broken.push(rules.reading);
  const verb = /\b(insert into|update|delete from|select|perform)\b/.exec(statement)?.[1];
  if (
    (verb === 'update' || verb === 'delete from') &&
    (calls(statement, mutable) || /\b(clock_timestamp|gen_random_uuid|random)\(/.test(statement))
  )
    broken.push(rules.volatile);
  if (/\bcase\s+(?!when\b)\w/.test(statement)) broken.push(rules.simpleCase);
  if (/\blateral \(\s*select (\w+)\s+from\s+\w+ \1\b/.test(statement)) broken.push(rules.row);
  if (verb === 'insert into') {
    const [, rest = ''] = /^.*?\binsert into\b(.*)$/s.exec(statement)!;
    if (/^\s*"?\w+"?\s*\([^()]*\)\s*values\b/.test(rest) && /\(\s*select\b/.test(rest)) broken.push(rules.values);
    if (/^\s*"?\w+"?(\s*\([^()]*\))?\s*select\b/.test(rest) && usesTable(rest.replace(/^\s*\w+/, ''), tables))
      broken.push(rules.insertSelect);
  }
  return broken;
}

const usesTable = (text: string, tables: Set<string>) =>
  [...text.matchAll(/\b(?:from|join|update|into|using|,)\s+"?([a-z_]+)"?(?![\w(])/g)].some(([, name]) =>
    tables.has(name!),
  );
const calls = (text: string, names: Set<string>) =>
  [...text.matchAll(/\b([a-z_0-9]+)\(/g)].some(([, name]) => names.has(name!));

/** The inserts that select and ignore conflicts, and whose number of rows is asked for, each with its table. */
const conflictsCounted = (body: string): [table: string, insert: string][] =>
  [
    ...without(body)
      .replaceAll(/\/\*.*?\*\//g, '')
      .matchAll(
        /\b(insert into (\w+)\b[^;]*\bselect\b[^;]*\bon conflict\b([^;]*));[^;]*\b(?:get diagnostics|found)\b/g,
      ),
  ]
    .filter(([, , , rest]) => !/\breturning\b/.test(rest!))
    .map(([, insert, table]) => [table!, insert!]);

/** Whether a lateral query has no table of its own, and reads one in a query inside. */
function hasEmptyLateral(text: string): boolean {
  return [...text.matchAll(/\blateral \(/gi)].some(({ index, 0: { length } }) => {
    let depth = 1;
    let [outside, inside] = ['', ''];
    for (let at = index + length; depth > 0 && at < text.length; at++) {
      const character = text[at]!;
      if (character === '(') depth++;
      if (character === ')') depth--;
      if (depth === 1) outside += character;
      else inside += character;
    }
    const reads = inside.replaceAll(/extract\(\w+ from/gi, '');
    return !/\bfrom\b/i.test(outside) && /\bselect\b[\s\S]*\bfrom\b/i.test(reads);
  });
}

const without = (body: string) => body.replaceAll(/--[^\n]*/g, '').replaceAll(/'[^']*'/g, "''");

/**
 * The statements of a body: what stands between semicolons, without plpgsql's own keywords that precede a statement.
 */
const statementsOf = (body: string): string[] =>
  without(body)
    .split(/;|\bloop\b/)
    .map((text) =>
      text.replace(
        /^[^]*\b(?:begin|then|else|loop|declare)\b(?=\s+(?:insert|update|delete|select|perform|return|for|if|with)\b)/,
        '',
      ),
    )
    .filter((text) => text.trim() !== '');

const brief = (statement: string) => statement.replaceAll(/\s+/g, ' ').trim().slice(0, 120);
