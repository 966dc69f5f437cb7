import { type Command, Option } from 'commander';
import { TriggerError } from './gateway.js';
import { goneEndpoint } from './gone-endpoint.js';
import { trigger } from './trigger.js';
import { triggerTypes } from './types.js';
import { gatewayOption, lineOf } from '../events.js';
import { print, say } from '../terminal.js';

interface Options {
  gateway: string;
  key?: string;
  list?: boolean;
  printJson?: boolean;
}

/** Adds the command that makes an event of a type really happen, over HTTP and with a test key alone. */
export function triggerCommand(program: Command): void {
  program
    .command('trigger')
    .argument('[type]', 'the type of the event, such as deposit.completed')
    .description('Make an event of a type happen in test mode, by the public API and the test helpers')
    .addOption(new Option('--key <key>', 'a test key, sk_test_…').env('TIDEGATE_KEY'))
    .addOption(gatewayOption())
    .option('--list', 'list all types, with when they happen')
    .option('--print-json', 'print the event as one line of JSON')
    .action(run);
}

async function run(type: string | undefined, { gateway, key, list, printJson }: Options): Promise<void> {
  if (list) {
    for (const { type: name, when, reason } of triggerTypes())
      await print(`${name.padEnd(34)}${reason === undefined ? when : `Not by a test key: ${reason}`}\n`);
    return;
  }
  if (type === undefined) throw new TriggerError('Name a type of events. tidegate trigger --list shows all types.');
  if (key === undefined) throw new TriggerError('Send a test key with --key or in TIDEGATE_KEY.');
  const event = await trigger({ gateway, credential: { authorization: `Bearer ${key}` }, type, goneEndpoint, say });
  await print(`${printJson ? JSON.stringify(event) : `${lineOf(event)}  ${event.id}`}\n`);
}
