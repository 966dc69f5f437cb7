import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { eventually, givenIn, type Speaker, useWorld } from './world.js';

const world = useWorld();
const given = givenIn(world);
const folder = new URL('clients/', import.meta.url);
const run = promisify(execFile);

/** Runs a command in the package of the clients. */
const inFolder = async (command: string, args: string[], environment: Record<string, string> = {}) =>
  (await run(command, args, { cwd: folder, env: { ...process.env, ...environment } })).stdout;

let user: Speaker;
beforeAll(async () => {
  if (!fs.existsSync(new URL('node_modules', folder)))
    await inFolder('npm', ['ci', '--silent', '--ignore-scripts', '--no-audit', '--no-fund']);
  await inFolder(process.execPath, ['generate.mjs']);
  user = await given.directUser(1);
}, 300_000);
const environment = () => ({ ORIGIN: world.origin, KEY: user.key });

it('a TypeScript client compiles, and creates a partner, a receivable and a deposit, lists, and reads an error', async () => {
  await inFolder(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.']);
  const told = JSON.parse(await inFolder(process.execPath, ['generated/story.js'], environment()));
  expect(told).toEqual({
    partner: ['partner', 'DE', null],
    receivable: ['open', '80.00'],
    deposit: ['initialized', 'completed', true],
    page: [[true], false],
    refused: [400, [['parameter_invalid', 'deposit.amount']]],
    unused: [80, 'lost'],
  });
});

it('generated Python classes read every kind of answer without a loss', async () => {
  await eventually(
    () => user.get('/v1/events'),
    ({ body }) => body.data.length > 3,
  );
  const told = JSON.parse(await inFolder('python3', ['story.py'], environment()));
  expect(told).toEqual({
    partner: 'Nordwind Imports',
    deposit: ['initialized', '12.00'],
    page: ['80.00'],
    balance: user.id,
    receivables: ['INV-7'],
    events: expect.any(Number),
    refused: [400, ['parameter_invalid', 'parameter_missing', 'parameter_unknown']],
  });
});
