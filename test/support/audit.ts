import { afterAll, afterEach, expect } from 'vitest';
import { evidence, scale } from './scale.js';
import type { World } from './world.js';

/**
 * Holds that the ledgers of a file's worlds keep every invariant: at the end of the file, and in the long form after
 * each of its tests, which then says which one broke it. An audit reads all that the tests before it wrote, so one
 * after each test takes a third of PostgreSQL's time in a file with many. Call it after `useWorld`.
 */
export function auditLedger(...worlds: World[]): void {
  const after = scale.whole ? afterEach : afterAll;
  after(async () => {
    for (const { sql } of worlds) expect(await sql`select rule, what from violations`).toEqual([]);
    evidence({ audits: worlds.length });
  });
}
