import { registerEnumType, Field, ID, Int, Float, ObjectType } from 'type-graphql';
import { BulkStatus, ExportFormat } from './table.js';
import { Node } from '../../types/relay-node.js';
import { DateTime } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';

registerEnumType(BulkStatus, {
  name: 'BulkStatus',
  description: 'How far an export or import is.',
  valuesConfig: {
    PENDING: { description: 'It waits for its turn.' },
    RUNNING: { description: 'It is under way. After an interruption, an export begins again and an import goes on.' },
    COMPLETED: { description: 'It has ended. Rows of an import may have failed all the same.' },
    FAILED: { description: 'It could not be done; `error` says why.' },
    EXPIRED: { description: 'The content of an export was deleted after its time.' },
  },
});

registerEnumType(ExportFormat, {
  name: 'ExportFormat',
  description: 'The format of an export.',
  valuesConfig: {
    CSV: { description: 'RFC 4180, in UTF-8: a header, then a row per object, whose nested keys are dotted columns.' },
    JSONL: { description: 'A line of JSON per object, which is the object of /v1.' },
  },
});

/** A whole list of /v1 as a file. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description:
    'A whole list of /v1 as a file, as it was at one moment. Download it with `GET /v1/exports/:id/content`. ' +
    'It is deleted 30 days after its end, and its content before.',
})
export class Export extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => ID, { description: 'The account whose list it is of.' })
  accountId: string;
  @Field(() => String, { description: 'The path of the list on /v1, such as `/v1/deposits`.' })
  list: string;
  @Field(() => String, { description: 'The query of the list, such as `status=completed`; empty without filters.' })
  filters: string;
  @Field(() => ExportFormat, { description: 'The format of the content.' })
  format: ExportFormat;
  @Field(() => BulkStatus, { description: 'How far it is.' })
  status: BulkStatus;
  @Field(() => Int, { description: 'The objects that are written so far.' })
  rows: number;
  @Field(() => Float, { description: 'The bytes that are written so far.' })
  bytes: number;
  @Field(() => String, {
    nullable: true,
    description: 'The SHA-256 hash of the content, as 64 hex digits; null until it is COMPLETED.',
  })
  sha256: string | null;
  @Field(() => String, { nullable: true, description: 'Why it FAILED; null otherwise.' })
  error: string | null;
  @Field(() => DateTime, {
    nullable: true,
    description: 'When the list was as the content has it, within a second; null until it runs.',
  })
  snapshotAt: number | null;
  @Field(() => DateTime, { nullable: true, description: 'When it ended; null before.' })
  completedAt: number | null;
  @Field(() => DateTime, { nullable: true, description: 'When its content is deleted; null until it is COMPLETED.' })
  expiresAt: number | null;
}

export const ExportConnection = connectionOf('Export', () => Export);

export const CreateExportPayload = payloadOf('CreateExport', 'export', Export);
