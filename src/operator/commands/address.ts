import { type Command, Option } from 'commander';
import { addressV1 } from '../../resources/address/v1.js';
import { currencyCode } from './arguments.js';
import { type AddCommand, given } from './command.js';
import { issueAddress } from '../account/accounts.js';

/** Adds the commands about receiving addresses. */
export function addressCommands(program: Command, command: AddCommand): void {
  const addresses = program.command('address').description('Receiving addresses');

  command(addresses, 'issue', 'Record a live receiving address that the bank has issued', async (operator, o) => {
    const bankAccount = given(o, {
      bankName: 'bankName',
      number: 'number',
      iban: 'iban',
      domesticCredit: 'domesticCredit',
      domesticDebit: 'domesticDebit',
      domesticFastCredit: 'domesticFastCredit',
      domesticWire: 'domesticWire',
      globalWire: 'globalWire',
    });
    const owner = await operator.account(String(o.account), true);
    return addressV1(
      await issueAddress(operator, owner, {
        category: o.category as 'service_receive',
        currency: String(o.currency),
        bankAccount,
      }),
    );
  })
    .requiredOption('--account <account>')
    .requiredOption('--currency <currency>', 'ISO 4217 code', currencyCode)
    .addOption(
      new Option('--category <category>')
        .choices(['service_receive', 'service_fee_advance'])
        .default('service_receive'),
    )
    .option('--bank-name <name>')
    .option('--number <number>')
    .option('--iban <iban>')
    .option('--domestic-credit <code>', 'routing code for domestic transfers')
    .option('--domestic-debit <code>')
    .option('--domestic-fast-credit <code>')
    .option('--domestic-wire <code>')
    .option('--global-wire <code>', 'SWIFT/BIC');
}
