import { type DocumentNode, type GraphQLSchema } from 'graphql';
import { getArgumentValues, getVariableValues } from 'graphql/execution/values.js';
import type { Context } from '../../../operation/context.js';
import { listOf, visibilityOf } from '../../../db/visibility.js';
import { shape, values } from '../../../db/list-statement.js';
import { check, checkEdge } from '../../../operation/guard.js';
import { operationOf } from '../../../resources/registry.js';
import { pageRequest } from '../../../types/pagination.js';
import { requestLimitsDefault } from '../../../request/budget.js';
import type { Rule } from '../../../resources/edges.js';
import { type Asked, emptyCurrency, jsonBegin, jsonEnd, type Statement, statementOf, type Terms } from './statement.js';
import { type Branch, NotCompilable, type Tree, treeOf } from './tree.js';

/** How many statements are made in an hour, and how long they are together: PostgreSQL keeps some hundred bytes of each character, on each connection. */
export const statementsMax = 300;
const charactersMax = 1_000_000;
/** How many statements one document may have: one for each way of leaving its filters out. */
export const shapesMax = 50;
/**
 * One answer is one text in PostgreSQL's memory, and its rows may be of 100 kB each: what may have more of them goes
 * through the resolvers, which end when the answer gets too large.
 */
const rowsMax = 1_000;
/** What the function absent() raises. */
const absent = 'TG000';
const hourMilliseconds = 3_600_000;

/** The statements of an hour. A connection lives no longer, so it never holds those of more than two. */
class Hour {
  readonly #texts = new Set<string>();
  #characters = 0;

  constructor(readonly until: number) {}

  /** Whether anything more may be made. */
  get open(): boolean {
    return this.#texts.size < statementsMax && this.#characters < charactersMax;
  }

  /** Counts a statement; queries that differ in their variables or their whitespace share one. */
  add(text: string): void {
    if (this.#texts.has(text)) return;
    this.#texts.add(text);
    this.#characters += text.length;
  }
}

/** Answers queries by one statement each, where they ask for nothing but rows. */
export class QueryCompiler {
  #hour = new Hour(0);

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly now: () => number = Date.now,
    private readonly answerBytes = requestLimitsDefault.answerBytes,
  ) {}

  /** The compiled query of a valid document, or undefined when resolvers have to answer it. */
  of(document: DocumentNode): CompiledQuery | undefined {
    const tree = treeOf(this.schema, document);
    return tree && new CompiledQuery(this.schema, tree, () => this.#present(), this.answerBytes);
  }

  #present(): Hour {
    if (this.now() >= this.#hour.until) this.#hour = new Hour(this.now() + hourMilliseconds);
    return this.#hour;
  }
}

/**
 * A query that PostgreSQL answers by one statement: one statement, whose answer is the JSON that leaves. Whatever is out of the
 * ordinary, from a variable that does not fit to an object that the caller cannot see, is left to the resolvers, which know what to
 * say about it.
 */
export class CompiledQuery {
  /** The statements of the hour, by the shape of their variables. */
  readonly statements = new Map<string, Statement>();
  /** Whether it turned out that resolvers have to answer, whatever the variables. */
  resolved = false;
  #hour: Hour | undefined;
  /** The branches that take arguments: roots and edges to many. */
  readonly #asking: Asking[];

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly tree: Tree,
    private readonly present: () => Hour,
    private readonly answerBytes: number,
  ) {
    this.#asking = asking(tree.branches);
  }

