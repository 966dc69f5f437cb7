import type { GraphCode } from '../../errors/graph-codes.js';
import {
  type ASTVisitor,
  GraphQLError,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';

/**
 * The maxima of one operation, counted after its fragments are expanded: levels of fields (introspection
 * too), aliased fields (`__typename` too), fields at the root, and directives. An operation at the limit passes.
 */
export interface Limits {
  depth: number;
  aliases: number;
  rootFields: number;
  directives: number;
}

/**
 * A validation rule that refuses an operation over its limits before any of it runs, with the code `QUERY_TOO_DEEP`,
 * `QUERY_TOO_MANY_ALIASES`, `QUERY_TOO_MANY_ROOT_FIELDS` or `QUERY_TOO_MANY_DIRECTIVES`, each at most once per
 * document. It costs one walk of the document. The server must set two more limits, which a rule cannot enforce:
 * `parseOptions.maxLexicalTokens` (off unless set) limits the parser, and `maxRecursiveSelections` (off unless set)
 * limits all selections together. Apollo replaces the code of a validation error by its own, so `formatError` has to
 * take ours from `originalError`.
 */
export function limitRule(limits: Limits): ValidationRule {
  return (context) => visitor(context, limits);
}

function visitor(context: ValidationContext, limits: Limits): ASTVisitor {
  const tally = tallier(context);
  const reported = new Set<string>();
  const check = (count: number, limit: number, code: GraphCode, message: string): void => {
    if (count <= limit || reported.has(code)) return;
    reported.add(code);
    // The error has no nodes or names, so that neither the answer nor a log repeats a hostile document.
    context.reportError(new GraphQLError(message, { extensions: { code } }));
  };

  return {
    OperationDefinition(operation) {
      if (operation.operation === 'subscription' && !context.getSchema().getSubscriptionType())
        context.reportError(
          new GraphQLError('There are no subscriptions.', { extensions: { code: 'OPERATION_NOT_SUPPORTED' } }),
        );
      const { depth, aliases, fields, directives } = tally(operation.selectionSet);
      const declared = [operation, ...(operation.variableDefinitions ?? [])].reduce(
        (sum, { directives: own }) => sum + (own?.length ?? 0),
        directives,
      );
      check(
        depth,
        limits.depth,
        'QUERY_TOO_DEEP',
        `The operation nests fields deeper than ${limits.depth} levels. Ask for the inner objects in a request ` +
          'of their own, by id.',
      );
      check(
        aliases,
        limits.aliases,
        'QUERY_TOO_MANY_ALIASES',
        `The operation has more than ${limits.aliases} aliased fields, fragments included. Use a list field, ` +
          'or several requests.',
      );
      check(
        fields,
        limits.rootFields,
        'QUERY_TOO_MANY_ROOT_FIELDS',
        `The operation has more than ${limits.rootFields} fields at its root, fragments included. Split it ` +
          'into several requests.',
      );
      check(
        declared,
        limits.directives,
        'QUERY_TOO_MANY_DIRECTIVES',
        `The operation has more than ${limits.directives} directives, fragments included. Leave fields out ` +
          'instead of skipping them.',
      );
      return false;
    },
    FragmentDefinition: () => false,
  };
}

/** The counts of a selection set; `fields` counts only those of its own level. */
interface Tally {
  depth: number;
  aliases: number;
  fields: number;
  directives: number;
}

// The largest count. Thirty fragments that each spread the next one twice make a billion fields.
const countMax = 1_000_000;

function tallier(context: ValidationContext): (set: SelectionSetNode) => Tally {
  const nothing: Tally = { depth: 0, aliases: 0, fields: 0, directives: 0 };
  const fragments = new Map<string, Tally>();

  function fragment(name: string): Tally {
    const known = fragments.get(name);
    if (known) return known;
    const definition = context.getFragment(name);
    if (!definition) return nothing;
    // A spread that leads back here counts as nothing, or the recursion would not end. NoFragmentCycles refuses it.
    fragments.set(name, nothing);
    const inside = selections(definition.selectionSet);
    const total = { ...inside, directives: inside.directives + (definition.directives?.length ?? 0) };
    fragments.set(name, total);
    return total;
  }

  function selections(set: SelectionSetNode): Tally {
    const total = { ...nothing };
    for (const node of set.selections) {
      total.directives += node.directives?.length ?? 0;
      let inside = nothing;
      if (node.kind === 'Field') {
        if (node.selectionSet) inside = selections(node.selectionSet);
        total.fields += 1;
        total.aliases += node.alias ? 1 : 0;
        total.depth = Math.max(total.depth, inside.depth + 1);
      } else {
        inside = node.kind === 'InlineFragment' ? selections(node.selectionSet) : fragment(node.name.value);
        total.fields += inside.fields;
        total.depth = Math.max(total.depth, inside.depth);
      }
      total.aliases += inside.aliases;
      total.directives += inside.directives;
    }
    for (const key of ['aliases', 'fields', 'directives'] as const) total[key] = Math.min(total[key], countMax);
    return total;
  }

  return selections;
}
