import type { AccountKind, AccountSubType, AddressKey } from '../resources/account/table.js';
import type { Rules } from './prerequisites.js';
import type { DepositPaymentMethod } from '../resources/deposit/table.js';

/**
 * Everything that differs between the editions. The two editions are tables with the same keys in the same order, so
 * that their diff is the list of differences. Parameters have their names of /v1.
 */
export interface Edition {
  number: 1 | 2;
  /** Parameters that an operation requires beyond those that the schema requires; `a|b` requires one of the two. */
  required: Record<string, readonly string[]>;
  /** Parameters that belong only to the other edition. */
  withheld: Record<string, readonly string[]>;
  /**
   * The values that a parameter accepts, if they are fewer than its type has. Among the operations is the operator's
   * `recordBankNotice`.
   */
  values: Record<string, Record<string, readonly string[]>>;
  /** Keys of /v1 objects that the other edition does not have. */
  shown: Record<string, boolean>;
  /** The payment method of a live bank transfer, if the bank's notice does not say which. */
  bankMethod: DepositPaymentMethod;
  /** The currency of receiving addresses by default, and of checkouts where the edition has them. */
  currency: string;
  /** The currency that each balance shows, also where nothing was booked in it. */
  balanceCurrency: string | null;
  /** Whether the operator may set that payouts of a platform's connected users are processed at once. */
  liveFx: boolean;
  /** The keys of a root account's setting that apply to the root and to the accounts below it. */
  offers: Record<'platform' | 'direct_user', readonly AddressKey[]>;
  /** The sub_types that a platform may have. */
  subTypes: readonly AccountSubType[];
  /** The sub_types whose capability object is null. */
  capability: { nullFor: readonly (AccountSubType | null)[] };
  /** Whether a person needs a tax card or passport, and a sole proprietor has one person only, the owner. */
  personIdentified: boolean;
  /**
   * Whether an import compares its partners with those that exist, by legal name and address. Elsewhere each partner
   * has a nickname, which no other has.
   */
  partnersCompared: boolean;
  /** Prerequisites of activation by account kind. */
  activation: Partial<Record<AccountKind, Rules>>;
}
