/**
 * What the contract says about one key of an object on /v1. The type, the enum and the description are those of the
 * field with the same name in the graph, so a rule says only what the graph does not: which of the keys may be null or
 * absent.
 */
export type KeyRule =
  | 'value'
  | 'value or null'
  /** A text of which the contract promises no format: rows from before the format was checked have other texts. */
  | 'text'
  | 'text or null'
  | 'null'
  /** The noun of the object, such as `deposit`. */
  | 'noun'
  | Optional
  | OrNull
  | Named
  | Stated
  | Keys;

/** The keys of a hash, or of each member of a list of hashes. */
export interface Keys {
  readonly [key: string]: KeyRule;
}

/** A key that some objects of the kind do not have. The editions' tables say it when the edition is the reason. */
export class Optional {
  constructor(
    readonly rule: KeyRule,
    readonly when?: string,
  ) {}
}

/** A hash, or a list of hashes, that may be null. */
export class OrNull {
  constructor(readonly keys: Keys) {}
}

/** A value that the graph shows in a field of another name. */
export class Named {
  constructor(
    readonly field: string,
    readonly rule: 'value' | 'value or null',
  ) {}
}

/** A value whose type differs from the graph's, or that the graph does not have: its JSON Schema. */
export class Stated {
  constructor(readonly schema: Readonly<Record<string, unknown>>) {}
}

/** JSON Schemas of plain values, for `stated`. */
export const schemas = {
  string: { type: 'string' },
  stringOrNull: { type: ['string', 'null'] },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
};

/** The object of an event: any object that is stored. */
export const anyStoredObject = new Stated({});

/**
 * True while `keysOfShape` runs a shape. The functions below return their rules then, and their values otherwise, so a
 * shape is one literal with each key once, and as fast as one without rules (1.00 to 1.13 of the time of deposits,
 * receivables and accounts). A table of keys and getters takes 3 to 6 times as long.
 */
let describing = false;

// A shape that says its rules returns them in place of its values, so a rule has the type of any value.
const said = (rule: KeyRule): never => rule as never;
// The rule that another function has said stands in place of its value.
const saidBefore = <R extends KeyRule>(given: unknown): R => given as R;

/** A value that may be null, in a place that refuses types without null. */
type Nullable<V> = V & (null extends V ? unknown : never);

/** The noun of an object, which is its `object`. */
export const noun = (name: string): string => (describing ? said('noun') : name);
/** A value that is never null. */
export const value = <V extends NonNullable<unknown>>(given: V): V => (describing ? said('value') : given);
/** A value that may be null. */
export const valueOrNull = <V>(given: Nullable<V>): V => (describing ? said('value or null') : given);
/** A text that is never null, and of which the contract promises no format. */
export const text = (given: string): string => (describing ? said('text') : given);
/** A text that may be null, and of which the contract promises no format. */
export const textOrNull = (given: string | null): string | null => (describing ? said('text or null') : given);
/** A key whose value is always null. */
export const alwaysNull = (): null => (describing ? said('null') : null);
/** A hash, or a list of hashes, that may be null. */
export const hashOrNull = <V>(given: Nullable<V>): V => (describing ? said(new OrNull(saidBefore(given))) : given);
/** A value with its rule that the graph shows in another field. */
export const named = <V>(field: string, given: V): V =>
  describing ? said(new Named(field, saidBefore(given))) : given;
/** A value with its JSON Schema. Shapes run for each object, so the schema is a constant beside them. */
export const stated = <V>(schema: Readonly<Record<string, unknown>>, given: V): V =>
  describing ? said(new Stated(schema)) : given;
/** The object of an event, which is made only when the shape formats one. */
export const storedObjectOf = (make: () => object): object => (describing ? said(anyStoredObject) : make());

/**
 * Keys that an object has only if something is given: `...optional(given, (it) => ({ key: value(it) }))`. `when` says
 * to clients which objects have them.
 */
export function optional<G, H extends object>(
  given: G | null | undefined | false,
  hash: (given: G) => H,
  when?: string,
): H | undefined {
  if (describing) return said(optionalKeys(saidBefore(hash(given as G)), when));
  return given === null || given === undefined || given === false ? undefined : hash(given);
}

const optionalKeys = (keys: Keys, when: string | undefined): Keys =>
  Object.fromEntries(Object.entries(keys).map(([name, rule]) => [name, new Optional(rule, when)]));

/** The functions that format objects for /v1. */
type Shape = (row: never, caller: never) => object;

const described = new Map<Shape, Keys>();

/** The keys of the objects that a shape formats, with their rules, in the order of the objects. */
export function keysOfShape(shape: Shape): Keys {
  const known = described.get(shape);
  if (known) return known;
  describing = true;
  try {
    const keys = checked(shape(anything, anything), shape.name);
    described.set(shape, keys);
    return keys;
  } finally {
    describing = false;
  }
}

/** A row for a shape that says its rules: every member, member of a list and result of it is it again. */
const anything: never = new Proxy(() => undefined, {
  get(_, name) {
    if (name === 'map') return (each: (member: never) => unknown) => each(anything);
    // What a shape computes from it is not shown. 1 is an edition, an amount and a time.
    if (name === Symbol.toPrimitive) return () => '1';
    if (name === Symbol.iterator) return () => [][Symbol.iterator]();
    return anything;
  },
  apply: () => anything,
  // It stands for a row of any table, and for a caller.
}) as never;

const rules: readonly unknown[] = ['value', 'value or null', 'text', 'text or null', 'null', 'noun'];

/** The keys that a shape has said; refuses a key without a rule. */
function checked(keys: object, path: string): Keys {
  if (typeof keys !== 'object') throw new Error(`${path} is a hash, and says no keys`);
  for (const [name, rule] of Object.entries(keys)) checkRule(rule, `${path}.${name}`, name);
  return keys as Keys;
}

function checkRule(rule: unknown, path: string, name: string): void {
  if (rule instanceof Stated) return;
  if ((name === 'object') !== (rule === 'noun')) throw new Error(`${path}: the key \`object\` alone is a noun`);
  if (rule instanceof Optional || rule instanceof Named) return checkRule(rule.rule, path, name);
  if (rule instanceof OrNull) return void checked(rule.keys, path);
  if (rules.includes(rule)) return;
  if (typeof rule !== 'object' || rule === null)
    throw new Error(`${path} says no rule: its value is to stand in value(…) or another function of shape.ts`);
  checked(rule, path);
}
