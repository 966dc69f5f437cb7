import { registerEnumType, Field, ID, Int, ObjectType } from 'type-graphql';
import { ImportKind } from './table.js';
import { Node } from '../../types/relay-node.js';
import { DateTime } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import { BulkStatus } from '../export/table.js';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';

registerEnumType(ImportKind, {
  name: 'ImportKind',
  description: 'What an import creates.',
  valuesConfig: {
    PARTNERS: { description: 'Partners, as `createAccount` does.' },
    RECEIVABLES: { description: 'Receivables, as `createReceivable` does.' },
  },
});

/** The creation of an object for each row of a CSV file. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description:
    'The creation of an object for each row of a CSV file, or a trial of it. It ' +
    'is deleted with its results 30 days after its end.',
})
export class Import extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => ID, { description: 'The account that the objects are created for.' })
  accountId: string;
  @Field(() => ImportKind, { description: 'What it creates.' })
  kind: ImportKind;
  @Field(() => ID, { description: 'The file with the rows.' })
  fileId: string;
  @Field(() => Boolean, { description: 'Whether it only finds the faults of the rows, and creates nothing.' })
  dryRun: boolean;
  @Field(() => Boolean, { description: 'Whether rows are stored whose objects were seen before.' })
  allowDuplicates: boolean;
  @Field(() => BulkStatus, { description: 'How far it is.' })
  status: BulkStatus;
  @Field(() => Int, { description: 'The rows of the file, without its header.' })
  rows: number;
  @Field(() => Int, { description: 'The rows that are done: created or valid, failed, or seen before.' })
  rowsDone: number;
  @Field(() => Int, { description: 'The rows that failed.' })
  rowsFailed: number;
  @Field(() => Int, {
    description: 'The rows that were seen before: an object like theirs exists, and none was created.',
  })
  rowsSeenBefore: number;
  @Field(() => String, { nullable: true, description: 'Why it FAILED as a whole; null otherwise.' })
  error: string | null;
  @Field(() => DateTime, { nullable: true, description: 'When it ended; null before.' })
  completedAt: number | null;
  @Field(() => DateTime, { nullable: true, description: 'When it is deleted; null before its end.' })
  expiresAt: number | null;
}

export const ImportConnection = connectionOf('Import', () => Import);

export const CreateImportPayload = payloadOf('CreateImport', 'import', Import);
