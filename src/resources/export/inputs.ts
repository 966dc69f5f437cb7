import { InputType, Field } from 'type-graphql';
import { ExportFormat } from './table.js';

@InputType({ description: 'Exports a list of /v1.' })
export class CreateExportInput {
  @Field(() => String, {
    description:
      'The path of a list on /v1, such as `/v1/deposits` or ' +
      '`/v1/accounts/account_…/partners`. It is the list of the acting account.',
  })
  list: string;
  @Field(() => String, {
    nullable: true,
    description:
      'The query of the list, without its page: its filters and its order, such as ' +
      '`status=completed&created.gte=1700000000`.',
  })
  filters?: string | null;
  @Field(() => ExportFormat, { description: 'The format of the content.' })
  format: ExportFormat;
}
