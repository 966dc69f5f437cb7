import { ArgsType, Ctx, Field, ID, InputType, Mutation, Resolver } from 'type-graphql';
import { type AccountRow, account, type BusinessType } from '../account/table.js';
import type { Context } from '../../operation/context.js';
import { checkFiles, verificationPurposes } from '../file/reference.js';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';
import { type Problem, problem, DomainError } from '../../errors/problems.js';
import { Metadata } from '../../types/scalars.js';
import { sealedIdentification } from './encryption.js';
import { type IdentificationObject, person } from './table.js';
import { Person } from './type.js';
import { roleTexts } from './texts.js';
import { texts } from '../../types/texts.js';
import { Input } from '../../types/input.js';

export const personListing: Listing = {
  object: 'person',
  filters: { accountId: person.accountId },
  byAccount: ['accountId'],
  own: person.accountId,
};

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
class PersonIdentificationInput {
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
class RemovePersonInput {
  @Field(() => ID, { description: 'The id of the person.' })
  id: string;
}

@ArgsType()
export class PersonArgs extends pageArgsOf('Person') {
  @Field(() => ID, {
    nullable: true,
    description: 'Only persons of this account. It may be any account that the caller can see.',
  })
  accountId?: string | null;
}

const CreatePersonPayload = payloadOf('CreatePerson', 'person', Person);
const UpdatePersonPayload = payloadOf('UpdatePerson', 'person', Person);
const RemovePersonPayload = payloadOf('RemovePerson', 'person', Person);

@Resolver(() => Person)
export class PersonResolver {
  /** Creates a person. Spec: Activate an Account, Edition 1, rule 4. */
  @Mutation(() => CreatePersonPayload, {
    description: "Creates a director, owner or representative of an account's business.",
  })
  async createPerson(@Input(() => CreatePersonInput) input: CreatePersonInput, @Ctx() context: Context) {
    const { scope, caller } = context;
    const owner = await scope.one(account, input.accountId || caller.actingAccountId, 'person.account_id');
    if (owner.kind === 'partner')
      throw new DomainError(
        problem(
          'account_type_invalid',
          'person.account_id',
          'Only users and platforms have persons. Name one of them.',
        ),
      );
    const problems = unfit(input, owner, context.edition.personIdentified);
    if (problems.length > 0) throw new DomainError(...problems);
    await checkImages(context, input.identification);
    const alone = context.edition.personIdentified ? ownedAlone : [];
    const stored = { ...input, ...(await sealed(context, input.identification)), accountId: owner.id, alone };
    return { person: await context.write('create_person', person, stored) };
  }

  /**
   * Changes a person while its account is a draft. The changed person must meet the rules for a new person, except
   * those that it already broke before: a change of the business's type may have made it invalid, and the caller may
   * correct it step by step.
   * Silent: the operation. Refuses `account_not_updatable` when the account is no draft.
   */
  @Mutation(() => UpdatePersonPayload, {
    description:
      'Changes a person while its account is a DRAFT. Members that are absent stay as they are; null clears a member.',
  })
  async updatePerson(@Input(() => UpdatePersonInput) input: UpdatePersonInput, @Ctx() context: Context) {
    const { scope, edition } = context;
    const { id, ...given } = input;
    const changes = { ...given, ...(given.identification !== undefined && { identification: identified(given) }) };
    const before = await scope.one(person, id);
    const owner = await scope.one(account, before.accountId);
    const after = {
      relationship: { ...before.relationship, ...given.relationship },
      identification: { ...before.identification, ...changes.identification },
    };
    const known = new Set(unfit(before, owner, edition.personIdentified).map(({ field }) => field));
    const problems = [
      ...personProblems(after),
      ...unfit(after, owner, edition.personIdentified).filter(({ field }) => !known.has(field)),
    ];
    if (problems.length > 0) throw new DomainError(...problems);
    await checkImages(context, given.identification);
    refuseUnlessDraft(owner);
    if (Object.values(given).every((value) => value === undefined)) return { person: before };
    // The values that were validated: when they have changed meanwhile, the write is a conflict.
    const judged = {
      relationship: before.relationship,
      identification: before.identification,
      type: owner.businessDetails.type,
    };
    const { tenantId, livemode } = context.caller;
    const stored = changes.identification && {
      identification: sealedIdentification(context.secrets, { tenantId, livemode, id }, changes.identification),
    };
    return { person: await context.write('update_person', person, { id, ...changes, ...stored, judged }) };
  }

