import { Mutation, Ctx, Resolver } from 'type-graphql';
import { AdvanceTestClockPayload, TestClock } from './type.js';
import { AdvanceTestClockInput } from './inputs.js';
import { Input } from '../../types/input.js';
import type { Context } from '../../operation/context.js';
import { testClock } from './table.js';

@Resolver(() => TestClock)
export class ClockResolver {
  /**
   * Moves the clock of the tenant's test mode forward; a worker then runs the jobs that become due.
   * Silent: the operation.
   */
  @Mutation(() => AdvanceTestClockPayload, {
    description:
      "Test helper: moves the clock of the tenant's test objects forward. Work that " +
      'becomes due is done within a second, step by step.',
  })
  async advanceTestClock(
    @Input(() => AdvanceTestClockInput) { advanceSeconds }: AdvanceTestClockInput,
    @Ctx() context: Context,
  ) {
    return { clock: await context.write('advance_clock', testClock, { advanceSeconds }) };
  }
}
