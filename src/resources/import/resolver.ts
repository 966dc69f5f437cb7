import { Ctx, Field, ID, InputType, Mutation, Resolver } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { DomainError, problem } from '../../errors/problems.js';
import { Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import { contentOf } from '../file/content.js';
import { checkFiles } from '../file/reference.js';
import { dataImport, ImportKind } from './table.js';
import { Import } from './type.js';

@InputType({ description: 'Creates objects from a CSV file, or tries to.' })
class CreateImportInput {
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

const CreateImportPayload = payloadOf('CreateImport', 'import', Import);

/** The creation of imports. Silent: all of it. */
@Resolver(() => Import)
export class ImportResolver {
  @Mutation(() => CreateImportPayload, {
    description:
      'Begins an import, which the event `import.completed` ends. Each row is created by itself, once, or has ' +
      'its faults in the results. At most 3 of a root account are under way in a mode.',
  })
  async createImport(@Input(() => CreateImportInput) input: CreateImportInput, @Ctx() context: Context) {
    const { bulk, caller, scope } = context;
    if (!bulk) throw new Error('an import was made without a gateway');
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
