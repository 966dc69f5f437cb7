import { beforeAll } from 'vitest';
import { type Children } from '../support/child.js';

/** Retries last five seconds; a request without a response after more than twice that time is lost. */
export function answered<T>(reply: Promise<T>): Promise<T | 'no answer'> {
  return Promise.race([reply, new Promise<'no answer'>((resolve) => setTimeout(resolve, 12_000, 'no answer'))]);
}

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
