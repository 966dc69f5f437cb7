import { inject, describe, expect, it } from 'vitest';
import { openClient } from '../src/db/connection.js';

/** PostgreSQL sends two rows of it, and then fails. */
const failsAmongItsRows = 'select 10 / (3 - n) from generate_series(1, 5) n';

describe('the result of a statement, after one that failed among its rows on the same connection,', () => {
  it.each<[string, boolean]>([
    ['at once behind it', true],
    ['after it', false],
  ])('has all its rows at their places: %s', async (_, pipelined) => {
    const client = openClient({ ...inject('admin'), database: 'postgres', max: 1, fetch_types: false });
    try {
      const asked = [
        () => client.unsafe('select n from generate_series(7, 8) n'),
        () => client.unsafe('select n from generate_series($1::int4, 8) n', [7], { prepare: true }).values(),
        () => client`select n from generate_series(${7}::int4, 8) n`,
        () => client.unsafe('select 1 where false'),
      ];
      const answers: unknown[][] = [];
      for (const ask of asked) {
        const failure = client.unsafe(failsAmongItsRows).then(
          () => undefined,
          (error: { code: string }) => error.code,
        );
        if (!pipelined) await failure;
        const rows = await ask().execute();
        expect(await failure).toBe('22012');
        answers.push([rows.columns.length, ...rows]);
      }
      expect(answers).toEqual([[1, { n: 7 }, { n: 8 }], [1, [7], [8]], [1, { n: 7 }, { n: 8 }], [1]]);
    } finally {
      await client.end({ timeout: 1 });
    }
  });
});
