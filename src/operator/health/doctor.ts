import { type Operator, OperatorError } from '../operator.js';
import { certificate } from './certificate-check.js';
import { databaseChecks } from './database-checks.js';
import { type Finding, type HealthCheck, HealthLevel, look } from './finding.js';
import { workChecks } from './work-checks.js';

const checks: readonly HealthCheck[] = [...databaseChecks, ...workChecks, certificate];

/** The alert rules that a check explains, and the one that any check may cause. */
export const alertsKnown: readonly string[] = [
  ...new Set([...checks.flatMap(({ alerts }) => alerts), 'TidegateHealth']),
].toSorted();

/**
 * Everything that the product knows of the health of its deployment, a line or more for each check, the urgent ones
 * first. With an alert, only what explains it, or all where any may have caused it. A check that cannot be made is a
 * line, too: the others are made. Refuses an alert that no rule has.
 */
export async function health(operator: Operator, alert?: string): Promise<Finding[]> {
  if (alert !== undefined && !alertsKnown.includes(alert))
    throw new OperatorError(
      `There is no such alert rule. The rules are ${alertsKnown.join(', ')}.`,
      undefined,
      'alert',
    );
  const explains = checks.filter(({ alerts }) => alert !== undefined && alerts.includes(alert));
  const wanted = explains.length > 0 ? explains : checks;
  const findings: Finding[] = [];
  // One after the other, as requests need the connections, too.
  for (const check of wanted) findings.push(...(await findingsOf(operator, check)));
  const order = [HealthLevel.NOW, HealthLevel.LOOK, HealthLevel.OK] as const;
  return order.flatMap((level) => findings.filter((finding) => finding.level === level));
}

/** What a check finds, as a line or more. */
export async function findingsOf(operator: Operator, { name, well, find }: HealthCheck): Promise<Finding[]> {
  try {
    const found = await find(operator);
    if (found.length === 0) return [{ check: name, level: HealthLevel.OK, finding: well, command: null }];
    return found.map((finding) => ({ check: name, ...finding }));
  } catch (error) {
    const { message } = ((error as Error).cause ?? error) as Error;
    // Another role may see more.
    const command = 'DATABASE_URL=URL_OF_THE_OWNER tidegate doctor';
    return [{ check: name, ...look(`This could not be checked: ${message}`, command) }];
  }
}
