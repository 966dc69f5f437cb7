import { Arg, type ClassType } from 'type-graphql';

/** The one argument of a mutation. The members of its type are described there. */
export const Input = (type: () => ClassType<object>) =>
  Arg('input', type, { description: 'The values of the mutation.' });
