import { businessNumbers, ifsc } from '../../../types/india';
import { words } from './words';

/** What an account lacks, as `Account.requirements` says it. */
export interface Requirement {
  fieldName: string;
  message: string;
  alternatives: string[];
}

/** The path of the input that a requirement names: `account.business_details.dba` is `businessDetails.dba`. */
export function pathOf(fieldName: string): string {
  return fieldName
    .replace(/^account\./, '')
    .split('.')
    .map((part) => part.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
    .join('.');
}

/** The name of a member of an input in words: `physicalAddress.postalCode` is `Postal code`. */
export function nameOfPath(path: string): string {
  const [last = '', parent] = path.split('.').reverse();
  if (parent === 'businessDetails' && last === 'type') return 'Legal form';
  const name = words(last.replaceAll(/([A-Z])/g, '_$1'));
  return parent === 'ids' ? `${name} ID`.replace('Tax GST', 'GST') : name;
}

/** What an account lacks, for a person: the gateway's sentences are for programs. */
export function requirementWords({ fieldName, message, alternatives }: Requirement): string {
  const [, role] = /^account\.persons\.(\w+)$/.exec(fieldName) ?? [];
  const [count] = /(?<!\d)\d+(?= persons)/.exec(message) ?? [];
  if (role) return count ? `${count} ${role}s` : `${role === 'owner' ? 'An' : 'A'} ${role}`;
  if (fieldName.startsWith('account.addresses.'))
    return message.includes(ifsc.message)
      ? 'The IFSC of the bank account is wrong: add the account again'
      : 'A bank account for payouts';
  if (!fieldName.startsWith('account.') || fieldName.startsWith('account.persons.')) return message;
  const names = [fieldName, ...alternatives].map((each) => nameOfPath(pathOf(each))).join(', or ');
  return isMistyped(message) ? `${names}, which is mistyped` : names;
}

/** Whether a requirement is a number that was given and has a wrong form. */
export const isMistyped = (message: string): boolean =>
  Object.values(businessNumbers).some((format) => format.message === message);
