#!/usr/bin/env node
import 'reflect-metadata';
import { Command, CommanderError } from 'commander';
import { ConfigError, config } from './config/config.js';
import { migrateStore, openStore, type Store } from './db/connect/open.js';
import { MigrationError } from './db/schema/schema-version.js';
import { StartError } from './db/connect/start.js';
import { BackupError } from './db/backup/manifest.js';
import { accountCommands } from './operator/commands/account.js';
import { addressCommands } from './operator/commands/address.js';
import { backupStore, restoreStore } from './operator/commands/backup.js';
import { commandUser, loggedCommand, type Options, type Result } from './operator/commands/command.js';
import { bankCommands } from './operator/commands/bank.js';
import { clusterCommands } from './operator/commands/cluster.js';
import { withData } from './operator/commands/data-folder.js';
import { depositCommands } from './operator/commands/deposit.js';
import { doctorCommand } from './operator/commands/doctor.js';
import { eventCommands } from './operator/commands/events.js';
import { EventStreamError } from './operator/commands/event-client.js';
import { jobCommands } from './operator/commands/job.js';
import { keyCommands } from './operator/commands/key.js';
import { ledgerCommands } from './operator/commands/ledger.js';
import { operatorCommands } from './operator/commands/operator.js';
import { acquirerCommands } from './operator/commands/acquirer.js';
import { adjustmentCommands } from './operator/commands/adjustment.js';
import { paymentOrderCommands } from './operator/commands/order.js';
import { payoutCommands } from './operator/commands/payout.js';
import { disputeCommands } from './operator/commands/dispute.js';
import { changeRequestCommands } from './operator/commands/change-request.js';
import { refundCommands } from './operator/commands/refund.js';
import { printResult, progressOf, ReaderGone, say } from './operator/commands/terminal.js';
import { transactionCommands } from './operator/commands/transaction.js';
import { unexplainedCommands } from './operator/commands/unexplained.js';
import { triggerCommand } from './operator/commands/trigger/command.js';
import { entryJson } from './operator/action/actions.js';
import { OperatorError } from './operator/operator.js';
import { Operator } from './operator/operator.js';
import { ActionOutcome } from './operator/table.js';
import { TriggerError } from './operator/commands/trigger/gateway.js';
import { checkoutTermsOf } from './resources/checkout/terms.js';
import { newRequestId } from './request/id.js';
import { DomainError, sentenceV1 } from './errors/problems.js';
import { version } from './config/version.js';
import { secretsInUse } from './operator/access/secrets.js';

/** The error output and help of commander; the end of this file prints it once. */
let commanderOutput = '';

const program = new Command('tidegate')
  .description("The operator's command line. It uses the gateway's database, also while the gateway runs.")
  .version(version)
  .exitOverride()
  .configureOutput({ writeErr: (text) => void (commanderOutput += text) });

const progress = (step: string) => void (process.stderr.isTTY && say(`${step} …`));

/** Loads and builds the public schema, which takes longer than all that most commands do. */
const graph = async () => (await import('./api/graphql/server.js')).buildGraph();

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
    .option('--wide', 'print whole rows and exact times on a terminal, too')
    .action(async (...given: unknown[]) => {
      const options = given.at(-2) as Options;
      const argument = given.length > 2 ? String(given[0] ?? '') : '';
      const settings = withData(config({ serves: false }));
      const store = await openStore(settings, { migrates: false, progress, say });
      try {
        const terms = checkoutTermsOf(settings);
        const certificate = () => settings.tls?.cert;
        const operator = new Operator(store.database, graph, store.secrets, undefined, terms, certificate);
        const path = `${parent.name()} ${name.split(' ', 1)[0]}`;
        const result = await loggedCommand(operator, path, options, argument, () =>
          run(operator, options, argument, store),
        );
        await printResult(result, options);
      } finally {
        await store.close();
      }
    });
}

