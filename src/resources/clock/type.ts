import { ObjectType, Field, Int } from 'type-graphql';
import { DateTime } from '../../types/scalars.js';
import { payloadOf } from '../../types/payload.js';

@ObjectType({ simpleResolvers: true, description: "The tenant's test clock: the time of its test objects." })
export class TestClock {
  @Field(() => DateTime, { description: 'The time of the clock when it was last moved.' })
  now: number;
  @Field(() => Int, { description: 'How many seconds it is ahead of real time.' })
  offsetSeconds: number;
}

export type ClockRow = TestClock;
export const AdvanceTestClockPayload = payloadOf('AdvanceTestClock', 'clock', TestClock);
