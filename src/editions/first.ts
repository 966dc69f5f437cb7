import {
  always,
  anyOf,
  byBusinessType,
  file,
  has,
  payoutAddress,
  persons,
  physicalAddress,
  soleOwner,
} from './prerequisites.js';
import { indianNumbers } from './indian-numbers.js';
import type { DepositPaymentMethod } from '../resources/deposit/table.js';
import type { Edition } from './edition.js';

const identified = anyOf(
  has('business_details.ids.business'),
  has('business_details.ids.tax'),
  has('business_details.ids.tax_gst'),
  file('id_document', ['additional_verification', 'identity_document', 'tax_document']),
);
const located = anyOf(has('business_details.ids.tax_gst'), file('id_document', ['tax_document']), physicalAddress());
/** Spec: Deposit, payment_method. */
const methods: readonly DepositPaymentMethod[] = [
  'affirm',
  'afterpay',
  'check',
  'domestic_credit',
  'domestic_debit',
  'domestic_fast_credit',
  'domestic_wire',
  'global_wire',
  'klarna',
];
const officers = persons({ director: 1, owner: 1, representative: 1 });

/** Edition 1: multi-currency collection. */
export const first: Edition = {
  number: 1,
  required: {
    createAccount: [
      'nickname',
      'business_details.legal_name',
      'business_details.email',
      'business_details.type',
      'business_details.physical_address.country',
    ],
    createAddress: ['bank_account.number', 'bank_account.domestic_credit'],
    createDeposit: [],
  },
  withheld: {
    createAccount: [],
    createConnectedUser: ['supporting_documentation.physical_address_document'],
    requestAccountChange: ['supporting_documentation.physical_address_document'],
    updateAccount: ['supporting_documentation.physical_address_document'],
    updateAccountSetting: [],
    accounts: [],
    addresses: ['vpa.upi.onetime', 'vpa.upi.recurring'],
  },
  values: {
    createAddress: { currency: ['INR'] },
    createCheckout: {},
    createDeposit: { currency: ['USD'], payment_method: methods },
    recordBankNotice: { payment_method: methods },
    deposits: { payment_method: methods },
    addresses: { type: ['bank_account', 'wallet'] },
  },
  shown: {
    'account.capability.multicurrency_exports_v1': true,
    'account.business_details.estimated_monthly_volume': true,
    'account.supporting_documentation.ownership_structure_document': true,
    'account.supporting_documentation.physical_address_document': false,
  },
  bankMethod: 'domestic_credit',
  currency: 'USD',
  balanceCurrency: null,
  liveFx: true,
  offers: {
    platform: ['platform', 'partner', 'connected_user', 'connected_user_partner'],
    direct_user: ['user', 'partner'],
  },
  subTypes: [],
  capability: { nullFor: [] },
  personIdentified: true,
  partnersCompared: false,
  activation: {
    connected_user: [
      always(payoutAddress({ byPlatform: true })),
      always(has('business_details.type')),
      indianNumbers,
      byBusinessType({
        company: [identified, ...officers],
        limited_liability_partnership: [identified, ...officers],
        business: [identified, ...officers],
        sole_proprietor: [located, soleOwner()],
        individual: [located, soleOwner()],
        partnership: [has('business_details.ids.tax_gst'), file('id_document', ['identity_document']), ...officers],
      }),
    ],
    partner: [
      always(
        has('nickname'),
        has('business_details.legal_name'),
        has('business_details.email'),
        has('business_details.type'),
        has('business_details.physical_address.country'),
      ),
    ],
  },
};
