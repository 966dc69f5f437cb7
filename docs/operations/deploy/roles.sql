-- Makes the role that serves and its limits; may run again. Run it with psql, which finds the role's password in
-- GATEWAY_PASSWORD, as a superuser, or as the owner of the database with the right CREATEROLE.
-- `tidegate migrate --grant-to tidegate_runtime` gives the role its privileges.
\set ON_ERROR_STOP on
\getenv password GATEWAY_PASSWORD
select 'create role tidegate_runtime login'
where not exists (select from pg_roles where rolname = 'tidegate_runtime') \gexec
alter role tidegate_runtime password :'password';
-- PgBouncer does not pass on the limits that a gateway sends when it connects.
select format('alter role tidegate_runtime in database %I set %I = %L', current_database(), name, value)
from (values ('statement_timeout', '5s'), ('lock_timeout', '2s')) as limits (name, value) \gexec
