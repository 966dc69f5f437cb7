import { type GraphQLInputType, isInputObjectType, type GraphQLArgument, getNamedType } from 'graphql';
import { type Problem, problem, problemsMax, snake } from '../errors/problems.js';
import { Amount, currencyDigits } from '../types/scalars.js';

/**
 * The problems of amounts that their currency cannot have, such as half a yen, anywhere in the arguments of a write.
 * The currency of an amount is `currency` of its own object, or else of the nearest object around it, or else `given`,
 * that of the stored object which the arguments name. Money enters the service through this check alone.
 * Spec: decisions, 8.4.
 */
export function amountProblems(value: unknown, path: string, given?: string): Problem[] {
  const problems: Problem[] = [];
  findAmounts(value, () => path, given, problems);
  return problems;
}

function findAmounts(value: unknown, path: () => string, currency: string | undefined, problems: Problem[]): void {
  if (problems.length >= problemsMax) return;
  if (typeof value === 'bigint') {
    if (currencyDigits(currency) === 0 && value % 100n !== 0n)
      problems.push(problem('parameter_invalid', path(), 'must end in .00, since its currency has no minor unit'));
  } else if (Array.isArray(value)) {
    for (const [i, member] of value.entries()) findAmounts(member, () => `${path()}[${i}]`, currency, problems);
  } else if (typeof value === 'object' && value !== null) {
    const own = 'currency' in value && typeof value.currency === 'string' ? value.currency : currency;
    for (const [name, member] of Object.entries(value))
      findAmounts(member, () => `${path()}.${snake(name)}`, own, problems);
  }
}

/**
 * The paths of amounts among the arguments of a root field for which the arguments have no currency. Their operation
 * declares the table of the stored object that has it.
 */
export function amountsWithoutCurrency(args: readonly GraphQLArgument[]): string[] {
  return args.flatMap(({ name, type }) => withoutCurrency(name, type, []));
}

function withoutCurrency(path: string, type: GraphQLInputType, around: readonly GraphQLInputType[]): string[] {
  const named = getNamedType(type);
  if (named === Amount) return [path];
  if (!isInputObjectType(named) || around.includes(named)) return [];
  const fields = named.getFields();
  if (fields.currency) return [];
  return Object.values(fields).flatMap((field) =>
    withoutCurrency(`${path}.${field.name}`, field.type, [...around, named]),
  );
}
