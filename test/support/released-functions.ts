import { type Declared, declarationsIn, type DefinedFunction } from '../../src/db/write/print-write-functions.js';

/** The arguments that a function declares, by the path of their keys: a call must have those that are `required`. */
export type Keys = Record<string, 'required' | 'optional'>;

const keysOf = (args: readonly Declared[], above = ''): Keys =>
  Object.fromEntries(
    args.flatMap(({ key, optional, members }) => [
      [`${above}${key}`, optional ? 'optional' : 'required'] as const,
      ...Object.entries(members ? keysOf(members, `${above}${key}.`) : {}),
    ]),
  );

/** What functions accept: each with its types, and the keys that its arguments may have. */
export const signaturesOf = (functions: readonly DefinedFunction[]): Record<string, Keys> =>
  Object.fromEntries(
    functions
      .map(({ name, types, body }) => {
        const declared = declarationsIn(body).filter(({ checked }) => /^p_(args|envelope)$/.test(checked));
        return [`${name}(${types.join(', ')})`, keysOf(declared.flatMap(({ args }) => args))] as const;
      })
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
