import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const require = createRequire(import.meta.url);

/** The files that take longest, the longest first: begun late, one of them would run on alone at the end. */
const slowest = [
  'cli',
  'process',
  'migration',
  'hosted',
  'compiler',
  'plan',
  'race',
  'outage',
  'isolation',
  'bad-input',
];

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const place = slowest.indexOf(path.basename(moduleId, '.test.ts'));
      return place < 0 ? slowest.length : place;
    };
    return others.toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  // One tenant and mode of graphql: our sources would resolve index.mjs while type-graphql and Apollo load index.js.
  resolve: { alias: [{ find: /^graphql$/, replacement: require.resolve('graphql/index.js') }] },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global.ts'],
    setupFiles: ['reflect-metadata'],
    pool: 'forks',
    // A file computes for about half of its time, and waits for PostgreSQL, a browser or a process for the other half:
    // two cores have work for four of them.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
