import { testOnly } from '../../auth/permissions.js';
import { defineResource, extension, stored } from '../define.js';
import { clockLimits, clockProblems } from './inputs.js';
import { ClockResolver } from './resolver.js';
import { testClock } from './table.js';
import { clockV1 } from './v1.js';

export default defineResource({
  object: 'clock',
  stored: { clock: stored(testClock, clockV1) },
  resolvers: [ClockResolver],
  operations: {
    advanceTestClock: {
      ...testOnly,
      rules: clockProblems,
      limits: clockLimits,
      routes: [extension.post('/v1/test_helpers/clock')],
    },
  },
  events: { 'clock.advanced': { when: 'The clock of test mode was advanced.', modes: ['test'] } },
});
