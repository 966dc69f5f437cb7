import type { AddressKey, AccountKind, AccountSubType, AccountStatus } from './table.js';
import type { Edition } from '../../editions/edition.js';
import type { AccountSettingRow } from '../account-setting/table.js';
import type { CreateAccountInput, CreateConnectedUserInput, BusinessDetailsInput } from './inputs.js';
import { type Problem, problem, snake } from '../../errors/problems.js';
import { businessDetailsFormats } from '../../types/formats.js';
import { isBlank } from '../../types/empty.js';
import type { Context } from '../../operation/context.js';
import { verificationPurposes, checkFiles } from '../file/reference.js';

const addressKeys = [
  'connected_user',
  'connected_user_partner',
  'partner',
  'platform',
  'user',
] as const satisfies readonly AddressKey[];

/**
 * The key of the root's setting that decides about an account's receiving addresses, by its kind and its owner's kind.
 */
export function addressKeyOf(kind: AccountKind, owner: AccountKind | null, edition: Edition): AddressKey | null {
  if (kind === 'platform') return edition.offers.platform.includes('platform') ? 'platform' : null;
  if (kind === 'direct_user') return 'user';
  if (kind === 'connected_user') return 'connected_user';
  return owner === 'connected_user' ? 'connected_user_partner' : 'partner';
}

/**
 * The setting that an account is created with. Only the setting of a root governs receiving addresses: there, each
 * applicable kind is on, in the edition's currency; the rest is null. Spec: AccountSetting. Silent: the defaults.
 */
export function initialSetting(
  kind: AccountKind,
  rootSubType: AccountSubType | null,
  edition: Edition,
): Pick<AccountSettingRow, 'address' | 'addressCurrency' | 'payoutsApplicable'> {
  const applicable: readonly AddressKey[] = kind === 'platform' || kind === 'direct_user' ? edition.offers[kind] : [];
  const hash = <V>(value: V) =>
    ({
      connectedUser: applicable.includes(addressKeys[0]) ? value : null,
      connectedUserPartner: applicable.includes(addressKeys[1]) ? value : null,
      partner: applicable.includes(addressKeys[2]) ? value : null,
      platform: applicable.includes(addressKeys[3]) ? value : null,
      user: applicable.includes(addressKeys[4]) ? value : null,
    }) as const;
  // An aggregator gets the payouts for its users; partners get no payouts.
  const payoutsApplicable = kind !== 'partner' && !(kind === 'connected_user' && rootSubType === 'aggregator');
  return { address: hash(true), addressCurrency: hash([edition.currency]), payoutsApplicable };
}

const nicknameLengthMax = 100;
export const accountLimits = { nickname: { maxLength: nicknameLengthMax } };

/** A nickname as it is stored; empty means none. */
export function nicknameOf(nickname: string | null | undefined): string | null | undefined {
  return nickname?.trim() === '' ? null : nickname;
}

/**
 * The problems of an account: a nickname that is too long, invalid details, two different GST ids. `createAccount`
 * creates partners only.
 */
export function accountProblems({ type, nickname, businessDetails }: Partial<CreateAccountInput>): Problem[] {
  const problems: Problem[] = [];
  if (type !== undefined && type !== 'partner') {
    problems.push(
      problem('parameter_invalid', 'account.type', {
        v1:
          'must be partner: only partners are created through this call. A platform creates a connected user ' +
          'with POST /v1/accounts/connected, and a partner of a connected user with the header On-Behalf-Of.',
        graph:
          'must be PARTNER: only partners are created through this call. A platform creates a connected user ' +
          'with createConnectedUser, and a partner of a connected user with the header On-Behalf-Of.',
      }),
    );
  }
  if (nickname != null && [...nickname].length > nicknameLengthMax) {
    problems.push(
      problem('parameter_invalid', 'account.nickname', `must have at most ${nicknameLengthMax} characters`),
    );
  }
  for (const [name, { holds, message }] of Object.entries(businessDetailsFormats)) {
    const value = businessDetails?.[name as keyof typeof businessDetailsFormats];
    if (value != null && value.trim() !== '' && !holds(value))
      problems.push(problem('parameter_invalid', `account.business_details.${snake(name)}`, message));
  }
  const [short, long] = [businessDetails?.taxGst, businessDetails?.ids?.taxGst];
  if (short !== undefined && long !== undefined && (short || null) !== (long || null)) {
    problems.push(
      problem('parameter_invalid', 'account.business_details.tax_gst', {
        v1: 'differs from business_details.ids.tax_gst; send one of them',
        graph: 'differs from businessDetails.ids.taxGst; send one of them',
      }),
    );
  }
  return problems;
}

