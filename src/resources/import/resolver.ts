import { Mutation, Ctx, Resolver } from 'type-graphql';
import { CreateImportPayload, Import } from './type.js';
import { CreateImportInput } from './inputs.js';
import { Input } from '../../types/input.js';
import type { Context } from '../../operation/context.js';
import { checkFiles } from '../file/reference.js';
import { contentOf } from '../file/content.js';
import { DomainError, problem } from '../../errors/problems.js';
import { dataImport } from './table.js';

/** The creation of imports. Silent: all of it. */
@Resolver(() => Import)
export class ImportResolver {
  @Mutation(() => CreateImportPayload, {
    description:
      'Begins an import, which the event `import.completed` ends. Each row is created by itself, once, or has ' +
      'its faults in the results. At most 3 of a root account are under way in a mode.',
  })
  async createImport(@Input(() => CreateImportInput) input: CreateImportInput, @Ctx() context: Context) {
    const { gateway, caller, scope } = context;
    if (!gateway) throw new Error('an import was made without a gateway');
    const { bulk } = gateway;
    const { kind, fileId, dryRun, allowDuplicates } = input;
    await checkFiles(scope, [{ id: fileId, field: 'import.file_id', purposes: ['import'] }]);
    const { faults, rows } = await bulk.rowsOf(kind, await contentOf(scope, fileId));
    if (faults.length > 0)
      throw new DomainError(...faults.map((fault) => problem('parameter_invalid', 'import.file_id', fault)));
    const row = await context.write('create_import', dataImport, {
      ...{ accountId: caller.actingAccountId, kind, fileId, caller },
      ...{ dryRun: dryRun ?? false, allowDuplicates: allowDuplicates ?? false, rows: rows.length },
    });
    return { import: row };
  }
}
