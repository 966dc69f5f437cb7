import { sql } from 'drizzle-orm';
import { version } from '../../config/version.js';
import { secretsInUse } from '../access/secrets.js';
import { listGateways } from '../console.js';
import { operatorBreaches } from '../money/audit.js';
import { operatorAction } from '../table.js';
import type { Operator } from '../operator.js';
import { type DueWork, dueAges } from './due-ages.js';
import { counted, type Finding, type HealthCheck, look, now, processesByVersion, span } from './finding.js';
import { stuckCounts } from './stuck-counts.js';

/** Work that is overdue for longer makes money late. The alert rule has the same. */
const overdueSecondsMax = 120;
/** A ledger that was not checked for longer is a reason to look at the checks. The alert rule has the same. */
const checkedSecondsMax = 259_200;
const backupSecondsMax = 2 * 86_400;

/** The processes of the gateways. */
const gateways: HealthCheck = {
  name: 'gateways',
  alerts: [
    ...['TidegateDown', 'TidegateGatewayLost', 'TidegateNoCommits', 'TidegateProcessReplaced'],
    ...['TidegateEventLoop', 'TidegateSlow'],
  ],
  well: 'The processes of the gateways say that they run, and have the version of this program.',
  async find(operator) {
    const all = await listGateways(operator);
    const alive = all.filter((each) => each.alive);
    const gone = all.length - alive.length;
    const other = [...new Set(alive.map((each) => each.version))].filter((each) => each !== version);
    const found: Omit<Finding, 'check'>[] = [];
    if (alive.length === 0)
      found.push(
        gone > 0
          ? now('No process of a gateway has committed for 30 seconds.', 'curl -s http://GATEWAY/readyz')
          : look('No gateway runs on this database.', 'npm start'),
      );
    else if (gone > 0) {
      const processes = gone === 1 ? '1 process of a gateway' : `${gone} processes of gateways`;
      found.push(look(`${processes} ended without saying so in the last day.`, processesByVersion));
    }
    if (other.length > 0)
      found.push(
        look(`Gateways of version ${other.join(', ')} run beside this program's ${version}.`, processesByVersion),
      );
    return found;
  },
};

const secrets: HealthCheck = {
  name: 'secrets',
  alerts: ['TidegateUndecryptable'],
  well: 'Every secret that stored values depend on is configured.',
  async find(operator) {
    const missing = (await secretsInUse(operator)).filter(({ setting, name }) => setting === null && name !== null);
    return missing.flatMap(({ name, keys, operators, tax_card_numbers: numbers, webhook_secrets: hooks }) => {
      const sealed = [
        ...(hooks > 0 ? [counted(hooks, 'webhook secret')] : []),
        ...(numbers > 0 ? [counted(numbers, 'tax card number')] : []),
      ].join(' and ');
      return [
        ...(sealed
          ? [now(`The encryption key ${name} is not configured: ${sealed} cannot be decrypted.`, 'tidegate secrets')]
          : []),
        ...(keys + operators > 0
          ? [
              look(
                `The pepper ${name} is not configured: ${counted(keys + operators, 'key')} of it are refused.`,
                'tidegate secrets',
              ),
            ]
          : []),
      ];
    });
  },
};

const nouns: Record<DueWork, string> = {
  job: 'job',
  payout: 'payout',
  delivery: 'delivery of a webhook',
  event: 'event without a number',
};

const lateWork: HealthCheck = {
  name: 'late work',
  alerts: ['TidegateLate', 'TidegateWorkWaits', 'TidegateNoCommits'],
  well: 'No work of live mode is overdue.',
  async find(operator) {
    const late = Object.entries(await dueAges(operator.audited)).filter(([, age]) => age > overdueSecondsMax);
    if (late.length === 0) return [];
    const { jobs, work } = (await stuckCounts(operator.audited)).live;
    // What nobody has tried yet has not failed: the gateways say why they do not work.
    const command = jobs + work > 0 ? 'tidegate job list --stuck' : 'curl -s http://GATEWAY/readyz';
    return late.map(([of, age]) =>
      now(`The oldest ${nouns[of as DueWork]} of live mode is overdue by ${span(age)}.`, command),
    );
  },
};

