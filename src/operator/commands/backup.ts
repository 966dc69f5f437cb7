import path from 'node:path';
import { sql } from 'drizzle-orm';
import type { CrossTenantReads, ScopeSource } from '../../db/doors.js';
import { backup } from '../../db/backup/backup.js';
import type { Manifest } from '../../db/backup/manifest.js';
import { restore, type Restored } from '../../db/backup/restore.js';
import { asOwner, type Config, demoOf, existingSecrets, type Opening, withDatabase } from '../../db/connect/open.js';
import { during } from '../../db/connect/start.js';
import { newRequestId } from '../../request/id.js';
import { entryJson, logged } from '../action/actions.js';
import { auditLedger, verifySeals } from '../money/audit.js';
import { health } from '../health/doctor.js';
import { HealthLevel } from '../health/finding.js';
import { Operator } from '../operator.js';
import { ActionOutcome } from '../table.js';
import { commandUser } from './command.js';
import type { Progress } from './progress.js';

type Output = Pick<Opening, 'progress' | 'say'> & { progressOf: Progress };

/** Backs up the database of the settings, and says what the backup does not contain. */
export async function backupStore(config: Config, folder: string, { progress, say, progressOf }: Output) {
  const copied = (bytes: number, of: number) => progressOf('Copying the tables', bytes, of, 'bytes');
  const options = { lockSeconds: config.MIGRATION_LOCK_SECONDS, say, copied, demo: demoOf(config) };
  const manifest = await asOwner(config, progress, async (connection) => {
    const copy = () => during('backing up the database', () => backup(connection, folder, options));
    return withDatabase(connection, async (database) => {
      // The audit log is younger than some databases that are backed up before their migration.
      const [found] = await database.auditQuery<{ log: string | null }>('operator_action_exists', (db) =>
        db.select({ log: sql<string | null>`to_regclass('operator_action')::text` }).from(sql`(select) nothing`),
      );
      if (!found!.log) return copy();
      const action = { operation: 'backup', details: { folder: path.resolve(folder) } };
      const actor = { name: commandUser(), id: null };
      return logged(operatorWithoutGraph(database), actor, action, copy, ({ id }) => ({ details: { backup: id } }));
    });
  });
  return {
    backup: path.resolve(folder),
    ...summary(manifest),
    bytes: manifest.tables.reduce((sum, { bytes }) => sum + bytes, 0),
    kept_apart: apart(manifest),
  };
}

/**
 * Restores a backup into the empty database of the settings, checks its ledger as `ledger audit` and `ledger verify`
 * do, and warns where the secrets of the settings are not those of the backup.
 */
export async function restoreStore(config: Config, folder: string, { progress, say, progressOf }: Output) {
  const action = {
    operator: commandUser(),
    entry: ({ id, created }: Manifest) => {
      const entry = { operation: 'restore', outcome: ActionOutcome.SUCCEEDED, details: { backup: id, created } };
      return entryJson(entry, null, newRequestId());
    },
  };
  const filled = (bytes: number, of: number) => progressOf('Restoring the tables', bytes, of, 'bytes');
  const migrated = (done: number, of: number) => progressOf('Migrating the database', done, of, 'migrations');
  const options = { lockSeconds: config.MIGRATION_LOCK_SECONDS, say, restored: filled, migrated, action };
  return asOwner(config, progress, async (connection) => {
    const restored = await during('restoring the database', () => restore(connection, folder, options));
    const { demo } = restored.manifest;
    if (demo && !restored.before) demoOf(config, demo);
    for (const warning of warnings(config, restored)) say(warning);
    progress('Checking the ledger');
    return withDatabase(connection, async (database) => {
      const operator = operatorWithoutGraph(database);
      const { violationCount, postings } = await auditLedger(operator);
      const chains = await verifySeals(operator);
      const broken = chains.filter(({ firstBroken }) => firstBroken !== null);
      // What it lacks of gateways, secrets and backups is no finding: the warnings above have the secrets. Nor are
      // ledgers without a recent check, since all were checked above, and what is late until a gateway runs.
      const expected = new Set(['gateways', 'secrets', 'backups', 'ledgers', 'late work']);
      for (const { check, level, finding, command } of await health(operator))
        if (level !== HealthLevel.OK && !expected.has(check)) say(`${finding}${command ? ` ${command}` : ''}`);
      return {
        restored: restored.before ? 'before' : 'now',
        ...summary(restored.manifest),
        ledger: { postings, violations: violationCount, seals: chains.length, broken_seals: broken.length },
      };
    });
  });
}

/** The operator's functions without the public graph, for commands that act on the database alone. */
export const operatorWithoutGraph = (database: CrossTenantReads & ScopeSource) =>
  new Operator(database, () => Promise.reject(new Error('A backup runs no mutation.')), 'unused');

function summary({ id, created, schema, tables }: Manifest) {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return { id, created, version: schema.version, tables: tables.length, rows };
}

function apart({ secrets: { peppers, encryption_keys } }: Manifest): string {
  const keys = encryption_keys.length > 0 ? `, nor that of the encryption keys ${encryption_keys.join(', ')}` : '';
  const pepper = peppers.length > 1 ? `the peppers ${peppers.join(', ')}` : ['the pepper', ...peppers].join(' ');
  return (
    `The backup does not contain ${pepper}${keys}. Keep them elsewhere: without its pepper, no API key of a ` +
    'restored database works.'
  );
}

/** What an operator has to do before the restored database can be served as it was. */
function warnings(config: Config, { manifest: { secrets, created }, before, missingRoles }: Restored): string[] {
  const given = existingSecrets(config);
  const where = config.DATABASE_URL === undefined ? `, or its file into ${config.DATA_DIR},` : '';
  const missing = (names: string[], known: string[] = []) => names.filter((name) => !known.includes(name)).join(', ');
  const keys = missing(secrets.encryption_keys, given?.encryptionIds);
  const absent = missing(secrets.peppers, given?.pepperIds);
  const pepper =
    absent === secrets.peppers.join(', ')
      ? `API_KEY_PEPPER is not a pepper of this backup (${absent}). Set it${where} before a gateway starts: without ` +
        'it no API key works.'
      : `API_KEY_PEPPER lacks peppers of this backup (${absent}). Set it${where} before a gateway starts: API keys ` +
        'that these have hashed do not work without them.';
  return [
    !before &&
      `Operators and API keys that were revoked after ${created} work again: revoke them before a gateway ` +
        'starts. All sessions have ended.',
    absent && pepper,
    keys &&
      `Tax card numbers or secrets of webhook endpoints are encrypted with keys that are not configured (${keys}). ` +
        `Set ENCRYPTION_KEY${where} before a gateway starts, or the pepper from which they derive.`,
    missingRoles.length > 0 &&
      `This server has no role ${missingRoles.join(', ')}, which served the backed-up database: create it, and ` +
        'run tidegate migrate --grant-to for it.',
  ].filter((text) => typeof text === 'string' && text !== '') as string[];
}
