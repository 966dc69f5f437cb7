import { beforeAll } from 'vitest';
import { type Children } from '../support/child.js';

/** A folder with the demo, for tests that change nothing there. */
export function demoIn(children: Children) {
  const folder = {} as {
    /** The folder of the chapters that only need an existing demo. */
    DATA_DIR: string;
  };
  beforeAll(async () => {
    folder.DATA_DIR = await children.preparedFolder('demo');
  });
  return { folder };
}
