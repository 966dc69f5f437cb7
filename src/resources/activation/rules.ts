import type { Permission } from '../../auth/permissions.js';
import type { AccountRow } from '../account/table.js';
import type { Context } from '../../operation/context.js';
import type { ActivationRequirement } from './type.js';
import { type Problem, sentenceOfGraph } from '../../errors/problems.js';
import { pathInGraph } from '../../types/problem.js';
import type { Edition } from '../../editions/edition.js';
import { type OnboardingProfile, unmet } from '../../editions/prerequisites.js';
import { person } from '../person/table.js';
import { address } from '../address/table.js';
import { file } from '../file/table.js';

/**
 * The kinds of accounts that each kind of caller activates. Only the operator activates roots.
 * Spec: Activate an Account.
 */
export const activatedBy = {
  platform: ['connected_user', 'partner', 'connected_user_partner'],
  direct_user: ['partner'],
  connected_user: [],
} as const satisfies Permission['relations'];

/** The requirements that an account still misses for its activation, as the graph shows them. */
export async function requirements(row: AccountRow, context: Context): Promise<ActivationRequirement[]> {
  return (await requirementsOf(context, row)).map(shownRequirement);
}

/** A requirement that is not met, as the graph shows it. */
export function shownRequirement(p: Problem): ActivationRequirement {
  return {
    fieldName: p.field ?? '',
    code: p.code,
    path: pathInGraph(p.field ?? ''),
    message: sentenceOfGraph(p),
    alternatives: (p.metadata?.alternatives as string[]) ?? [],
  };
}

/** The rules of its edition that an account does not meet. Roots have none: the operator decides about them. */
export function requirementsIn(edition: Pick<Edition, 'activation'>, profile: OnboardingProfile): Problem[] {
  const rules = edition.activation[profile.account.kind];
  return rules ? unmet(rules, profile) : [];
}

/** The rules of its edition that an account does not meet, with its persons, addresses and documents read. */
export async function requirementsOf({ scope, edition }: Context, row: AccountRow): Promise<Problem[]> {
  if (!edition.activation[row.kind]) return [];
  const [persons, addresses, [idDocument = null]] = await Promise.all([
    scope.all(person, person.accountId, row.id),
    scope.all(address, address.linkedId, row.id),
    // All files of the tenant count, for every caller: the requirements do not depend on who uploaded a file.
    scope.all(file, file.id, row.supportingDocumentation.idDocument ?? ''),
  ]);
  return requirementsIn(edition, { account: row, persons, addresses, idDocument });
}
