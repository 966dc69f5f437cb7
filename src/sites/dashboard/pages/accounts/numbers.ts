import { businessNumbers, typesWithCompanyNumber } from '../../../../types/india';
import type { AccountDetail } from './query';

type Business = AccountDetail['businessDetails'];

export const isInIndia = ({ physicalAddress }: Business): boolean => physicalAddress?.country === 'IN';

/**
 * What seems wrong with a number of a business, by the path of its field; undefined for what is no such number. What
 * the form says of the business goes before what is stored of it.
 */
export function checkOf(path: string, business: Business) {
  if (!(path in businessNumbers)) return undefined;
  const { holds, message } = businessNumbers[path as keyof typeof businessNumbers];
  return (text: string, form: FormData): string | undefined => {
    const country = form.get('businessDetails.physicalAddress.country') ?? business.physicalAddress?.country;
    const type = form.get('businessDetails.type') ?? business.type;
    const isOther = path.endsWith('.business') && !typesWithCompanyNumber.includes(String(type).toLowerCase());
    return country !== 'IN' || isOther || holds(text) ? undefined : message;
  };
}