  /** The data as JSON, or undefined when the resolvers have to answer. */
  async answer(
    operationName: string | null | undefined,
    variables: Record<string, unknown>,
    context: Context,
  ): Promise<string | undefined> {
    if (this.resolved) return undefined;
    if (operationName != null && operationName !== this.tree.operation.name?.value) return undefined;
    const { scope, edition } = context;
    // One error is enough to leave it to the resolvers: without a limit, 30,000 wrong values would be as many errors.
    const definitions = this.tree.operation.variableDefinitions ?? [];
    const coerced = getVariableValues(this.schema, definitions, variables, { maxErrors: 1 });
    if (coerced.errors) return undefined;
    const visibility = visibilityOf(scope.caller);
    const lists = new Map<Branch, Asked>();
    const ids = new Map<Branch, string>();
    const given: Record<string, unknown> = { [emptyCurrency]: edition.currency };
    let name = `compiled:${visibility}`;
    const rows: number[] = [];
    for (const [i, { branch, below }] of this.#asking.entries()) {
      const { rule, field, node, parent } = branch;
      const args = field!.args.length > 0 ? getArgumentValues(field!, node, coerced.coerced) : {};
      const root = parent === this.schema.getQueryType();
      if (root) check(operationOf(field!.name), args, context);
      else checkEdge(field!, args, context);
      const prefix = `q${i}_`;
      if (rule!.read === 'one') {
        ids.set(branch, prefix);
        given[`${prefix}id`] = args.id;
      } else if (rule!.read === 'balance') {
        if (args.asOf != null) return undefined;
      } else if (rule!.read === 'page' || rule!.read === 'edge') {
        const { table, listing } = rule!;
        const request = pageRequest(listing, args);
        // From a cursor, the resolvers look whether there is such an object, and what lies behind it.
        if (request.backward || request.cursor !== undefined) return undefined;
        const own = root
          ? listOf(
              scope.caller,
              listing.byAccount.some((each) => each in request.filters),
            )
          : visibility;
        lists.set(branch, { request, visibility: own, prefix });
        rows[i] = request.size * (below === undefined ? 1 : (rows[below] ?? 1));
        if (rows[i]! > rowsMax) return undefined;
        name += `/${shape(table, request, own)}`;
        for (const [each, v] of Object.entries(values(request))) given[prefix + each] = v;
        given[`${prefix}size`] = request.size;
      }
    }
    const statement = this.#statement(name, { visibility, lists, ids });
    if (!statement) return undefined;
    try {
      const [row] = await scope.compiled(statement.text, statement.names, given);
      // Null is a larger answer than there may be: the resolvers refuse it.
      return row?.data == null ? undefined : respaced(row.data);
    } catch (error) {
      const { code = '' } = error as { code?: string };
      if (code === absent) return undefined;
      // A statement that cannot even be understood is a fault of ours, told once: from now on the resolvers answer.
      if (code.startsWith('42')) this.resolved = true;
      throw error;
    }
  }

  #statement(name: string, terms: Terms): Statement | undefined {
    const hour = this.present();
    if (hour !== this.#hour) {
      this.#hour = hour;
      this.statements.clear();
    }
    const known = this.statements.get(name);
    if (known || !hour.open || this.statements.size >= shapesMax) return known;
    try {
      const statement = statementOf(this.tree.branches, terms, this.answerBytes);
      hour.add(statement.text);
      this.statements.set(name, statement);
      return statement;
    } catch (error) {
      if (!(error instanceof NotCompilable)) throw error;
      this.resolved = true;
      return undefined;
    }
  }
}

/**
 * The answer with each JSON value spelled as the resolvers spell it. PostgreSQL writes spaces into JSON and has an order of
 * its own for keys that are numbers; the statement marks such values by control characters, which no JSON text contains.
 */
function respaced(data: string): string {
  if (!data.includes(jsonBegin)) return data;
  return data.replace(marked, (_, json: string) => (json.length <= 2 ? json : JSON.stringify(JSON.parse(json))));
}

const marked = new RegExp(`${jsonBegin}([^${jsonEnd}]*)${jsonEnd}`, 'g');

/** What takes arguments. */
const asksFor = new Set<Rule['read']>(['one', 'page', 'edge', 'balance']);

/** A branch that takes arguments, and the one that it is below. */
interface Asking {
  branch: Branch;
  below: number | undefined;
}

function asking(branches: Branch[], below?: number, found: Asking[] = []): Asking[] {
  for (const branch of branches) {
    const asks = branch.rule && asksFor.has(branch.rule.read);
    const at = asks ? found.push({ branch, below }) - 1 : below;
    asking(branch.below, at, found);
  }
  return found;
}
