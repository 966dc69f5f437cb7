import { Ctx, Field, InputType, Mutation, Resolver } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import { dataExport, ExportFormat } from './table.js';
import { Export } from './type.js';

@InputType({ description: 'Exports a list of /v1.' })
class CreateExportInput {
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

const CreateExportPayload = payloadOf('CreateExport', 'export', Export);

/** The creation of exports. Silent: all of it. */
@Resolver(() => Export)
export class ExportResolver {
  @Mutation(() => CreateExportPayload, {
    description:
      'Begins the export of a whole list, which the event `export.completed` ends. ' +
      'At most 3 of a root account are under way in a mode.',
  })
  async createExport(@Input(() => CreateExportInput) input: CreateExportInput, @Ctx() context: Context) {
    const { bulk, caller } = context;
    if (!bulk) throw new Error('an export was made without a gateway');
    const { list, format } = input;
    const filters = (input.filters ?? '').replace(/^\?/, '');
    await bulk.list({ list, filters, format }, caller);
    const row = await context.write('create_export', dataExport, {
      ...{ accountId: caller.actingAccountId, list, filters, format, caller },
      bytesMax: BigInt(bulk.exportBytesMax),
    });
    return { export: row };
  }
}
