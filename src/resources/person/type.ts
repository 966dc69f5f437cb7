import { Field, ID, ObjectType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { DateTime, Metadata } from '../../types/scalars.js';

const optional = { nullable: true } as const;

@ObjectType({ simpleResolvers: true, description: 'The roles that a person holds; one person may hold several.' })
export class Relationship {
  @Field(() => Boolean)
  director: boolean;
  @Field(() => Boolean)
  owner: boolean;
  @Field(() => Boolean)
  representative: boolean;
}

@ObjectType({ simpleResolvers: true, description: 'How a person is identified.' })
export class Identification {
  @Field(() => String, { nullable: true, description: 'Masked except for its last four characters.' })
  taxCardNumber: string | null;
  @Field(() => ID, { nullable: true, description: 'A file with an image of the personal tax card.' })
  taxCardImage: string | null;
  @Field(() => ID, { nullable: true, description: 'A file with an image of the passport.' })
  passportImage: string | null;
}

/** A director, owner or representative of an account's business. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: "A director, owner or representative of an account's business.",
})
export class Person extends Node {
  @Field(() => DateTime)
  created: number;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => ID)
  accountId: string;
  @Field(() => String)
  fullName: string;
  @Field(() => Metadata, optional)
  metadata: Record<string, string> | null;
}

export const PersonConnection = connectionOf('Person', () => Person);
