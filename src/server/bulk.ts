import type { GraphQLSchema } from 'graphql';
import { ApiBulk } from '../api/rest/bulk/bulk.js';
import type { Config } from '../config/config.js';
import type { Database } from '../db/database.js';
import type { Caller } from '../request/caller.js';
import type { Charge } from '../limits/charge.js';
import type { Identity } from './identity.js';
import type { InFlight } from './limits/in-flight.js';

/** Makes exports and imports from the parts of a gateway. */
export function bulkOf(parts: {
  config: Config;
  database: Database;
  schema: GraphQLSchema;
  identity: Identity;
  inFlight: InFlight;
  chargeOf: (caller: Caller) => Charge | null;
}): ApiBulk {
  const { config, database, schema, identity, inFlight, chargeOf } = parts;
  return new ApiBulk(schema, {
    database,
    // Where the allowance refuses nothing, nothing waits for it.
    chargeOf: config.RATE_LIMIT === 'enforce' ? chargeOf : () => null,
    exportBytesMax: config.EXPORT_MEGABYTES_MAX * 1_048_576,
    exportKeepSeconds: config.EXPORT_HOURS * 3_600,
    contextOf: (caller, budget, requestId, more) => identity.accountContext(caller, budget, requestId, more),
    during: (caller, work) => inFlight.during(caller, work),
  });
}
