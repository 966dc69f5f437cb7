#!/usr/bin/env node
import 'reflect-metadata';
import Table from 'cli-table3';
import { GraphQLEmailAddress } from 'graphql-scalars';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { AccountRow, AccountStatus } from './resources/account/table.js';
import { accountV1 } from './resources/account/v1.js';
import { accountSettingV1 } from './resources/account-setting/v1.js';
import { addressV1 } from './resources/address/v1.js';
import { ConfigError, config } from './config.js';
import { openDemo } from './demo/demo.js';
import type { ReconciledReceivableInput } from './resources/deposit/inputs.js';
import { DepositPaymentMethod } from './resources/deposit/table.js';
import { bankNoticeV1, depositV1 } from './resources/deposit/v1.js';
import { fileV1 } from './resources/file/v1.js';
import { buildGraph } from './api/graphql/server.js';
import { apiKeyV1 } from './resources/key/v1.js';
import type { JobRow } from './jobs/table.js';
import type { ApiKeyRow } from './resources/key/table.js';
import { MigrationError } from './db/schema-version.js';
import { StartError } from './db/start.js';
import { checkoutTermsOf } from './resources/checkout/terms.js';
import type { Verification } from './operator/accounts.js';
import { OperatorError } from './operator/desk.js';
import { Operator } from './operator/operator.js';
import { PayoutStatus } from './resources/payout/table.js';
import { payoutV1 } from './resources/payout/v1.js';
import { personV1 } from './resources/person/v1.js';
import { DomainError, sentenceV1 } from './request/problems.js';
import { Amount, Currency } from './types/scalars.js';
import { migrateStore, openStore, type Store } from './db/open.js';
import type { TransactionRow } from './resources/transaction/table.js';
import { transactionV1 } from './resources/transaction/v1.js';
import type { RateRow } from './resources/exchange-rate/table.js';

/** What a command gives back: one JSON document with --json, a table for people otherwise. */
type Result = object;

interface Options {
  json?: boolean;
  [name: string]: unknown;
}

/** What commander has to say; shown once, where the command ends. */
let told = '';

const program = new Command('tidegate')
  .description(
    "The operator's command line. It works on the database that the server uses, also while the server runs.",
  )
  .exitOverride()
  .configureOutput({ writeErr: (text) => void (told += text) });

const progress = (step: string) => void (process.stderr.isTTY && process.stderr.write(`${step} …\n`));
const say = (line: string) => void process.stderr.write(`${line}\n`);

/** A command that opens the store, does one thing and prints it. */
function command(
  parent: Command,
  name: string,
  description: string,
  run: (operator: Operator, options: Options, argument: string, store: Store) => Promise<Result>,
): Command {
  return parent
    .command(name)
    .description(description)
    .option('--json', 'print one JSON document')
    .action(async (...given: unknown[]) => {
      const options = given.at(-2) as Options;
      const argument = given.length > 2 ? String(given[0]) : '';
      const settings = config({ serves: false });
      const store = await openStore(settings, { migrates: false, progress, say });
      try {
        const result = await run(
          new Operator(store.database, buildGraph(), store.secrets, undefined, checkoutTermsOf(settings)),
          options,
          argument,
          store,
        );
        process.stdout.write(options.json ? `${JSON.stringify(result)}\n` : readable(result));
      } finally {
        await store.close();
      }
    });
}

const mode = () => new Option('--mode <mode>', 'test or live').choices(['test', 'live']);
/** Lists are shown page by page: each but the last tells as `next` what to go on with. */
const after = () => new Option('--after <next>', 'go on from where a page ended, as it was told there');
const liveOf = (options: Options) => (options.mode === undefined ? undefined : options.mode === 'live');

const accounts = program.command('account').description('Platforms, users and partners');

