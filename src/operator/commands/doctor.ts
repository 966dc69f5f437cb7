import type { Command } from 'commander';
import { health } from '../health/doctor.js';
import { HealthLevel } from '../health/finding.js';
import type { AddCommand } from './command.js';

/** Adds the command that says what is wrong with a deployment. */
export function doctorCommand(program: Command, command: AddCommand): void {
  command(
    program,
    'doctor',
    'Say how the deployment is, each line with what to type; exit code 1 when somebody has to act now',
    async (operator, { alert }) => {
      const found = await health(operator, alert as string | undefined);
      if (found.some(({ level }) => level === HealthLevel.NOW)) process.exitCode = 1;
      return { health: found };
    },
  ).option('--alert <name>', 'only what explains this alert rule');
}
