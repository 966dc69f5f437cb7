import { InputType, Field, ID } from 'type-graphql';
import { ImportKind } from './table.js';

@InputType({ description: 'Creates objects from a CSV file, or tries to.' })
export class CreateImportInput {
  @Field(() => ImportKind, { description: 'What is created.' })
  kind: ImportKind;
  @Field(() => ID, {
    description:
      'A file of purpose IMPORT: CSV in UTF-8, whose header has the names of the parameters on /v1, such as ' +
      '`invoice.amount` or `metadata.order`.',
  })
  fileId: string;
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether only the faults of the rows are found and nothing is created; false by default.',
  })
  dryRun?: boolean | null;
  @Field(() => Boolean, {
    nullable: true,
    description:
      'Whether rows are stored whose objects were seen before; false by default. A receivable was seen before where ' +
      'one that is not void has its account, customer and reference number; a partner of Edition 2 where one that is ' +
      'not deactivated has its legal name and address.',
  })
  allowDuplicates?: boolean | null;
}
