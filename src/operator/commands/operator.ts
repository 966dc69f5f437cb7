import { type Command, Option } from 'commander';
import type { OperatorActionEntry } from '../action/actions.js';
import { accountAbout } from '../graph/about.js';
import { type Operator, OperatorError } from '../operator.js';
import { listedMax } from '../paging.js';
import { OperatorRole, type OperatorRow } from '../table.js';
import { wholeNumber } from './arguments.js';
import { type AddCommand, after, commandUser } from './command.js';
import { nameOf, pageJson } from './named.js';
import { createOperator, listOperators, revokeOperator } from '../access/operators.js';
import { listActions, verifyActions } from '../action/actions.js';

/** Adds the commands about operators and what they do. */
export function operatorCommands(program: Command, command: AddCommand): void {
  const operators = program.command('operator').description('Operators, their keys, and the audit log');

  command(operators, 'create', 'Create an operator, and print its key once', async (operator, o) => {
    const made = await createOperator(operator, String(o.name), o.role as OperatorRole, commandUser());
    return { operator: operatorJson(made.operator), key: made.key };
  })
    .requiredOption('--name <name>', 'a name that no other operator has')
    .addOption(
      new Option('--role <role>', 'operate may do everything; read may change nothing')
        .choices(Object.values(OperatorRole))
        .default('operate'),
    );

  command(operators, 'list', 'List operators, those that are revoked last', async (operator) => ({
    operators: (await listOperators(operator)).map(operatorJson),
  }));

  command(operators, 'revoke <name>', 'Revoke an operator, by its name or id', async (operator, _, name) => ({
    operator: operatorJson(await revokeOperator(operator, name)),
  }));

  const listed =
    'List what operators have done, newest first. The number of an action is that of its first entry in the audit ' +
    'log, where its outcome is an entry of its own: numbers are left out, and none is missing';
  command(operators, 'actions', listed, async (operator, o) => {
    const { nodes, next } = await listActions(operator, {
      operator: o.operator as string | undefined,
      operation: o.operation as string | undefined,
      objectId: o.object as string | undefined,
      after: o.after as string | undefined,
      limit: listedMax,
    });
    const names = await namesOfObjects(operator, nodes);
    return pageJson({ nodes, next }, 'actions', (entry, i) => ({ ...actionJson(entry), account_name: names[i] }));
  })
    .option('--operator <name>', 'only of this operator')
    .option('--operation <name>', 'only this mutation or command, such as settlePayout or "payout settle"')
    .option('--object <id>', 'only on this object')
    .addOption(after());

  command(
    operators,
    'verify',
    'Check the hash chain of the audit log, and show the first entry that does not match',
    async (operator, { entries, lastHash }) => {
      if ((entries === undefined) !== (lastHash === undefined))
        throw new OperatorError('--entries and --last-hash belong together: both are of one earlier check.');
      const since = entries === undefined ? undefined : { entries: Number(entries), lastHash: String(lastHash) };
      const seal = await verifyActions(operator, since);
      if (seal.firstBroken !== null) process.exitCode = 1;
      return seal;
    },
  )
    .option('--entries <number>', 'the entries of an earlier check; checks what came after it', wholeNumber)
    .option('--last-hash <hash>', 'the last hash of the earlier check');
}

const time = (seconds: number | null) => (seconds === null ? null : new Date(seconds * 1000).toISOString());

function operatorJson({ id, name, role, prefix, created, createdBy, lastUsedAt, revokedAt }: OperatorRow) {
  return {
    ...{ id, name, role, key_prefix: prefix, created: time(created), created_by: createdBy },
    ...{ last_used: time(lastUsedAt), revoked: time(revokedAt) },
  };
}

/** What the accounts are called that the objects of actions are about. */
function namesOfObjects(operator: Operator, entries: readonly OperatorActionEntry[]): Promise<(string | null)[]> {
  const related = operator.related();
  return Promise.all(
    entries.map(async ({ objectId, tenant, mode }) => {
      if (objectId === null || tenant === null || mode === null) return null;
      return nameOf(await accountAbout(related, { tenantId: tenant, livemode: mode === 'live' }, objectId));
    }),
  );
}

function actionJson(entry: OperatorActionEntry) {
  const { number, created, operator, operation, objectId, resultId, tenant, mode, outcome, code } = entry;
  return {
    ...{ number, created: time(created), operator, operation, object: objectId, result: resultId },
    ...{ tenant: tenant && `account_${tenant}`, mode, outcome, code, request: entry.requestId, details: entry.details },
  };
}
