import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';

export const CountPrecision = { EXACT: 'exact', AT_LEAST: 'at_least' } as const;
export type CountPrecision = (typeof CountPrecision)[keyof typeof CountPrecision];

registerEnumType(CountPrecision, {
  name: 'CountPrecision',
  description: 'What the value of a count says.',
  valuesConfig: {
    EXACT: { description: 'There are exactly so many.' },
    AT_LEAST: { description: 'There are more; the count ended at this value.' },
  },
});

/** A number of rows that is counted up to a maximum. Silent: all fields. */
@ObjectType({ simpleResolvers: true, description: 'A number that is counted up to a maximum.' })
export class Count {
  @Field(() => Int, { description: 'The number, or the maximum where there are more.' })
  value: number;
  @Field(() => CountPrecision, { description: 'Whether the value is the number itself.' })
  precision: CountPrecision;
}

/** The count of rows of which at most one more than the maximum was read. */
export const countUpTo = (maximum: number, found: number): Count =>
  found > maximum
    ? { value: maximum, precision: CountPrecision.AT_LEAST }
    : { value: found, precision: CountPrecision.EXACT };
