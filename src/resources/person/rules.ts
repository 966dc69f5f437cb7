import type { CreatePersonInput, UpdatePersonInput, PersonIdentificationInput } from './inputs.js';
import { type Problem, problem, DomainError } from '../../errors/problems.js';
import type { IdentificationObject } from './table.js';
import type { Context } from '../../operation/context.js';
import { verificationPurposes, checkFiles } from '../file/reference.js';
import type { AccountRow, BusinessType } from '../account/table.js';

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
export function identified({ identification }: Pick<UpdatePersonInput, 'identification'>): IdentificationObject {
  return identification ?? { taxCardNumber: null, taxCardImage: null, passportImage: null };
}

/** Refuses an image that does not exist, or that is a file for another purpose. */
export async function checkImages(
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
export function refuseUnlessDraft({ status }: AccountRow): void {
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
export const ownedAlone: readonly BusinessType[] = ['sole_proprietor', 'individual'];

function isOwnedAlone(type: BusinessType | null | undefined): boolean {
  return type != null && ownedAlone.includes(type);
}

/** The problems of a person: in a business of one person, roles other than owner alone; or a missing identification. */
export function unfit(
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
