import { type Command, Option } from 'commander';
import { checkAdapter } from '../../hosted/adapter/conformance.js';
import { amountText } from '../../types/scalars.js';
import { amount, currencyCode, name, wholeNumber } from './arguments.js';
import type { Options, Result } from './command.js';

/** How long the checks wait for an end or a report, in seconds. */
const secondsDefault = 30;

/** Adds the command that tries an adapter of an acquirer. It needs no database. */
export function acquirerCommands(
  program: Command,
  printResult: (result: Result, options: Options) => Promise<void>,
): void {
  program
    .command('acquirer')
    .description('Adapters of acquirers')
    .command('check <url>')
    .description('Try an adapter: whether it answers and reports as schema/acquirer.json has it; exit code 1 if not')
    .addOption(new Option('--secret <whsec>', 'the secret of the adapter').env('ACQUIRER_SECRET').makeOptionMandatory())
    .option('--token <token>', 'a token with which a payment succeeds; it is charged, so let it be of a sandbox', name)
    .option('--amount <amount>', 'what is charged', amount, 100n)
    .option('--currency <currency>', 'the currency of the amount', currencyCode, 'INR')
    .option('--listen <port>', 'a port of this machine to which the adapter reports', wholeNumber)
    .option('--json', 'print one JSON document')
    .action(async (url: string, options: Options) => {
      const checks = await checkAdapter({
        ...{ url: url.replace(/\/$/, ''), secret: String(options.secret) },
        ...{ amount: amountText(options.amount as bigint), currency: String(options.currency) },
        ...{ token: options.token as string | undefined, listen: options.listen as number | undefined },
        seconds: secondsDefault,
      });
      await printResult({ checks }, options);
      if (checks.some(({ result }) => result === 'failed')) process.exitCode = 1;
    });
}
