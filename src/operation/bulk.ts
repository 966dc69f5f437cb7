import type { ListStatement } from '../db/list/stream.js';
import type { Caller } from '../request/caller.js';
import type { Charge } from '../limits/charge.js';

/** The caller of an export or import, as it is stored with it. */
export const callerOf = ({ caller }: { caller: object }): Caller => caller as Caller;

/** A list of /v1 as a client asks for it: its path and its query, and the format of its file. */
export interface AskedList {
  list: string;
  filters: string;
  format: 'csv' | 'jsonl';
}

/** A whole list as a caller sees it, and how it is written to a file. */
export interface WrittenList {
  statement: ListStatement;
  /** The first line; empty where the format has none. */
  header: string;
  /** The lines of rows, each with its end. */
  lines: (rows: readonly object[]) => string;
}

/** What is wrong with a row of a file. */
export interface RowFault {
  code: string;
  column: string | null;
  message: string;
}

/** The rows of a file, each with its cells by their columns; or why it cannot be read. */
export interface FileRows {
  faults: string[];
  rows: Readonly<Record<string, string>>[];
}

/**
 * What became of a row: the id of its object, or its faults. In a trial a row without faults has no object. A row that
 * was seen before has the fault `seen_before`, and the object like it, if there is one already.
 */
export interface RowOutcome {
  objectId: string | null;
  faults: RowFault[];
}

/** The rows of an import: what they create, whether also those that were seen before, and for whom. */
export interface ImportTask {
  kind: string;
  allowDuplicates: boolean;
  caller: Caller;
}

/**
 * What the earlier rows of a trial would have stored, which each batch of them undoes: what rows are compared by, and
 * the nicknames, each with its row.
 */
export class EarlierRows {
  rows = 0;
  readonly compared = new Set<string>();
  readonly nicknames = new Map<string, number>();
}

/**
 * Exports and imports, as far as they are those of the APIs. The gateway makes one for the resolvers and the worker.
 */
export interface Bulk {
  /** How many bytes the exports of a tenant may have. */
  readonly exportBytesMax: number;
  readonly exportKeepSeconds: number;
  /** The charge of a piece of work; null where nothing is charged. */
  chargeOf(caller: Caller): Charge | null;
  /** The list that a caller asks for, after all checks that a request for one of its pages has. */
  list(asked: AskedList, caller: Caller): Promise<WrittenList>;
  rowsOf(kind: string, content: Buffer): Promise<FileRows>;
  /** The bytes of a file that the caller can see. */
  contentOf(fileId: string, caller: Caller): Promise<Buffer>;
  /** Creates the object of a row, once for the key, also if it is called again. */
  create(task: ImportTask, row: FileRows['rows'][number], key: string): Promise<RowOutcome>;
  /** Finds the faults of rows, as if each were created after those before it. Stores nothing. */
  tried(task: ImportTask, rows: FileRows['rows'], earlier: EarlierRows): Promise<RowOutcome[]>;
}
