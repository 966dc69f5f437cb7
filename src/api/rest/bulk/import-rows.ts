import { type GraphQLField, GraphQLInputObjectType, type GraphQLSchema, getNullableType } from 'graphql';
import type { WorkerCalls } from '../../../db/doors.js';
import { text } from '../../../db/write/write-arguments.js';
import type { EarlierRows, RowFault, RowOutcome } from '../../../operation/bulk.js';
import type { Context } from '../../../operation/context.js';
import { run } from '../../../operation/guard.js';
import { DomainError, type Problem, problem, sentenceV1 } from '../../../errors/problems.js';
import { type ImportOperation, operationOf, type Route, routes } from '../../../resources/registry.js';
import { body, type InputFormat, query } from '../input-format.js';
import { bodyArguments, checkedArguments, type Readers } from '../handler.js';
import { columnsOfInput } from './import-file.js';
import { comparedBy, nicknameOf, seenBefore, Tried, type TriedWrite } from './tried-write.js';

/** The cells of a row by their columns. */
type Row = Readonly<Record<string, string>>;

/** The most faults of one row. */
const faultsMax = 20;

/** The format of cells: that of query strings, but for maps, which several columns make. */
const cells: InputFormat = {
  ...query,
  scalar: (type, raw) => (typeof raw === 'string' ? query : body).scalar(type, raw),
};

/** The creation of objects of one kind from rows of a file, by the operation that creates one of them. */
export class ImportRows {
  readonly columns: readonly string[];
  readonly #field: GraphQLField<unknown, Context>;
  readonly #route: Route;
  readonly #readers: Readers;
  readonly #defaults: Row;
  readonly #object: string;
  readonly #compared: ImportOperation['compared'];