command(
  accounts,
  'create',
  'Create a platform or direct user, or with --platform a connected user',
  async (operator, o) => {
    const businessDetails = { legalName: String(o.legalName) };
    const nickname = o.nickname as string | undefined;
    if (o.platform !== undefined) {
      if (o.type !== 'user') throw new OperatorError('--platform goes with --type user.');
      if (o.mode === undefined)
        throw new OperatorError('--mode is required with --platform: a connected user lives in one mode.');
      const platform = await operator.account(String(o.platform), liveOf(o));
      const { account } = await operator.as<{ account: AccountRow }>(platform, 'createConnectedUser', {
        businessDetails,
        nickname,
      });
      const { secret } = await operator.as<{ secret: string }>(account, 'createApiKey', {});
      return { account: accountV1(account), keys: { [String(o.mode)]: secret } };
    }
    if (o.edition === undefined) throw new OperatorError('--edition is required: 1 or 2.');
    const { account, keys } = await operator.createRoot({
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

command(accounts, 'verify <account>', 'Settle a verification, or lift a hold', async (operator, o, id) =>
  accountV1(await operator.verify(await operator.account(id, liveOf(o)), o.outcome as 'activated' | 'hold')),
)
  .addOption(mode())
  .addOption(
    new Option('--outcome <outcome>', 'what the verification came to')
      .choices(['activated', 'hold'])
      .makeOptionMandatory(),
  );

command(accounts, 'hold <account>', 'Put an account on hold', async (operator, o, id) =>
  accountV1(await operator.hold(await operator.account(id, liveOf(o)))),
).addOption(mode());

command(accounts, 'deactivate <account>', 'Deactivate an account of any type', async (operator, o, id) =>
  accountV1(await operator.deactivate(await operator.account(id, liveOf(o)))),
).addOption(mode());

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
  return accountV1(await operator.updateRoot(await operator.account(id, liveOf(o)), changes));
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
  .option('--tos-ip <address>', 'from where the terms were accepted')
  .option('--tos-time <seconds>', 'when, in seconds since 1970', whole)
  .option('--tos-user-agent <text>', 'with what')
  .option('--live-fx <true|false>', 'process payouts of connected users at once', flag);

command(accounts, 'show <account>', 'Show an account with its persons and files', async (operator, o, id) => {
  const verification = await operator.verification(await operator.account(id, liveOf(o)));
  const shown = verificationJson(verification);
  if (!o.numbers) return shown;
  const tax_card_numbers = verification.persons.map((row) => ({ person: row.id, number: operator.taxCardNumber(row) }));
  return { ...shown, tax_card_numbers };
})
  .addOption(mode())
  .option('--numbers', 'with the numbers of tax cards in the clear');

command(accounts, 'list', 'List accounts; with --status verifying, the verification queue', async (operator, o) => {
  const status = o.status as AccountStatus | undefined;
  const { nodes, next } = await operator.accounts({
    status,
    livemode: liveOf(o),
    after: o.after as string | undefined,
  });
  const related = operator.related();
  const verifications = await Promise.all(nodes.map((row) => operator.verification(row, related)));
  return { accounts: verifications.map(verificationJson), ...(next !== null && { next }) };
})
  .addOption(new Option('--status <status>').choices(['draft', 'verifying', 'activated', 'deactivated', 'hold']))
  .addOption(mode())
  .addOption(after());

const keys = program.command('key').description('API keys');

command(keys, 'create', 'Make a key for an account', async (operator, o) => {
  const owner = await operator.account(String(o.account), liveOf(o));
  return keyJson(await operator.as(owner, 'createApiKey', { permission: o.permission, expiresInSeconds: o.expiresIn }));
})
  .requiredOption('--account <account>')
  .addOption(mode().makeOptionMandatory())
  .addOption(new Option('--permission <permission>').choices(['full', 'read']).default('full'))
  .option('--expires-in <time>', 'such as 12h or 30d', duration);

command(keys, 'list', "List an account's keys", async (operator, o) => ({
  keys: (await operator.keys(await operator.account(String(o.account), liveOf(o)))).map(apiKeyV1),
}))
  .requiredOption('--account <account>')
  .addOption(mode());

command(keys, 'rotate <key>', 'Make a new key; the old one stays valid for a grace period', async (operator, o, id) => {
  const row = await operator.key(id);
  return keyJson(
    await operator.as(await operator.account(row.accountId, row.livemode), 'rotateApiKey', {
      id,
      graceSeconds: o.grace,
    }),
  );
}).option('--grace <time>', 'such as 0h, 12h or 7d; one day by default', duration);

command(keys, 'revoke <key>', 'Revoke a key', async (operator, _, id) => {
  const row = await operator.key(id);
  return keyJson(await operator.as(await operator.account(row.accountId, row.livemode), 'revokeApiKey', { id }));
});

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
    await operator.issueAddress(owner, {
      category: o.category as 'service_receive',
      currency: String(o.currency),
      bankAccount,
    }),
  );
})
  .requiredOption('--account <account>')
  .requiredOption('--currency <currency>', 'ISO 4217 code', currencyCode)
  .addOption(
    new Option('--category <category>').choices(['service_receive', 'service_fee_advance']).default('service_receive'),
  )
  .option('--bank-name <name>')
  .option('--number <number>')
  .option('--iban <iban>')
  .option('--domestic-credit <code>', 'routing code for domestic transfers')
  .option('--domestic-debit <code>')
  .option('--domestic-fast-credit <code>')
  .option('--domestic-wire <code>')
  .option('--global-wire <code>', 'SWIFT/BIC');

const deposits = program.command('deposit').description('Live deposits, as banks report them');

command(
  deposits,
  'record',
  'Record what a bank has told about a transfer; told twice it is the same',
  async (operator, o) => {
    const { notice, deposit } = await operator.bankNotice({
      reference: String(o.reference),
      event: o.event as 'received' | 'reversed',
      addressId: String(o.address),
      amount: o.amount as bigint,
      currency: String(o.currency),
      fromAccountId: o.from as string | undefined,
      paymentMethod: o.method as string | undefined,
      statementDescriptor: o.descriptor as string | undefined,
      allowCurrency: o.allowCurrency as boolean | undefined,
    });
    return { reference: notice.reference, event: notice.event, deposit: deposit && depositV1(deposit) };
  },
)
  .requiredOption('--reference <reference>', "the bank's own reference")
  .addOption(new Option('--event <event>', 'what happened').choices(['received', 'reversed']).default('received'))
  .requiredOption('--address <address>', 'the receiving address')
  .requiredOption('--amount <amount>', 'such as 1250.00', amount)
  .requiredOption('--currency <currency>', 'ISO 4217 code', currencyCode)
  .option('--from <account>', 'the partner that paid')
  .option('--allow-currency', 'record a transfer in another currency than its address')
  .addOption(
    new Option('--method <method>', "one of the account's edition").choices(Object.values(DepositPaymentMethod)),
  )
  .option('--descriptor <text>', 'narration on the incoming deposit');

const tenant = () => new Option('--tenant <tenant>', 'whose it is, by the id of the root: it is found sooner');

command(deposits, 'show <deposit>', 'Show a deposit', async (operator, o, id) =>
  depositV1(await operator.deposit(id, o.tenant as string | undefined)),
).addOption(tenant());
command(deposits, 'waiting', 'List the reversals that wait for their deposits', async (operator) => ({
  notices: (await operator.waitingNotices()).map(bankNoticeV1),
}));
command(deposits, 'withdraw', 'Take back a reversal that waits, when its reference was wrong', async (operator, o) =>
  bankNoticeV1(await operator.withdrawNotice(String(o.address), String(o.reference))),
)
  .requiredOption('--reference <reference>', "the bank's own reference")
  .requiredOption('--address <address>', 'the receiving address that it names');

command(deposits, 'reconcile <deposit>', 'Count a deposit towards receivables', async (operator, o, id) =>
  depositV1(await operator.reconcile(id, o.receivable as ReconciledReceivableInput[], o.tenant as string | undefined)),
)
  .requiredOption('--receivable <id=amount...>', 'such as receivable_…=100.00; may be repeated', share, [])
  .addOption(tenant());

const transactions = program.command('transaction').description('Attempts to pay checkouts');

command(
  transactions,
  'mismatches',
  'List the successes that an acquirer told and that do not fit their attempts',
  async (operator) => ({ mismatches: (await operator.mismatches()).map(mismatchJson) }),
);

const payouts = program.command('payout').description('Payouts and what holds them');

command(payouts, 'list', 'List payouts; with --status processing --mode live, those that wait', async (operator, o) => {
  const status = o.status as PayoutStatus | undefined;
  const { nodes, next } = await operator.payouts({ status, livemode: liveOf(o), after: o.after as string | undefined });
  return { payouts: nodes.map(payoutV1), ...(next !== null && { next }) };
})
  .addOption(new Option('--status <status>').choices(Object.values(PayoutStatus)))
  .addOption(mode())
  .addOption(after());

command(payouts, 'show <payout>', 'Show a payout', async (operator, _, id) => payoutV1(await operator.payout(id)));
command(payouts, 'settle <payout>', 'A payout has arrived', async (operator, _, id) =>
  payoutV1(await operator.endPayout(id, 'completed')),
);
command(payouts, 'fail <payout>', 'A payout has failed; its money is available again', async (operator, _, id) =>
  payoutV1(await operator.endPayout(id, 'failed')),
);
command(payouts, 'hold <account>', "Place a service hold on an account's payouts", async (operator, o, id) =>
  accountSettingV1(await operator.serviceHold(await operator.account(id, liveOf(o)), true)),
).addOption(mode());
command(payouts, 'release <account>', 'Lift the service hold', async (operator, o, id) =>
  accountSettingV1(await operator.serviceHold(await operator.account(id, liveOf(o)), false)),
).addOption(mode());
command(payouts, 'rate <account>', "Give a rate for the live payouts of a root's tenant", async (operator, o, id) => {
  const account = await operator.account(id, true);
  return rateJson(await operator.setRate(account, String(o.from), String(o.to), String(o.rate)));
})
  .requiredOption('--from <currency>', 'ISO 4217 code', currencyCode)
  .requiredOption('--to <currency>', 'ISO 4217 code', currencyCode)
  .requiredOption('--rate <decimal>', 'what one unit buys');

command(
  payouts,
  'rates <account>',
  "List the rates for the live payouts of a root's tenant",
  async (operator, _, id) => ({
    rates: (await operator.rates(await operator.account(id, true))).map(rateJson),
  }),
);

const jobs = program.command('job').description('Work that is due later, which the gateways do by themselves');

command(
  jobs,
  'list',
  'List jobs; with --stuck, those alone that have failed and are tried again',
  async (operator, o) => {
    const { nodes, next } = await operator.jobs({ stuck: Boolean(o.stuck), after: o.after as string | undefined });
    return { jobs: nodes.map(jobJson), ...(next !== null && { next }) };
  },
)
  .option('--stuck', 'those that have failed, with their last error')
  .addOption(after());

command(jobs, 'retry <job>', 'Have a job tried now, instead of when it is due', async (operator, _, id) =>
  jobJson(await operator.retryJob(id)),
);

const ledger = program.command('ledger').description('The books');

command(ledger, 'audit', 'Hold the books against every promise; exit code 1 when any is broken', async (operator) => {
  const result = await operator.audit();
  if (result.violations.length > 0) process.exitCode = 1;
  return result;
});
command(
  ledger,
  'verify',
  'Check the seal of the ledger; names the first block that does not match',
  async (operator) => {
    const chains = await operator.verifySeals();
    if (chains.some(({ firstBroken }) => firstBroken !== null)) process.exitCode = 1;
    return { chains };
  },
);

program
  .command('migrate')
  .description('Bring the database to the version of this program; no other command does')
  .option('--grant-to <role>', 'a role to serve with: it gets what a gateway needs, now and at every later migration')
  .option('--json', 'print one JSON document')
  .action(async ({ grantTo, json }: { grantTo?: string; json?: boolean }) => {
    const { version } = await migrateStore(config({ serves: false, keys: false }), { grantTo, progress, say });
    const result = { migrated: true, version };
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : readable(result));
  });

