import {
  type DocumentNode,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  parse,
  type SelectionSetNode,
  specifiedRules,
  validate,
} from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import type { Context, DryRunAnswer, DryRunAsked } from '../../operation/context.js';
import type { QueryCompiler } from './compiler/compiler.js';
import type { GraphCode } from '../../errors/graph-codes.js';
import { cut } from '../../errors/problems.js';
import { weights } from '../../types/weights.js';
import { type Limits, limitRule } from './limits.js';
import { type NodeCounter, refuseTooMany } from './query-cost.js';

/** The limits that a document has to keep. */
export interface DocumentLimits {
  introspection: boolean;
  limits: Limits;
  tokensMax: number;
  nodesMax: number;
  /** Whether errors suggest names of the schema. */
  suggestions: boolean;
}

/** The most selections of an operation after its fragments are expanded; Apollo has the same limit for requests. */
export const selectionsMax = 1_000;
const errorsMax = 5;
/** Of a gateway that compiles no queries. */
const notCompiled = [{ path: '', reason: 'This gateway compiles no queries (COMPILED_QUERIES=off).' }];

/**
 * Says what documents would cost, without running them. A document is checked like that of a request; what would be
 * refused is an error in the answer, and no cost.
 */
export function dryRunOf(
  schema: GraphQLSchema,
  nodes: NodeCounter,
  limits: DocumentLimits,
  compiler: QueryCompiler | undefined,
) {
  return ({ query, variables, operationName }: DryRunAsked, context: Context): DryRunAnswer => {
    try {
      const document = checkedDocument(schema, limits, query);
      const operation = getOperationAST(document, operationName);
      if (!operation)
        throw new GraphQLError(
          operationName == null
            ? 'The document has several operations, or none. Name one with operationName.'
            : 'The document has no operation of this name.',
          { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } },
        );
      const given = getVariableValues(schema, operation.variableDefinitions ?? [], variables ?? {}, {
        maxErrors: errorsMax,
      });
      if (given.errors) return refused(given.errors, 'BAD_USER_INPUT');
      const estimator = nodes.of(document, operation.name?.value)!;
      const estimate = estimator(variables ?? {});
      refuseTooMany(estimate, limits.nodesMax);
      return {
        requested: weights.request + estimate.points,
        nodes: estimate.nodes,
        paths: estimator.paths(variables ?? {}),
        uncompiledPaths: compiler?.leftOf(document, variables ?? {}, context) ?? notCompiled,
        problems: [],
      };
    } catch (error) {
      if (error instanceof RefusedDocument) return refused(error.errors, 'GRAPHQL_VALIDATION_FAILED');
      // All but the errors of the parser have a code.
      if (error instanceof GraphQLError) return refused([error], 'GRAPHQL_PARSE_FAILED');
      throw error;
    }
  };
}

/** A document or variables that the validation refuses. */
export class RefusedDocument extends Error {
  constructor(
    readonly errors: readonly GraphQLError[],
    readonly document: DocumentNode,
  ) {
    super('The document is not valid.');
  }
}

/** The answer to a document that is refused. A limit has its own code; other errors have that of their step. */
function refused(errors: readonly GraphQLError[], code: GraphCode): DryRunAnswer {
  const problems = errors.slice(0, errorsMax).map(({ message, extensions }) => ({
    code: (extensions.code as GraphCode | undefined) ?? code,
    message: withoutLongNames(message),
    path: null,
    column: null,
  }));
  return { requested: null, nodes: null, paths: [], uncompiledPaths: [], problems };
}

/** Cuts long names and values, like the errors of a request. */
export function withoutLongNames(message: string): string {
  return message.replaceAll(/[\w$]{101,}|(?<=")[^"]{101,}(?=")/g, cut);
}

/** Parses a document, and checks it by the rules for requests. Throws a GraphQLError or a RefusedDocument. */
export function checkedDocument(schema: GraphQLSchema, limits: DocumentLimits, query: string): DocumentNode {
  const document = parse(query, { maxTokens: limits.tokensMax });
  if (isTooLong(document))
    throw new GraphQLError(`The document selects more than ${selectionsMax} fields, fragments included.`, {
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    });
  const rules = [...specifiedRules, limitRule(limits.limits)];
  if (!limits.introspection) rules.push(NoSchemaIntrospectionCustomRule);
  const errors = validate(schema, document, rules, { maxErrors: errorsMax, hideSuggestions: !limits.suggestions });
  if (errors.length > 0) throw new RefusedDocument(errors, document);
  return document;
}

/** Whether an operation selects too much. A fragment counts wherever it is spread, and one that spreads itself once. */
function isTooLong({ definitions }: DocumentNode): boolean {
  const fragments = new Map(
    definitions.flatMap((d) => (d.kind === Kind.FRAGMENT_DEFINITION ? [[d.name.value, d.selectionSet] as const] : [])),
  );
  const known = new Map<string, number>();
  const countOf = ({ selections }: SelectionSetNode): number => {
    let count = 0;
    for (const selection of selections) {
      count++;
      if (selection.kind === Kind.FRAGMENT_SPREAD) count += countOfFragment(selection.name.value);
      else if (selection.selectionSet) count += countOf(selection.selectionSet);
    }
    return Math.min(count, selectionsMax + 1);
  };
  const countOfFragment = (name: string): number => {
    const set = fragments.get(name);
    if (!set) return 0;
    const found = known.get(name);
    if (found !== undefined) return found;
    known.set(name, 0);
    const count = countOf(set);
    known.set(name, count);
    return count;
  };
  return definitions.some((d) => d.kind === Kind.OPERATION_DEFINITION && countOf(d.selectionSet) > selectionsMax);
}
