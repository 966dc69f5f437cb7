import { Field, InputType } from 'type-graphql';
import { Amount, LocalDate } from './scalars.js';

@InputType({ description: 'A range of amounts; all given bounds must hold.' })
export class AmountFilter {
  @Field(() => Amount, { nullable: true, description: 'Only this amount.' })
  eq?: bigint | null;
  @Field(() => Amount, { nullable: true, description: 'Only greater amounts.' })
  gt?: bigint | null;
  @Field(() => Amount, { nullable: true, description: 'Only this amount and greater ones.' })
  gte?: bigint | null;
  @Field(() => Amount, { nullable: true, description: 'Only smaller amounts.' })
  lt?: bigint | null;
  @Field(() => Amount, { nullable: true, description: 'Only this amount and smaller ones.' })
  lte?: bigint | null;
}

@InputType({ description: 'A range of dates; all given bounds must hold.' })
export class DateFilter {
  @Field(() => LocalDate, { nullable: true, description: 'Only this date.' })
  eq?: string | null;
  @Field(() => LocalDate, { nullable: true, description: 'Only later dates.' })
  gt?: string | null;
  @Field(() => LocalDate, { nullable: true, description: 'Only this date and later ones.' })
  gte?: string | null;
  @Field(() => LocalDate, { nullable: true, description: 'Only earlier dates.' })
  lt?: string | null;
  @Field(() => LocalDate, { nullable: true, description: 'Only this date and earlier ones.' })
  lte?: string | null;
}
