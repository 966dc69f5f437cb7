import type { DocumentNode, GraphQLSchema } from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { requestLimitsDefault } from '../../../config/defaults.js';
import { classOfParts, ExpensiveReadError } from '../../../db/read/read-class.js';
import { DomainError } from '../../../errors/problems.js';
import type { Context } from '../../../operation/context.js';
import { type BoundQuery, type BoundBranch, boundBranches, boundQuery } from './bound-query.js';
import { jsonBegin, jsonEnd, objectMark, pointMark } from './json.js';
import { type Statement, statementOf, type Terms } from './statement.js';
import { type Left, NotCompilable, type Tree, treeOf } from './tree.js';

/**
 * The most statements of an hour, for all tenants. They and their total length are limited, because PostgreSQL keeps
 * some hundred bytes per character on each connection.
 */
export const statementsMax = 300;
export const charactersMax = 1_000_000;
/** The most statements of one document: it has one for each combination of filters that a request uses. */
export const shapesMax = 50;
const refusedMax = 1_000;
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
    try {
      const tree = treeOf(this.schema, document);
      return new CompiledQuery(this.schema, tree, () => this.#present(), this.answerBytes);
    } catch (error) {
      if (error instanceof NotCompilable) return undefined;
      throw error;
    }
  }

  /** What of a valid document is left to the resolvers, and why; empty when one statement may answer it. */
  leftOf(document: DocumentNode, variables: Record<string, unknown>, context: Context): readonly Left[] {
    try {
      const { branches, operation } = treeOf(this.schema, document);
      const { coerced } = getVariableValues(this.schema, operation.variableDefinitions ?? [], variables);
      const { terms } = boundQuery(this.schema, boundBranches(branches), coerced ?? {}, context);
      statementOf(branches, terms, this.answerBytes);
      return [];
    } catch (error) {
      if (error instanceof NotCompilable) return error.left;
      // The resolvers say what is refused.
      if (error instanceof DomainError) return [{ path: '', reason: 'One of its arguments is refused.' }];
      throw error;
    }
  }

  #present(): Hour {
    if (this.now() >= this.#hour.until) this.#hour = new Hour(this.now() + hourMilliseconds);
    return this.#hour;
  }
}

/** The data of a compiled query as JSON, how many objects PostgreSQL read for it, and the points of its counts. */
export interface CompiledAnswer {
  data: string;
  objects: number;
  points: number;
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
  readonly #branches: BoundBranch[];

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly tree: Tree,
    private readonly present: () => Hour,
    private readonly answerBytes: number,
  ) {
    this.#branches = boundBranches(tree.branches);
  }

  /** The answer, or undefined when the resolvers have to answer. */
  async answer(
    operationName: string | null | undefined,
    variables: Record<string, unknown>,
    context: Context,
  ): Promise<CompiledAnswer | undefined> {
    if (this.resolved) return undefined;
    if (operationName != null && operationName !== this.tree.operation.name?.value) return undefined;
    const bound = this.#bound(variables, context);
    if (!bound) return undefined;
    const { scope, budget } = context;
    const { tenantId } = scope.caller;
    const { name, given, parts } = bound;
    const statement = this.#statement(tenantId, name, bound.terms);
    if (!statement) return undefined;
    try {
      const [row] = await scope.compiled(statement.text, statement.names, given, classOfParts(parts));
      // The data is null when the answer is too large: the resolvers refuse it.
      if (row?.data == null) return undefined;
      const unpriced = row.data.replaceAll(pointMark, '');
      const data = unpriced.replaceAll(objectMark, '');
      const objects = unpriced.length - data.length;
      // The resolvers count an object twice that is selected as a node and as that of an edge.
      if (objects * 2 > budget.limits.nodes) return undefined;
      return { data: respaced(data), objects, points: row.data.length - unpriced.length };
    } catch (error) {
      // The slow field alone is null, and which one it is only the resolvers can tell.
      if (error instanceof ExpensiveReadError) {
        if (parts.filter(({ expensive }) => expensive).length === 1) budget.tooSlow = error;
        else this.#refuse(tenantId, name);
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

  /** What the query asks with these variables; undefined when the resolvers have to answer. */
  #bound(variables: Record<string, unknown>, context: Context): BoundQuery | undefined {
    // One error is enough to leave the query to the resolvers. Without the limit, 30,000 wrong values make 30,000
    // errors.
    const definitions = this.tree.operation.variableDefinitions ?? [];
    const { coerced, errors } = getVariableValues(this.schema, definitions, variables, { maxErrors: 1 });
    if (errors) return undefined;
    try {
      return boundQuery(this.schema, this.#branches, coerced, context);
    } catch (error) {
      if (error instanceof NotCompilable) return undefined;
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
