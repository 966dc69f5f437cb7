import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Permission } from '../auth/permissions.js';
import type { Rows } from '../db/list/statement.js';
import type { ProblemCode } from '../errors/catalogue.js';
import type { Problem } from '../errors/problems.js';

/** What the rules of an operation require of a parameter beyond its type, in the keywords of JSON Schema. */
interface ParameterLimits {
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  /** Null is refused, although the parameter may be left out. */
  notNull?: true;
}

/** One operation of both APIs, as its resource declares it: which callers may use it, and what the guard needs. */
export interface Operation extends Permission {
  name: string;
  /**
   * Checks the parameters by themselves, beyond their types. It runs before any database query, and the client gets its
   * problems together with all others. Invalid parameters are absent from `input`.
   */
  rules?: ((input: object) => Problem[]) | undefined;
  /**
   * The parameters that name an object, with its table, for amounts whose currency is that of the object: where the
   * input has no currency beside or around them.
   */
  currencyOf?: Readonly<Record<string, Rows & { currency: PgColumn }>>;
  /** The greatest length of its texts, where it differs from that of other operations. */
  textLengthMax?: number | undefined;
  /** The values of parameters that it accepts, where the type of the parameter has more. */
  accepts?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Its parameter `scope` is `self` for all callers but platforms, which alone have accounts below their own lists. */
  scopeOfPlatforms?: true | undefined;
  /** The limits of its parameters by their paths on /v1, for the contract; its rules refuse what exceeds them. */
  limits?: Readonly<Record<string, ParameterLimits>> | undefined;
  /**
   * The codes of its refusals that not every operation has. The contract lists them, and the tests compare each answer
   * with the contract.
   */
  refusals?: readonly ProblemCode[] | undefined;
  /** Its field is not nullable in the graph: it shows what the request has already, so that nothing refuses it. */
  notNull?: true | undefined;
  /**
   * Whether it ends a key or session, or replaces a key: then it is answered although the allowance is used up, and
   * charged afterwards. Replacing is so ten times a minute.
   */
  ends?: 'revoked' | 'replaced' | undefined;
  /** The table of the row that the operation returns, if an idempotency key can replay its answer. */
  answers?: PgTable | undefined;
}
