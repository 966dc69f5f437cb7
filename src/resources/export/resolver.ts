import { Mutation, Ctx, Resolver } from 'type-graphql';
import { CreateExportPayload, Export } from './type.js';
import { CreateExportInput } from './inputs.js';
import { Input } from '../../types/input.js';
import type { Context } from '../../operation/context.js';
import { dataExport } from './table.js';

/** The creation of exports. Silent: all of it. */
@Resolver(() => Export)
export class ExportResolver {
  @Mutation(() => CreateExportPayload, {
    description:
      'Begins the export of a whole list, which the event `export.completed` ends. ' +
      'At most 3 of a root account are under way in a mode.',
  })
  async createExport(@Input(() => CreateExportInput) input: CreateExportInput, @Ctx() context: Context) {
    const { gateway, caller } = context;
    if (!gateway) throw new Error('an export was made without a gateway');
    const { bulk } = gateway;
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
