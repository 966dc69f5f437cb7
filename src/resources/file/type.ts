import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { DateTime, Metadata } from '../../types/scalars.js';
import { FilePurpose } from './table.js';

registerEnumType(FilePurpose, { name: 'FilePurpose', description: 'What a file is for.' });

/** An uploaded document. Uploads and downloads go through /v1/files. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'An uploaded document. Upload it with `POST /v1/files`, read it with `GET /v1/files/:id/content`.',
})
export class File extends Node {
  @Field(() => DateTime)
  created: number;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => FilePurpose)
  purpose: FilePurpose;
  @Field(() => String)
  filename: string;
  @Field(() => String, { description: 'By the content, not by the name.' })
  contentType: string;
  @Field(() => Int, { description: 'In bytes.' })
  size: number;
  @Field(() => String, { description: 'Of the content, as hex digits.' })
  sha256: string;
  @Field(() => Metadata, { nullable: true })
  metadata: Record<string, string> | null;
  accountId: string;
}

export const FileConnection = connectionOf('File', () => File);
