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

/** The calls that functions accept: each by its types, of which it may leave out defaults, with its arguments' keys. */
export const signaturesOf = (functions: readonly DefinedFunction[]): Record<string, Keys> =>
  Object.fromEntries(
    functions
      .flatMap(({ name, types, defaults, body }) => {
        const declared = declarationsIn(body).filter(({ checked }) => /^p_(args|envelope)$/.test(checked));
        const keys = keysOf(declared.flatMap(({ args }) => args));
        return Array.from({ length: defaults + 1 }, (_, left) => {
          const given = types.slice(0, types.length - left);
          return [`${name}(${given.join(', ')})`, keys] as const;
        });
      })
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
