import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Operator } from '../operator.js';
import { servers } from './database-checks.js';
import { findingsOf, health } from './doctor.js';
import { type Finding, HealthLevel } from './finding.js';
import { lastBackupSeconds } from './work-checks.js';

const everyMilliseconds = 600_000;
const serversMilliseconds = 30_000;

/** Learns of the health, for metrics. */
export interface HealthObserver {
  health(findings: readonly Finding[]): void;
  /** The age of the last backup by this program; undefined when there is none. */
  backup(seconds: number | undefined): void;
}

/**
 * A finding without its counts, which change from round to round. Numbers that are names, such as those of addresses,
 * versions and keys, stay: another host that is away is another finding.
 */
export const keyOf = ({ check, level, finding }: Finding) =>
  `${check} ${level} ${finding.replaceAll(/(?<!\S)(?<!key |pepper )\d+(?=\s)/g, '')}`;

/**
 * Checks the health of the deployment in the background of a gateway: after its start, which does not wait for it, and
 * every ten minutes. An address of several hosts is asked every 30 seconds, as a second primary that comes back would
 * take writes that are lost. Each finding is logged when it is new.
 */
export async function watchHealth(
  operator: Operator,
  log: Logger,
  observer: HealthObserver | undefined,
  stop: AbortSignal,
): Promise<void> {
  let findings: Finding[] = [];
  let known = new Set<string>();
  for (let next = Number.NEGATIVE_INFINITY; !stop.aborted; ) {
    if (performance.now() >= next) {
      findings = await health(operator);
      next = performance.now() + everyMilliseconds;
      observer?.backup(await lastBackupSeconds(operator).catch(() => undefined));
    } else if (operator.audited.readiness.several) findings = await withServers(operator, findings);
    if (stop.aborted) return;
    observer?.health(findings);
    const bad = findings.filter(({ level }) => level !== HealthLevel.OK);
    for (const one of bad.filter((each) => !known.has(keyOf(each)))) {
      const { level, ...line } = one;
      if (level === HealthLevel.NOW) log.error(line, 'the deployment needs somebody to act now');
      else log.warn(line, 'the deployment needs somebody to look at it');
    }
    known = new Set(bad.map(keyOf));
    await sleep(serversMilliseconds, undefined, { signal: stop }).catch(() => {});
  }
}

/** The findings, with what the servers of the database need now. What can wait for the day waits for the next round. */
async function withServers(operator: Operator, findings: readonly Finding[]): Promise<Finding[]> {
  const isUrgent = ({ check, level }: Finding) => check === servers.name && level === HealthLevel.NOW;
  const found = await findingsOf(operator, servers);
  return [...findings.filter((finding) => !isUrgent(finding)), ...found.filter(isUrgent)];
}
