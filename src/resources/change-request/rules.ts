import type { Context } from '../../operation/context.js';
import { DomainError, type Problem, problem, snake } from '../../errors/problems.js';
import { amountText } from '../../types/scalars.js';
import { accountProblems, businessDetailsOf } from '../account/rules.js';
import type { AccountRow } from '../account/table.js';
import { requirementsOf } from '../activation/rules.js';
import { checkFiles, verificationPurposes } from '../file/reference.js';
import type { RequestAccountChangeInput } from './inputs.js';
import { type ChangeRequestRow, type MemberValue, reasonLengthMax } from './table.js';
import type { RequestedChange } from './type.js';

/** The problems of a request that names nothing, with invalid details, or with a reason that is too long. */
export function changeRequestProblems({
  businessDetails,
  supportingDocumentation,
  reason,
}: Partial<RequestAccountChangeInput>): Problem[] {
  const problems = accountProblems({ ...(businessDetails && { businessDetails }) }).map(ofRequest);
  if (!businessDetails && !supportingDocumentation)
    problems.push(
      problem('parameter_missing', 'change_request.business_details', {
        v1: 'Send business_details or supporting_documentation.',
        graph: 'Send businessDetails or supportingDocumentation.',
      }),
    );
  return [...problems, ...tooLong(reason, 'change_request.reason')];
}

/** A problem of a detail, which the request names as its own. */
const ofRequest = (each: Problem): Problem => ({
  ...each,
  ...(each.field && { field: each.field.replace(/^account\./, 'change_request.') }),
});

const tooLong = (text: string | null | undefined, field: string): Problem[] =>
  [...(text ?? '')].length > reasonLengthMax
    ? [problem('parameter_invalid', field, `must have at most ${reasonLengthMax} characters`)]
    : [];

type Members = Record<string, MemberValue>;

/** The members of an account that an input gives, by their paths, in the form in which the account stores them. */
export function membersOf({
  businessDetails,
  supportingDocumentation,
}: Pick<RequestAccountChangeInput, 'businessDetails' | 'supportingDocumentation'>): Members {
  return flat({ businessDetails: businessDetailsOf(businessDetails), supportingDocumentation });
}

/** The objects whose members are details of their own; a volume is one detail. */
const objects = new Set([
  'businessDetails',
  'businessDetails.ids',
  'businessDetails.physicalAddress',
  'supportingDocumentation',
]);

function flat(value: object, place = ''): Members {
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.assign(
    {},
    ...members.map(([name, member]) => {
      const path = place + name;
      if (objects.has(path)) return flat(member ?? {}, `${path}.`);
      return { [path]: member ?? null };
    }),
  ) as Members;
}

/** Refuses a change after which an account would lack what its activation required. Silent: the rule. */
export async function refuseLoss(context: Context, row: AccountRow, members: Members): Promise<void> {
  const changed = structuredClone(row);
  for (const [path, value] of Object.entries(members)) {
    const names = path.split('.');
    const last = names.pop()!;
    const object = names.reduce((at, name) => (at[name] ??= {}) as Record<string, unknown>, changed as Names);
    object[last] = value;
  }
  const nameOf = ({ code, field }: Problem) => `${code} ${field}`;
  const lacked = new Set((await requirementsOf(context, row)).map(nameOf));
  const lacking = (await requirementsOf(context, changed)).filter((each) => !lacked.has(nameOf(each)));
  if (lacking.length > 0) throw new DomainError(...lacking);
}
type Names = Record<string, unknown>;

/** Refuses documents that do not exist, or that are files for another purpose. */
export const checkDocuments = (
  { scope }: Context,
  { supportingDocumentation }: Pick<RequestAccountChangeInput, 'supportingDocumentation'>,
): Promise<void> =>
  checkFiles(
    scope,
    Object.entries(supportingDocumentation ?? {}).map(([name, id]) => ({
      ...{ id, field: `change_request.supporting_documentation.${snake(name)}`, purposes: verificationPurposes },
    })),
  );

/** The changes of a request as the graph shows them. */
export const shownChanges = ({ changes }: Pick<ChangeRequestRow, 'changes'>): RequestedChange[] =>
  changes.map(({ path, from, to }) => ({ path, from: shownMember(from), to: shownMember(to) }));

/** A member as a text. */
export const shownMember = (value: MemberValue): string | null =>
  value === null || typeof value === 'string' ? value : `${amountText(value.amount)} ${value.currency}`;
