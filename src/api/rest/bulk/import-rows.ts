import { type GraphQLField, GraphQLInputObjectType, type GraphQLSchema, getNullableType } from 'graphql';
import type { Database } from '../../../db/database.js';
import { text } from '../../../db/write-arguments.js';
import type { RowFault, RowOutcome } from '../../../operation/bulk.js';
import type { Context } from '../../../operation/context.js';
import { run } from '../../../operation/guard.js';
import { DomainError, type Problem, problem, sentenceV1 } from '../../../request/problems.js';
import { type ImportOperation, operationOf, type Route, routes } from '../../../resources/registry.js';
import { body, type InputFormat, query } from '../decoder.js';
import { bodyArguments, checkedArguments, type Reader } from '../handler.js';
import { columnsOfInput } from './import-file.js';

/** The cells of a row by their columns. */
type Row = Readonly<Record<string, string>>;

/** The most faults of one row. */
const faultsMax = 20;

/** The format of cells: that of query strings, but for maps, which several columns make. */
const cells: InputFormat = {
  ...query,
  scalar: (type, raw) => (typeof raw === 'string' ? query : body).scalar(type, raw),
};

/** Thrown in place of a write, with what would have been written. */
class Tried extends Error {
  constructor(
    readonly fn: string,
    readonly args: object,
  ) {
    super('A write was tried.');
  }
}

/** The creation of objects of one kind from rows of a file, by the operation that creates one of them. */
export class ImportRows {
  readonly columns: readonly string[];
  readonly #field: GraphQLField<unknown, Context>;
  readonly #route: Route;
  readonly #read: Reader;
  readonly #defaults: Row;
  readonly #object: string;

  constructor(schema: GraphQLSchema, { field, defaults }: ImportOperation) {
    this.#field = schema.getMutationType()!.getFields()[field]!;
    this.#route = routes.find((route) => route.field === field)!;
    this.#read = bodyArguments(this.#route, this.#field, cells);
    this.#defaults = defaults;
    this.#object = operationOf(field).object;
    const input = getNullableType(this.#field.args.find(({ name }) => name === 'input')!.type);
    this.columns = columnsOfInput(input as GraphQLInputObjectType);
  }

  /** Creates the object of a row. Refusals that pass by themselves are thrown, so that the row is tried again. */
  async create(row: Row, context: Context): Promise<RowOutcome> {
    try {
      const payload = (await run(this.#field, this.#arguments(row, context), context)) as Record<
        string,
        { id: string }
      >;
      return { objectId: payload[this.#object]!.id, faults: [] };
    } catch (error) {
      return { objectId: null, faults: this.#faultsOf(error) };
    }
  }

  /** Finds the faults of rows, as if each were created after those before it. */
  async tried(rows: readonly Row[], contextOf: () => Context, database: Database): Promise<RowOutcome[]> {
    const outcomes: RowOutcome[] = [];
    const writes: { of: number; write: object }[] = [];
    for (const row of rows) {
      const context = contextOf();
      context.write = async (fn, _, args) => {
        throw new Tried(fn, args);
      };
      const outcome: RowOutcome = { objectId: null, faults: [] };
      try {
        await run(this.#field, this.#arguments(row, context), context);
      } catch (error) {
        if (error instanceof Tried) writes.push({ of: outcomes.length, write: { fn: error.fn, args: error.args } });
        else outcome.faults = this.#faultsOf(error);
      }
      outcomes.push(outcome);
    }
    const { tenantId, livemode } = contextOf().caller;
    const refused = await database.work('try_writes', [tenantId, livemode, text(writes.map(({ write }) => write))]);
    for (const { place, problems } of refused) {
      const faults = (problems as DatabaseProblem[]).map(({ code, field, message }) =>
        this.#faultOf(problem(code, field ?? undefined, message ?? undefined)),
      );
      outcomes[writes[Number(place) - 1]!.of]!.faults = faults.slice(0, faultsMax);
    }
    return outcomes;
  }

  #arguments(row: Row, { edition }: Context): Record<string, unknown> {
    return checkedArguments(
      this.#route,
      this.#read,
      { search: '', params: {}, body: nested({ ...this.#defaults, ...row }) },
      edition,
    );
  }

  #faultsOf(error: unknown): RowFault[] {
    const passes = !(error instanceof DomainError) || error.status >= 500 || passing.has(error.problems[0]!.code);
    if (passes) throw error;
    return error.problems.slice(0, faultsMax).map((each) => this.#faultOf(each));
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
