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

/** The limits of one request: the settings GRAPHQL_NODES_MAX, ANSWER_BYTES_MAX and REQUEST_SECONDS. */
export interface RequestLimits {
  nodes: number;
  answerBytes: number;
  seconds: number;
}

/** Silent: the specification names no such limits; these are ours. */
export const requestLimitsDefault: RequestLimits = { nodes: 10_000, answerBytes: 4 * 1024 * 1024, seconds: 10 };

/** The limits of all requests in flight of one process. Measured: docs/decisions/fair-turns.md. */
export const inFlightDefault = { slots: 12, ofTenant: 1_000, all: 4_000, milliseconds: 1_000, loopDelay: 1_000 };

/** How many fields are counted between two reads of the clock: reading it for each would cost more than the field. */
const fieldsBetweenLooks = 256;

/**
 * What one request has used so far, and whether it has ended early: because its client disconnected, its time is over,
 * or it exceeds a limit. Once it has ended, none of its resolvers runs and none of its reads starts; a read that
 * PostgreSQL is executing is cancelled. The counts cover the resolved fields, and never exceed the size of the answer.
 */
export class RequestBudget {
  /** Why the request ended early; undefined while it may continue. */
  ended: DomainError | undefined;
  #until = Number.POSITIVE_INFINITY;
  #nodes = 0;
  #bytes = 0;
  #fields = 0;
  readonly #onEnd = new Set<() => void>();
  /**
   * Gives the turn of the request back. It is called when the request begins to wait for something that has bounds of
   * its own, such as a slow question.
   */
  rest: () => void = () => {};

  constructor(readonly limits: RequestLimits = requestLimitsDefault) {}

  /** Starts the time limit of the request. It also ends a synchronous loop, which no timer can interrupt. */
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

  /** Calls a function when the request ends early. Returns a function that cancels this registration. */
  onEnd(end: () => void): () => void {
    this.#onEnd.add(end);
    return () => this.#onEnd.delete(end);
  }

  /** Counts an object of the answer. */
  node(): void {
    if (++this.#nodes > this.limits.nodes) this.end(tooManyNodes(this.limits.nodes));
  }

  /** Counts a field of the answer by its least size as JSON: its name and its text. */
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

/** The least size of a value as JSON, in characters. For an object, only its own strings count. */
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

/** Resolves a field that has no resolver of its own, and counts it. Returns null when the request has ended. */
export const measuredFieldResolver: GraphQLFieldResolver<unknown, Measured> = (source, args, context, info) => {
  const { budget } = context;
  if (!budget) return defaultFieldResolver(source, args, context, info);
  if (budget.ended) return null;
  const value = defaultFieldResolver(source, args, context, info);
  budget.field(info.fieldName, isLeafType(getNamedType(info.returnType)) ? value : null);
  return value;
};

/**
 * Changes a schema so that it counts what it resolves, and runs no resolver of a request that has ended. The fields of
 * such a request are null, because an error for each field would cost more than the answer. The client gets the reason
 * for the end.
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
