import { and, eq, gt, isNotNull, not, or, sql } from 'drizzle-orm';
import type { CredentialCalls, CrossTenantReads } from '../../db/doors.js';
import { sumOfTenants } from '../../db/cluster/sum-of-tenants.js';
import { refuseAltered, type Secrets } from '../../config/secrets.js';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import { webhookEndpoint } from './table.js';

const batchSize = 100;

/** An endpoint with its encrypted secrets. */
interface Sealed {
  id: string;
  current: string;
  previous: string | null;
}

/**
 * Encrypts again, in batches, the secrets of endpoints that are under an encryption key that is no longer the first, so
 * that the key can be removed. A gateway runs it at each start; it is idempotent. Returns how many secrets it has
 * encrypted. When one tenant fails, it continues with the others and throws the error at the end.
 */
export async function sealWebhookSecrets(
  database: CrossTenantReads & CredentialCalls,
  secrets: Secrets,
  stopped: () => boolean,
): Promise<number> {
  const tenantsAndModes = await database.auditQuery<TenantAndMode>('tenants_with_webhook_secrets', (db) =>
    db
      .selectDistinct({ tenantId: webhookEndpoint.tenantId, livemode: webhookEndpoint.livemode })
      .from(webhookEndpoint)
      .where(staleUnder(secrets)),
  );
  return sumOfTenants(tenantsAndModes, (each) => sealedBatches(database, secrets, each, stopped));
}

/** The condition that a secret of an endpoint is encrypted under another key than the first. */
function staleUnder({ encryptionIds }: Secrets) {
  const { secretSealed, previousSecretSealed } = webhookEndpoint;
  const isFirst = (column: typeof secretSealed | typeof previousSecretSealed) =>
    sql`starts_with(${column}, ${`v1.${encryptionIds[0]}.`})`;
  return or(not(isFirst(secretSealed)), and(isNotNull(previousSecretSealed), not(isFirst(previousSecretSealed))));
}

/** Encrypts the stale secrets of a tenant and mode, one batch per iteration. */
async function* sealedBatches(
  database: CrossTenantReads & CredentialCalls,
  secrets: Secrets,
  { tenantId, livemode }: TenantAndMode,
  stopped: () => boolean,
) {
  const w = webhookEndpoint;
  const altered: string[] = [];
  for (let after = ''; !stopped(); ) {
    const rows = await database.auditQuery<Sealed>('webhook_secrets', (db) =>
      db
        .select({ id: w.id, current: w.secretSealed, previous: w.previousSecretSealed })
        .from(w)
        .where(and(eq(w.tenantId, tenantId), eq(w.livemode, livemode), gt(w.id, after), staleUnder(secrets)))
        .orderBy(w.id)
        .limit(batchSize),
    );
    const changed = rows.flatMap(({ id, current, previous }) =>
      [current, previous].flatMap((was) => {
        if (was === null || was.startsWith(`v1.${secrets.encryptionIds[0]}.`)) return [];
        const place = { tenantId, livemode, id };
        if (secrets.altered(was, place)) altered.push(id);
        const secret = secrets.readable(was, place);
        // It does not change; `tidegate secrets` counts it.
        return secret === undefined ? [] : [{ id, was, sealed: secrets.seal(secret, place) }];
      }),
    );
    if (changed.length > 0) await database.call('seal_webhook_secrets', [tenantId, livemode, JSON.stringify(changed)]);
    yield changed.length;
    if (rows.length < batchSize) break;
    after = rows.at(-1)!.id;
  }
  refuseAltered('secrets', altered);
}
