import { type Command, Option } from 'commander';
import type { AccountRow, AccountStatus } from '../../resources/account/table.js';
import { accountV1 } from '../../resources/account/v1.js';
import { fileV1 } from '../../resources/file/v1.js';
import { personV1 } from '../../resources/person/v1.js';
import { OperatorError } from '../operator.js';
import type { Verification } from '../account/accounts.js';
import { email, flag, name, wholeNumber } from './arguments.js';
import { liveOf } from '../../request/mode.js';
import { type AddCommand, after, given, mode, reason } from './command.js';
import { modeOf } from '../../request/mode.js';
import {
  createRoot,
  deactivateAccount,
  holdAccount,
  listAccounts,
  taxCardNumber,
  updateRoot,
  verificationOf,
  verifyAccount,
} from '../account/accounts.js';

/** Adds the commands about accounts. */
export function accountCommands(program: Command, command: AddCommand): void {
  const accounts = program.command('account').description('Platforms, users and partners');
  createCommand(accounts, command);
  statusCommands(accounts, command);
  updateCommand(accounts, command);
  showCommands(accounts, command);
}

function createCommand(accounts: Command, command: AddCommand): void {
  command(
    accounts,
    'create',
    'Create a platform or direct user, or a connected user with --platform',
    async (operator, o) => {
      const businessDetails = { legalName: String(o.legalName) };
      const nickname = o.nickname as string | undefined;
      if (o.platform !== undefined) {
        if (o.type !== 'user') throw new OperatorError('--platform requires --type user.');
        if (o.mode === undefined)
          throw new OperatorError('--mode is required with --platform: a connected user exists in one mode only.');
        const platform = await operator.account(String(o.platform), liveOf(o.mode));
        const { account } = await operator.as<{ account: AccountRow }>(platform, 'createConnectedUser', {
          businessDetails,
          nickname,
        });
        const { secret } = await operator.as<{ secret: string }>(account, 'createApiKey', {});
        return { account: accountV1(account), keys: { [String(o.mode)]: secret } };
      }
      if (o.edition === undefined) throw new OperatorError('--edition is required: 1 or 2.');
      if (o.mode !== undefined)
        throw new OperatorError('--mode goes with --platform: a platform or direct user exists in both modes.');
      const { account, keys } = await createRoot(operator, {
        type: o.type as 'platform' | 'user',
        edition: Number(o.edition) as 1 | 2,
        subType: o.subType as 'aggregator' | undefined,
        nickname,
        businessDetails,
      });
      return { account: accountV1(account), keys };
    },
  )
    .addOption(new Option('--type <type>', 'platform or user').choices(['platform', 'user']).makeOptionMandatory())
    .addOption(new Option('--edition <edition>', '1 or 2').choices(['1', '2']))
    .addOption(new Option('--sub-type <subType>', 'for a platform of Edition 2').choices(['aggregator']))
    .option('--platform <account>', 'the platform of a connected user')
    .addOption(mode())
    .requiredOption('--legal-name <name>', 'its legal name', name)
    .option('--nickname <nickname>', 'unique within the tenant and mode');
}

function statusCommands(accounts: Command, command: AddCommand): void {
  command(accounts, 'verify <account>', 'Decide a verification, or lift a hold', async (operator, o, id) =>
    accountV1(
      await verifyAccount(operator, await operator.account(id, liveOf(o.mode)), o.outcome as 'activated' | 'hold'),
    ),
  )
    .addOption(mode())
    .addOption(
      new Option('--outcome <outcome>', 'the outcome of the verification')
        .choices(['activated', 'hold'])
        .makeOptionMandatory(),
    )
    .addOption(reason());

  command(accounts, 'hold <account>', 'Put an account on hold', async (operator, o, id) =>
    accountV1(await holdAccount(operator, await operator.account(id, liveOf(o.mode)))),
  )
    .addOption(mode())
    .addOption(reason());

  command(accounts, 'deactivate <account>', 'Deactivate an account of any type', async (operator, o, id) =>
    accountV1(await deactivateAccount(operator, await operator.account(id, liveOf(o.mode)))),
  )
    .addOption(mode())
    .addOption(reason());
}

function updateCommand(accounts: Command, command: AddCommand): void {
  command(accounts, 'update <account>', "Change a root's details, in both modes", async (operator, o, id) => {
    const details = given(o, {
      legalName: 'legalName',
      dba: 'dba',
      email: 'email',
      website: 'website',
      type: 'businessType',
    });
    const terms = given(o, { ip: 'tosIp', time: 'tosTime', userAgent: 'tosUserAgent' });
    const changes = {
      ...given(o, { nickname: 'nickname', logoId: 'logoId', liveFx: 'liveFx' }),
      ...(Object.keys(details).length > 0 && { businessDetails: details }),
      ...(Object.keys(terms).length > 0 && { tosAcceptance: terms }),
    };
    if (Object.keys(changes).length === 0) throw new OperatorError('Nothing to change: name at least one detail.');
    return accountV1(await updateRoot(operator, await operator.account(id, liveOf(o.mode)), changes));
  })
    .addOption(mode())
    .option('--legal-name <name>', 'its legal name', name)
    .option('--nickname <nickname>')
    .option('--dba <name>', 'the name under which it does business')
    .option('--email <email>', 'an e-mail address', email)
    .option('--website <website>')
    .addOption(
      new Option('--business-type <type>').choices([
        'company',
        'limited_liability_partnership',
        'sole_proprietor',
        'individual',
        'partnership',
        'business',
      ]),
    )
    .option('--logo-id <file>')
    .option('--tos-ip <address>', 'the IP address from which the terms were accepted')
    .option('--tos-time <seconds>', 'the time of acceptance, in seconds since 1970', wholeNumber)
    .option('--tos-user-agent <text>', 'the user agent that accepted them')
    .option('--live-fx <true|false>', 'process payouts of connected users at once', flag);
}

function showCommands(accounts: Command, command: AddCommand): void {
  command(accounts, 'show <account>', 'Show an account with its persons and files', async (operator, o, id) => {
    const verification = await verificationOf(operator, await operator.account(id, liveOf(o.mode)));
    const shown = verificationJson(verification);
    if (!o.numbers) return shown;
    const tax_card_numbers = verification.persons.map((row) => ({
      person: row.id,
      number: taxCardNumber(operator, row),
    }));
    return { ...shown, tax_card_numbers };
  })
    .addOption(mode())
    .option('--numbers', 'show the numbers of tax cards unmasked');

  const listed =
    'List accounts, the newest first; --status verifying is the verification queue, whose oldest are first';
  command(accounts, 'list', listed, async (operator, o) => {
    const status = o.status as AccountStatus | undefined;
    const { nodes, next } = await listAccounts(operator, {
      status,
      livemode: liveOf(o.mode),
      after: o.after as string | undefined,
      search: o.search as string | undefined,
      newestFirst: status !== 'verifying' && o.search === undefined,
    });
    const related = operator.related();
    const verifications = await Promise.all(nodes.map((row) => verificationOf(operator, row, related)));
    return { accounts: verifications.map(verificationJson), ...(next !== null && { next }) };
  })
    .addOption(new Option('--status <status>').choices(['draft', 'verifying', 'activated', 'deactivated', 'hold']))
    .option('--search <text>', 'the beginning of a word of their names, e-mail addresses or metadata; without --status')
    .addOption(mode())
    .addOption(after());
}

function verificationJson({ account, persons, files }: Verification) {
  return {
    account: accountV1(account),
    mode: modeOf(account.livemode),
    persons: persons.map(personV1),
    files: files.map(fileV1),
  };
}
