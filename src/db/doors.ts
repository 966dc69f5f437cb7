import type { Database } from './database.js';

/**
 * The parts of the database that code outside this folder may name. Requests of callers have `Scope` instead; what
 * serves all tenants asks for the door that it needs: one for reads over all tenants, one for the worker, one for
 * credentials. The other two are what scopes are made of, and how the database is doing.
 */

/** Reads that no scope bounds: for operators, the worker's search for work, and audits. */
export type CrossTenantReads = Pick<Database, 'read' | 'auditQuery' | 'crossTenant' | 'readiness'>;

/** The worker's work of one tenant and mode, on connections of its own, and the hints of new events. */
export type WorkerCalls = Pick<Database, 'work' | 'beat' | 'write' | 'lists' | 'hints' | 'signals'>;

/** Keys, sessions and operators by their secrets, and the allowances that their use is counted against. */
export type CredentialCalls = Pick<Database, 'read' | 'call'>;

/** What scopes are made from, and the writes of operators. */
export type ScopeSource = Pick<
  Database,
  'read' | 'text' | 'call' | 'write' | 'storedResponse' | 'sourceOf' | 'statementSeconds'
>;

/** How the database is doing, for probes, metrics and the log. */
export type DatabaseState = Pick<
  Database,
  'readiness' | 'poolSizes' | 'replicas' | 'observers' | 'signals' | 'crossTenant'
>;
