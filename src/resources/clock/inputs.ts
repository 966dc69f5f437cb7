import { InputType, Field, Int } from 'type-graphql';
import { type Problem, problem } from '../../errors/problems.js';

const advanceSecondsMax = 400 * 24 * 3600;
export const clockLimits = { advance_seconds: { minimum: 1, maximum: advanceSecondsMax } };

@InputType({ description: 'Advances the test clock.' })
export class AdvanceTestClockInput {
  @Field(() => Int, { description: 'How many seconds to advance: 1 second to 400 days.' })
  advanceSeconds: number;
}

/** The problems of an advance: it must move the clock forward, and by a bounded number of seconds. */
export function clockProblems({ advanceSeconds }: Partial<AdvanceTestClockInput>): Problem[] {
  if (advanceSeconds === undefined || (advanceSeconds >= 1 && advanceSeconds <= advanceSecondsMax)) return [];
  return [problem('parameter_invalid', 'clock.advance_seconds', `must be from 1 to ${advanceSecondsMax}`)];
}
