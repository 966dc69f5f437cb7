import { type DocumentNode, type GraphQLSchema } from 'graphql';
import { getArgumentValues, getVariableValues } from 'graphql/execution/values.js';
import type { Context } from '../../../operation/context.js';
import { listOf, visibilityOf } from '../../../db/read/visibility.js';
import { columnOf, shape, values } from '../../../db/list/statement.js';
import {
  classOfPage,
  presentRead,
  type ReadClass,
  classOfParts,
  ExpensiveReadError,
} from '../../../db/read/read-class.js';
import { check, checkEdge } from '../../../operation/guard.js';
import { operationOf } from '../../../resources/registry.js';
import { AccountScope } from '../../../types/account-scope.js';
import { pageRequest } from '../../../types/pagination.js';
import { requestLimitsDefault } from '../../../config/defaults.js';
import type { Rule } from '../../../resources/compiled-edges.js';
import { withoutFilter } from '../filter-argument.js';
import { jsonBegin, jsonEnd, objectMark } from './json.js';
import {
  type ListRequest,
  emptyCurrency,
  shownCurrency,
  type Statement,
  statementOf,
  type Terms,
} from './statement.js';
import { type Branch, NotCompilable, type Tree, treeOf } from './tree.js';

/**
 * The most statements of an hour, for all tenants. They and their total length are limited, because PostgreSQL keeps
 * some hundred bytes per character on each connection.
 */
export const statementsMax = 300;
export const charactersMax = 1_000_000;
/** The most statements of one document: it has one for each combination of filters that a request uses. */
export const shapesMax = 50;
const refusedMax = 1_000;
/**
 * The most rows of a compiled query. Its answer is one text in PostgreSQL's memory, and a row may have 100 kB. A query
 * that may return more rows goes through the resolvers, which stop when the answer gets too large.
 */
const rowsMax = 1_000;
/** The SQLSTATE that the SQL function absent() raises. */
const absent = 'TG000';
const hourMilliseconds = 3_600_000;

/**
 * The statements of an hour. A connection is not kept longer than that, so it has the statements of at most two hours.
 * PostgreSQL cannot be made to forget one of them earlier, so a tenant that sends many queries must not use up what all
 * have: a tenant may add statements while it has added fewer than are left. The first tenant gets half of all
 * statements at most, the next one half of the rest, and so on.
 */
class Hour {
  readonly #texts = new Set<string>();
  readonly #used: Use = { statements: 0, characters: 0 };
  readonly #usedBy = new Map<string, Use>();

  constructor(readonly until: number) {}

