import { defineConfig } from 'drizzle-kit';

/**
 * Migrations are generated from the slices' table files; `drizzle/functions` is applied after them by
 * `src/db/schema/migrate.ts`.
 */
export default defineConfig({
  dialect: 'postgresql',
  schema: ['./src/*/table.ts', './src/*/*/table.ts'],
  out: './drizzle',
});