command(
  program,
  'secrets',
  'Count what each pepper and encryption key still stands for; one that stands for nothing can be removed',
  async (operator) => ({ secrets: await operator.secretsInUse() }),
);

command(
  program,
  'demo',
  'Seed the demo, unless it is there, and show its test keys',
  async (operator, _, __, store) => {
    if (!store.embedded) throw new OperatorError('The demo is for the embedded database; unset DATABASE_URL.');
    return { demos: await openDemo(store, operator, buildGraph(), () => {}) };
  },
);

function given(options: Options, names: Record<string, string>): Record<string, never> {
  const entries = Object.entries(names).map(([property, option]) => [property, options[option]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Record<string, never>;
}

function verificationJson({ account, persons, files }: Verification) {
  return {
    account: accountV1(account),
    mode: account.livemode ? 'live' : 'test',
    persons: persons.map(personV1),
    files: files.map(fileV1),
  };
}

function keyJson({ apiKey, secret }: { apiKey: ApiKeyRow; secret?: string }) {
  return secret === undefined ? { key: apiKeyV1(apiKey) } : { key: apiKeyV1(apiKey), secret };
}

function mismatchJson(row: TransactionRow) {
  const { id, livemode, checkout_id, amount, currency, status } = transactionV1(row);
  const { mismatch, paymentMethodDetails: submitted } = row;
  return {
    ...{ transaction: id, mode: livemode ? 'live' : 'test', checkout: checkout_id, amount, currency, status },
    ...{ credited: mismatch!.credited, submitted, reported: mismatch!.details },
  };
}

function jobJson({ id, tenantId, livemode, kind, subjectId, attempts, error, due }: JobRow) {
  return {
    ...{ id, tenant: `account_${tenantId}`, mode: livemode ? 'live' : 'test', kind, subject: subjectId },
    ...{ attempts, error, due: new Date(due * 1000).toISOString() },
  };
}

function rateJson({ source, target, rate }: RateRow) {
  return { from: source, to: target, rate };
}

function whole(text: string): number {
  if (!/^\d{1,12}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function flag(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('It must be true or false.');
  return text === 'true';
}

function amount(text: string): bigint {
  try {
    return Amount.parseValue(text);
  } catch {
    throw new InvalidArgumentError('It must be a decimal with two places, such as 1250.00.');
  }
}

function share(text: string, before: object[]): object[] {
  const [, id, value] = /^(receivable_[0-9a-f]+)=(.+)$/.exec(text) ?? [];
  if (id === undefined || value === undefined)
    throw new InvalidArgumentError('It must be a receivable and an amount, such as receivable_…=100.00.');
  return [...before, { id, amount: amount(value) }];
}

const secondsIn: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

function duration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('It must be a number and one of s, m, h and d, such as 30d.');
  return Number(count) * secondsIn[unit!]!;
}

function email(text: string): string {
  try {
    return text === '' ? text : String(GraphQLEmailAddress.parseValue(text));
  } catch {
    throw new InvalidArgumentError('It must be an e-mail address.');
  }
}

function name(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}

function currencyCode(text: string): string {
  try {
    return Currency.parseValue(text);
  } catch {
    throw new InvalidArgumentError('It must be an active ISO 4217 code, such as USD.');
  }
}

/** A list as rows, with how to go on where there is more; anything else as names and values, nested ones by their path. */
function readable(result: object): string {
  const { next, ...whole } = result as { next?: string };
  const [list] = Object.values(whole) as unknown[];
  if (Object.keys(whole).length === 1 && Array.isArray(list)) {
    const more = next ? `There are more. Go on with --after ${next}\n` : '';
    return list.length === 0 ? 'None.\n' : `${rows(list.map(summary))}${more}`;
  }
  const table = new Table({ style: { head: [], border: [] } });
  for (const [name, value] of flat(result)) table.push([name, value]);
  return `${table.toString()}\n`;
}

function rows(list: Record<string, unknown>[]): string {
  const head = Object.keys(list[0]!);
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const row of list) table.push(head.map((name) => String(row[name] ?? '')));
  return `${table.toString()}\n`;
}

/** The members of a list entry that fit on a line. */
function summary(entry: Record<string, unknown>): Record<string, unknown> {
  const account = entry.account as ReturnType<typeof accountV1> | undefined;
  if (!account)
    return Object.fromEntries(Object.entries(entry).filter(([, value]) => typeof value !== 'object' || value === null));
  const { id, type, status, nickname, business_details } = account;
  return {
    id,
    mode: entry.mode,
    type,
    status,
    legal_name: business_details.legal_name,
    nickname,
    persons: (entry.persons as []).length,
    files: (entry.files as []).length,
  };
}

function flat(value: object, path = ''): [string, string][] {
  return Object.entries(value).flatMap(([name, member]): [string, string][] => {
    if (member === null || member === undefined) return [];
    if (typeof member === 'object') return flat(member, `${path}${name}.`);
    return [[path + name, String(member)]];
  });
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0);
  const kinds = [CommanderError, ConfigError, OperatorError, MigrationError, StartError];
  const known = kinds.some((kind) => error instanceof kind);
  const refused =
    !known && error instanceof DomainError
      ? error.problems.map((p) => `${p.code}${p.field ? ` (${p.field})` : ''}: ${sentenceV1(p)}`).join('\n')
      : undefined;
  // Of an outage, what PostgreSQL said of it.
  const cause = refused === undefined ? undefined : ((error as Error).cause as Error | undefined)?.message;
  const help = error instanceof CommanderError && error.code === 'commander.help' ? told : undefined;
  const message = (error as Error).message.replace(/^error: /, '');
  const text = help ?? refused ?? (known ? message : ((error as Error).stack ?? String(error)));
  process.stderr.write(`${cause ? `${text}\nPostgreSQL: ${cause}` : text.trimEnd()}\n`);
  // What could not be asked or done is neither a domain error nor what an audit has found.
  process.exitCode = error instanceof DomainError && error.status < 500 ? 1 : 2;
}
