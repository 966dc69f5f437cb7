import { Mutation, Ctx, Resolver } from 'type-graphql';
import { CreatePersonPayload, UpdatePersonPayload, RemovePersonPayload, Person } from './type.js';
import { CreatePersonInput, UpdatePersonInput, RemovePersonInput } from './inputs.js';
import { Input } from '../../types/input.js';
import type { Context } from '../../operation/context.js';
import { account } from '../account/table.js';
import { DomainError, problem } from '../../errors/problems.js';
import { unfit, checkImages, ownedAlone, identified, personProblems, refuseUnlessDraft } from './rules.js';
import { person } from './table.js';
import { sealedIdentification } from './encryption.js';

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
