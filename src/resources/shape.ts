/**
 * What the contract says about one key of an object on /v1. The type, the enum and the description are those of the
 * field with the same name in the graph, so a declaration says only what the graph does not: which keys /v1 shows, in
 * which order, and which of them may be null or absent.
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

export const optional = (rule: KeyRule, when?: string): Optional => new Optional(rule, when);
export const orNull = <K extends Keys>(keys: K): OrNull & { keys: K } => new OrNull(keys) as OrNull & { keys: K };
export const named = <R extends Named['rule']>(field: string, rule: R): Named & { rule: R } =>
  new Named(field, rule) as Named & { rule: R };
/** The object of an event: any object that is stored. */
export const anyStoredObject = new Stated({});
export const stated = (schema: Readonly<Record<string, unknown>>): Stated => new Stated(schema);

type Member<V> = V extends readonly (infer M)[] ? M : V;
/** A map has keys that the client chooses, so it counts as one value. */
type IsHash<V> = Member<V> extends object ? (string extends keyof Member<V> ? false : true) : false;
type RuleFor<V> = [V] extends [null]
  ? 'null'
  : IsHash<NonNullable<V>> extends true
    ? null extends V
      ? OrNull & { keys: KeysOf<Member<NonNullable<V>>> }
      : KeysOf<Member<V>>
    : null extends V
      ? 'value or null' | 'text or null' | (Named & { rule: 'value or null' })
      : 'value' | 'text' | (Named & { rule: 'value' });

/** The declaration that fits what a function returns: the compiler refuses missing keys, other keys and wrong nulls. */
export type KeysOf<T> = {
  readonly [K in keyof T]-?: Stated | (undefined extends T[K] ? Optional : K extends 'object' ? 'noun' : RuleFor<T[K]>);
};

const declared = new Map<unknown, Keys>();

/** Declares the keys of the objects that a function formats for /v1. */
export function declareKeys<T extends object>(shape: (row: never, caller: never) => T, keys: KeysOf<T>): void {
  declared.set(shape, keys as Keys);
}

/** The declared keys of what a function formats; undefined when nothing is declared. */
export const keysOfShape = (shape: unknown): Keys | undefined => declared.get(shape);
