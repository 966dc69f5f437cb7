import { Args, ArgsType, Ctx, Field, ObjectType, Query, registerEnumType, Resolver } from 'type-graphql';
import type { OperatorContext } from '../context.js';
import type { OperatorModule } from '../graph/module.js';
import { health } from '../health/doctor.js';
import { type Finding, HealthLevel } from '../health/finding.js';

registerEnumType(HealthLevel, {
  name: 'HealthLevel',
  description: 'How urgent a finding is.',
  valuesConfig: {
    OK: { description: 'There is nothing to do.' },
    LOOK: { description: 'Somebody should look at it in the day.' },
    NOW: { description: 'Somebody should act now.' },
  },
});

@ObjectType('HealthFinding', { simpleResolvers: true, description: 'What a check of the deployment has found.' })
class OperatorHealthFinding implements Finding {
  @Field(() => String, { description: 'What was checked, such as `standbys`.' })
  check: string;
  @Field(() => HealthLevel, { description: 'How urgent it is.' })
  level: HealthLevel;
  @Field(() => String, { description: 'What was found, as a sentence.' })
  finding: string;
  @Field(() => String, { nullable: true, description: 'What to type; null where there is nothing to do.' })
  command: string | null;
}

@ArgsType()
class HealthArgs {
  @Field(() => String, {
    nullable: true,
    description:
      'The name of an alert rule: only the checks that explain it are made, or all for `TidegateHealth`. ' +
      'Another name is refused (`parameter_invalid`). By default all are made.',
  })
  alert?: string | null;
}

/** The health of the deployment, as `tidegate doctor` prints it. */
@Resolver()
class OperatorHealth {
  @Query(() => [OperatorHealthFinding], {
    description:
      'Everything that the service knows of the health of its deployment, the urgent findings first. It takes long: ' +
      'it asks each server of the database, and reads the last checks of all ledgers.',
  })
  health(@Args(() => HealthArgs) { alert }: HealthArgs, @Ctx() { operator }: OperatorContext): Promise<Finding[]> {
    return health(operator, alert ?? undefined);
  }
}

export default {
  resolvers: [OperatorHealth],
  fields: { health: 'health' },
  sizes: { 'Query.health': 0 },
} satisfies OperatorModule;
