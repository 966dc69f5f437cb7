import { ifsc } from '../types/india.js';
import { businessDetailsFormats } from '../types/formats.js';
import type { AccountRow, BusinessType } from '../resources/account/table.js';
import type { AddressRow } from '../resources/address/table.js';
import type { FilePurpose, FileRow } from '../resources/file/table.js';
import type { PersonRow, RelationshipObject } from '../resources/person/table.js';
import { argumentPath, camel, listedValues, type Problem, problem, type MessageText } from '../errors/problems.js';

/** Everything that decides whether an account can be activated. */
export interface OnboardingProfile {
  account: AccountRow;
  persons: PersonRow[];
  addresses: AddressRow[];
  /** The file behind `supporting_documentation.id_document`, if there is one. */
  idDocument: FileRow | null;
}

/** One thing that activation requires: its field, a message that says what to do, and whether a profile has it. */
export interface Prerequisite {
  field: string;
  message: MessageText | ((profile: OnboardingProfile) => MessageText);
  met(profile: OnboardingProfile): boolean;
  /** Its name in a list of alternatives, if its field alone does not say enough. */
  shown?: { v1: string; graph: string };
  /** Other parameters, each of which would suffice. */
  alternatives?: string[];
}

/** Prerequisites that apply always, or that depend on the type of the business. */
export type Rule = (profile: OnboardingProfile) => readonly Prerequisite[];
export type Rules = readonly Rule[];

/** Prerequisites of every account of the kind. */
export function always(...prerequisites: Prerequisite[]): Rule {
  return () => prerequisites;
}

/** Prerequisites by business type. None while the type is unknown, because the type is a prerequisite of its own. */
export function byBusinessType(table: Record<BusinessType, readonly Prerequisite[]>): Rule {
  return ({ account }) => (account.businessDetails.type ? table[account.businessDetails.type] : []);
}

/** A parameter of the account is present, not empty, and has its format; a value stored before the format may not. */
export function has(path: string): Prerequisite {
  const names = path.split('.').map(camel);
  return {
    field: `account.${path}`,
    message: 'is required for activation. Update the account with it.',
    met: ({ account }) => {
      const value = names.reduce<unknown>((at, name) => (at as Record<string, unknown> | null)?.[name], account);
      const form = businessDetailsFormats[names.at(-1) as keyof typeof businessDetailsFormats] as
        | (typeof businessDetailsFormats)['website']
        | undefined;
      return present(value) && (typeof value !== 'string' || !form || form.holds(value));
    },
  };
}

/** A physical address that is complete enough to find the business. */
export function physicalAddress(): Prerequisite {
  const path = 'business_details.physical_address';
  const within = {
    v1: ' (with line1, city, postal_code and country)',
    graph: ' (with line1, city, postalCode and country)',
  };
  const parts = ['line1', 'city', 'postal_code', 'country'].map((name) => has(`${path}.${name}`));
  return {
    field: `account.${path}`,
    message: {
      v1: `is required for activation${within.v1}. Update the account with it.`,
      graph: `is required for activation${within.graph}. Update the account with it.`,
    },
    shown: { v1: `account.${path}${within.v1}`, graph: `businessDetails.physicalAddress${within.graph}` },
    met: (profile) => parts.every((part) => part.met(profile)),
  };
}

/** A document with one of the given purposes. */
export function file(parameter: 'id_document', purposes: readonly FilePurpose[]): Prerequisite {
  return {
    field: `account.supporting_documentation.${parameter}`,
    message: listedValues(
      purposes,
      (listed) =>
        `Activation requires a file of purpose ${listed.join(', ')}. Upload it and update the account with its id.`,
    ),
    met: ({ idDocument }) => idDocument !== null && purposes.includes(idDocument.purpose),
  };
}

/**
 * A minimum number of persons for each role. Each role is a separate prerequisite; one person may have several roles.
 */
export function persons(roles: { [role in keyof RelationshipObject]?: number }): Prerequisite[] {
  return Object.entries(roles).map(([role, least]) => ({
    field: `account.persons.${role}`,
    message:
      `Activation requires ${least === 1 ? `a person who is ${role}` : `${least} persons who are ${role}`}. ` +
      'Create the missing ones.',
    met: ({ persons }) =>
      persons.filter((person) => person.relationship[role as keyof RelationshipObject]).length >= least,
  }));
}