  /**
   * Counts a statement for the tenant that added it; returns false when the tenant may not add it. Queries that differ
   * only in variables or whitespace share one statement, and any tenant may use the statements of others.
   */
  add(tenantId: string, text: string): boolean {
    if (this.#texts.has(text)) return true;
    const own = this.#usedBy.get(tenantId) ?? { statements: 0, characters: 0 };
    if (own.statements >= statementsMax - this.#used.statements) return false;
    if (own.characters >= charactersMax - this.#used.characters) return false;
    this.#texts.add(text);
    this.#usedBy.set(tenantId, own);
    for (const use of [own, this.#used]) {
      use.statements++;
      use.characters += text.length;
    }
    return true;
  }
}

/** How many statements were added, and their length. */
interface Use {
  statements: number;
  characters: number;
}

/** Compiles queries that only read rows to one SQL statement each. */
export class QueryCompiler {
  #hour = new Hour(0);

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly now: () => number = Date.now,
    private readonly answerBytes = requestLimitsDefault.answerBytes,
  ) {}

  /** The compiled query of a valid document, or undefined when it is not compilable. */
  of(document: DocumentNode): CompiledQuery | undefined {
    const tree = treeOf(this.schema, document);
    return tree && new CompiledQuery(this.schema, tree, () => this.#present(), this.answerBytes);
  }

  #present(): Hour {
    if (this.now() >= this.#hour.until) this.#hour = new Hour(this.now() + hourMilliseconds);
    return this.#hour;
  }
}

/** The data of a compiled query as JSON, and how many objects PostgreSQL read for it. */
export interface CompiledAnswer {
  data: string;
  objects: number;
}

/**
 * A query that PostgreSQL answers by one statement, whose result is the JSON of the response. It leaves every special
 * case to the resolvers, such as an invalid variable or an object that the caller cannot see: they produce the error
 * messages.
 */
export class CompiledQuery {
  /** The statements of the current hour, by the shape of their variables. */
  readonly statements = new Map<string, Statement>();
  /** Whether resolvers have to answer, for any variables. It becomes true when a statement is not possible. */
  resolved = false;
  #hour: Hour | undefined;
  /** The tenants and shapes that resolvers answer in the current hour: no statement was left, or it is too slow. */
  readonly #refused = new Set<string>();
  /** The branches that take arguments: roots and edges to many. */
  readonly #withArguments: BranchWithArguments[];

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly tree: Tree,
    private readonly present: () => Hour,
    private readonly answerBytes: number,
  ) {
    this.#withArguments = branchesWithArguments(tree.branches);
  }

  /** The answer, or undefined when the resolvers have to answer. */
  async answer(
    operationName: string | null | undefined,
    variables: Record<string, unknown>,
    context: Context,
  ): Promise<CompiledAnswer | undefined> {
    if (this.resolved) return undefined;
    if (operationName != null && operationName !== this.tree.operation.name?.value) return undefined;
    const { scope, edition } = context;
    // One error is enough to leave the query to the resolvers. Without the limit, 30,000 wrong values make 30,000
    // errors.
    const definitions = this.tree.operation.variableDefinitions ?? [];
    const coerced = getVariableValues(this.schema, definitions, variables, { maxErrors: 1 });
    if (coerced.errors) return undefined;
    const visibility = visibilityOf(scope.caller);
    const lists = new Map<Branch, ListRequest>();
    const ids = new Map<Branch, string>();
    const given: Record<string, unknown> = {
      [emptyCurrency]: edition.currency,
      [shownCurrency]: edition.balanceCurrency,
    };
    let name = `compiled:${visibility}`;
    const rows: number[] = [];
    const parts: ReadClass[] = [];
    for (const [i, { branch, below }] of this.#withArguments.entries()) {
      const { rule, field, node, parent: type } = branch;
      const args = withoutFilter(field!.args.length > 0 ? getArgumentValues(field!, node, coerced.coerced) : {});
      const root = type === this.schema.getQueryType();
      if (root) check(operationOf(field!.name), args, context);
      else checkEdge(field!, args, context);
      const prefix = `q${i}_`;
      if (rule!.read === 'one') {
        ids.set(branch, prefix);
        given[`${prefix}id`] = args.id;
        parts.push(presentRead);
      } else if (rule!.read === 'funds') {
        if (args.asOf != null || args.scope === AccountScope.DESCENDANTS) return undefined;
        parts.push(presentRead);
      } else if (rule!.read === 'page' || rule!.read === 'edge') {
        const { table, listing } = rule!;
        const parent = rule!.read === 'edge' ? columnOf(rule!.match) : undefined;
        const request = pageRequest(listing, args, parent);
        // The resolvers answer a page with a cursor, because they check that its object exists, and one of a view.
        const ofView = request.order !== undefined && listing.orders?.[request.order]?.view;
        if (request.backward || request.cursor !== undefined || ofView) return undefined;
        const own = root ? listOf(scope.caller, request.includesDescendants) : visibility;
        lists.set(branch, { request, visibility: own, prefix });
        parts.push(classOfPage(listing, request));
        rows[i] = request.size * (below === undefined ? 1 : (rows[below] ?? 1));
        if (rows[i]! > rowsMax) return undefined;
        name += `/${shape(table, request, own)}`;
        for (const [each, v] of Object.entries(values(request))) given[prefix + each] = v;
        given[`${prefix}size`] = request.size;
      }
    }
    const statement = this.#statement(scope.caller.tenantId, name, { visibility, lists, ids });
    if (!statement) return undefined;
    try {
      const [row] = await scope.compiled(statement.text, statement.names, given, classOfParts(parts));
      // The data is null when the answer is too large: the resolvers refuse it.
      if (row?.data == null) return undefined;
      const data = row.data.replaceAll(objectMark, '');
      return { data: respaced(data), objects: row.data.length - data.length };
    } catch (error) {
      // The slow field alone is null, and which one it is only the resolvers can tell.
      if (error instanceof ExpensiveReadError) {
        if (parts.filter(({ expensive }) => expensive).length === 1) context.budget.tooSlow = error;
        else this.#refuse(scope.caller.tenantId, name);
        return undefined;
      }
      const { code = '' } = error as { code?: string };
      if (code === absent) return undefined;
      // PostgreSQL rejects the statement (class 42), which is a bug of ours. It is reported once; then resolvers
      // answer.
      if (code.startsWith('42')) this.resolved = true;
      throw error;
    }
  }

  #statement(tenantId: string, name: string, terms: Terms): Statement | undefined {
    const hour = this.present();
    if (hour !== this.#hour) {
      this.#hour = hour;
      this.statements.clear();
      this.#refused.clear();
    }
    if (this.#refused.has(`${tenantId} ${name}`)) return undefined;
    const known = this.statements.get(name);
    if (known || this.statements.size >= shapesMax || this.#refused.size >= refusedMax) return known;
    try {
      const statement = statementOf(this.tree.branches, terms, this.answerBytes);
      if (hour.add(tenantId, statement.text)) {
        this.statements.set(name, statement);
        return statement;
      }
      this.#refuse(tenantId, name);
      return undefined;
    } catch (error) {
      if (!(error instanceof NotCompilable)) throw error;
      this.resolved = true;
      return undefined;
    }
  }

  /** Leaves a shape of a tenant to the resolvers for the rest of the hour. */
  #refuse(tenantId: string, name: string): void {
    if (this.#refused.size < refusedMax) this.#refused.add(`${tenantId} ${name}`);
  }
}

/**
 * Formats each JSON value of the answer as the resolvers format it. PostgreSQL writes spaces into JSON, and sorts
 * numeric keys differently. The statement marks such values with control characters, which no JSON text contains.
 */
function respaced(data: string): string {
  if (!data.includes(jsonBegin)) return data;
  return data.replace(marked, (_, json: string) => (json.length <= 2 ? json : JSON.stringify(JSON.parse(json))));
}

const marked = new RegExp(`${jsonBegin}([^${jsonBegin}${jsonEnd}]*)${jsonEnd}`, 'g');

/** The rules whose fields take arguments. */
const readsWithArguments = new Set<Rule['read']>(['one', 'page', 'edge', 'funds']);

/** A branch that takes arguments, and the index of the nearest such branch above it. */
interface BranchWithArguments {
  branch: Branch;
  below: number | undefined;
}

function branchesWithArguments(
  branches: Branch[],
  below?: number,
  found: BranchWithArguments[] = [],
): BranchWithArguments[] {
  for (const branch of branches) {
    const hasArguments = branch.rule && readsWithArguments.has(branch.rule.read);
    const at = hasArguments ? found.push({ branch, below }) - 1 : below;
    branchesWithArguments(branch.below, at, found);
  }
  return found;
}
