import fs from 'node:fs';
import { beforeAll, describe, inject, it } from 'vitest';
import { demos, seedDemo } from '../../src/server/demo/demo.js';
import { expectPrinted } from '../support/page-commands.js';
import { useWorld } from '../support/world.js';

describe('the tours of the documentation, on a cluster', () => {
  const world = useWorld();
  let demo: string;
  // The command that seeds the demo is for the embedded server alone, so that nobody finds it in a real database.
  beforeAll(async () => {
    await seedDemo(world.operator, world.pepper, () => {});
    demo = JSON.stringify({ demos: await demos(world.operator, world.pepper) });
  }, 600_000);

  it.each(['README.md', 'docs/getting-started.md'])(
    'print in both editions what the page shows: %s',
    async (name) => {
      const commands = /npm run --silent tidegate -- demo --json|tidegate demo/g;
      const text = fs.readFileSync(name, 'utf8').replaceAll(commands, 'printf %s "$DEMOS"');
      const store = { DATABASE_URL: inject('distributed')!, API_KEY_PEPPER: world.pepper };
      await expectPrinted(text, { ...store, TIDEGATE: world.origin, DEMOS: demo });
    },
    600_000,
  );
});
