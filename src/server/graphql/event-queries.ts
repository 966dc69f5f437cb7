import type { GraphQLSchema } from 'graphql';
import { PreparedEventQueries } from '../../api/graphql/event-queries.js';
import { publicSizes } from '../../api/graphql/server.js';
import type { Config } from '../../config/config.js';
import type { Caller } from '../../request/caller.js';
import type { Charge } from '../../limits/charge.js';
import { documentLimitsOf } from './endpoints.js';
import type { Identity } from '../identity.js';
import type { InFlight } from '../limits/in-flight.js';

/** Makes the queries of webhook endpoints from the parts of a gateway. */
export function eventQueries(parts: {
  config: Config;
  schema: GraphQLSchema;
  identity: Identity;
  inFlight: InFlight;
  chargeOf: (caller: Caller) => Charge | null;
  onFault: (error: unknown, requestId: string) => void;
}): PreparedEventQueries {
  const { config, schema, identity, inFlight, chargeOf, onFault } = parts;
  return new PreparedEventQueries(schema, {
    limits: documentLimitsOf(config),
    sizes: publicSizes,
    contextOf: (owner, budget, requestId) => identity.accountContext(owner, budget, requestId),
    during: (owner, work) => inFlight.during(owner, work),
    chargeOf,
    onFault,
  });
}
