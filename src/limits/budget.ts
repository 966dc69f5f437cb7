import {
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  defaultFieldResolver,
  getNamedType,
  isIntrospectionType,
  isLeafType,
  isObjectType,
} from 'graphql';
import type { Charge, Cost } from './charge.js';
import { requestLimitsDefault } from '../config/defaults.js';
import { problem, DomainError } from '../errors/problems.js';
import type { RequestTicket } from './request-queue.js';

/** The limits of one request: the settings GRAPHQL_NODES_MAX, ANSWER_BYTES_MAX and REQUEST_SECONDS. */
export interface RequestLimits {
  nodes: number;
  answerBytes: number;
  seconds: number;
}

/** The most fields of an answer that are refused: an error costs several times the processor time of an object. */
const refusedMax = 1_000;

/** How many fields are counted between two reads of the clock: reading it for each would cost more than the field. */
const fieldsBetweenLooks = 256;

/** What metrics and traces say of a request. Each text is one of a bounded number. */
export interface RequestReport {
  /** The root field of a GraphQL operation, or `several`. */
  operation?: string;
  /** Whether a compiled query answered the operation, or the resolvers did. */
  answeredBy?: 'compiled' | 'resolvers';
  /** The codes of the errors in the answer. */
  codes: string[];
}

/**
 * What one request has used so far, and whether it has ended early: because its client disconnected, its time is over,
 * or it exceeds a limit. Once it has ended, none of its resolvers runs and none of its reads starts; a read that
 * PostgreSQL is executing is cancelled. The counts cover the resolved fields, and never exceed the size of the answer.
 */
export class RequestBudget {
  /** Why the request ended early; undefined while it may continue. */
  ended: DomainError | undefined;
  /** What the request takes from the allowance of its root account; null if requests are not charged. */
  charge: Charge | null = null;
  readonly report: RequestReport = { codes: [] };
  /** The refusal of the only expensive read that the request has, once PostgreSQL took too long for it. */
  tooSlow: DomainError | undefined;
  #until = Number.POSITIVE_INFINITY;
  #nodes = 0;
  #bytes = 0;
  #fields = 0;
  readonly #onEnd = new Set<() => void>();
  /** The request's place in its queue; null where it needs no turn. */
  ticket: RequestTicket | null = null;

  constructor(readonly limits: RequestLimits = requestLimitsDefault) {}

  /** What the request cost; undefined if requests are not charged. Call this when its work is done. */
  get cost(): Cost | undefined {
    return this.charge?.finish(this.ended !== undefined);
  }

  /**
   * Gives the turn of the request back. It is called when the request begins to wait for something that has bounds of
   * its own, such as an expensive read.
   */
  release(): void {
    this.ticket?.release();
  }

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

  /** Counts the fields of the answer that were refused: one below a list can be refused once for each parent. */
  refused(fields: number): void {
    if (fields > refusedMax) this.end(tooManyRefused());
  }
}

export const clientLeft = (): DomainError =>
  new DomainError(problem('service_unavailable', undefined, 'The client disconnected before the answer.'));

export const tooLate = (seconds: number): DomainError =>
  new DomainError(
    problem(
      'service_unavailable',
      undefined,
      `The request took longer than ${seconds} s and was ended. Ask for less at once, or retry after the time ` +
        'in Retry-After. Retry a write with the same Idempotency-Key.',
    ),
  );

export const tooLarge = (bytes: number): DomainError =>
  new DomainError(
    problem(
      'answer_too_large',
      undefined,
      `The answer is larger than ${bytes} bytes. Ask for fewer objects or fields at once. A write that the ` +
        'request made stays made.',
    ),
  );

const tooManyNodes = (nodes: number): DomainError =>
  new DomainError(
    problem(
      'answer_too_large',
      undefined,
      `The answer has more than ${nodes} objects. Ask for smaller pages, or for the inner objects in requests ` +
        'of their own. A write that the request made stays made.',
    ),
  );

