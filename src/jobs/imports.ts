import type { WorkerCalls } from '../db/doors.js';
import { fromRow } from '../db/read/row-mapper.js';
import { type Bulk, callerOf, EarlierRows, type RowFault, type RowOutcome } from '../operation/bulk.js';
import { type ImportRow, dataImport } from '../resources/import/table.js';
import type { ImportRowStatus } from '../resources/import-row/table.js';
import { claimSeconds, Lost, patiently, type Piece, type PieceContext } from './bulk.js';

/** How many rows are recorded together, and tried together. */
const batchMax = 50;
/** How many results of an old import one statement deletes. */
const deletedMax = 1_000;

/**
 * Makes imports. Each row is one write with an idempotency key of its own, and rows are recorded after they are done. A
 * process that dies between the two leaves rows that are done again, which returns what they have created.
 */
export class Imports {
  readonly table = dataImport;
  readonly keep = 'extend_import_claim';

  constructor(
    private readonly database: WorkerCalls,
    private readonly bulk: Bulk,
  ) {}

  /** Deletes an import and its results after their time; returns whether it was due for that. */
  async expire({ tenantId, livemode, id, ended }: Piece): Promise<boolean> {
    if (!ended) return false;
    for (let more = true; more; ) {
      const [row] = await this.database.work('expire_import', [tenantId, livemode, id, deletedMax]);
      more = row?.expire_import === true;
    }
    return true;
  }

  async claim({ tenantId, livemode, id }: Piece): Promise<ImportRow | undefined> {
    const [row] = await this.database.work('claim_import', [tenantId, livemode, id, claimSeconds]);
    return row && fromRow(dataImport, row);
  }

  async run(row: ImportRow, context: PieceContext): Promise<void> {
    const { tenantId, livemode, id, attempts, kind, dryRun, allowDuplicates } = row;
    const caller = callerOf(row);
    const task = { kind, allowDuplicates, caller };
    const { rows } = await this.bulk.rowsOf(kind, await this.bulk.contentOf(row.fileId, caller));
    const earlier = new EarlierRows();
    // A trial begins again after an interruption, since its rows are compared with those before them.
    for (let done = dryRun ? 0 : row.rowsDone; done < rows.length; done += batchMax) {
      const batch = rows.slice(done, done + batchMax);
      if (done >= row.rowsDone) await context.payWrites(batch.length);
      const outcomes: RowOutcome[] = [];
      let interruption: unknown;
      if (dryRun) {
        outcomes.push(...(await patiently(() => this.bulk.tried(task, batch, earlier), context.signal)));
      } else
        for (const [i, each] of batch.entries()) {
          if (context.signal.aborted) break;
          try {
            const key = `${id}:${done + i + 1}`;
            outcomes.push(await patiently(() => this.bulk.create(task, each, key), context.signal));
          } catch (error) {
            // The rows before it exist, so they are recorded first: the import may end here.
            interruption = error;
            break;
          }
        }
      const results = outcomes.map(({ objectId, faults }, i) => ({
        ...{ row: done + i + 1, objectId, problems: faults },
        status: statusOf(faults, dryRun),
      }));
      const values = [tenantId, livemode, id, attempts, done + results.length, JSON.stringify(results)];
      const [recorded] = await this.database.work('record_import_rows', values);
      if (interruption !== undefined) throw interruption;
      if (recorded?.record_import_rows !== true || context.signal.aborted) throw new Lost();
    }
    await this.database.work('finish_import', [tenantId, livemode, id, attempts, null]);
  }
}

function statusOf([fault]: readonly RowFault[], dryRun: boolean): ImportRowStatus {
  if (fault === undefined) return dryRun ? 'valid' : 'created';
  return fault.code === 'seen_before' ? 'seen_before' : 'failed';
}
