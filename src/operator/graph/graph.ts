import fs from 'node:fs';
import { assertValidSchema, type GraphQLField, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import type { Rules } from '../../api/graphql/errors.js';
import { mutationFields } from '../../operation/guard.js';
import { emptyRequired, remaining } from '../../operation/input-problems.js';
import { textProblems } from '../../operation/text-problems.js';
import type { ListSizes } from '../../api/graphql/query-parts.js';
import { describeGrowth } from '../../api/graphql/growth.js';
import { NodeCounter } from '../../api/graphql/query-cost.js';
import { resolveStoredNames } from '../../api/graphql/stored-names.js';
import { problem, DomainError } from '../../errors/problems.js';
import { measure } from '../../limits/budget.js';
import type { OperatorContext } from '../context.js';
import { pageSizeDefault, pageSizeMax, reasonProblems } from './inputs.js';
import { operatorEdgeResolver, type OperatorModule } from './module.js';
import { audited } from '../action/audited.js';

/*
 * Each file in the folder `parts` is a part of the graph. They are imported in the order of their names, so that the
 * fields of the schema are always in the same order.
 */
const folder = new URL('../modules/', import.meta.url);
const parts: OperatorModule[] = [];
for (const name of fs.readdirSync(folder).sort()) {
  if (!/^[\w-]+\.[jt]s$/.test(name)) continue;
  const { default: part } = (await import(new URL(name, folder).href)) as { default?: OperatorModule };
  if (!part) throw new Error(`operator/parts/${name} has no part as default export`);
  parts.push(part);
}

/** The noun of each root field. */
const objects = new Map(parts.flatMap(({ fields }) => Object.entries(fields)));

/** The rules of the operator's schema. An operator may call every query, and with the role `operate` every mutation. */
export const operatorRules: Rules<OperatorContext> = {
  object: objectOf,
  problems: (field, args) => {
    const given = 'input' in args ? args.input : args;
    return [...textProblems(given, objectOf(field)), ...reasonProblems(given, objectOf(field))];
  },
};

/** The bounds of the lists of the operator's schema. */
export const sizes: ListSizes = {
  page: { default: pageSizeDefault, max: pageSizeMax },
  lists: Object.assign({}, ...parts.map(({ sizes }) => sizes)) as ListSizes['lists'],
};

/** Builds the operator's schema. Throws when a root field has no noun, or a noun has no root field. */
export function buildOperatorGraph(): GraphQLSchema {
  const own = parts.flatMap(({ resolvers, edges = [] }) => [...resolvers, ...edges.map(operatorEdgeResolver)]);
  const [first, ...others] = own;
  const schema = buildSchemaSync({
    resolvers: [first!, ...others],
    validate: false,
    // The library's own check executes an introspection query, which takes longer than building the schema.
    skipCheck: true,
  });
  assertValidSchema(schema);
  resolveStoredNames(schema);
  describeGrowth(schema);
  schema.getQueryType()!.description = 'What the operator can read, over all tenants.';
  schema.getMutationType()!.description = 'What the operator can change.';
  const mutations = schema.getMutationType()!.getFields();
  const fields = { ...schema.getQueryType()!.getFields(), ...mutations };
  for (const name of objects.keys()) if (!fields[name]) throw new Error(`the operator's graph has no ${name}`);
  for (const [name, field] of Object.entries(fields)) {
    const checked = checkedResolver(name, field, name in mutations);
    field.resolve = name in mutations ? audited(name, checked) : checked;
  }
  const nodes = new NodeCounter(schema, sizes);
  measure(schema, { counted: (type) => nodes.counts(type.name) });
  return schema;
}

/** The resolver of a root field, with the checks of its input before it. */
function checkedResolver(
  name: string,
  field: GraphQLField<unknown, OperatorContext>,
  writes: boolean,
): GraphQLFieldResolver<unknown, OperatorContext> {
  const resolve = field.resolve!;
  const object = objectOf(name);
  return (source, args, context, info) => {
    const empty = writes ? emptyRequired(field.args, args, object) : [];
    const problems = [...empty, ...remaining(empty, operatorRules.problems(name, args, context))];
    if (problems.length > 0) throw new DomainError(...problems);
    if (!writes) return resolve(source, args, context, info);
    if (context.idempotencyKey !== undefined && mutationFields(info) > 1)
      throw new DomainError(problem('idempotency_key_ambiguous', 'Idempotency-Key'));
    context.enter(name);
    return resolve(source, args, context, info);
  };
}

function objectOf(field: string): string {
  const object = objects.get(field);
  if (!object) throw new Error(`the root field ${field} of the operator's graph has no noun`);
  return object;
}