const tooManyRefused = (): DomainError =>
  new DomainError(
    problem(
      'answer_too_large',
      undefined,
      `More than ${refusedMax} fields of the answer are refused, such as one field of each object of a list. Ask for ` +
        'fewer objects at once to see why. A write that the request made stays made.',
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

/** What the fields and objects of a schema cost. */
interface Prices {
  /** Whether a type is a page of a list. */
  isPage: (type: GraphQLObjectType) => boolean;
  /** Whether a field has values that belong to their object, such as its problems: they cost nothing. */
  isValues: (type: string, field: string) => boolean;
  /**
   * The points of a field's resolver, besides those of its objects, for its arguments; undefined if there are none, as
   * of a write, which counts itself.
   */
  field: (type: string, field: string) => ((args: Record<string, unknown>) => number) | undefined;
  /** The points of counting a list. */
  total: (found: number | null) => number;
  /** Whether only the number of the whole list is selected of a page. */
  countOnly: (page: GraphQLObjectType, info: GraphQLResolveInfo) => boolean;
}

/** How a schema is measured. */
export interface Measure {
  /** Whether objects of a type are nodes. */
  counted: (type: GraphQLObjectType) => boolean;
  /** Undefined for the operator's schema, which has no allowance. */
  prices?: Prices;
}

/** Resolves a field that has no resolver of its own, and counts it. Returns null when the request has ended. */
export const measuredFieldResolver: GraphQLFieldResolver<unknown, Measured> = (source, args, context, info) => {
  const { budget } = context;
  if (!budget) return defaultFieldResolver(source, args, context, info);
  if (budget.ended) return null;
  const value = defaultFieldResolver(source, args, context, info);
  // Whether there are objects on the other side of a cursor is read only when a client asks for it.
  if (value instanceof Promise && info.parentType.name === 'PageInfo') budget.charge?.countObjects(1);
  budget.field(info.fieldName, isLeafType(getNamedType(info.returnType)) ? value : null);
  return value;
};

/**
 * Changes a schema so that it counts what it resolves, and runs no resolver of a request that has ended. The fields of
 * such a request are null, because an error for each field would cost more than the answer. The client gets the reason
 * for the end.
 */
export function measure(schema: GraphQLSchema, { counted, prices }: Measure): void {
  const types = Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) && !isIntrospectionType(type) ? [type] : [],
  );
  const ofPages = new Set(prices && types.flatMap((type) => (prices.isPage(type) ? chargePage(type, prices) : [])));
  for (const type of types) {
    if (counted(type)) {
      type.isTypeOf = (_, { budget }: Measured, { parentType, fieldName }) => {
        budget?.node();
        if (prices && !ofPages.has(parentType) && !prices.isValues(parentType.name, fieldName))
          budget?.charge?.countObjects(1);
        return true;
      };
    }
    for (const field of Object.values(type.getFields())) measureField(field, prices?.field(type.name, field.name));
  }
}

/**
 * Charges the rows of a page with the page, whichever of its fields are selected, and the count of its list where a
 * client asks for that. Returns the types whose fields lead to those rows, which are not charged again.
 */
function chargePage(type: GraphQLObjectType, { total, countOnly }: Prices): GraphQLObjectType[] {
  type.isTypeOf = (page: { nodes?: readonly unknown[] }, { budget }: Measured, info) => {
    if (!countOnly(type, info)) budget?.charge?.countObjects(page.nodes?.length ?? 0);
    return true;
  };
  const { totalCount, edges } = type.getFields();
  if (totalCount)
    totalCount.resolve = async (page: { totalCount: () => Promise<number | null> }, _, { budget }: Measured) => {
      const found = await page.totalCount();
      budget?.charge?.count(total(found));
      return found;
    };
  const edge = edges && getNamedType(edges.type);
  return isObjectType(edge) ? [type, edge] : [type];
}

type MeasuredField = ReturnType<GraphQLObjectType['getFields']>[string];

function measureField(field: MeasuredField, points: ReturnType<Prices['field']>): void {
  const { resolve } = field;
  if (!resolve) return;
  const leaf = isLeafType(getNamedType(field.type));
  field.resolve = (source, args, context: Measured, info) => {
    const { budget } = context;
    if (!budget) return resolve(source, args, context, info);
    if (budget.ended) {
      // The resolver of a route of /v1 is called without `info`, and its error is the answer.
      if (info === undefined) throw budget.ended;
      return null;
    }
    if (points) budget.charge?.count(points(args));
    const value = resolve(source, args, context, info);
    budget.field(field.name, leaf ? value : null);
    return value;
  };
}
