import type { GraphQLSchema } from 'graphql';
import { dryRunOf } from '../api/graphql/dry-run.js';
import { PreparedEventQueries } from '../api/graphql/event-queries.js';
import type { NodeCounter } from '../api/graphql/query-cost.js';
import { publicSizes } from '../api/graphql/server.js';
import { ApiBulk } from '../api/rest/bulk/bulk.js';
import type { Config } from '../config/config.js';
import type { ScopeSource, WorkerCalls } from '../db/doors.js';
import type { Charge } from '../limits/charge.js';
import type { SharedServices } from '../operation/context.js';
import type { Caller } from '../request/caller.js';
import type { AccountContexts } from './account-contexts.js';
import { compilerOf, documentLimitsOf } from './graphql/endpoints.js';
import type { InFlight } from './limits/in-flight.js';

/** Makes the queries of webhook endpoints, exports, imports and dry runs from the parts of a gateway. */
export function sharedServices(parts: {
  config: Config;
  database: ScopeSource & WorkerCalls;
  schema: GraphQLSchema;
  nodes: NodeCounter;
  accounts: AccountContexts;
  inFlight: InFlight;
  chargeOf: (caller: Caller) => Charge | null;
  onFault: (error: unknown, requestId: string) => void;
}): SharedServices {
  const { config, database, schema, nodes, accounts, inFlight, chargeOf, onFault } = parts;
  const limits = documentLimitsOf(config);
  const during = <T>(caller: Caller, work: () => Promise<T>) => inFlight.during(caller, work);
  return {
    local: config.transport === 'local',
    explorer: config.EXPLORER,
    eventQueries: new PreparedEventQueries(schema, {
      limits,
      sizes: publicSizes,
      contextOf: (owner, budget, requestId) => accounts.contextOf(owner, budget, requestId),
      during,
      chargeOf,
      onFault,
    }),
    bulk: new ApiBulk(schema, {
      database,
      // Where the allowance refuses nothing, nothing waits for it.
      chargeOf: config.RATE_LIMIT === 'enforce' ? chargeOf : () => null,
      exportBytesMax: config.EXPORT_MEGABYTES_MAX * 1_048_576,
      exportKeepSeconds: config.EXPORT_HOURS * 3_600,
      contextOf: (caller, budget, requestId, more) => accounts.contextOf(caller, budget, requestId, more),
      during,
    }),
    dryRun: dryRunOf(schema, nodes, { ...limits, introspection: config.INTROSPECTION }, compilerOf(config, schema)),
  };
}
