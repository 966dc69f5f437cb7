import { getNamedType, type GraphQLField, type GraphQLSchema, isObjectType } from 'graphql';
import type { WorkerCalls } from '../../../db/doors.js';
import type { Scope } from '../../../db/scope.js';
import { wholeList } from '../../../db/list/whole-list.js';
import type {
  AskedList,
  Bulk,
  EarlierRows,
  FileRows,
  ImportTask,
  RowOutcome,
  WrittenList,
} from '../../../operation/bulk.js';
import type { Context } from '../../../operation/context.js';
import { run } from '../../../operation/guard.js';
import { RequestBudget } from '../../../limits/budget.js';
import type { Caller } from '../../../request/caller.js';
import type { Charge } from '../../../limits/charge.js';
import { newRequestId } from '../../../request/id.js';
import { DomainError, type Problem, problem } from '../../../errors/problems.js';
import { contentOf } from '../../../resources/file/content.js';
import { imports, operationOf, type Route, routes } from '../../../resources/registry.js';
import { keysOfShape } from '../../../resources/shape.js';
import { parseQuery } from '../decoder.js';
import { checkedArguments, listArguments, type Readers } from '../handler.js';
import { rowsOfFile } from './import-file.js';
import { ImportRows } from './import-rows.js';
import { writing } from './written-list.js';

/** What exports and imports need from the gateway. */
export interface BulkServices {
  database: WorkerCalls;
  exportBytesMax: number;
  exportKeepSeconds: number;
  chargeOf: (caller: Caller) => Charge | null;
  /** Makes the context of a caller without a request, with a scope of a class and an idempotency key. */
  contextOf: (
    caller: Caller,
    budget: RequestBudget,
    requestId: string,
    more: { kind?: typeof Scope; key?: string },
  ) => Context;
  /** Does work in a turn of the tenant. */
  during: <T>(caller: Caller, work: () => Promise<T>) => Promise<T>;
}

/** A list of /v1: its route, how its parameters are read, and the addresses that lead to it. */
interface ListRoute {
  route: Route;
  field: GraphQLField<unknown, Context>;
  readers: Readers;
  pattern: RegExp;
}

/** The parameters of a page, which a whole list does not have. */
const pageParameters = ['limit', 'starting_after', 'ending_before'];

/** Exports of the lists of /v1, and imports by its operations: with their checks, their rules and their rows. */
export class ApiBulk implements Bulk {
  readonly #lists: ListRoute[];
  readonly #imports: ReadonlyMap<string, ImportRows>;

  constructor(
    schema: GraphQLSchema,
    private readonly services: BulkServices,
  ) {
    const fields = schema.getQueryType()!.getFields();
    this.#lists = routes
      .filter(({ answers }) => answers === 'list')
      .map((route) => {
        const field = fields[route.field]!;
        const pattern = new RegExp(`^${route.path.replaceAll(/:(\w+)/g, '(?<$1>[\\w-]{1,100})')}$`);
        return { route, field, readers: listArguments(route, field), pattern };
      });
    this.#imports = new Map([...imports].map(([kind, operation]) => [kind, new ImportRows(schema, operation)]));
  }

  get exportBytesMax(): number {
    return this.services.exportBytesMax;
  }

  get exportKeepSeconds(): number {
    return this.services.exportKeepSeconds;
  }

  chargeOf(caller: Caller): Charge | null {
    return this.services.chargeOf(caller);
  }

  async list({ list, filters, format }: AskedList, caller: Caller): Promise<WrittenList> {
    const found = this.#lists.find(({ route: { field: name }, pattern }) => {
      const { editions: only } = operationOf(name);
      return pattern.test(list) && (!only || only.includes(caller.edition));
    });
    if (!found)
      throw new DomainError(
        problem('parameter_invalid', 'export.list', {
          v1: 'must be the path of a list of /v1, such as /v1/deposits',
          graph: "must be a list of the account's edition, with ids of objects",
        }),
      );
    const { route, field, readers, pattern } = found;
    const search = filters === '' ? '' : `?${filters}`;
    const page = Object.keys(parseQuery(search)).filter((name) => pageParameters.includes(name));
    if (page.length > 0)
      throw new DomainError(
        problem(
          'parameter_invalid',
          'export.filters',
          `cannot have ${page.join(', ')}, since an export has the whole list`,
        ),
      );
    const groups = pattern.exec(list)?.groups ?? {};
    const params = Object.fromEntries(
      Object.entries(groups).map(([name, value]) => [route.params?.[name] ?? name, value]),
    );
    const statement = await ofExport(operationOf(route.field).object, async () => {
      const args = checkedArguments(route, readers, { search, params, body: undefined }, caller);
      return wholeList((kind) => run(field, args, this.#contextOf(caller, { kind })));
    });
    const type = getNamedType(field.type);
    const nodes = isObjectType(type) ? getNamedType(type.getFields().nodes!.type) : undefined;
    const shape = (route.exported ?? route.shape) as (row: unknown, caller: Caller) => object;
    const keys = keysOfShape(shape);
    const { header, write } = writing(format, keys, isObjectType(nodes) ? nodes : undefined);
    return { statement, header, lines: (rows) => write(rows.map((row) => shape(row, caller))) };
  }

  rowsOf(kind: string, content: Buffer): Promise<FileRows> {
    return rowsOfFile(content, this.#importOf(kind).columns);
  }

  async contentOf(fileId: string, caller: Caller): Promise<Buffer> {
    return contentOf(this.#contextOf(caller).scope, fileId);
  }

  create({ kind, allowDuplicates, caller }: ImportTask, row: FileRows['rows'][number], key: string) {
    return this.services.during(caller, () =>
      this.#importOf(kind).create(row, this.#contextOf(caller, { key }), allowDuplicates),
    );
  }

  tried(
    { kind, allowDuplicates, caller }: ImportTask,
    rows: FileRows['rows'],
    earlier: EarlierRows,
  ): Promise<RowOutcome[]> {
    const { database, during } = this.services;
    const contextOf = () => this.#contextOf(caller);
    return during(caller, () => this.#importOf(kind).tried(rows, contextOf, allowDuplicates, earlier, database));
  }

  #importOf(kind: string): ImportRows {
    const found = this.#imports.get(kind);
    if (!found) throw new Error(`there is no import of ${kind}`);
    return found;
  }

  #contextOf(caller: Caller, more: { kind?: typeof Scope; key?: string } = {}): Context {
    return this.services.contextOf(caller, new RequestBudget(), newRequestId(), more);
  }
}

/** Names what is wrong with the parameters of a list as parts of the filters of its export. */
async function ofExport<T>(object: string, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new DomainError(...error.problems.map((found) => filterProblem(object, found)));
  }
}

function filterProblem(object: string, found: Problem): Problem {
  const { field, path: _, ...rest } = found;
  return field?.startsWith(`${object}.`)
    ? { ...rest, field: `export.filters.${field.slice(object.length + 1)}` }
    : { ...rest, ...(field !== undefined && { field }) };
}
