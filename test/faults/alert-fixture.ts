import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Children, type Gateway, until } from '../support/child.js';
import { hasty } from '../support/patient.js';
import { freePort } from '../support/ports.js';
import { Prometheus } from '../support/prometheus.js';
import { figures } from '../support/scale.js';
import type { Server } from '../support/standby.js';
import { details, nickname, type Speaker } from '../support/world.js';

export const pepper = 'a pepper that is long enough for a test';

type Environment = Record<string, string>;

/** A gateway on a server, a root account of it, and a real Prometheus that scrapes it with the alert rules. */
export interface Watched {
  environment: Environment;
  gateway: Gateway;
  prometheus: Prometheus;
  root: { account: { id: string }; keys: { test: string; live: string } };
  me: Speaker;
}

/**
 * Waits until so many processes of a gateway have checked the health for the first time, which they do in the
 * background: a check that is late would find what a drill breaks, and `TidegateHealth` would fire, too. Each of them
 * logs that there is no recent backup.
 */
export const checkedBy = (processes: number, gateway: Gateway) =>
  until(() => gateway.log().filter(({ check }) => check === 'backups').length >= processes, 100);

/**
 * Starts a gateway with the time limits of one without settings, creates a root account, and watches both once its
 * health is checked.
 */
export async function watched(
  children: Children,
  { port }: Server,
  kind: 'platform' | 'user',
  more: Environment = {},
): Promise<Watched> {
  const METRICS_PORT = String(await freePort());
  const environment = {
    ...hasty,
    DATABASE_URL: `postgres://tidegate@127.0.0.1:${port}/tidegate`,
    API_KEY_PEPPER: pepper,
    TRUSTED_PROXY: '127.0.0.1',
    METRICS_PORT,
  };
  const gateway = await children.gateway({ ...environment, ...more });
  const create = ['account', 'create', `--type=${kind}`, '--edition=1', '--legal-name=Root Traders', '--json'];
  const root = JSON.parse((await children.command(environment, ...create)).out) as Watched['root'];
  await checkedBy(Number(more.WORKERS ?? 1), gateway);
  const prometheus = new Prometheus();
  await prometheus.start([`127.0.0.1:${METRICS_PORT}`]);
  const me = gateway.speaker(root.keys.test, { 'x-forwarded-proto': 'https' });
  return { environment, gateway, prometheus, root, me };
}

/** Ends what `watched` has started. */
export async function unwatched(one: Watched | undefined): Promise<void> {
  await one?.prometheus.stop();
  if (!one || one.gateway.over) return;
  await one.gateway.stop();
}

/** The time between two rounds of the rules, and a little more. */
const roundMilliseconds = 6_000;

/** Creates a partner, which is a small write. */
export const partner = (me: Speaker) =>
  me.post('/v1/accounts', { type: 'partner', nickname: nickname(), business_details: details() });

/**
 * Waits until an alert fires, and returns the seconds from now on. No other alert may begin to fire meanwhile, not even
 * for a moment; those of the faults before still may.
 */
export async function fires(prometheus: Prometheus, fault: string, alert: string): Promise<number> {
  const before = await prometheus.firing();
  expect([alert, before.has(alert)]).toEqual([alert, false]);
  const began = performance.now();
  const fired = new Set<string>();
  await until(async () => {
    for (const name of await prometheus.firing()) fired.add(name);
    return fired.has(alert);
  }, 250);
  const seconds = (performance.now() - began) / 1_000;
  // What fires one round of the rules later is of the same fault.
  await sleep(roundMilliseconds);
  for (const name of await prometheus.firing()) fired.add(name);
  expect([...fired].filter((name) => !before.has(name))).toEqual([alert]);
  figures('alerts', { fault, alert, seconds: seconds.toFixed(0) });
  return seconds;
}

/** What the doctor says that is not well, about an alert; its exit code is 1 when somebody has to act now. */
export async function doctorOn(
  children: Children,
  environment: Environment,
  alert: string,
): Promise<[level: string, check: string, finding: string][]> {
  const { out, errors, code } = await children.command(environment, 'doctor', '--alert', alert, '--json');
  const { health } = JSON.parse(out) as { health: { level: string; check: string; finding: string }[] };
  expect([code, errors]).toEqual([health.some(({ level }) => level === 'now') ? 1 : 0, '']);
  return health.filter(({ level }) => level !== 'ok').map(({ level, check, finding }) => [level, check, finding]);
}
