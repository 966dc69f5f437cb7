import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { givenIn, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const run = promisify(execFile);
const client = path.resolve('clients/typescript');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-own-contract-'));

beforeAll(async () => {
  if (!fs.existsSync(path.join(client, 'node_modules')))
    await run('npm', ['ci', '--silent', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: client });
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

/** What a client of Edition 2 may write, and what it may not. */
const program = `import type { components, paths } from './own.js';
type Deposit = components['schemas']['Deposit'];
type Query = NonNullable<paths['/v1/deposits']['get']['parameters']['query']>;
type Body = paths['/v1/deposits']['post']['requestBody']['content']['application/json'];
export const paid: Deposit['payment_method'] = 'upi';
export const query: Query = { payment_method: ['card', 'upi'] };
export const body: Body = {
  ...{ amount: '1.00', currency: 'INR', payment_method: 'upi' },
  ...{ from: { account_id: 'a' }, to: { account_id: 'b' } },
};
export type Checkouts = paths['/v1/checkouts']['get'];
// @ts-expect-error It has no such payment method.
export const method: Deposit['payment_method'] = 'klarna';
// @ts-expect-error Nor does a filter.
export const filter: Query = { payment_method: ['klarna'] };
// @ts-expect-error A deposit requires how it is paid, and to whom.
export const lacking: Body = { amount: '1.00', currency: 'INR', from: { account_id: 'a' } };
// @ts-expect-error An account has no such amount.
export type Volume = components['schemas']['Account']['business_details']['estimated_monthly_volume'];
`;

it('the contract of a key of Edition 2 makes types that have nothing of Edition 1', async () => {
  const user = await given.directUser(2);
  const file = (name: string) => path.join(folder, name);
  fs.writeFileSync(file('own.json'), (await user.get('/openapi.json')).text);
  fs.writeFileSync(file('program.ts'), program);
  fs.writeFileSync(file('package.json'), '{ "type": "module" }');
  const bin = (name: string) => path.join(client, 'node_modules', name);
  await run(process.execPath, [bin('openapi-typescript/bin/cli.js'), file('own.json'), '-o', file('own.d.ts')]);
  const flags = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--module', 'nodenext'];
  const compiled = await run(process.execPath, [bin('typescript/bin/tsc'), ...flags, 'program.ts'], {
    cwd: folder,
  }).catch(({ stdout }) => ({ stdout }));
  expect(compiled.stdout).toBe('');
});
