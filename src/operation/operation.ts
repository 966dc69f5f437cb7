import type { PgTable } from 'drizzle-orm/pg-core';
import type { Permission } from '../auth/permissions.js';
import type { Problem } from '../request/problems.js';

/** One operation of either API, as its resource declares it: who may call it, and what the guard has to know of it. */
export interface Operation extends Permission {
  name: string;
  /**
   * What is wrong with its parameters by themselves, beyond what their types tell: asked before anything is looked up, and
   * told together with whatever else is wrong. Parameters that are wrong already are absent.
   */
  rules?: ((input: object) => Problem[]) | undefined;
  /** The table that its answer is a row of, where an idempotency key may answer it again. */
  answers?: PgTable | undefined;
}
