import { Field, ObjectType, ID } from 'type-graphql';
import { Node } from '../../types/relay-node.js';
import { DateTime, Metadata } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';

/** Descriptions of the roles of a person, which its type and its input share. */
export const roleTexts = {
  director: 'Whether the person is a director of the business.',
  owner: 'Whether the person owns the business or a part of it.',
  representative: 'Whether the person represents the business.',
} as const;

@ObjectType({ simpleResolvers: true, description: 'The roles that a person holds; one person may hold several.' })
export class PersonRoles {
  @Field(() => Boolean, { description: roleTexts.director })
  director: boolean;
  @Field(() => Boolean, { description: roleTexts.owner })
  owner: boolean;
  @Field(() => Boolean, { description: roleTexts.representative })
  representative: boolean;
}

@ObjectType({ simpleResolvers: true, description: 'How a person is identified.' })
export class PersonIdentification {
  @Field(() => String, {
    nullable: true,
    description: 'The number of the personal tax card, masked except for its last four characters.',
  })
  taxCardNumber: string | null;
  @Field(() => ID, { nullable: true, description: 'The id of a file with an image of the personal tax card.' })
  taxCardImage: string | null;
  @Field(() => ID, { nullable: true, description: 'The id of a file with an image of the passport.' })
  passportImage: string | null;
}

/** A director, owner or representative of an account's business. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: "A director, owner or representative of an account's business.",
})
export class Person extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => ID, { description: 'The id of the account of the business.' })
  accountId: string;
  @Field(() => String, { description: 'The full name of the person.' })
  fullName: string;
  @Field(() => Metadata, { nullable: true, description: texts.metadata })
  metadata: Record<string, string> | null;
}

export const PersonConnection = connectionOf('Person', () => Person);

export const CreatePersonPayload = payloadOf('CreatePerson', 'person', Person);
export const UpdatePersonPayload = payloadOf('UpdatePerson', 'person', Person);
export const RemovePersonPayload = payloadOf('RemovePerson', 'person', Person);
