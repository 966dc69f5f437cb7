import { Arg, type ClassType, Field, ID, InputType } from 'type-graphql';
import { lowerFirst } from './payload.js';

/** The one argument of a mutation. The members of its type are described there. */
export const Input = (type: () => ClassType<object>) =>
  Arg('input', type, { description: 'The values of the mutation.' });

/** An object by its id. */
export interface ById {
  id: string;
}

/**
 * The input type of a mutation that takes an object alone. Each mutation has an input type of its own, so that one of
 * them can get a further parameter.
 */
export function idInputOf(mutation: string, noun: string): ClassType<ById> {
  @InputType(`${mutation}Input`, { description: `Names the ${noun} of the mutation \`${lowerFirst(mutation)}\`.` })
  class IdInput {}
  Field(() => ID, { description: `The id of the ${noun}.` })(IdInput.prototype, 'id');
  return IdInput as ClassType<ById>;
}
