import { type Command, Option } from 'commander';
import { accountSettingV1 } from '../../resources/account-setting/v1.js';
import type { RateRow } from '../../resources/exchange-rate/table.js';
import { PayoutReasonCode, PayoutStatus } from '../../resources/payout/table.js';
import { payoutV1 } from '../../resources/payout/v1.js';
import { currencyCode } from './arguments.js';
import { liveOf } from '../../request/mode.js';
import { type AddCommand, after, given, mode, reason } from './command.js';
import { namedPage } from './named.js';
import { endPayout, listPayouts, listRates, payoutOf, setRate, setServiceHold } from '../money/payouts.js';

/** Adds the commands about payouts, their holds and their rates. */
export function payoutCommands(program: Command, command: AddCommand): void {
  const payouts = program.command('payout').description('Payouts, service holds and exchange rates');

  command(
    payouts,
    'list',
    'List payouts, the newest first; --status processing --mode live lists those that wait for you, the oldest first',
    async (operator, o) => {
      const status = o.status as PayoutStatus | undefined;
      const page = await listPayouts(operator, {
        ...{ status, livemode: liveOf(o.mode), after: o.after as string | undefined },
      });
      return namedPage(operator, page, 'payouts', payoutV1);
    },
  )
    .addOption(new Option('--status <status>').choices(Object.values(PayoutStatus)))
    .addOption(mode())
    .addOption(after());

  command(payouts, 'show <payout>', 'Show a payout', async (operator, _, id) => payoutV1(await payoutOf(operator, id)));
  const end = (name: string, description: string, to: 'completed' | 'failed' | 'returned') =>
    command(payouts, `${name} <payout>`, description, async (operator, o, id) => {
      const report = given(o, { reasonCode: 'reasonCode', bankReference: 'bankReference' });
      return payoutV1(await endPayout(operator, id, to, report));
    })
      .option('--bank-reference <text>', "the bank's own reference of the transfer, such as a UTR")
      .addOption(reason());
  const why = () =>
    new Option('--reason-code <code>', 'why, for the account; general by default').choices(
      Object.values(PayoutReasonCode),
    );
  end('settle', 'Record that a payout has arrived', 'completed');
  end('fail', 'Record that a payout has failed; its money is available again', 'failed').addOption(why());
  end('return', 'Record that a completed payout has come back; its money is available again', 'returned').addOption(
    why(),
  );
  command(payouts, 'hold <account>', "Place a service hold on an account's payouts", async (operator, o, id) =>
    accountSettingV1(await setServiceHold(operator, await operator.account(id, liveOf(o.mode)), true)),
  )
    .addOption(mode())
    .addOption(reason());
  command(payouts, 'release <account>', "Lift the service hold on an account's payouts", async (operator, o, id) =>
    accountSettingV1(await setServiceHold(operator, await operator.account(id, liveOf(o.mode)), false)),
  )
    .addOption(mode())
    .addOption(reason());

  rateCommands(payouts, command);
}

function rateCommands(payouts: Command, command: AddCommand): void {
  command(
    payouts,
    'rate <account>',
    "Set an exchange rate for the live payouts of a root's tenant",
    async (operator, o, id) => {
      const account = await operator.account(id, true);
      return rateJson(await setRate(operator, account, String(o.from), String(o.to), String(o.rate)));
    },
  )
    .requiredOption('--from <currency>', 'ISO 4217 code', currencyCode)
    .requiredOption('--to <currency>', 'ISO 4217 code', currencyCode)
    .requiredOption('--rate <decimal>', 'what one unit of the first currency buys of the second');

  command(
    payouts,
    'rates <account>',
    "List the exchange rates for the live payouts of a root's tenant",
    async (operator, _, id) => ({
      rates: (await listRates(operator, await operator.account(id, true))).map(rateJson),
    }),
  );
}

function rateJson({ source, target, rate }: RateRow) {
  return { from: source, to: target, rate };
}