/** The problems of a connected user: those of an account, and an input that says nothing about it. */
export function connectedUserProblems(input: Partial<CreateConnectedUserInput>): Problem[] {
  const problems = accountProblems(input as Partial<CreateAccountInput>);
  if (!isBlank(input)) return problems;
  return [
    ...problems,
    problem('parameter_missing', 'account.business_details', {
      v1: 'An account needs at least one parameter, such as business_details or nickname.',
      graph: 'An account needs at least one parameter, such as businessDetails or nickname.',
    }),
  ];
}

/**
 * Business details in their stored form: empty texts become null, `tax_gst` moves into `ids`, and null for an object
 * clears its members.
 */
export function businessDetailsOf(details: BusinessDetailsInput | null | undefined) {
  if (details == null) return details;
  const { taxGst, ...given } = details;
  const rest = {
    ...given,
    ...(given.ids === null && { ids: noIds }),
    ...(given.physicalAddress === null && { physicalAddress: noAddress }),
  };
  return blankToNull(taxGst === undefined ? rest : { ...rest, ids: { ...rest.ids, taxGst } });
}

const noIds = { business: null, tax: null, taxDeduction: null, taxGst: null, taxTrade: null };
const noAddress = { line1: null, line2: null, city: null, state: null, postalCode: null, country: null };

/**
 * The same object with each empty text as null, at every depth. An empty text clears a value, and a text of spaces
 * counts as empty.
 */
function blankToNull<T>(value: T): T {
  if (typeof value === 'string' && value.trim() === '') return null as T;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, blankToNull(member)])) as T;
}

/** Refuses a logo or a document of an account that does not exist, or that is a file for another purpose. */
export async function checkReferences(
  { scope }: Context,
  { logoId, supportingDocumentation: documents }: CreateConnectedUserInput,
): Promise<void> {
  const document = (name: string, id: string | null | undefined) => ({
    id,
    field: `account.supporting_documentation.${name}`,
    purposes: verificationPurposes,
  });
  await checkFiles(scope, [
    { id: logoId, field: 'account.logo_id', purposes: ['logo'] },
    document('id_document', documents?.idDocument),
    document('ownership_structure_document', documents?.ownershipStructureDocument),
    document('physical_address_document', documents?.physicalAddressDocument),
  ]);
}

/**
 * The statuses from which each decision moves an account; `move_account` is given them and refuses any other.
 * Spec: Transitions. Silent: all but the first.
 */
export const accountMoves = {
  activate: { connected_user: ['draft'], partner: ['draft', 'deactivated'] },
  /** By the owner of a partner. */
  deactivate: ['draft', 'verifying', 'activated'],
  /** A verification has one of two outcomes; the first also lifts a hold. */
  verify: { activated: ['verifying', 'hold'], hold: ['verifying'] },
  /** The same of a root, which in live mode is a draft until then. */
  verifyRoot: { activated: ['draft', 'verifying', 'hold'], hold: ['draft', 'verifying'] },
  hold: ['verifying', 'activated'],
  /** By the operator, or by a test helper. */
  close: ['draft', 'verifying', 'activated', 'hold'],
} as const satisfies Record<string, readonly AccountStatus[] | Record<string, readonly AccountStatus[]>>;
