import {
  type FieldNode,
  type GraphQLField,
  GraphQLInputObjectType,
  GraphQLNonNull,
  valueFromASTUntyped,
} from 'graphql';
import type { Accepted } from '../../operation/accepted.js';
import { joined } from '../../operation/input-problems.js';
import { argumentPath, filterOnV1, listNames, type Problem, problem } from '../../errors/problems.js';
import { type Decoder, decoderOf } from '../rest/decoder.js';
import { flattened } from './filter-argument.js';
import { graph as graphFormat, notObject } from '../rest/input-format.js';

/** A field of the query, the mutation or the subscription. */
export type RootField = GraphQLField<unknown, unknown>;

/** The problems of the arguments of a root field, as /v1 would report them. */
export function argumentProblems(
  node: FieldNode,
  field: RootField,
  values: Record<string, unknown>,
  object: string,
  { decoder, more, named }: { decoder: Decoder; more: (args: object) => Problem[]; named: typeof asListed | undefined },
): Problem[] {
  const given = (node.arguments ?? [])
    .map((a) => [a.name.value, valueFromASTUntyped(a.value, values)] as const)
    .filter(([, value]) => value !== undefined);
  const raw = Object.fromEntries(given) as Record<string, unknown>;
  const problems: Problem[] = [];
  // A mutation has all its parameters in `input`, and one without parameters has an empty one.
  if (inputOf(field)) {
    const { input = {}, ...unknown } = raw;
    for (const name of Object.keys(unknown)) problems.push(problem('parameter_unknown', `${object}.${name}`));
    const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
    if (!isObject) return [...problems, problem('parameter_invalid', object, notObject)];
    const args = decoder(input as Record<string, unknown>, problems);
    return joined(problems, more(args));
  }
  const args = flattened(decoder(raw, problems));
  return joined(named ? problems.map((p) => named(p, object)) : problems, more(args));
}

const decoders = new WeakMap<RootField, Map<Accepted | undefined, Decoder>>();

/** The decoder of a field's parameters for a kind of caller. It is made once. */
export function decoderFor(field: RootField, object: string, accepted: Accepted | undefined): Decoder {
  const known = decoders.get(field) ?? new Map<Accepted | undefined, Decoder>();
  decoders.set(field, known);
  const type = inputOf(field);
  const decoder =
    known.get(accepted) ??
    decoderOf(type ? Object.values(type.getFields()) : field.args, object, graphFormat, accepted);
  known.set(accepted, decoder);
  return decoder;
}

/**
 * A problem of a list's argument under its name in /v1, without the index of a value: /v1 does not report indexes
 * there.
 */
export function asListed(p: Problem, object: string): Problem {
  const given = p.field?.replaceAll(/\[\d+\]/g, '');
  const field = given?.startsWith(`${object}.`) ? `${object}.${filterOnV1(given.slice(object.length + 1))}` : given;
  const path = argumentPath(p.field);
  const name = listNames.get(String(path[0]));
  return { ...p, field: name ? `${object}.${name}` : field, path };
}

/** The type of the argument `input`, which has all parameters of a mutation. */
export function inputOf(field: RootField): GraphQLInputObjectType | undefined {
  const input = field.args.find(({ name }) => name === 'input')?.type;
  const type = input instanceof GraphQLNonNull ? input.ofType : input;
  return type instanceof GraphQLInputObjectType ? type : undefined;
}
