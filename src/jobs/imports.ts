import type { Database } from '../db/database.js';
import { fromRow } from '../db/row-mapper.js';
import { type Bulk, callerOf, type RowOutcome } from '../operation/bulk.js';
import { type ImportRow, dataImport } from '../resources/import/table.js';
import { claimSeconds, Lost, patiently, type Piece, type Turn } from './bulk.js';

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
  readonly keep = 'keep_import';

  constructor(
    private readonly database: Database,
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

  async run(row: ImportRow, turn: Turn): Promise<void> {
    const { tenantId, livemode, id, attempts, kind, dryRun } = row;
    const caller = callerOf(row);
    const { rows } = await this.bulk.rowsOf(kind, await this.bulk.contentOf(row.fileId, caller));
    const names = new Names(kind === 'partners' && dryRun ? rows : []);
    for (let done = row.rowsDone; done < rows.length; done += batchMax) {
      const batch = rows.slice(done, done + batchMax);
      await turn.payWrites(batch.length);
      const outcomes: RowOutcome[] = [];
      let interruption: unknown;
      if (dryRun) {
        const tried = await patiently(() => this.bulk.tried(kind, batch, caller), turn.signal);
        outcomes.push(...names.repeated(tried, done));
      } else
        for (const [i, each] of batch.entries()) {
          if (turn.signal.aborted) break;
          try {
            const key = `${id}:${done + i + 1}`;
            outcomes.push(await patiently(() => this.bulk.create(kind, each, key, caller), turn.signal));
          } catch (error) {
            // The rows before it exist, so they are recorded first: the import may end here.
            interruption = error;
            break;
          }
        }
      const results = outcomes.map(({ objectId, faults }, i) => ({
        ...{ row: done + i + 1, objectId, problems: faults },
        status: faults.length > 0 ? 'failed' : dryRun ? 'valid' : 'created',
      }));
      const values = [tenantId, livemode, id, attempts, done + results.length, JSON.stringify(results)];
      const [recorded] = await this.database.work('record_import_rows', values);
      if (interruption !== undefined) throw interruption;
      if (recorded?.record_import_rows !== true || turn.signal.aborted) throw new Lost();
    }
    await this.database.work('finish_import', [tenantId, livemode, id, attempts, null]);
  }
}

/** The nicknames of a file. A trial undoes its batches, so a name that two batches have is found here. */
class Names {
  readonly #first = new Map<string, number>();

  constructor(private readonly rows: readonly Readonly<Record<string, string>>[]) {
    for (const [i, { nickname }] of rows.entries()) {
      const key = nickname?.toLowerCase();
      if (key !== undefined && !this.#first.has(key)) this.#first.set(key, i);
    }
  }

  /**
   * The outcomes of a trial, where a row with the name of an earlier row has the fault that its creation would have.
   */
  repeated(outcomes: RowOutcome[], from: number): RowOutcome[] {
    return outcomes.map((outcome, i) => {
      const first = this.#first.get(this.rows[from + i]?.nickname?.toLowerCase() ?? '');
      if (outcome.faults.length > 0 || first === undefined || first >= from + i) return outcome;
      const message = `Row ${first + 1} of the file has this nickname. Choose another.`;
      return { objectId: null, faults: [{ code: 'nickname_taken', column: 'nickname', message }] };
    });
  }
}
