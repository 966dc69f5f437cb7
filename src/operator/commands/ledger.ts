import { type Command, Option } from 'commander';
import { type LedgerCheckRow, LedgerCheckStatus } from '../../resources/ledger/table.js';
import { liveOf } from '../../request/mode.js';
import { type AddCommand, after, mode } from './command.js';
import { pageJson, tenantNamesOf } from './named.js';
import { modeOf } from '../../request/mode.js';
import { auditLedger, type Checked, checkLedgerNow, listLedgerChecks, verifySeals } from '../money/audit.js';

/** Adds the commands that check the ledger. */
export function ledgerCommands(program: Command, command: AddCommand): void {
  const ledger = program.command('ledger').description('The ledger');

  command(ledger, 'audit', 'Check the invariants of the ledger; exit code 1 when any is violated', async (operator) => {
    const result = await auditLedger(operator);
    if (result.violations.length > 0) process.exitCode = 1;
    return result;
  });
  command(
    ledger,
    'verify',
    'Check the seal of the ledger, and show the first block that does not match',
    async (operator) => {
      const chains = await verifySeals(operator);
      if (chains.some(({ firstBroken }) => firstBroken !== null)) process.exitCode = 1;
      return { chains };
    },
  );
  command(
    ledger,
    'check <account>',
    'Check the ledger of a root account now: the outcome counts as its last check; exit code 1 when it is violated',
    async (operator, o, account) => {
      const checks = await checkLedgerNow(operator, account, liveOf(o.mode));
      if (checks.some(({ status }) => status !== 'passed')) process.exitCode = 1;
      return { checks: checks.map(madeJson) };
    },
  ).addOption(mode());
  command(
    ledger,
    'checks',
    'List the checks of single tenants that the gateways make by themselves, newest first',
    async (operator, o) => {
      const page = await listLedgerChecks(operator, {
        status: o.status as LedgerCheckStatus | undefined,
        livemode: liveOf(o.mode),
        tenantId: o.tenant as string | undefined,
        after: o.after as string | undefined,
      });
      const names = await tenantNamesOf(operator, page.nodes);
      return pageJson(page, 'checks', (row, i) => checkJson(row, names[i]));
    },
  )
    .addOption(new Option('--status <status>', 'only with this outcome').choices(Object.values(LedgerCheckStatus)))
    .option('--tenant <account>', 'only of this root account')
    .addOption(mode())
    .addOption(after());
}

const madeJson = ({ tenantId, livemode, status, violationCount, violations, brokenBlock, error }: Checked) => ({
  ...{ tenant: `account_${tenantId}`, mode: modeOf(livemode), status },
  ...{ violationCount, violations, firstBroken: brokenBlock, error },
});

function checkJson(row: LedgerCheckRow, tenant_name: string | null | undefined) {
  const { id, tenantId, livemode, status, created, ended, brokenBlock, error, ...check } = row;
  const time = (seconds: number | null) => seconds && new Date(seconds * 1000).toISOString();
  return {
    ...{ id, tenant: `account_${tenantId}`, tenant_name, mode: modeOf(livemode), status },
    ...{ began: time(created), ended: time(ended) },
    ...{ violationCount: check.violationCount, violations: check.violations, firstBroken: brokenBlock, error },
  };
}
