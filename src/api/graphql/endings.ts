import { type GraphQLSchema, Kind, parse, validate } from 'graphql';
import { getArgumentValues } from 'graphql/execution/values.js';
import { operations } from '../../resources/registry.js';
import { weights } from '../../types/weights.js';
import type { GraphBody } from './document-cache.js';
import type { NodeCounter } from './query-cost.js';
import { operationOf } from './root-fields.js';

/** What a document ends: how many keys and sessions it revokes, of which ids, and how many it replaces. */
export interface Endings {
  revoked: string[];
  replaced: number;
}

/** The most characters, tokens and fields of a document that is looked at although no points are left. */
const charactersMax = 4_000;
const tokensMax = 400;
const fieldsMax = 10;
/** The objects of each payload: the key or session, and one beside it, such as its account. */
const objectsMax = 2;

/**
 * Finds what a document ends, if it is a mutation that does nothing else: each of its fields revokes a key or session
 * or rotates a key, and selects no more than what was ended. Undefined for every other document, and for one that is
 * not valid: it is refused for its points, so that a document with further fields is no way around the allowance.
 */
export function endingsOf(schema: GraphQLSchema, nodes: NodeCounter, body: GraphBody): Endings | undefined {
  const { query, operationName, variables } = body;
  if (typeof query !== 'string' || query.length > charactersMax || !/\bmutation\b/.test(query)) return undefined;
  try {
    const document = parse(query, { maxTokens: tokensMax });
    const operation = operationOf(document, operationName);
    // Fragments are left out: with a directive on each of their spreads, the work for them doubles with each level.
    if (operation?.operation !== 'mutation' || document.definitions.length > 1) return undefined;
    if (validate(schema, document).length > 0) return undefined;
    const found: Endings = { revoked: [], replaced: 0 };
    let fields = 0;
    for (const field of operation.selectionSet.selections) {
      if (field.kind !== Kind.FIELD || field.directives?.length) return undefined;
      if (field.name.value === '__typename') continue;
      const ends = operations.get(field.name.value)?.ends;
      const definition = schema.getMutationType()!.getFields()[field.name.value];
      if (ends === undefined || !definition || ++fields > fieldsMax) return undefined;
      if (ends === 'replaced') found.replaced++;
      else {
        const { input } = getArgumentValues(definition, field, variables ?? {}) as { input?: { id?: unknown } };
        found.revoked.push(String(input?.id));
      }
    }
    const most = fields * (weights.write + objectsMax * weights.object);
    const estimate = nodes.of(document, operationName)?.(variables ?? {});
    return fields === 0 || !estimate || estimate.pointsUsual > most ? undefined : found;
  } catch {
    // The document or a value cannot be read.
    return undefined;
  }
}
