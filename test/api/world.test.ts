import { afterAll, describe, expect, it } from 'vitest';
import { until, useChildren } from '../support/child.js';
import { useWorld, type World } from '../support/world.js';

let world: World;
let children: ReturnType<typeof useChildren>;
/** A gateway that begins to open in the last moment, as in a hook that ran out of time: its address or its end. */
let late: Promise<string>;

describe('the tests of a world', () => {
  world = useWorld({ worker: false });
  children = useChildren();
  // Runs before the ends of the world and of the processes, which do not wait for what it begins.
  afterAll(() => {
    late = world.another();
    late.catch(() => {});
  });

  it('have gateways and processes', async () => {
    const origins = [world.origin, await world.another()];
    for (const origin of origins) expect((await fetch(`${origin}/healthz`)).status).toBe(200);
    expect(await children.database()).toHaveProperty('DATABASE_URL');
  });
});

describe('after their end', () => {
  it('nothing serves any more, not even what was about to', async () => {
    await expect(late.then((origin) => fetch(`${origin}/healthz`))).rejects.toThrow();
    await until(() => world.apps.every(({ server }) => !server.listening));
    await expect(world.another()).rejects.toThrow('The tests of this world are over.');
  });

  it('no process, folder or database is made', async () => {
    const refusal = 'The tests of these processes are over.';
    for (const make of [() => children.start({}), () => children.startCommand({}, '--help'), () => children.folder()])
      expect(make).toThrow(refusal);
    await expect(children.database()).rejects.toThrow(refusal);
    await expect(children.preparedFolder('demo')).rejects.toThrow(refusal);
    await expect(children.command({}, '--help')).rejects.toThrow(refusal);
    await expect(children.quickCommand({}, '--help')).rejects.toThrow(refusal);
  });
});
