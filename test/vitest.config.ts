import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const require = createRequire(import.meta.url);

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  // One tenant and mode of graphql: our sources would resolve index.mjs while type-graphql and Apollo load index.js.
  resolve: { alias: [{ find: /^graphql$/, replacement: require.resolve('graphql/index.js') }] },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global.ts'],
    setupFiles: ['reflect-metadata'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
