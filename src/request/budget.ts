import {
  type GraphQLFieldResolver,
  type GraphQLSchema,
  defaultFieldResolver,
  getNamedType,
  isIntrospectionType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { problem, DomainError } from './problems.js';

/** What one request may use; the settings GRAPHQL_NODES_MAX, ANSWER_BYTES_MAX and REQUEST_SECONDS. */
export interface RequestLimits {
  nodes: number;
  answerBytes: number;
  seconds: number;
}

/** Silent: the specification names no such limits; these are ours. */
export const requestLimitsDefault: RequestLimits = { nodes: 10_000, answerBytes: 4 * 1024 * 1024, seconds: 10 };

/** The clock is read once in so many fields: reading it for each would cost more than the field. */
const fieldsBetweenLooks = 256;

/**
 * What one request has used so far, and whether it has ended early: because its client disconnected, because its time is
 * over, or because it needs more than it may. Once it has ended, no resolver of it runs and no read of it begins; a read
 * that PostgreSQL is executing is cancelled. Counts are of what has been resolved, never more than what is answered.
 */
export class RequestBudget {
  /** Why the request ended early; undefined while it may go on. */
  ended: DomainError | undefined;
  #until = Number.POSITIVE_INFINITY;
  #nodes = 0;
  #bytes = 0;
  #fields = 0;
  readonly #onEnd = new Set<() => void>();

  constructor(readonly limits: RequestLimits = requestLimitsDefault) {}

  /** Starts the time of the request; a synchronous loop that no timer can interrupt ends by it, too. */
  start(): void {
    this.#until = performance.now() + this.limits.seconds * 1_000;
  }

  /** Ends the request; only the first reason counts. */
  end(reason: DomainError): void {
    if (this.ended) return;
    this.ended = reason;
    for (const end of this.#onEnd) end();
    this.#onEnd.clear();
  }

  /** Calls a function when the request ends early; the answer takes that back. */
  onEnd(end: () => void): () => void {
    this.#onEnd.add(end);
    return () => this.#onEnd.delete(end);
  }

  /** Counts an object of the answer. */
  node(): void {
    if (++this.#nodes > this.limits.nodes) this.end(tooManyNodes(this.limits.nodes));
  }

  /** Counts a field of the answer by what it is at least as JSON: its name and its text. */
  field(name: string, value: unknown): void {
    this.#bytes += name.length + sizeOf(value);
    if (this.#bytes > this.limits.answerBytes) this.end(tooLarge(this.limits.answerBytes));
    if (++this.#fields % fieldsBetweenLooks === 0 && performance.now() > this.#until)
      this.end(tooLate(this.limits.seconds));
  }
}

export const clientLeft = (): DomainError =>
  new DomainError(problem('service_unavailable', undefined, 'The client disconnected before the answer.'));

export const tooLate = (seconds: number): DomainError =>
  new DomainError(
    problem(
      'service_unavailable',
      undefined,
      `The request took longer than ${seconds} s and was ended. Ask for less at once, or retry after the time in Retry-After. Retry a write with the same Idempotency-Key.`,
    ),
  );

export const tooLarge = (bytes: number): DomainError =>
  new DomainError(
    problem(
      'answer_too_large',
      undefined,
      `The answer is larger than ${bytes} bytes. Ask for fewer objects or fields at once. A write that the request made stays made.`,
    ),
  );

const tooManyNodes = (nodes: number): DomainError =>
  new DomainError(
    problem(
      'answer_too_large',
      undefined,
      `The answer has more than ${nodes} objects. Ask for smaller pages, or for the inner objects in requests of their own. A write that the request made stays made.`,
    ),
  );

/** The least that a value is as JSON, in characters; of an object, its own texts alone. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || 'then' in value) return 0;
  let size = 0;
  for (const member of Object.values(value)) if (typeof member === 'string') size += member.length;
  return size;
}

interface Measured {
  budget?: RequestBudget;
}

/** Resolves a field that has no resolver of its own, and counts it; of a request that has ended, it is null. */
export const measuredFieldResolver: GraphQLFieldResolver<unknown, Measured> = (source, args, context, info) => {
  const { budget } = context;
  if (!budget) return defaultFieldResolver(source, args, context, info);
  if (budget.ended) return null;
  const value = defaultFieldResolver(source, args, context, info);
  budget.field(info.fieldName, isLeafType(getNamedType(info.returnType)) ? value : null);
  return value;
};

/**
 * Makes a schema count what it resolves and run no resolver of a request that has ended. Its fields are null from then on,
 * which costs nothing, where an error for each would cost more than the answer; what is answered is the reason of the end.
 */
export function measure(schema: GraphQLSchema, counted: (type: string) => boolean): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    if (counted(type.name)) {
      type.isTypeOf = (_, { budget }: Measured) => {
        budget?.node();
        return true;
      };
    }
    for (const field of Object.values(type.getFields())) {
      const { resolve } = field;
      if (!resolve) continue;
      const leaf = isLeafType(getNamedType(field.type));
      field.resolve = (source, args, context: Measured, info) => {
        const { budget } = context;
        if (!budget) return resolve(source, args, context, info);
        if (budget.ended) {
          // The resolver of a route of /v1 is called without `info`, and its error is the answer.
          if (info === undefined) throw budget.ended;
          return null;
        }
        const value = resolve(source, args, context, info);
        budget.field(field.name, leaf ? value : null);
        return value;
      };
    }
  }
}
