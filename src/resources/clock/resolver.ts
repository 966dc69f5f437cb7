import { Ctx, Field, InputType, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { payloadOf } from '../../types/payload.js';
import { type Problem, problem } from '../../errors/problems.js';
import { DateTime } from '../../types/scalars.js';
import { testClock } from './table.js';
import { Input } from '../../types/input.js';

const advanceSecondsMax = 400 * 24 * 3600;
export const clockLimits = { advance_seconds: { minimum: 1, maximum: advanceSecondsMax } };

@InputType({ description: 'Advances the test clock.' })
class AdvanceTestClockInput {
  @Field(() => Int, { description: 'How many seconds to advance: 1 second to 400 days.' })
  advanceSeconds: number;
}

@ObjectType({ simpleResolvers: true, description: "The tenant's test clock: the time of its test objects." })
class TestClock {
  @Field(() => DateTime, { description: 'The time of the clock when it was last moved.' })
  now: number;
  @Field(() => Int, { description: 'How many seconds it is ahead of real time.' })
  offsetSeconds: number;
}
export type ClockRow = TestClock;

/** The problems of an advance: it must move the clock forward, and by a bounded number of seconds. */
export function clockProblems({ advanceSeconds }: Partial<AdvanceTestClockInput>): Problem[] {
  if (advanceSeconds === undefined || (advanceSeconds >= 1 && advanceSeconds <= advanceSecondsMax)) return [];
  return [problem('parameter_invalid', 'clock.advance_seconds', `must be from 1 to ${advanceSecondsMax}`)];
}

const AdvanceTestClockPayload = payloadOf('AdvanceTestClock', 'clock', TestClock);

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
