import { always, has, payoutAddress, persons } from './prerequisites.js';
import { indianNumbers } from './indian-numbers.js';
import type { DepositPaymentMethod } from '../resources/deposit/table.js';
import type { Edition } from './edition.js';

/** Spec: Deposit, payment_method; the last as a sample shows it. */
const methods: readonly DepositPaymentMethod[] = ['card', 'upi', 'domestic_wire'];

/** Edition 2: INR collection in India. */
export const second: Edition = {
  number: 2,
  required: {
    createAccount: [
      'business_details.legal_name',
      'business_details.type',
      'business_details.physical_address.country',
      'business_details.physical_address.postal_code',
    ],
    createAddress: ['bank_account.number|bank_account.iban', 'bank_account.global_wire|bank_account.bank_name'],
    createDeposit: ['to', 'payment_method'],
  },
  withheld: {
    createAccount: ['business_details.estimated_monthly_volume'],
    createConnectedUser: [
      'business_details.estimated_monthly_volume',
      'supporting_documentation.ownership_structure_document',
    ],
    requestAccountChange: [
      'business_details.estimated_monthly_volume',
      'supporting_documentation.ownership_structure_document',
    ],
    updateAccount: [
      'business_details.estimated_monthly_volume',
      'supporting_documentation.ownership_structure_document',
      'tos_acceptance',
    ],
    updateAccountSetting: ['payouts'],
    accounts: ['capability.multicurrency_exports_v1'],
    addresses: [],
  },
  values: {
    createAddress: {},
    createCheckout: { currency: ['INR'] },
    createDeposit: { currency: ['INR', 'USD'], payment_method: ['card', 'upi'] },
    recordBankNotice: { payment_method: methods },
    deposits: { payment_method: methods },
    addresses: {},
  },
  shown: {
    'account.capability.multicurrency_exports_v1': false,
    'account.business_details.estimated_monthly_volume': false,
    'account.supporting_documentation.ownership_structure_document': false,
    'account.supporting_documentation.physical_address_document': true,
  },
  bankMethod: 'domestic_wire',
  currency: 'INR',
  balanceCurrency: 'INR',
  liveFx: false,
  offers: {
    platform: ['partner', 'connected_user', 'connected_user_partner'],
    direct_user: ['user', 'partner'],
  },
  subTypes: ['aggregator'],
  capability: { nullFor: ['aggregator'] },
  personIdentified: false,
  partnersCompared: true,
  activation: {
    connected_user: [
      always(
        has('business_details.date_of_incorporation'),
        has('business_details.dba'),
        has('business_details.email'),
        has('business_details.ids.business'),
        has('business_details.legal_name'),
        has('business_details.merchant_size'),
        has('business_details.merchant_category_code'),
        has('business_details.physical_address.city'),
        has('business_details.physical_address.country'),
        has('business_details.physical_address.line1'),
        has('business_details.physical_address.postal_code'),
        has('business_details.physical_address.state'),
        has('business_details.product_category'),
        has('business_details.product_description'),
        has('business_details.type'),
        has('business_details.website'),
        has('nickname'),
        ...persons({ director: 2 }),
        payoutAddress(),
      ),
      indianNumbers,
    ],
    partner: [
      always(
        has('business_details.legal_name'),
        has('business_details.type'),
        has('business_details.physical_address.country'),
        has('business_details.physical_address.postal_code'),
      ),
    ],
  },
};
