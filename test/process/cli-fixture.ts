import fs from 'node:fs';
import { beforeAll, expect } from 'vitest';
import { type Children, type Finished, type Gateway, postmaster } from '../support/child.js';
import { scale } from '../support/scale.js';
import { type Speaker } from '../support/world.js';

export type Json = any;

export function document(finished: Finished): Json {
  expect([finished.errors, finished.code]).toEqual(['', 0]);
  const parsed = JSON.parse(finished.out);
  expect(finished.out).toBe(`${JSON.stringify(parsed)}\n`);
  return parsed;
}

/** The printed object of a command must equal that of /v1, to the byte. */
export async function sameAsV1(printed: Json, speaker: Speaker, path: string): Promise<void> {
  const reply = await speaker.get(`${path}/${printed.id}`);
  expect([reply.status, `${JSON.stringify(printed)}\n`]).toEqual([200, reply.text]);
}

/** An object of the account Weaver as lists print it. */
export const named = (row: Json): Json => ({ ...row, account_name: 'Weaver' });

/** The processes with this folder in their command line: PostgreSQL and its supervisor. */
export function processesOf(folder: string): string[] {
  if (process.platform !== 'linux') return [];
  return fs
    .readdirSync('/proc')
    .filter((id) => /^\d+$/.test(id))
    .map((id) => (fs.existsSync(`/proc/${id}/cmdline`) ? safely(`/proc/${id}/cmdline`) : ''))
    .filter((command) => command.includes(folder));
}

/** A process may end between the read of the list and the read of its command line. */
function safely(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** A gateway in a folder with the demo, five root accounts, and the commands there. */
export function commandsIn(children: Children) {
  const started = {} as {
    DATA_DIR: string;
    gateway: Gateway;
    // The demo command runs before the gateway starts; all others run while the gateway does, as for an operator.
    seeded: Json;
  };
  /** Runs a command on the folder of the running gateway, in a process that runs many commands. */
  const tidegate = (...args: string[]) => children.quickCommand({ DATA_DIR: started.DATA_DIR }, ...args);
  /** Runs it in a separate process, as an operator does; used once for each kind of exit. */
  const ownProcess = (...args: string[]) => children.command({ DATA_DIR: started.DATA_DIR }, ...args);

  /** The JSON document of a command that prints nothing else. */
  async function outputOf(...args: string[]): Promise<Json> {
    return document(await tidegate(...args, '--json'));
  }

  /** The roots of this file, each created by one command; every chapter uses separate modes of them. */
  const made = {} as Record<'first' | 'direct' | 'second' | 'aggregator' | 'directSecond', Json>;
  const id = (name: keyof typeof made): string => made[name].account.id;
  const test = (name: keyof typeof made): Speaker => started.gateway.speaker(made[name].keys.test);
  const live = (name: keyof typeof made): Speaker => started.gateway.speaker(made[name].keys.live);

  beforeAll(async () => {
    // Seeding takes the longest, and a start seeds in the same way: only the long form has the command do it.
    started.DATA_DIR = scale.whole ? children.folder() : await children.preparedFolder('demo');
    document(await ownProcess('migrate', '--json'));
    started.seeded = document(await ownProcess('demo', '--json'));
    expect([postmaster(started.DATA_DIR), processesOf(started.DATA_DIR)]).toEqual([undefined, []]);
    started.gateway = await children.gateway({ DATA_DIR: started.DATA_DIR });
    const create = (...args: string[]) => outputOf('account', 'create', '--legal-name=Root Traders', ...args);
    const docs = await Promise.all([
      create('--type=platform', '--edition=1'),
      create('--type=user', '--edition=1', '--nickname=Harbour'),
      create('--type=platform', '--edition=2'),
      create('--type=platform', '--edition=2', '--sub-type=aggregator'),
      create('--type=user', '--edition=2'),
    ]);
    for (const [i, name] of (['first', 'direct', 'second', 'aggregator', 'directSecond'] as const).entries())
      made[name] = docs[i];
  });
  return { started, tidegate, ownProcess, outputOf, made, id, test, live };
}
