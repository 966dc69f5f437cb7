import { and, desc, inArray, sql } from 'drizzle-orm';
import { isAlive } from '../db/write/other-releases.js';
import { gatewayProcess } from '../jobs/table.js';
import { type AccountSettingRow, accountSetting } from '../resources/account-setting/table.js';
import { contentOf } from '../resources/file/content.js';
import { type FileRow, file } from '../resources/file/table.js';
import { type Operator, OperatorError } from './operator.js';
import { type ListPage, pageOf, tenantOf, valuesOf } from './paging.js';
import { type BankNoticeRow, bankNotice } from './table.js';

const { placeholder } = sql;

/**
 * Lists the notices of banks over all tenants, newest first, or those with a reference, as it was typed or in capitals:
 * these are few, and are read as a whole.
 */
export async function listNotices(
  operator: Operator,
  limit: number,
  after?: string,
  typed?: string,
): Promise<ListPage<BankNoticeRow>> {
  const from = after === undefined ? undefined : valuesOf(after, 'deposit', 5);
  const { created, tenantId, livemode, reference, event } = bankNotice;
  const others = [tenantId, livemode, reference, event];
  // Otherwise PostgreSQL could go through all notices by their age for those with the reference.
  const age = typed === undefined ? created : sql`${created} + 0`;
  const columns = [age, ...others];
  const rows = await operator.read<BankNoticeRow>(
    `operator_notices${typed === undefined ? '' : ':reference'}${from ? ':after' : ''}`,
    (db) =>
      db
        .select()
        .from(bankNotice)
        .where(
          and(
            typed === undefined ? undefined : inArray(reference, [placeholder('typed'), placeholder('capitals')]),
            from &&
              sql`(${sql.join(columns, sql`, `)}) < (${placeholder('v0')}::bigint, ${placeholder('v1')}::text,
                ${placeholder('v2')}::boolean, ${placeholder('v3')}::text, ${placeholder('v4')}::text)`,
          ),
        )
        .orderBy(...columns.map((column) => desc(column)))
        .limit(placeholder('limit')),
    { ...from, typed, capitals: typed?.toUpperCase(), limit: limit + 1 },
  );
  return pageOf(rows, limit, (row) => [row.created, row.tenantId, row.livemode, row.reference, row.event]);
}

/** Lists the payout settings with a service hold over all tenants, newest first. */
export async function listHolds(
  operator: Operator,
  limit: number,
  after?: string,
): Promise<ListPage<AccountSettingRow>> {
  const from = after === undefined ? undefined : valuesOf(after, 'account_setting', 3);
  const { created, id, livemode, serviceHold } = accountSetting;
  const columns = [created, id, livemode];
  const rows = await operator.read<AccountSettingRow>(
    `operator_holds${from ? ':after' : ''}`,
    (db) =>
      db
        .select()
        .from(accountSetting)
        .where(
          and(
            sql`${serviceHold}`,
            from &&
              sql`(${sql.join(columns, sql`, `)}) < (${placeholder('v0')}::bigint, ${placeholder('v1')}::text,
                ${placeholder('v2')}::boolean)`,
          ),
        )
        .orderBy(...columns.map((column) => desc(column)))
        .limit(placeholder('limit')),
    { ...from, limit: limit + 1 },
  );
  return pageOf(rows, limit, (row) => [row.created, row.id, row.livemode]);
}

/** A process of a gateway. */
export interface GatewayProcess {
  id: string;
  host: string;
  process: number;
  version: string;
  startedAt: number;
  seenAt: number;
  alive: boolean;
}

const gatewaysMax = 200;

/** The processes of the gateways that have been seen in the last day, the latest first. */
export function listGateways(operator: Operator): Promise<GatewayProcess[]> {
  const { id, host, process, version, startedAt, seenAt } = gatewayProcess;
  return operator.read<GatewayProcess>(
    'operator_gateways',
    (db) =>
      db
        .select({ id, host, process, version, startedAt, seenAt, alive: isAlive })
        .from(gatewayProcess)
        .orderBy(desc(seenAt), desc(id))
        .limit(gatewaysMax),
    {},
  );
}

/** Which file of which tenant and mode. */
export interface FilePlace {
  id: string;
  tenantId: string;
  livemode: boolean;
}

/** A file with its content. */
export async function fileWithContent(
  operator: Operator,
  { id, tenantId, livemode }: FilePlace,
): Promise<{ row: FileRow; content: Buffer }> {
  const scope = operator.scope({ tenantId: tenantOf(tenantId), livemode });
  const row = await scope.find(file, id);
  if (!row) throw new OperatorError('There is no such file. Check the id.', 'resource_missing', 'file.id');
  operator.place = { tenantId: row.tenantId, livemode };
  return { row, content: await contentOf(scope, row.id) };
}
