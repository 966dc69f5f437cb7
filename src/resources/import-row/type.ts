import { registerEnumType, Field, ID, Int, ObjectType } from 'type-graphql';
import { ImportRowStatus } from './table.js';
import { Node } from '../../types/relay-node.js';
import { DateTime } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import { connectionOf } from '../../types/pagination.js';

registerEnumType(ImportRowStatus, {
  name: 'ImportRowStatus',
  description: 'What became of a row of an import.',
  valuesConfig: {
    CREATED: { description: 'Its object was created.' },
    VALID: { description: 'A trial found no fault.' },
    FAILED: { description: 'It has faults, and nothing was created.' },
    SEEN_BEFORE: {
      description: 'An object like it exists, or an earlier row of the file has it. Nothing was created.',
    },
  },
});

/** What became of one row of an import. Silent: all fields. */
@ObjectType({ implements: Node, simpleResolvers: true, description: 'What became of one row of an import.' })
export class ImportRow extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => ID, { description: 'The import.' })
  importId: string;
  @Field(() => Int, { description: 'Its place in the file: 1 is the first row after the header.' })
  row: number;
  @Field(() => ImportRowStatus, { description: 'What became of it.' })
  status: ImportRowStatus;
  @Field(() => ID, {
    nullable: true,
    description: 'The object that was created, or the one that was seen before; null otherwise.',
  })
  objectId: string | null;
}

export const ImportRowConnection = connectionOf('ImportRow', () => ImportRow);
