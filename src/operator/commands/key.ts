import { type Command, Option } from 'commander';
import type { ApiKeyRow } from '../../resources/key/table.js';
import { apiKeyV1 } from '../../resources/key/v1.js';
import { duration } from './arguments.js';
import { liveOf } from '../../request/mode.js';
import { type AddCommand, mode } from './command.js';
import { keyOf, keysOf } from '../account/accounts.js';

/** Adds the commands about API keys. */
export function keyCommands(program: Command, command: AddCommand): void {
  const keys = program.command('key').description('API keys');

  command(keys, 'create', 'Create a key for an account', async (operator, o) => {
    const owner = await operator.account(String(o.account), liveOf(o.mode));
    return keyJson(
      await operator.as(owner, 'createApiKey', { permission: o.permission, expiresInSeconds: o.expiresIn }),
    );
  })
    .requiredOption('--account <account>')
    .addOption(mode().makeOptionMandatory())
    .addOption(new Option('--permission <permission>').choices(['full', 'read']).default('full'))
    .option('--expires-in <time>', 'such as 12h or 30d', duration);

  command(keys, 'list', "List an account's keys", async (operator, o) => ({
    keys: (await keysOf(operator, await operator.account(String(o.account), liveOf(o.mode)))).map(apiKeyV1),
  }))
    .requiredOption('--account <account>')
    .addOption(mode());

  command(
    keys,
    'rotate <key>',
    'Create a new key; the old one stays valid for a grace period',
    async (operator, o, id) => {
      const row = await keyOf(operator, id);
      return keyJson(
        await operator.as(await operator.account(row.accountId, row.livemode), 'rotateApiKey', {
          id,
          graceSeconds: o.grace,
        }),
      );
    },
  ).option('--grace <time>', 'such as 0h, 12h or 7d; one day by default', duration);

  command(keys, 'revoke <key>', 'Revoke a key', async (operator, _, id) => {
    const row = await keyOf(operator, id);
    return keyJson(await operator.as(await operator.account(row.accountId, row.livemode), 'revokeApiKey', { id }));
  });
}

function keyJson({ apiKey, secret }: { apiKey: ApiKeyRow; secret?: string }) {
  return secret === undefined ? { key: apiKeyV1(apiKey) } : { key: apiKeyV1(apiKey), secret };
}
