import { totalCountMax } from './pagination.js';

/**
 * What a request costs, in points. This is the only place that says how much anything weighs; resources say which of
 * their fields are figures. A point is about 20 µs of a gateway's processor, or the reading of a few rows.
 */
export const weights = {
  /** Every request: its key, its parsing and its answer. A dry run costs the same, because it parses a document. */
  request: 10,
  /**
   * An object of an answer. A page has the objects that PostgreSQL read, whichever of their fields are selected; none
   * are read where only the number of its list is.
   */
  object: 1,
  /** A write: its locks, its event and its commit to the disk. */
  write: 50,
  /**
   * A figure that PostgreSQL computes from many rows, such as a history. Its points count as objects, too.
   */
  figure: 50,
  /** Look-ups of some fifty rows, each by an index, such as for the matches of a deposit: they take 0.4 ms. */
  lookups: 20,
  /** The count of a list, which reads as many entries of an index as the list has, and stops at a maximum. */
  total: 100,
  /** A root field of introspection. */
  introspection: 500,
} as const;

type WeightName = keyof typeof weights;

/**
 * The weight of a field in addition to its objects, or its points. It may depend on the field's arguments. A mutation
 * without one is a write.
 */
export type FieldWeight = WeightName | ((argument: (name: string) => unknown) => WeightName | number | undefined);

/** The points of a field with these arguments. */
export function pointsOf(weight: FieldWeight, argument: (name: string) => unknown): number {
  const found = typeof weight === 'function' ? weight(argument) : weight;
  return typeof found === 'string' ? weights[found] : (found ?? 0);
}

/** The points of a count that found so many objects; null when the list is longer than the maximum. */
export function pointsOfTotal(found: number | null): number {
  const entries = Math.min(found ?? totalCountMax, totalCountMax);
  return Math.max(Math.ceil((weights.total * entries) / totalCountMax), 1);
}

/**
 * How many of the gateway's turns a request takes that could read so many objects. A write takes one: it waits for
 * PostgreSQL most of its time. Measured: docs/decisions/fair-turns.md.
 */
export function turnsOf(objects: number): number {
  return 1 + Math.floor(objects / objectsPerTurn);
}
const objectsPerTurn = 10;

/** What the bytes of a file cost, besides its request and its object: as a figure, and a point for each 2 KiB. */
export const pointsOfBytes = (bytes: number): number => weights.figure + Math.floor(bytes / bytesPerPoint);
const bytesPerPoint = 2_048;

/** What a route of /v1 costs at most: its request, and one object, a page of a list, or a write with its object. */
export function pointsOfRoute(answers: 'object' | 'list' | 'payload', field: FieldWeight | undefined, rows: number) {
  const more = field === undefined ? 0 : pointsOf(field, () => undefined);
  const write = answers === 'payload' ? weights.write : 0;
  return weights.request + write + more + weights.object * (answers === 'list' ? rows : 1);
}
