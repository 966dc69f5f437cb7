import { InputType, Field, ID } from 'type-graphql';
import { roleTexts } from './type.js';
import { Metadata } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';

@InputType({ description: 'The roles that a person holds; at least one.' })
class PersonRolesInput {
  @Field(() => Boolean, { nullable: true, description: roleTexts.director })
  director?: boolean | null;
  @Field(() => Boolean, { nullable: true, description: roleTexts.owner })
  owner?: boolean | null;
  @Field(() => Boolean, { nullable: true, description: roleTexts.representative })
  representative?: boolean | null;
}

@InputType({ description: 'How a person is identified.' })
export class PersonIdentificationInput {
  @Field(() => String, { nullable: true, description: 'The number of the personal tax card.' })
  taxCardNumber?: string | null;
  @Field(() => ID, { nullable: true, description: 'The id of a file with an image of the personal tax card.' })
  taxCardImage?: string | null;
  @Field(() => ID, {
    nullable: true,
    description:
      'The id of a file with an image of the passport. It is sufficient for an owner of a company, LLP or partnership.',
  })
  passportImage?: string | null;
}

@InputType({ description: "Creates a director, owner or representative of an account's business." })
export class CreatePersonInput {
  @Field(() => ID, {
    nullable: true,
    description: 'The id of the account of the business; the acting account by default.',
  })
  accountId?: string | null;
  @Field(() => String, { description: 'The full name of the person.' })
  fullName: string;
  @Field(() => PersonRolesInput, { description: 'The roles of the person; at least one.' })
  relationship: PersonRolesInput;
  @Field(() => PersonIdentificationInput, {
    nullable: true,
    description: 'How the person is identified. Edition 1 requires the number or an image of the personal tax card.',
  })
  identification?: PersonIdentificationInput | null;
  @Field(() => Metadata, { nullable: true, description: texts.metadataOfNew })
  metadata?: Record<string, string | null> | null;
}

@InputType({
  description:
    'Changes a person of an account in status DRAFT. Members that are absent stay as they are; null clears a member.',
})
export class UpdatePersonInput {
  @Field(() => ID, { description: 'The id of the person.' })
  id: string;
  @Field(() => String, { nullable: true, description: 'The full name of the person.' })
  fullName?: string | null;
  @Field(() => PersonRolesInput, {
    nullable: true,
    description: 'The roles to change. At least one role must be left.',
  })
  relationship?: PersonRolesInput | null;
  @Field(() => PersonIdentificationInput, {
    nullable: true,
    description: 'How the person is identified; null removes all of it.',
  })
  identification?: PersonIdentificationInput | null;
  @Field(() => Metadata, { nullable: true, description: texts.metadataChanges })
  metadata?: Record<string, string | null> | null;
}

@InputType({ description: 'Names the person to be removed.' })
export class RemovePersonInput {
  @Field(() => ID, { description: 'The id of the person.' })
  id: string;
}
