import type { Command } from 'commander';
import type { AddCommand } from './command.js';

/** Adds the commands that check the ledger. */
export function ledgerCommands(program: Command, command: AddCommand): void {
  const ledger = program.command('ledger').description('The ledger');

  command(ledger, 'audit', 'Check the invariants of the ledger; exit code 1 when any is violated', async (operator) => {
    const result = await operator.audit();
    if (result.violations.length > 0) process.exitCode = 1;
    return result;
  });
  command(
    ledger,
    'verify',
    'Check the seal of the ledger, and show the first block that does not match',
    async (operator) => {
      const chains = await operator.verifySeals();
      if (chains.some(({ firstBroken }) => firstBroken !== null)) process.exitCode = 1;
      return { chains };
    },
  );
}
