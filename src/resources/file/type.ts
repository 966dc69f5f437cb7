import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { DateTime, Metadata } from '../../types/scalars.js';
import { FilePurpose } from './table.js';
import { texts } from '../../types/texts.js';

registerEnumType(FilePurpose, {
  name: 'FilePurpose',
  description: 'What a file is for.',
  valuesConfig: {
    ADDITIONAL_VERIFICATION: {
      description: 'A further document for verification, such as an incorporation certificate.',
    },
    IDENTITY_DOCUMENT: { description: 'Proof of identity, such as a copy of the tax id or a partnership deed.' },
    TAX_DOCUMENT: { description: 'A tax document, such as a GST certificate.' },
    INVOICE: { description: 'An invoice of a receivable.' },
    LOGO: { description: 'A logo for communications.' },
    IMPORT: { description: 'A CSV file of objects to be created by an import.' },
    DISPUTE_EVIDENCE: { description: 'Evidence against a dispute.' },
  },
});

/** An uploaded document. Uploads and downloads go through /v1/files. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'An uploaded document. Upload it with `POST /v1/files`, read it with `GET /v1/files/:id/content`.',
})
export class File extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => FilePurpose, { description: 'What the file is for.' })
  purpose: FilePurpose;
  @Field(() => String, { description: 'The name that the file had when it was uploaded.' })
  filename: string;
  @Field(() => String, {
    description:
      'The media type, found from the content and not from the name: `application/pdf`, `image/png` or ' +
      '`image/jpeg`, and `text/csv` of an import.',
  })
  contentType: string;
  @Field(() => Int, { description: 'The size of the content in bytes.' })
  size: number;
  @Field(() => String, { description: 'The SHA-256 hash of the content, as 64 hex digits.' })
  sha256: string;
  @Field(() => Metadata, { nullable: true, description: texts.metadata })
  metadata: Record<string, string> | null;
  accountId: string;
}

export const FileConnection = connectionOf('File', () => File);
