import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { details, givenIn, must, type Speaker, tenantOf, useWorld } from '../support/world.js';

// Without a worker, so that the sandbox does not complete a deposit before its client does.
const world = useWorld({ worker: false });
const given = givenIn(world);
const folder = new URL('../clients/', import.meta.url);
const run = promisify(execFile);

/** Runs a command in the package of the clients. */
const inFolder = async (command: string, args: string[], environment: Record<string, string> = {}) =>
  (await run(command, args, { cwd: folder, env: { ...process.env, ...environment } })).stdout;

beforeAll(async () => {
  if (!fs.existsSync(new URL('node_modules', folder)))
    await inFolder('npm', ['ci', '--silent', '--ignore-scripts', '--no-audit', '--no-fund']);
});

async function python(): Promise<void> {
  const user = await given.directUser(1);
  const partner = await user.partner({ nickname: 'Nordwind Imports', business_details: details('Nordwind') });
  const dates = { creation_date: '2026-01-31', due_date: '2026-03-02' };
  await must(
    user.post('/v1/receivables', {
      ...{ currency: 'USD', purpose_code: 'P0802', transaction_type: 'services' },
      invoice: { amount: '80.00', currency: 'USD', reference_number: 'INV-7', ...dates },
    }),
  );
  const from = { account_id: partner.id };
  const { id } = await must(user.post('/v1/deposits', { amount: '80.00', currency: 'USD', from }));
  await must(user.post(`/v1/test_helpers/deposits/${id}/complete`));
  await world.database.call('number_events', [tenantOf(user), false, 500]);
  const printed = JSON.parse(await inFolder('python3', ['story.py'], environmentOf(user)));
  expect(printed).toEqual({
    partner: 'Nordwind Imports',
    deposit: ['initialized', '12.00'],
    page: ['80.00'],
    balance: user.id,
    receivables: ['INV-7'],
    events: expect.any(Number),
    refused: [400, ['parameter_invalid', 'parameter_missing', 'parameter_unknown']],
  });
}

const environmentOf = (user: Speaker) => ({ ORIGIN: world.origin, KEY: user.key });

it('a client in Python reads every kind of answer without a loss', async () => {
  await inFolder(process.execPath, ['generate.mjs']);
  await python();
});