const stuckWork: HealthCheck = {
  name: 'stuck work',
  alerts: ['TidegateStuck', 'TidegateStuckTest', 'TidegateWorkFails', 'TidegateRetries'],
  well: 'No work fails.',
  async find(operator) {
    const counts = await stuckCounts(operator.audited);
    return Object.entries(counts)
      .filter(([, { jobs, work }]) => jobs + work > 0)
      .map(([mode, { jobs, work }]) => {
        const what = `${counted(jobs, 'job')} and the work of ${counted(work, 'tenant')}`;
        return look(`In ${mode} mode ${what} fail and are tried again.`, 'tidegate job list --stuck');
      });
  },
};

const ledgers: HealthCheck = {
  name: 'ledgers',
  alerts: ['TidegateLedgerViolated', 'TidegateLedgerUnchecked'],
  well: 'Each ledger has passed its last check, in the last three days, and no order or bank file breaks a rule.',
  async find(operator) {
    // The last check with an outcome of each tenant and mode that has a balance.
    const [row] = await operator.auditQuery<{ violated: number; unchecked: number; tenant: string; oldest: number }>(
      'health_ledgers',
      (db) =>
        db
          .select({
            violated: sql<number>`(count(*) filter (where l.status = 'violated'))::int`,
            unchecked: sql<number>`(count(*) filter (where l.status is null))::int`,
            tenant: sql<string>`min(b.tenant_id) filter (where l.status is null)`,
            oldest: sql<number>`coalesce(max(extract(epoch from statement_timestamp()) - l.created), 0)::float8`,
          })
          .from(
            sql`(select distinct tenant_id, livemode from balance) b left join lateral (
              select c.status, c.created from ledger_check c
              where c.tenant_id = b.tenant_id and c.livemode = b.livemode and c.status in ('passed', 'violated')
              order by c.created desc, c.id desc limit 1) l on true`,
          ),
    );
    const { violated, unchecked, tenant, oldest } = row!;
    const breaches = await operatorBreaches(operator);
    return [
      ...breaches.map(({ rule, what }) => now(`A rule is broken: ${rule} (${what}).`, 'tidegate ledger audit')),
      ...(violated > 0
        ? [
            now(
              `${counted(violated, 'ledger')} violated at the last check.`,
              'tidegate ledger checks --status violated',
            ),
          ]
        : []),
      ...(oldest > checkedSecondsMax
        ? [look(`The oldest last check of a ledger is ${span(oldest)} old.`, 'tidegate ledger checks --status failed')]
        : []),
      ...(unchecked > 0
        ? [look(`${counted(unchecked, 'ledger')} not checked yet.`, `tidegate ledger check account_${tenant}`)]
        : []),
    ];
  },
};

/** When Tidegate's own backup has succeeded last, in seconds before now; undefined when it never has. */
export async function lastBackupSeconds(operator: Operator): Promise<number | undefined> {
  const [row] = await operator.auditQuery<{ age: number }>('health_backup', (db) =>
    db
      .select({ age: sql<number>`(extract(epoch from statement_timestamp()) - ${operatorAction.created})::float8` })
      .from(operatorAction)
      .where(
        sql`number = action and operation = 'backup' and exists (
          select from operator_action e where e.action = ${operatorAction.number} and e.outcome = 'succeeded')`,
      )
      .orderBy(sql`(-${operatorAction.number})`)
      .limit(1),
  );
  return row?.age;
}

const backups: HealthCheck = {
  name: 'backups',
  alerts: ['TidegateBackupOld'],
  well: 'The last backup by `tidegate backup` is not older than two days.',
  async find(operator) {
    const age = await lastBackupSeconds(operator);
    const command = 'tidegate backup FOLDER';
    if (age === undefined)
      return [look('`tidegate backup` has made no backup; this program does not know of others.', command)];
    return age > backupSecondsMax ? [look(`The last backup by \`tidegate backup\` is ${span(age)} old.`, command)] : [];
  },
};

export const workChecks: readonly HealthCheck[] = [gateways, secrets, lateWork, stuckWork, ledgers, backups];
