import type { World } from '../support/world.js';

/** Holds every read whose name matches until it is let go, and counts those that it holds. */
export function holding({ database }: World, name: RegExp) {
  const { read } = database;
  let free = () => {};
  const gate = new Promise<void>((resolve) => (free = resolve));
  const held = { count: 0, free: () => {} };
  database.read = (async (...args: Parameters<typeof read>) => {
    if (name.test(args[0])) {
      held.count++;
      await gate;
    }
    return read.apply(database, args);
  }) as typeof read;
  held.free = () => {
    Object.assign(database, { read });
    free();
  };
  return held;
}

/** Holds a lock on a table against every reader until it is released. */
export async function locked(of: World, table: string): Promise<() => Promise<void>> {
  const held = await of.sql.reserve();
  await held.unsafe(`begin; lock table ${table} in access exclusive mode`);
  return async () => {
    await held.unsafe('rollback');
    held.release();
  };
}