const groups = [
  ...[accountCommands, keyCommands, addressCommands, depositCommands, bankCommands, transactionCommands],
  ...[
    payoutCommands,
    paymentOrderCommands,
    changeRequestCommands,
    refundCommands,
    disputeCommands,
    adjustmentCommands,
    unexplainedCommands,
    jobCommands,
    ledgerCommands,
    operatorCommands,
  ],
];
for (const add of groups) add(program, command);
doctorCommand(program, command);
eventCommands(program);
acquirerCommands(program, printResult);
triggerCommand(program);
const output = { progress, say, progressOf };
clusterCommands(program, () => withData(config({ serves: false, keys: false })), output, printResult);

program
  .command('migrate')
  .description('Migrate the database to the version of this program; no other command migrates it')
  .option(
    '--grant-to <role>',
    'a role for gateways: it gets the privileges that a gateway needs, now and at every later migration',
  )
  .option('--json', 'print one JSON document')
  .action(async ({ grantTo, json }: { grantTo?: string; json?: boolean }) => {
    const entry = { operation: 'migrate', outcome: ActionOutcome.SUCCEEDED, details: grantTo ? { grantTo } : {} };
    const action = { operator: commandUser(), entry: entryJson(entry, null, newRequestId()) };
    const { version, migrated } = await migrateStore(config({ serves: false, keys: false }), {
      grantTo,
      action,
      progress,
      say,
      stepped: (done, of) => progressOf('Migrating the database', done, of, 'migrations'),
    });
    const result = { migrated, version };
    await printResult(result, { json });
  });

program
  .command('backup <folder>')
  .description('Copy the database to a new folder, in one snapshot, while gateways use it')
  .option('--json', 'print one JSON document')
  .action(async (folder: string, { json }: Options) => {
    const settings = withData(config({ serves: false, keys: false }));
    const result = await backupStore(settings, folder, output);
    await printResult(result, { json });
  });

program
  .command('restore <folder>')
  .description('Restore a backup into an empty database, and check the ledger; exit code 1 when it is violated')
  .option('--json', 'print one JSON document')
  .action(async (folder: string, { json }: Options) => {
    const result = await restoreStore(config({ serves: false, keys: false }), folder, output);
    if (result.ledger.violations > 0 || result.ledger.broken_seals > 0) process.exitCode = 1;
    await printResult(result, { json });
  });

command(
  program,
  'secrets',
  'Count the stored values that depend on each pepper and encryption key; one without any can be removed',
  async (operator) => ({ secrets: await secretsInUse(operator) }),
);

command(program, 'demo', 'Seed the demo, unless it exists, and show its test keys', async (operator, _, __, store) => {
  if (!store.embedded) throw new OperatorError('The demo is for the embedded database; unset DATABASE_URL.');
  const { openDemo } = await import('./server/demo/demo.js');
  return { demos: await openDemo(store, operator, await graph(), () => {}) };
});

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0);
  // The command did its work before it printed, so its exit code stays.
  if (error instanceof ReaderGone) process.exit();
  const kinds = [
    BackupError,
    CommanderError,
    ConfigError,
    EventStreamError,
    TriggerError,
    OperatorError,
    MigrationError,
    StartError,
  ];
  const known = kinds.some((kind) => error instanceof kind);
  const refused =
    !known && error instanceof DomainError
      ? error.problems.map((p) => `${p.code}${p.field ? ` (${p.field})` : ''}: ${sentenceV1(p)}`).join('\n')
      : undefined;
  // For an outage, the message of PostgreSQL.
  const cause = refused === undefined ? undefined : ((error as Error).cause as Error | undefined)?.message;
  const help = error instanceof CommanderError && error.code === 'commander.help' ? commanderOutput : undefined;
  const message = (error as Error).message.replace(/^error: /, '');
  const text = help ?? refused ?? (known ? message : ((error as Error).stack ?? String(error)));
  say(cause ? `${text}\nPostgreSQL: ${cause}` : text.trimEnd());
  // Exit code 1 means a domain error, or a violation that an audit found; 2 means that the command could not run.
  process.exitCode = error instanceof DomainError && error.status < 500 ? 1 : 2;
}