  /** Removes a person while its account is a draft, and returns it as it was. Its files stay. Silent: the operation. */
  @Mutation(() => RemovePersonPayload, {
    description: 'Removes a person while its account is a DRAFT, and returns it as it was. Its files remain.',
  })
  async removePerson(@Input(() => RemovePersonInput) { id }: RemovePersonInput, @Ctx() context: Context) {
    const { accountId } = await context.scope.one(person, id);
    refuseUnlessDraft(await context.scope.one(account, accountId));
    return { person: await context.write('remove_person', person, { id }) };
  }
}

/**
 * The identification of a new person in its stored form. A number is encrypted for one person, so with a number this
 * also chooses the person's id.
 */
async function sealed({ secrets, scope, caller }: Context, identification: CreatePersonInput['identification']) {
  if (!identification?.taxCardNumber) return {};
  const id = await scope.newId('person');
  const { tenantId, livemode } = caller;
  return { id, identification: sealedIdentification(secrets, { tenantId, livemode, id }, identification) };
}

/** A person must have at least one role. */
export function personProblems({ relationship: r }: Pick<Partial<CreatePersonInput>, 'relationship'>): Problem[] {
  if (!r || r.director || r.owner || r.representative) return [];
  return [
    problem('parameter_invalid', 'person.relationship', 'must have at least one of director, owner and representative'),
  ];
}

export const personUpdateLimits = {
  full_name: { notNull: true, minLength: 1 },
  relationship: { notNull: true },
} as const;

/** The identification in its stored form: null for the object clears its members. */
function identified({ identification }: Pick<UpdatePersonInput, 'identification'>): IdentificationObject {
  return identification ?? { taxCardNumber: null, taxCardImage: null, passportImage: null };
}

async function checkImages(
  { scope }: Context,
  identification: PersonIdentificationInput | null | undefined,
): Promise<void> {
  const image = (name: string, id: string | null | undefined) => ({
    id,
    field: `person.identification.${name}`,
    purposes: verificationPurposes,
  });
  await checkFiles(scope, [
    image('tax_card_image', identification?.taxCardImage),
    image('passport_image', identification?.passportImage),
  ]);
}

/** Persons change only before their account is submitted; after that, they must stay as they were verified. */
function refuseUnlessDraft({ status }: AccountRow): void {
  if (status !== 'draft')
    throw new DomainError(
      problem(
        'account_not_updatable',
        'person.account_id',
        'Persons can be updated and removed only while their account is in status draft.',
      ),
    );
}

/** The types of business that consist of one person, the owner. */
const ownedAlone: readonly BusinessType[] = ['sole_proprietor', 'individual'];

function isOwnedAlone(type: BusinessType | null | undefined): boolean {
  return type != null && ownedAlone.includes(type);
}

/** The problems of a person: in a business of one person, roles other than owner alone; or a missing identification. */
function unfit(
  { relationship, identification }: Pick<CreatePersonInput, 'relationship' | 'identification'>,
  owner: AccountRow,
  identified: boolean,
): Problem[] {
  const problems: Problem[] = [];
  const { director, owner: owns, representative } = relationship;
  const type = owner.businessDetails.type;
  if (identified && isOwnedAlone(type) && (!owns || director || representative)) {
    problems.push(
      problem(
        'parameter_invalid',
        'person.relationship',
        'must be owner and nothing else, for a sole proprietor or an individual',
      ),
    );
  }
  const passportDoes = owns === true && !isOwnedAlone(type);
  const { taxCardNumber, taxCardImage, passportImage } = identification ?? {};
  if (identified && !taxCardNumber && !taxCardImage && !(passportDoes && passportImage)) {
    problems.push(
      problem(
        'parameter_missing',
        'person.identification.tax_card_number',
        'The number or an image of the personal tax card is required; for an owner of a company, LLP or ' +
          'partnership, an image of the passport is sufficient.',
      ),
    );
  }
  return problems;
}
