import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { Webhook } from 'standardwebhooks';
import { AccountScope } from '../../types/account-scope.js';
import type { EventV1 } from './trigger/gateway.js';
import { followEvents } from './event-client.js';
import { print, say } from './terminal.js';

const forwardMilliseconds = 15_000;

interface Options {
  gateway: string;
  key: string;
  types?: string;
  after?: number;
  scope?: AccountScope;
  printJson?: boolean;
  count?: number;
  forwardTo?: string;
  secret?: string;
}

/**
 * Adds the commands that follow the events of a gateway over HTTP. They need an API key alone: neither the database nor
 * a public address.
 */
export function eventCommands(program: Command): void {
  common(
    program
      .command('listen')
      .description('Forward events as signed webhooks to an address of this machine, as they happen'),
  )
    .requiredOption('--forward-to <url>', 'where each event is sent by POST', gatewayAddress)
    .option('--secret <whsec>', 'the secret that signs; by default a new one, which is printed', secretOf)
    .action((options: Options) => listen(options));

  const events = program.command('events').description('Events');
  common(events.command('tail').description('Print events as they happen')).action((options: Options) =>
    follow(options, (event) => printEvent(options, event, lineOf(event))),
  );
}

function common(command: Command): Command {
  return command
    .addOption(new Option('--key <key>', 'an API key, such as sk_test_…').env('TIDEGATE_KEY').makeOptionMandatory())
    .addOption(gatewayOption())
    .option('--types <types>', 'such as deposit.completed,payout.*')
    .option('--after <number>', 'begin after the event with this number; 0 for all', wholeNumber)
    .addOption(
      new Option('--scope <scope>', 'for a platform: descendants has also the events of its connected users').choices(
        Object.values(AccountScope),
      ),
    )
    .option('--count <count>', 'end after so many events', wholeNumber)
    .option('--print-json', 'print each event as one line of JSON');
}

async function listen(options: Options): Promise<void> {
  const secret = options.secret ?? `whsec_${randomBytes(24).toString('base64')}`;
  const webhook = new Webhook(secret);
  say(`Events are signed with the secret ${secret}`);
  await follow(options, async (event) => {
    const began = performance.now();
    const outcome = await forwarded(options.forwardTo!, webhook, event);
    await printEvent(options, event, `${lineOf(event)}  -> ${outcome} (${Math.round(performance.now() - began)} ms)`);
  });
}

async function follow(options: Options, use: (event: EventV1) => Promise<void>): Promise<void> {
  const { gateway, key, after, types, scope, count = Number.POSITIVE_INFINITY } = options;
  let used = 0;
  for await (const event of followEvents({ gateway, key, after, types, scope, say })) {
    await use(event);
    if (++used >= count) return;
  }
}

function printEvent({ printJson }: Options, event: EventV1, line: string): Promise<void> {
  return print(`${printJson ? JSON.stringify(event) : line}\n`);
}

/** An event as one readable line. */
export function lineOf({ created, number, type, data }: EventV1): string {
  const time = new Date(created * 1000).toISOString().slice(0, 19).replace('T', ' ');
  return `${time}  #${number}  ${type}  ${data.object.id ?? ''}`;
}

/** Sends an event once, with the headers and the body of a webhook; returns the status, or why there is none. */
async function forwarded(url: string, webhook: Webhook, event: EventV1): Promise<string> {
  const body = JSON.stringify(event);
  const at = new Date();
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Tidegate-Webhooks',
        'webhook-id': event.id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': webhook.sign(event.id, at, body),
      },
      signal: AbortSignal.timeout(forwardMilliseconds),
    });
    await response.body?.cancel();
    return String(response.status);
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    return `no answer: ${cause?.code ?? message}`;
  }
}

/** The option for the gateway of a command that works over HTTP. */
export const gatewayOption = () =>
  new Option('--gateway <url>', 'the address of the gateway')
    .env('TIDEGATE')
    .default('http://127.0.0.1:4000')
    .argParser(gatewayAddress);

function gatewayAddress(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new InvalidArgumentError('It must be an address, such as http://localhost:3000/hooks.');
  return text;
}

function secretOf(text: string): string {
  if (!/^whsec_[A-Za-z0-9+/]{32,}=*$/.test(text))
    throw new InvalidArgumentError('It must be a secret of webhooks, whsec_ and base64.');
  return text;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
