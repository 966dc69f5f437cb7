import type { AccountKind, AccountSubType, AddressKey } from '../resources/account/table.js';
import type { Rules } from './prerequisites.js';
import type { DepositPaymentMethod } from '../resources/deposit/table.js';

/**
 * What an edition decides. The two editions are tables with the same keys in the same order, so that
 * their diff is the list of differences. Parameters are named as /v1 names them.
 */
export interface Edition {
  number: 1 | 2;
  /** Parameters that an operation requires beyond those that the schema does; `a|b` asks for one of the two. */
  required: Record<string, readonly string[]>;
  /** Parameters that belong to the other edition alone. */
  withheld: Record<string, readonly string[]>;
  /** The values that a parameter takes, where they are fewer than its type has; for `recordBankNotice`, of the operator. */
  values: Record<string, Record<string, readonly string[]>>;
  /** Keys of /v1 objects that the other edition does not have. */
  shown: Record<string, boolean>;
  /** The method of a bank's live transfer whose notice does not say which. */
  bankMethod: DepositPaymentMethod;
  /** The currency of receiving addresses by default. */
  currency: string;
  /** The keys of a root's setting that apply to it and to what is below it. */
  offers: Record<'platform' | 'direct_user', readonly AddressKey[]>;
  /** The sub_types that a platform may have. */
  subTypes: readonly AccountSubType[];
  /** Whose capability object is null. */
  capability: { shown: boolean; nullFor: readonly AccountSubType[] };
  /** Whether a person needs a tax card or passport, and a sole proprietor's is the owner alone. */
  personIdentified: boolean;
  /** Prerequisites of activation by account kind. */
  activation: Partial<Record<AccountKind, Rules>>;
}
