import { everyone } from '../../auth/permissions.js';
import { defineResource } from '../define.js';
import { RateLimitResolver } from './resolver.js';

export default defineResource({
  object: 'rate_limit',
  resolvers: [RateLimitResolver],
  operations: { rateLimit: { access: 'read', callers: everyone } },
  // The document of a dry run is parsed like that of a request; without one, nothing is read.
  weights: { 'Query.rateLimit': (argument) => (argument('dryRun') == null ? undefined : 'request') },
  sizes: { 'DryRun.paths': 0 },
});
