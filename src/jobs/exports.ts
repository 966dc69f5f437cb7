import { createHash } from 'node:crypto';
import type { WorkerCalls } from '../db/doors.js';
import { fromRow } from '../db/read/row-mapper.js';
import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import { type Bulk, callerOf } from '../operation/bulk.js';
import { DomainError, problem, sentenceV1 } from '../errors/problems.js';
import { type ExportRow, dataExport } from '../resources/export/table.js';
import { claimSeconds, Lost, type Piece, type PieceContext } from './bulk.js';

/** A part of the content has about so many bytes. */
const partBytes = 512 * 1024;
/** How many parts of expired content one statement deletes. */
const deletedMax = 200;

/**
 * Makes exports. The whole list is one statement, so that all its rows are of one moment, and its rows are stored in
 * parts as they come. An export that is interrupted begins again: the next attempt deletes the parts of the one before.
 */
export class Exports {
  readonly table = dataExport;
  readonly keep = 'extend_export_claim';

  constructor(
    private readonly database: WorkerCalls,
    private readonly bulk: Bulk,
  ) {}

  /** Deletes the content of an export after its time; returns whether it was due for that. */
  async expire({ tenantId, livemode, id, ended }: Piece): Promise<boolean> {
    if (!ended) return false;
    for (let more = true; more; ) {
      const [row] = await this.database.work('expire_export', [tenantId, livemode, id, deletedMax]);
      more = row?.expire_export === true;
    }
    return true;
  }

  async claim({ tenantId, livemode, id }: Piece): Promise<ExportRow | undefined> {
    const [row] = await this.database.work('claim_export', [tenantId, livemode, id, claimSeconds]);
    return row && fromRow(dataExport, row);
  }

  async run(row: ExportRow, context: PieceContext): Promise<void> {
    const { tenantId, livemode, id, attempts } = row;
    const finish = (sha256: string | null, error: string | null) =>
      this.database.work('finish_export', [
        ...[tenantId, livemode, id, attempts, sha256, error],
        this.bulk.exportKeepSeconds,
      ]);
    try {
      const content = new Content(this.database, row, context, this.bulk.exportBytesMax);
      const list = await this.bulk.list(row, callerOf(row));
      await content.add(list.header, 0);
      const take = async (rows: Record<string, unknown>[]) => {
        await context.pay(rows.length);
        await content.add(list.lines(rows), rows.length);
      };
      await this.database.lists.read(list.statement, take, context.signal);
      await finish(await content.end(), null);
    } catch (error) {
      // What the caller may not see any more, and a list that is too large: another attempt would end in the same way.
      if (!(error instanceof DomainError) || error.status >= 500) throw error;
      await finish(null, error.problems.map(sentenceV1).join(' '));
    }
  }
}

/** The content of an export as it grows. */
class Content {
  readonly #hash = createHash('sha256');
  #waiting: string[] = [];
  #waitingBytes = 0;
  #waitingRows = 0;
  #bytes = 0;
  #parts = 0;

  constructor(
    private readonly database: WorkerCalls,
    private readonly of: ExportRow & TenantAndMode,
    private readonly context: PieceContext,
    private readonly bytesMax: number,
  ) {}

  async add(text: string, rows: number): Promise<void> {
    if (this.context.signal.aborted) throw new Lost();
    const bytes = Buffer.byteLength(text);
    this.#waiting.push(text);
    this.#waitingBytes += bytes;
    this.#waitingRows += rows;
    this.#bytes += bytes;
    if (this.#bytes > this.bytesMax) throw tooLarge(this.bytesMax);
    if (this.#waitingBytes >= partBytes) await this.#store();
  }

  /** Stores the rest; returns the hash of the whole content. */
  async end(): Promise<string> {
    if (this.#waitingBytes > 0) await this.#store();
    return this.#hash.digest('hex');
  }

  async #store(): Promise<void> {
    const { tenantId, livemode, id, attempts } = this.of;
    const content = Buffer.from(this.#waiting.join(''));
    this.#hash.update(content);
    const [row] = await this.database.work('append_export_part', [
      ...[tenantId, livemode, id, attempts],
      ...[++this.#parts, this.#waitingRows, content.toString('base64')],
    ]);
    if (row?.append_export_part !== true) throw new Lost();
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#waitingRows = 0;
  }
}

const tooLarge = (bytes: number): DomainError =>
  new DomainError(
    problem(
      'answer_too_large',
      undefined,
      `The export has more than ${bytes} bytes. Export a part of the list at a time, such as a range of \`created\`.`,
    ),
  );
