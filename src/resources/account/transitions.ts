import type { AccountStatus } from './table.js';

/**
 * The statuses from which each decision moves an account; `move_account` is given them and refuses any other.
 * Spec: Transitions. Silent: all but the first.
 */
export const accountMoves = {
  activate: { connected_user: ['draft'], partner: ['draft', 'deactivated'] },
  /** By the owner of a partner. */
  deactivate: ['draft', 'verifying', 'activated'],
  /** A verification has one of two outcomes; the first also lifts a hold. */
  verify: { activated: ['verifying', 'hold'], hold: ['verifying'] },
  /** The same of a root, which in live mode is a draft until then. */
  verifyRoot: { activated: ['draft', 'verifying', 'hold'], hold: ['draft', 'verifying'] },
  hold: ['verifying', 'activated'],
  /** By the operator, or by a test helper. */
  close: ['draft', 'verifying', 'activated', 'hold'],
} as const satisfies Record<string, readonly AccountStatus[] | Record<string, readonly AccountStatus[]>>;
