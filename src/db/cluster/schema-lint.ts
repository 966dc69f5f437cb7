import type postgres from 'postgres';
import { functionOffences, type Offence } from './function-lint.js';
import { ofDeployment } from './tables.js';

/**
 * What keeps a schema from being distributed by tenant: no rows means ready. It found every offence when it was tried
 * against a schema with seven of them.
 */
const lint = `
with t as (select c.oid, c.relname from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'),
 key as (select attrelid oid, attnum from pg_attribute where attname = 'tenant_id' and attnum > 0),
 mode as (select attrelid oid, attnum from pg_attribute where attname = 'livemode' and attnum > 0)
select 'no tenant_id: give the table keyColumns()' rule, relname::text what
   from t where oid not in (select oid from key)
   and relname not in (${Object.keys(ofDeployment)
     .map((name) => `'${name}'`)
     .join(', ')})
union all select 'primary key not led by tenant and mode: put them first', t.relname::text
   from t join key k on k.oid = t.oid
   join mode m on m.oid = t.oid join pg_index i on i.indrelid = t.oid and i.indisprimary
   where (i.indkey::int2[])[0] is distinct from k.attnum or (i.indkey::int2[])[1] is distinct from m.attnum
union all select 'unique not led by tenant and mode: put them first', i.indexrelid::regclass::text from pg_index i
   join t on t.oid = i.indrelid join key k on k.oid = t.oid join mode m on m.oid = t.oid
   where i.indisunique
     and ((i.indkey::int2[])[0] is distinct from k.attnum or (i.indkey::int2[])[1] is distinct from m.attnum)
union all select 'foreign key not on tenant_id: name it on both sides', o.conname
   from pg_constraint o join t on t.oid = o.conrelid
   join t r on r.oid = o.confrelid
   join key a on a.oid = o.conrelid join key b on b.oid = o.confrelid
   where o.contype = 'f' and array_position(o.conkey, a.attnum) is distinct from array_position(o.confkey, b.attnum)
union all select 'on delete set null/default: let the function do it', conname from pg_constraint
   where contype = 'f' and confdeltype in ('n', 'd') and connamespace = 'public'::regnamespace
union all select 'exclusion constraint: let the function refuse it', conname from pg_constraint
   where contype = 'x' and connamespace = 'public'::regnamespace
union all select 'row trigger: let the function write what it would', t.relname || '.' || tgname
   from pg_trigger g join t on t.oid = g.tgrelid
   where not tgisinternal
union all select 'identity or serial: take new_id()', t.relname || '.' || attname
   from pg_attribute a join t on t.oid = a.attrelid
   where attnum > 0 and (attidentity <> '' or exists (
     select from pg_attrdef d
     where d.adrelid = a.attrelid and d.adnum = a.attnum and pg_get_expr(d.adbin, d.adrelid) like 'nextval%'))
union all select 'char(n): take text', t.relname || '.' || attname from pg_attribute a join t on t.oid = a.attrelid
   where attnum > 0 and atttypid = 'bpchar'::regtype
union all select 'enum type: take text with a check by isOneOf()', t.relname || '.' || attname
   from pg_attribute a join t on t.oid = a.attrelid
   join pg_type y on y.oid = a.atttypid where attnum > 0 and y.typtype = 'e'
union all select 'constraint name over 50 bytes: shorten it', conname from pg_constraint
   where connamespace = 'public'::regnamespace and octet_length(conname) > 50
union all select 'index name over 50 bytes: shorten it', relname from pg_class
   where relkind = 'i' and relnamespace = 'public'::regnamespace and octet_length(relname) > 50
union all select 'language sql function: write it in plpgsql', p.proname
   from pg_proc p join pg_language l on l.oid = p.prolang
   where l.lanname = 'sql' and p.pronamespace = 'public'::regnamespace
union all select 'no primary key: give it tenant, mode and id', relname from t
   where not exists (select from pg_index i where i.indrelid = t.oid and i.indisprimary)
union all select 'default depends on the node: let the function set it', t.relname || '.' || a.attname from pg_attrdef d
   join t on t.oid = d.adrelid join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
   where pg_get_expr(d.adbin, d.adrelid) ~ 'pg_current_xact_id|txid_current|pg_backend_pid'
order by 1, 2`;

/** What keeps a database from being distributed by tenant, in its tables and in its functions. Needs no Citus. */
export async function schemaOffences(sql: postgres.Sql): Promise<Offence[]> {
  const tables = (await sql.unsafe(lint)).map(({ rule, what }) => ({ rule: String(rule), what: String(what) }));
  return [...tables, ...(await functionOffences(sql))];
}
