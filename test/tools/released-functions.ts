/*
 * Writes the functions of a release, by their types, and the arguments that those that write declare:
 * `npx tsx test/tools/released-functions.ts COMMIT > test/fixtures/schema-VERSION/functions.json`.
 * test/unit/released-functions.test.ts compares them with those of today.
 */
import { execFileSync } from 'node:child_process';
import { definedIn } from '../../src/db/write/print-write-functions.js';
import { signaturesOf } from '../support/released-functions.js';

const [commit = ''] = process.argv.slice(2);
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
const retiredKey = /, \w+\? [a-z]+(\[\])?( null)? retired(?=[,'\s])/g;
const files = git('ls-tree', '-r', '--name-only', commit, 'drizzle/functions').split('\n').filter(Boolean);
// What the release had retired is left out: its gateways call it no more.
const defined = files
  .flatMap((file) => definedIn(file, git('show', `${commit}:${file}`).replaceAll(retiredKey, '')))
  .filter(({ retired }) => !retired);
process.stdout.write(`${JSON.stringify(signaturesOf(defined), null, 2)}\n`);
