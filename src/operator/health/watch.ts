import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Operator } from '../operator.js';
import { disk, servers } from './database-checks.js';
import { findingsOf, health } from './doctor.js';
import { type Finding, HealthLevel } from './finding.js';
import { lastBackupSeconds } from './work-checks.js';

const everyMilliseconds = 600_000;
const urgentMilliseconds = 30_000;

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
 * every ten minutes. Every 30 seconds it asks whether the disk is full, which the age of the last commit need not show,
 * and an address of several hosts, as a second primary that comes back would take writes that are lost. Each finding is
 * logged when it is new.
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
    } else findings = await withUrgent(operator, findings);
    if (stop.aborted) return;
    observer?.health(findings);
    const bad = findings.filter(({ level }) => level !== HealthLevel.OK);
    for (const one of bad.filter((each) => !known.has(keyOf(each)))) {
      const { level, ...line } = one;
      if (level === HealthLevel.NOW) log.error(line, 'the deployment needs somebody to act now');
      else log.warn(line, 'the deployment needs somebody to look at it');
    }
    known = new Set(bad.map(keyOf));
    await sleep(urgentMilliseconds, undefined, { signal: stop }).catch(() => {});
  }
}

/** The findings, with what is urgent now. What can wait for the day waits for the next round. */
async function withUrgent(operator: Operator, findings: readonly Finding[]): Promise<Finding[]> {
  let known = [...findings];
  for (const check of operator.audited.readiness.several ? [disk, servers] : [disk]) {
    const isUrgent = ({ check: name, level }: Finding) => name === check.name && level === HealthLevel.NOW;
    const found = await findingsOf(operator, check);
    known = [...known.filter((finding) => !isUrgent(finding)), ...found.filter(isUrgent)];
  }
  return known;
}
