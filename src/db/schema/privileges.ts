import postgres from 'postgres';
import { MigrationError } from './schema-version.js';

/** The privileges that a serving role needs in the schema `drizzle`, which records the migrations. */
const neededOfBookkeeping = [
  ['select', 'drizzle.schema_version, drizzle.runtime_role'],
  ['select, insert', 'drizzle.pepper'],
] as const;

/**
 * Grants every serving role the privileges that it needs, and revokes from it and from the owner those that would allow
 * changes to the append-only tables. Each migration repeats this, for new tables, and because a restore without
 * privileges loses them.
 */
export async function grant(tx: postgres.TransactionSql, grantTo: string | undefined): Promise<void> {
  const [{ owner, lists } = { owner: '', lists: '' }] = await tx`
    select (select t.tableowner from pg_tables t where t.schemaname = 'public' and t.tablename = 'entry') as owner,
           (select string_agg(format('public.%I', name), ', ') from unnest(append_only_tables()) name) as lists`;
  if (grantTo !== undefined && grantTo !== owner) {
    const [role] = await tx`
      select rolsuper, pg_has_role(oid, ${owner}::name, 'member') as owns from pg_roles where rolname = ${grantTo}`;
    if (!role) throw new MigrationError(`There is no role "${grantTo}" on this server: create it first.`);
    if (role.rolsuper)
      throw new MigrationError(`The role "${grantTo}" is a superuser, from which no privilege can be withheld.`);
    if (role.owns) throw new MigrationError(`The role "${grantTo}" is a member of "${owner}", which owns the tables.`);
    await tx`insert into drizzle.runtime_role (name) values (${grantTo}) on conflict (name) do nothing`;
  }
  await tx.unsafe(`revoke update, delete, truncate on ${lists} from public, ${quoted(owner)}`);
  const roles = await tx`select r.name from drizzle.runtime_role r join pg_roles p on p.rolname = r.name order by 1`;
  for (const { name } of roles) {
    const role = quoted(name);
    await tx.unsafe(`
      grant usage on schema public, drizzle to ${role};
      revoke create on schema public, drizzle from ${role};
      revoke all on all tables in schema public from ${role};
      grant select, insert, update, delete on all tables in schema public to ${role};
      revoke update, delete on ${lists} from ${role};
      revoke all on all tables in schema drizzle from ${role};
      grant execute on all functions in schema public to ${role};
      ${neededOfBookkeeping.map(([privileges, tables]) => `grant ${privileges} on ${tables} to ${role};`).join('\n')}`);
  }
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
