import { expect, it } from 'vitest';
import { account } from '../src/account/table.js';
import { preparedMax } from '../src/db/database.js';
import { useWorld } from './world.js';

const world = useWorld({ worker: false });

// Lists have as many statements as there are ways to ask for them, and PostgreSQL keeps each for every connection.
it('keeps so many statements and no more, and answers the others all the same', async () => {
  const { database } = world;
  const numbers = Array.from({ length: preparedMax + 50 }, (_, n) => n);
  const ones = await Promise.all(
    numbers.slice(0, 1_500).map((n) => database.text<{ n: string }>(`select $1::text || '${n}' as n`, ['is '])),
  );
  expect(ones.map(([row]) => row!.n)).toEqual(numbers.slice(0, 1_500).map((n) => `is ${n}`));
  for (const n of numbers.slice(1_500)) {
    const [row] = await database.text<{ n: string }>(`select $1::text || '${n}' as n`, ['is ']);
    expect(row!.n).toBe(`is ${n}`);
  }
  expect(database.catalogue.size).toBe(preparedMax);
  const found = await database.read('none', (db) => db.select({ id: account.id }).from(account).limit(1), {});
  expect(found).toEqual([]);
  expect(database.catalogue.has('none')).toBe(false);
});