/** Exactly one person, who is only the owner and has a tax card: for a sole proprietor or an individual. */
export function soleOwner(): Prerequisite {
  return {
    field: 'account.persons.owner',
    message: ({ persons }) =>
      'Activation requires exactly one person, who is owner and nothing else and has a personal tax card. ' +
      `${wayToSoleOwner(persons)}`,
    met: ({ persons }) => persons.length === 1 && persons.every((one) => ownsAlone(one) && hasTaxCard(one)),
  };
}

const ownsAlone = ({ relationship: r }: PersonRow) => r.owner === true && !r.director && !r.representative;
const hasTaxCard = ({ identification: i }: PersonRow) => Boolean(i.taxCardNumber || i.taxCardImage);

/**
 * What to do with an account's persons so that only the owner remains. The type of the business may have changed after
 * they were created.
 */
function wayToSoleOwner(persons: PersonRow[]): string {
  if (persons.length === 0) return 'Create this person.';
  const owners = persons.filter(ownsAlone);
  const steps: string[] = [];
  if (persons.length > 1) steps.push('Remove every person but the owner.');
  if (owners.length === 0) steps.push('Update the owner so that owner is the only role.');
  if (!(owners.length > 0 ? owners : persons).some(hasTaxCard))
    steps.push('Update the owner with the number or an image of the personal tax card.');
  return steps.join(' ');
}

/**
 * An activated address for payouts to the user, which its platform has made if only such an address counts, and to
 * whose bank money in INR finds its way.
 */
export function payoutAddress({ byPlatform = false } = {}): Prerequisite {
  const usable = ({ addresses }: OnboardingProfile) =>
    addresses.filter(({ category, status }) => category === 'user_payout' && status === 'activated');
  const mistyped = (profile: OnboardingProfile) => awaitsActivation(profile) && usable(profile).some(isMistyped);
  const counted = (profile: OnboardingProfile) => usable(profile).some((each) => each.byPlatform || !byPlatform);
  const absent = listedValues(['user_payout'], ([category]) =>
    byPlatform
      ? `Activation requires an address of category ${category} that the platform has created. ` +
        'Create one for the account with a key of the platform.'
      : `Activation requires an address of category ${category}. Create one for the account.`,
  );
  const wrong = listedValues(
    ['user_payout'],
    ([category]) =>
      `The routing code of the address of category ${category} is wrong. ${ifsc.message} Create the address again.`,
  );
  return {
    field: 'account.addresses.user_payout',
    message: (profile) => (counted(profile) ? wrong : absent),
    met: (profile) => counted(profile) && !mistyped(profile),
  };
}

/** Whether the account is still to be activated: the form of a number counts then alone, and no more afterwards. */
export const awaitsActivation = ({ account: { status } }: OnboardingProfile): boolean =>
  status === 'draft' || status === 'verifying';

/** Whether payouts to an address would bounce because its routing code in INR is no IFSC. */
const isMistyped = ({ currency, bankAccount }: AddressRow): boolean =>
  currency === 'INR' && Boolean(bankAccount?.domesticCredit) && !ifsc.holds(bankAccount!.domesticCredit!);

/** One of several prerequisites suffices. The first one names the problem, and the others are its alternatives. */
export function anyOf(...choices: [Prerequisite, ...Prerequisite[]]): Prerequisite {
  const [first, ...others] = choices;
  return {
    field: first.field,
    message: {
      v1: `is required for activation, or one of: ${others.map(({ shown, field }) => shown?.v1 ?? field).join(', ')}.`,
      graph:
        'is required for activation, or one of: ' +
        `${others.map(({ shown, field }) => shown?.graph ?? argumentPath(field).join('.')).join(', ')}.`,
    },
    met: (profile) => choices.some((choice) => choice.met(profile)),
    alternatives: others.map((choice) => choice.field),
  };
}

/** The prerequisites that a profile does not meet. `requirements` lists them, and `activate` refuses with them. */
export function unmet(rules: Rules, profile: OnboardingProfile): Problem[] {
  return rules
    .flatMap((rule) => rule(profile))
    .filter((prerequisite) => !prerequisite.met(profile))
    .map(({ field, message, alternatives }) =>
      problem(
        'account_requirements_missing',
        field,
        typeof message === 'function' ? message(profile) : message,
        alternatives && { alternatives },
      ),
    );
}

function present(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  if (value === null || value === undefined) return false;
  return typeof value === 'object' ? Object.values(value).some(present) : true;
}
