import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Mutation,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { type AccountRow, account, type BusinessType } from '../account/table.js';
import { Account } from '../account/type.js';
import type { Context } from '../context.js';
import { checkFiles, verificationPurposes } from '../file/reference.js';
import { file } from '../file/table.js';
import { File } from '../file/type.js';
import { type Listing, type Page, PageArgs } from '../listing.js';
import { payloadOf } from '../payload.js';
import { type Problem, problem, Refusal } from '../problems.js';
import { Metadata } from '../scalars.js';
import { sealedIdentification } from './sealing.js';
import { type PersonRow, person } from './table.js';
import { Identification, Person, PersonConnection, Relationship } from './type.js';
import { identificationOf, relationshipOf } from './v1.js';

export const personListing: Listing = {
  object: 'person',
  filters: { accountId: person.accountId },
  byAccount: ['accountId'],
};

const optional = { nullable: true } as const;

@InputType({ description: 'The roles that a person holds; at least one.' })
class RelationshipInput {
  @Field(() => Boolean, optional)
  director?: boolean | null;
  @Field(() => Boolean, optional)
  owner?: boolean | null;
  @Field(() => Boolean, optional)
  representative?: boolean | null;
}

@InputType({ description: 'How a person is identified.' })
class IdentificationInput {
  @Field(() => String, { nullable: true, description: 'The number of the personal tax card.' })
  taxCardNumber?: string | null;
  @Field(() => ID, { nullable: true, description: 'A file with an image of the personal tax card.' })
  taxCardImage?: string | null;
  @Field(() => ID, {
    nullable: true,
    description: 'A file with an image of the passport; will do for an owner of a company, LLP or partnership.',
  })
  passportImage?: string | null;
}

@InputType({ description: "Creates a director, owner or representative of an account's business." })
export class CreatePersonInput {
  @Field(() => ID, { nullable: true, description: 'The account whose person it is; the context account by default.' })
  accountId?: string | null;
  @Field(() => String)
  fullName: string;
  @Field(() => RelationshipInput)
  relationship: RelationshipInput;
  @Field(() => IdentificationInput, optional)
  identification?: IdentificationInput | null;
  @Field(() => Metadata, optional)
  metadata?: Record<string, string | null> | null;
}

@ArgsType()
class PersonArgs extends PageArgs {
  @Field(() => ID, { nullable: true, description: 'Persons of this account; any within reach.' })
  accountId?: string | null;
}

const CreatePersonPayload = payloadOf('CreatePerson', 'person', Person);

@Resolver(() => Person)
export class PersonResolver {
  @Query(() => Person, { nullable: true, description: 'A person within reach.' })
  async person(@Arg('id', () => ID) id: string, @Ctx() { scope }: Context) {
    return scope.one(person, id);
  }

  @Query(() => PersonConnection, { description: "The persons of the accounts on the caller's list." })
  async persons(@Args(() => PersonArgs) args: PersonArgs, @Ctx() { scope }: Context) {
    return scope.page(person, personListing, args);
  }

  /** Creates a person. Spec: Activate an Account, Edition 1, rule 4. */
  @Mutation(() => CreatePersonPayload, {
    description: "Creates a director, owner or representative of an account's business.",
  })
  async createPerson(@Arg('input', () => CreatePersonInput) input: CreatePersonInput, @Ctx() context: Context) {
    const { scope, caller } = context;
    const owner = await scope.one(account, input.accountId || caller.contextId, 'person.account_id');
    if (owner.kind === 'partner')
      throw new Refusal(problem('account_type_invalid', 'person.account_id', 'Only users and platforms have persons.'));
    const problems = unfit(input, owner, context.edition.personIdentified);
    if (problems.length > 0) throw new Refusal(...problems);
    const image = (name: string, id: string | null | undefined) => ({
      id,
      field: `person.identification.${name}`,
      purposes: verificationPurposes,
    });
    await checkFiles(scope, [
      image('tax_card_image', input.identification?.taxCardImage),
      image('passport_image', input.identification?.passportImage),
    ]);
    const alone = context.edition.personIdentified ? ownedAlone : [];
    const stored = { ...input, ...(await sealed(context, input.identification)), accountId: owner.id, alone };
    return { person: await context.write('create_person', person, stored) };
  }

  @FieldResolver(() => Relationship)
  relationship(@Root() row: PersonRow): Relationship {
    return relationshipOf(row);
  }

  @FieldResolver(() => Identification)
  identification(@Root() row: PersonRow): Identification {
    return identificationOf(row);
  }

  @FieldResolver(() => Account)
  async account(@Root() row: PersonRow, @Ctx() { scope }: Context): Promise<Account> {
    return scope.one(account, row.accountId);
  }

  @FieldResolver(() => File, { nullable: true, description: 'The file behind `identification.taxCardImage`.' })
  async taxCardImage(@Root() row: PersonRow, @Ctx() { scope }: Context): Promise<File | null> {
    return scope.find(file, row.identification.taxCardImage);
  }

  @FieldResolver(() => File, { nullable: true, description: 'The file behind `identification.passportImage`.' })
  async passportImage(@Root() row: PersonRow, @Ctx() { scope }: Context): Promise<File | null> {
    return scope.find(file, row.identification.passportImage);
  }
}

@Resolver(() => Account)
export class PersonsOfAccount {
  @FieldResolver(() => PersonConnection, {
    description: "Directors, owners and representatives of the account's business.",
  })
  async persons(
    @Root() row: AccountRow,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() { scope }: Context,
  ): Promise<Page<PersonRow>> {
    return scope.edge(person, personListing, person.accountId, row.id, args);
  }
}

/** What is stored of a new person's identification: with a number, which is encrypted for one person, the id that it will have. */
async function sealed({ secrets, scope, caller }: Context, identification: CreatePersonInput['identification']) {
  if (!identification?.taxCardNumber) return {};
  const id = await scope.newId('person');
  const { tenantId, livemode } = caller;
  return { id, identification: sealedIdentification(secrets, { tenantId, livemode, id }, identification) };
}

/** A person without any role is nobody. */
export function personProblems({ relationship: r }: Partial<CreatePersonInput>): Problem[] {
  if (!r || r.director || r.owner || r.representative) return [];
  return [
    problem('parameter_invalid', 'person.relationship', 'must have at least one of director, owner and representative'),
  ];
}

/** The types of business that are one person, its owner. */
const ownedAlone: readonly (BusinessType | null | undefined)[] = ['sole_proprietor', 'individual'];

/** What of a person cannot be: a sole proprietor's director, or somebody whom nothing identifies. */
function unfit({ relationship, identification }: CreatePersonInput, owner: AccountRow, identified: boolean): Problem[] {
  const problems: Problem[] = [];
  const { director, owner: owns, representative } = relationship;
  const type = owner.businessDetails.type;
  if (identified && ownedAlone.includes(type) && (!owns || director || representative)) {
    problems.push(
      problem(
        'parameter_invalid',
        'person.relationship',
        'must be owner and nothing else, for a sole proprietor or an individual',
      ),
    );
  }
  const passportDoes = owns === true && !ownedAlone.includes(type);
  const { taxCardNumber, taxCardImage, passportImage } = identification ?? {};
  if (identified && !taxCardNumber && !taxCardImage && !(passportDoes && passportImage)) {
    problems.push(
      problem(
        'parameter_missing',
        'person.identification.tax_card_number',
        'The number or an image of the personal tax card is required; for an owner of a company, LLP or partnership, an image of the passport will do.',
      ),
    );
  }
  return problems;
}