  constructor(schema: GraphQLSchema, { field, defaults, compared }: ImportOperation) {
    this.#field = schema.getMutationType()!.getFields()[field]!;
    this.#route = routes.find((route) => route.field === field)!;
    this.#readers = bodyArguments(this.#route, this.#field, cells);
    this.#defaults = defaults;
    this.#object = operationOf(field).object;
    this.#compared = compared;
    const input = getNullableType(this.#field.args.find(({ name }) => name === 'input')!.type);
    this.columns = columnsOfInput(input as GraphQLInputObjectType);
  }

  /** Creates the object of a row. Refusals that pass by themselves are thrown, so that the row is tried again. */
  async create(row: Row, context: Context, allowDuplicates: boolean): Promise<RowOutcome> {
    const unlessSeen = !allowDuplicates && this.#compared(context.edition);
    const write = context.write.bind(context);
    context.write = (fn, table, args, content) => write(fn, table, { ...args, unlessSeen }, content);
    try {
      const payload = (await run(this.#field, this.#arguments(row, context), context)) as Record<
        string,
        { id: string }
      >;
      return { objectId: payload[this.#object]!.id, faults: [] };
    } catch (error) {
      return this.#refused(error);
    }
  }

  /** Finds the faults of rows, as if each were created after those before it. */
  async tried(
    rows: readonly Row[],
    contextOf: () => Context,
    allowDuplicates: boolean,
    earlier: EarlierRows,
    database: WorkerCalls,
  ): Promise<RowOutcome[]> {
    const outcomes: RowOutcome[] = [];
    const writes: TriedWrite[] = [];
    for (const row of rows) {
      const context = contextOf();
      context.write = async (fn, _, args) => {
        throw new Tried(fn, { ...args, unlessSeen: !allowDuplicates && this.#compared(context.edition) });
      };
      let outcome: RowOutcome = { objectId: null, faults: [] };
      try {
        await run(this.#field, this.#arguments(row, context), context);
      } catch (error) {
        if (!(error instanceof Tried)) outcome = this.#refused(error);
        else if (earlier.compared.has(comparedBy(error) ?? '')) outcome.faults = [this.#faultOf(seenBefore(error))];
        else writes.push({ row: outcomes.length, fn: error.fn, args: error.args });
      }
      outcomes.push(outcome);
    }
    await this.#tryWrites(writes, outcomes, contextOf().caller, earlier, database);
    return outcomes;
  }

  /**
   * Tries writes in the database, and adds what it refuses to the outcomes of their rows. Nicknames of earlier batches
   * are not in the database: a row with one of them fails as its creation would, and the others are tried without it.
   */
  async #tryWrites(
    writes: readonly TriedWrite[],
    outcomes: RowOutcome[],
    caller: Context['caller'],
    earlier: EarlierRows,
    database: WorkerCalls,
  ): Promise<void> {
    const tried = text(writes.map(({ fn, args }) => ({ fn, args })));
    const answer = await database.work('try_writes', [caller.tenantId, caller.livemode, tried]);
    const refused = new Map(answer.map(({ place, problems }) => [Number(place) - 1, problems as DatabaseProblem[]]));
    const stored = writes.filter((_, i) => !refused.has(i));
    const repeated = new Set(stored.filter((write) => earlier.nicknames.has(nicknameOf(write) ?? '')));
    for (const write of repeated) {
      const message = `Row ${earlier.nicknames.get(nicknameOf(write)!)} of the file has this nickname. Choose another.`;
      outcomes[write.row]!.faults = [{ code: 'nickname_taken', column: 'nickname', message }];
    }
    if (repeated.size > 0) {
      const others = writes.filter((write) => !repeated.has(write));
      return this.#tryWrites(others, outcomes, caller, earlier, database);
    }
    for (const [i, problems] of refused)
      outcomes[writes[i]!.row] = this.#outcomeOf(
        problems.map(({ code, field, message, metadata }) =>
          problem(code, field ?? undefined, message ?? undefined, metadata ?? undefined),
        ),
      );
    for (const write of stored) {
      const [compared, nickname] = [comparedBy(write), nicknameOf(write)];
      if (compared !== null) earlier.compared.add(compared);
      if (nickname !== null) earlier.nicknames.set(nickname, earlier.rows + write.row + 1);
    }
    earlier.rows += outcomes.length;
  }

  #arguments(row: Row, { caller }: Context): Record<string, unknown> {
    return checkedArguments(
      this.#route,
      this.#readers,
      { search: '', params: {}, body: nested({ ...this.#defaults, ...row }) },
      caller,
    );
  }

  #refused(error: unknown): RowOutcome {
    const passes = !(error instanceof DomainError) || error.status >= 500 || passing.has(error.problems[0]!.code);
    if (passes) throw error;
    return this.#outcomeOf(error.problems);
  }

  #outcomeOf(problems: readonly Problem[]): RowOutcome {
    const seen = problems[0]!.metadata?.object_id;
    return {
      objectId: typeof seen === 'string' ? seen : null,
      faults: problems.slice(0, faultsMax).map((each) => this.#faultOf(each)),
    };
  }

  #faultOf(found: Problem): RowFault {
    const { code, field } = found;
    const column = field?.startsWith(`${this.#object}.`) ? field.slice(this.#object.length + 1) : null;
    return { code, column, message: sentenceV1(found) };
  }
}

/** Refusals that are over some time later. */
const passing = new Set(['state_conflict', 'idempotency_key_in_use', 'rate_limit_exceeded']);

/** A problem as the functions of the database raise it. */
interface DatabaseProblem {
  code: Problem['code'];
  field: string | null;
  message: string | null;
  metadata?: Record<string, unknown> | null;
}

/** Dotted names as nested objects. */
function nested(row: Row): Record<string, unknown> {
  const out: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(row)) {
    const map = name.startsWith('metadata.') ? ['metadata', name.slice('metadata.'.length)] : name.split('.');
    let at = out;
    for (const step of map.slice(0, -1)) at = (at[step] ??= Object.create(null)) as Record<string, unknown>;
    at[map.at(-1)!] = value;
  }
  return out;
}
