import { everyone } from '../../auth/permissions.js';
import { defineResource } from '../define.js';
import { RateLimitResolver } from './resolver.js';

export default defineResource({
  object: 'rate_limit',
  resolvers: [RateLimitResolver],
  // The document of a dry run may be as long as a body can be.
  operations: { rateLimit: { access: 'read', callers: everyone, notNull: true, textLengthMax: 1_048_576 } },
  // The document of a dry run is parsed like that of a request; without one, nothing is read.
  weights: { 'Query.rateLimit': (argument) => (argument('dryRun') == null ? undefined : 'request') },
  sizes: { 'DryRun.paths': 0, 'DryRun.problems': 0, 'DryRun.uncompiledPaths': 0 },
});
