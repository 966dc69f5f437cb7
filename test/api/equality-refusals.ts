import { payoutAddressBody, payoutAddressInput, type Speaker } from '../support/world.js';

/** The fixtures for the table of domain errors below. */
export interface Cast {
  user: Speaker;
  second: Speaker;
  platform: Speaker;
  connected: Speaker;
  reader: Speaker;
  live: Speaker;
  partner: string;
  taken: string;
  setting: string;
  secondSetting: string;
  logo: string;
}

/** An expected problem: its code and field name, and its path in the GraphQL client's arguments. */
type Expected = [problem: string, argumentPath?: (string | number)[]];

export interface Refused {
  title: string;
  speaker?: (c: Cast) => Speaker;
  status: number;
  /** The request of /v1. A body makes it a POST. */
  path: (c: Cast) => string;
  body?: (c: Cast) => unknown;
  /** The same in GraphQL: the root field and its `input`, or its other arguments as literals. */
  field: string;
  input?: (c: Cast) => unknown;
  args?: (c: Cast) => string;
  problems: Expected[];
}

const acme = {
  legalName: 'Acme Exports',
  email: 'ap@acme.example',
  type: 'COMPANY',
  physicalAddress: { country: 'IN' },
};
const acmeV1 = {
  legal_name: 'Acme Exports',
  email: 'ap@acme.example',
  type: 'company',
  physical_address: { country: 'IN' },
};
/** A creation of a partner with the wrong values of `more`; `nickname` and the rest are right. */
const creating = (title: string, more: object, moreGraph: object, ...problems: Expected[]): Refused => ({
  title,
  status: 400,
  path: () => '/v1/accounts',
  body: () => ({ type: 'partner', nickname: 'fine', business_details: acmeV1, ...more }),
  field: 'createAccount',
  input: () => ({ type: 'PARTNER', nickname: 'fine', businessDetails: acme, ...moreGraph }),
  problems,
});
const at = (...path: (string | number)[]) => ['input', ...path];

export const refusals: Refused[] = [
  {
    ...creating('everything that is missing', {}, {}),
    body: () => ({}),
    input: () => ({}),
    problems: [
      ['parameter_missing account.type', at('type')],
      ['parameter_missing account.business_details', at('businessDetails')],
      ['parameter_missing account.nickname', at('nickname')],
    ],
  },
  creating(
    'what is empty',
    { nickname: '', business_details: { ...acmeV1, legal_name: '', email: null } },
    { nickname: '', businessDetails: { ...acme, legalName: '', email: null } },
    ['parameter_invalid_empty account.nickname', at('nickname')],
    ['parameter_invalid_empty account.business_details.legal_name', at('businessDetails', 'legalName')],
    ['parameter_invalid_empty account.business_details.email', at('businessDetails', 'email')],
  ),
  creating('an empty hash that is required', { business_details: {} }, { businessDetails: {} }, [
    'parameter_invalid_empty account.business_details',
    at('businessDetails'),
  ]),
  creating(
    'wrong types',
    { nickname: 5, business_details: { ...acmeV1, legal_name: true, physical_address: 'Pune' } },
    { nickname: 5, businessDetails: { ...acme, legalName: true, physicalAddress: 'Pune' } },
    ['parameter_invalid account.nickname', at('nickname')],
    ['parameter_invalid account.business_details.legal_name', at('businessDetails', 'legalName')],
    ['parameter_invalid account.business_details.physical_address', at('businessDetails', 'physicalAddress')],
  ),
  creating(
    'a wrong type, and what the edition requires besides',
    { nickname: undefined, business_details: { ...acmeV1, legal_name: 5, email: undefined } },
    { nickname: undefined, businessDetails: { ...acme, legalName: 5, email: undefined } },
    ['parameter_invalid account.business_details.legal_name', at('businessDetails', 'legalName')],
    ['parameter_missing account.nickname', at('nickname')],
    ['parameter_missing account.business_details.email', at('businessDetails', 'email')],
  ),
  creating(
    'values of no enum',
    { type: 'giant', business_details: { ...acmeV1, type: 'guild' } },
    { type: 'GIANT', businessDetails: { ...acme, type: 'GUILD' } },
    ['parameter_invalid account.type', at('type')],
    ['parameter_invalid account.business_details.type', at('businessDetails', 'type')],
  ),
  creating(
    'unknown parameters',
    { some_colour: 'red', business_details: { ...acmeV1, some_size: 1 } },
    { someColour: 'red', businessDetails: { ...acme, someSize: 1 } },
    ['parameter_unknown account.some_colour', at('someColour')],
    ['parameter_unknown account.business_details.some_size', at('businessDetails', 'someSize')],
  ),
  creating(
    'scalars with rules of their own',
    {
      business_details: {
        ...acmeV1,
        email: 'nobody',
        physical_address: { country: 'INDIA' },
        estimated_monthly_volume: { amount: 10, currency: 'usd' },
      },
    },
    {
      businessDetails: {
        ...acme,
        email: 'nobody',
        physicalAddress: { country: 'INDIA' },
        estimatedMonthlyVolume: { amount: 10, currency: 'usd' },
      },
    },
    ['parameter_invalid account.business_details.email', at('businessDetails', 'email')],
    [
      'parameter_invalid account.business_details.physical_address.country',
      at('businessDetails', 'physicalAddress', 'country'),
    ],
    [
      'parameter_invalid account.business_details.estimated_monthly_volume.amount',
      at('businessDetails', 'estimatedMonthlyVolume', 'amount'),
    ],
    [
      'parameter_invalid account.business_details.estimated_monthly_volume.currency',
      at('businessDetails', 'estimatedMonthlyVolume', 'currency'),
    ],
  ),
  creating(
    'cents of a currency that has none',
    { business_details: { ...acmeV1, estimated_monthly_volume: { amount: '1.50', currency: 'JPY' } } },
    { businessDetails: { ...acme, estimatedMonthlyVolume: { amount: '1.50', currency: 'JPY' } } },
    [
      'parameter_invalid account.business_details.estimated_monthly_volume.amount',
      at('businessDetails', 'estimatedMonthlyVolume', 'amount'),
    ],
  ),
  creating(
    'metadata, by keys that are spelled as they are',
    { metadata: { fine: 'v', aNumber: 1, 'a.list': [], snake_key: {} } },
    { metadata: { fine: 'v', aNumber: 1, 'a.list': [], snake_key: {} } },
    ['parameter_invalid account.metadata.aNumber', at('metadata', 'aNumber')],
    ['parameter_invalid account.metadata.a.list', at('metadata', 'a.list')],
    ['parameter_invalid account.metadata.snake_key', at('metadata', 'snake_key')],
  ),
  creating(
    'too much metadata',
    { metadata: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, 'v'])) },
    { metadata: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, 'v'])) },
    ['parameter_invalid account.metadata', at('metadata')],
  ),
  creating(
    'text that no store can hold',
    { nickname: 'a\u0000b', metadata: { k: 'a\u0000b' } },
    { nickname: 'a\u0000b', metadata: { k: 'a\u0000b' } },
    ['parameter_invalid account.nickname', at('nickname')],
    ['parameter_invalid account.metadata.k', at('metadata', 'k')],
  ),
  creating('another type than partner', { type: 'user' }, { type: 'USER' }, [
    'parameter_invalid account.type',
    at('type'),
  ]),
  {
    ...creating('a nickname that is taken', {}, {}),
    status: 409,
    body: (c) => ({ type: 'partner', nickname: c.taken, business_details: acmeV1 }),
    input: (c) => ({ type: 'PARTNER', nickname: c.taken, businessDetails: acme }),
    problems: [['nickname_taken account.nickname', at('nickname')]],
  },
  {
    title: 'an update of an account outside the visibility',
    status: 404,
    path: () => '/v1/accounts/account_0',
    body: () => ({ nickname: 'x' }),
    field: 'updateAccount',
    input: () => ({ id: 'account_0', nickname: 'x' }),
    problems: [['resource_missing account.id', at('id')]],
  },
  {
    title: 'an update of an account that cannot be updated',
    status: 400,
    path: (c) => `/v1/accounts/${c.partner}`,
    body: () => ({ nickname: 'x' }),
    field: 'updateAccount',
    input: (c) => ({ id: c.partner, nickname: 'x' }),
    // The status is not a parameter, so the error points to no input.
    problems: [['account_not_updatable account.status']],
  },
  {
    title: 'files that do not exist',
    speaker: (c) => c.platform,
    status: 404,
    path: (c) => `/v1/accounts/${c.connected.id}`,
    body: () => ({ logo_id: 'file_0', supporting_documentation: { id_document: 'file_1' } }),
    field: 'updateAccount',
    input: (c) => ({ id: c.connected.id, logoId: 'file_0', supportingDocumentation: { idDocument: 'file_1' } }),
    problems: [
      ['resource_missing account.logo_id', at('logoId')],
      ['resource_missing account.supporting_documentation.id_document', at('supportingDocumentation', 'idDocument')],
    ],
  },
  {
    title: 'a file of another purpose',
    speaker: (c) => c.platform,
    status: 400,
    path: (c) => `/v1/accounts/${c.connected.id}`,
    body: (c) => ({ supporting_documentation: { id_document: c.logo } }),
    field: 'updateAccount',
    input: (c) => ({ id: c.connected.id, supportingDocumentation: { idDocument: c.logo } }),
    problems: [
      ['parameter_invalid account.supporting_documentation.id_document', at('supportingDocumentation', 'idDocument')],
    ],
  },
  {
    title: 'two GST ids',
    speaker: (c) => c.platform,
    status: 400,
    path: (c) => `/v1/accounts/${c.connected.id}`,
    body: () => ({ business_details: { tax_gst: 'a', ids: { tax_gst: 'b' } } }),
    field: 'updateAccount',
    input: (c) => ({ id: c.connected.id, businessDetails: { taxGst: 'a', ids: { taxGst: 'b' } } }),
    problems: [['parameter_invalid account.business_details.tax_gst', at('businessDetails', 'taxGst')]],
  },
  {
    title: 'an activation by the account itself',
    speaker: (c) => c.connected,
    status: 403,
    path: (c) => `/v1/accounts/${c.connected.id}/activate`,
    body: () => ({}),
    field: 'activateAccount',
    input: (c) => ({ id: c.connected.id }),
    problems: [['permission_denied account.id', at('id')]],
  },
  {
    title: 'an activation with unmet prerequisites, which are not its parameters',
    speaker: (c) => c.platform,
    status: 400,
    path: (c) => `/v1/accounts/${c.connected.id}/activate`,
    body: () => ({}),
    field: 'activateAccount',
    input: (c) => ({ id: c.connected.id }),
    problems: [
      ['account_requirements_missing account.addresses.user_payout'],
      ['account_requirements_missing account.business_details.ids.business'],
      ['account_requirements_missing account.persons.director'],
      ['account_requirements_missing account.persons.owner'],
      ['account_requirements_missing account.persons.representative'],
    ],
  },
  {
    title: 'a deactivation of an account that is not a partner',
    status: 400,
    path: (c) => `/v1/accounts/${c.user.id}/deactivate`,
    body: () => ({}),
    field: 'deactivateAccount',
    input: (c) => ({ id: c.user.id }),
    problems: [['account_type_invalid account.type']],
  },
  {
    title: 'an address with most parameters missing',
    status: 400,
    path: () => '/v1/addresses',
    body: () => ({
      category: 'user_payout',
      currency: 'USD',
      bank_account: { number: '', iban: 'DE89370400440532013000' },
    }),
    field: 'createAddress',
    input: () => ({
      category: 'USER_PAYOUT',
      currency: 'USD',
      bankAccount: { number: '', iban: 'DE89370400440532013000' },
    }),
    problems: [
      ['parameter_missing address.type', at('type')],
      ['parameter_missing address.linked_id', at('linkedId')],
      ['parameter_missing address.linked_object', at('linkedObject')],
      ['parameter_missing address.name', at('name')],
      ['parameter_missing address.billing_details', at('billingDetails')],
      ['parameter_invalid_empty address.bank_account.number', at('bankAccount', 'number')],
      ['parameter_missing address.bank_account.domestic_credit', at('bankAccount', 'domesticCredit')],
      ['parameter_invalid address.currency', at('currency')],
    ],
  },
  {
    title: 'an address of another category and type',
    status: 400,
    path: () => '/v1/addresses',
    body: (c) => payoutAddressBody(c.user.id, { category: 'service_receive', type: 'wallet' }),
    field: 'createAddress',
    input: (c) => ({ ...payoutAddressInput(c.user.id), category: 'SERVICE_RECEIVE', type: 'WALLET' }),
    problems: [
      ['parameter_invalid address.category', at('category')],
      ['parameter_invalid address.type', at('type')],
    ],
  },
  {
    title: 'an address of an account outside the visibility',
    status: 404,
    path: () => '/v1/addresses',
    body: () => payoutAddressBody('account_0'),
    field: 'createAddress',
    input: () => payoutAddressInput('account_0'),
    problems: [['resource_missing address.linked_id', at('linkedId')]],
  },
  {
    title: 'currencies of a setting, each with its index',
    status: 400,
    path: (c) => `/v1/account_settings/${c.setting}`,
    body: () => ({ address_currency: { partner: ['USD', 'usd', 5] } }),
    field: 'updateAccountSetting',
    input: (c) => ({ id: c.setting, addressCurrency: { partner: ['USD', 'usd', 5] } }),
    problems: [
      ['parameter_invalid account_setting.address_currency.partner[1]', at('addressCurrency', 'partner', 1)],
      ['parameter_invalid account_setting.address_currency.partner[2]', at('addressCurrency', 'partner', 2)],
    ],
  },
  {
    title: 'payouts.enabled of a direct user',
    status: 403,
    path: (c) => `/v1/account_settings/${c.setting}`,
    body: () => ({ payouts: { enabled: true } }),
    field: 'updateAccountSetting',
    input: (c) => ({ id: c.setting, payouts: { enabled: true } }),
    problems: [['permission_denied account_setting.payouts.enabled', at('payouts', 'enabled')]],
  },
  {
    title: 'an invalid day of the week, and a switch that does not apply',
    status: 400,
    path: (c) => `/v1/account_settings/${c.setting}`,
    body: () => ({ payouts: { weekly_anchor: 9 } }),
    field: 'updateAccountSetting',
    input: (c) => ({ id: c.setting, payouts: { weeklyAnchor: 9 } }),
    problems: [['parameter_invalid account_setting.payouts.weekly_anchor', at('payouts', 'weeklyAnchor')]],
  },
  {
    title: 'payouts in Edition 2',
    speaker: (c) => c.second,
    status: 400,
    path: (c) => `/v1/account_settings/${c.secondSetting}`,
    body: () => ({ payouts: { interval: 'daily' } }),
    field: 'updateAccountSetting',
    input: (c) => ({ id: c.secondSetting, payouts: { interval: 'DAILY' } }),
    problems: [['parameter_unknown account_setting.payouts', at('payouts')]],
  },
  {
    title: 'a filter of the other edition',
    speaker: (c) => c.second,
    status: 400,
    path: () => '/v1/accounts?capability.multicurrency_exports_v1=pending',
    field: 'accounts',
    args: () => 'capability: { multicurrencyExportsV1: PENDING }',
    problems: [
      ['parameter_unknown account.capability.multicurrency_exports_v1', ['capability', 'multicurrencyExportsV1']],
    ],
  },
  {
    // The identification of a person depends on the account, which is read only if the input is valid by itself.
    title: 'a person without a role and without an identification',
    status: 400,
    path: () => '/v1/persons',
    body: () => ({ full_name: 'Asha Rao', relationship: { owner: false } }),
    field: 'createPerson',
    input: () => ({ fullName: 'Asha Rao', relationship: { owner: false } }),
    problems: [['parameter_invalid person.relationship', at('relationship')]],
  },
  {
    title: 'a person without an identification',
    status: 400,
    path: () => '/v1/persons',
    body: () => ({ full_name: 'Asha Rao', relationship: { owner: true } }),
    field: 'createPerson',
    input: () => ({ fullName: 'Asha Rao', relationship: { owner: true } }),
    problems: [['parameter_missing person.identification.tax_card_number', at('identification', 'taxCardNumber')]],
  },
  {
    title: 'a deposit with a number as its amount, in an unsupported currency',
    status: 400,
    path: () => '/v1/deposits',
    body: () => ({ amount: 10, currency: 'EUR' }),
    field: 'createDeposit',
    input: () => ({ amount: 10, currency: 'EUR' }),
    problems: [
      ['parameter_invalid deposit.amount', at('amount')],
      ['parameter_invalid deposit.currency', at('currency')],
    ],
  },
  {
    title: 'a deposit without the parameters that Edition 2 requires',
    speaker: (c) => c.second,
    status: 400,
    path: () => '/v1/deposits',
    body: () => ({ amount: '1.00', currency: 'INR' }),
    field: 'createDeposit',
    input: () => ({ amount: '1.00', currency: 'INR' }),
    problems: [
      ['parameter_missing deposit.to', at('to')],
      ['parameter_missing deposit.payment_method', at('paymentMethod')],
    ],
  },
  {
    title: 'a deposit to an account outside the visibility',
    status: 404,
    path: () => '/v1/deposits',
    body: () => ({ amount: '1.00', currency: 'USD', to: { account_id: 'account_0' } }),
    field: 'createDeposit',
    input: () => ({ amount: '1.00', currency: 'USD', to: { accountId: 'account_0' } }),
    problems: [['resource_missing deposit.to.account_id', at('to', 'accountId')]],
  },
  {
    title: 'a deposit to an account without a usable address',
    status: 402,
    path: () => '/v1/deposits',
    body: (c) => ({ amount: '1.00', currency: 'USD', to: { account_id: c.partner } }),
    field: 'createDeposit',
    input: (c) => ({ amount: '1.00', currency: 'USD', to: { accountId: c.partner } }),
    problems: [['address_unusable deposit.to.account_id', at('to', 'accountId')]],
  },
  {
    title: 'a deposit with a live key, for any input',
    speaker: (c) => c.live,
    status: 403,
    path: () => '/v1/deposits',
    body: () => ({ amount: 10 }),
    field: 'createDeposit',
    input: () => ({ amount: 10 }),
    problems: [['permission_denied undefined']],
  },
  {
    title: 'a reconciliation without receivables',
    status: 400,
    path: () => '/v1/deposits/deposit_0/reconcile',
    body: () => ({ receivables: [] }),
    field: 'reconcileDeposit',
    input: () => ({ id: 'deposit_0', receivables: [] }),
    problems: [['parameter_invalid_empty deposit.receivables', at('receivables')]],
  },
  {
    title: 'a reconciliation with faults in its list, each with its index',
    status: 400,
    path: () => '/v1/deposits/deposit_0/reconcile',
    body: () => ({ receivables: [{ amount: 5 }, { id: 'receivable_0', amount: '1.00' }, { id: '', some_size: 1 }] }),
    field: 'reconcileDeposit',
    input: () => ({
      id: 'deposit_0',
      receivables: [{ amount: 5 }, { id: 'receivable_0', amount: '1.00' }, { id: '', someSize: 1 }],
    }),
    problems: [
      ['parameter_missing deposit.receivables[0].id', at('receivables', 0, 'id')],
      ['parameter_invalid deposit.receivables[0].amount', at('receivables', 0, 'amount')],
      ['parameter_unknown deposit.receivables[2].some_size', at('receivables', 2, 'someSize')],
      ['parameter_invalid_empty deposit.receivables[2].id', at('receivables', 2, 'id')],
      ['parameter_missing deposit.receivables[2].amount', at('receivables', 2, 'amount')],
    ],
  },
  {
    title: 'a receivable with every required parameter missing',
    status: 400,
    path: () => '/v1/receivables',
    body: () => ({ invoice: { amount: '1.00', currency: 'USD' } }),
    field: 'createReceivable',
    input: () => ({ invoice: { amount: '1.00', currency: 'USD' } }),
    problems: [
      ['parameter_missing receivable.currency', at('currency')],
      ['parameter_missing receivable.invoice.creation_date', at('invoice', 'creationDate')],
      ['parameter_missing receivable.invoice.due_date', at('invoice', 'dueDate')],
      ['parameter_missing receivable.invoice.reference_number', at('invoice', 'referenceNumber')],
      ['parameter_missing receivable.purpose_code', at('purposeCode')],
      ['parameter_missing receivable.transaction_type', at('transactionType')],
    ],
  },
  {
    title: 'a receivable with contradictory parameters',
    status: 400,
    path: () => '/v1/receivables',
    body: () => ({
      currency: 'USD',
      invoice: {
        amount: '1.50',
        currency: 'JPY',
        creation_date: '2026-01-31',
        due_date: '2026-02-28',
        reference_number: '1',
      },
      purpose_code: 'P9999',
      transaction_type: 'goods',
      amount_maximum_reconcilable: '0.00',
    }),
    field: 'createReceivable',
    input: () => ({
      currency: 'USD',
      invoice: {
        amount: '1.50',
        currency: 'JPY',
        creationDate: '2026-01-31',
        dueDate: '2026-02-28',
        referenceNumber: '1',
      },
      purposeCode: 'P9999',
      transactionType: 'GOODS',
      amountMaximumReconcilable: '0.00',
    }),
    problems: [
      ['parameter_invalid receivable.invoice.amount', at('invoice', 'amount')],
      ['parameter_invalid receivable.amount_maximum_reconcilable', at('amountMaximumReconcilable')],
      ['parameter_invalid receivable.currency', at('currency')],
      ['parameter_invalid receivable.purpose_code', at('purposeCode')],
    ],
  },
  {
    title: 'a clock that is advanced by zero',
    status: 400,
    path: () => '/v1/test_helpers/clock',
    body: () => ({ advance_seconds: 0 }),
    field: 'advanceTestClock',
    input: () => ({ advanceSeconds: 0 }),
    problems: [['parameter_invalid clock.advance_seconds', at('advanceSeconds')]],
  },
  {
    title: 'an account outside the visibility',
    status: 404,
    path: () => '/v1/accounts/account_0',
    field: 'account',
    args: () => 'id: "account_0"',
    problems: [['resource_missing account.id', ['id']]],
  },
  {
    title: 'two cursors together',
    status: 400,
    path: (c) => `/v1/accounts?starting_after=${c.partner}&ending_before=${c.partner}`,
    field: 'accounts',
    args: (c) => `after: "${c.partner}", before: "${c.partner}"`,
    problems: [['parameter_invalid account.ending_before', ['before']]],
  },
  {
    title: 'a cursor with an unknown id',
    status: 400,
    path: () => '/v1/accounts?starting_after=account_0',
    field: 'accounts',
    args: () => 'after: "account_0"',
    problems: [['parameter_invalid account.starting_after', ['after']]],
  },
  {
    title: 'a cursor that is not a text',
    status: 400,
    path: () => '/v1/accounts?ending_before=%00',
    field: 'accounts',
    args: () => 'before: "\\u0000"',
    problems: [['parameter_invalid account.ending_before', ['before']]],
  },
  {
    title: 'an unknown filter, together with an invalid value of another one',
    status: 400,
    path: () => '/v1/accounts?some_colour=red&status=draft,gone',
    field: 'accounts',
    args: () => 'someColour: "red", status: [DRAFT, GONE]',
    problems: [
      ['parameter_unknown account.some_colour', ['someColour']],
      ['parameter_invalid account.status', ['status', 1]],
    ],
  },
  {
    title: 'a write with a key of permission read, for any input',
    speaker: (c) => c.reader,
    status: 403,
    path: () => '/v1/accounts',
    body: () => ({ type: 5 }),
    field: 'createAccount',
    input: () => ({ type: 5 }),
    problems: [['permission_denied undefined']],
  },
  {
    title: 'a list that only platforms have',
    status: 403,
    path: () => '/v1/account_settings/connected',
    field: 'connectedAccountSettings',
    args: () => '',
    problems: [['permission_denied undefined']],
  },
  {
    title: 'acting for another account without being a platform',
    speaker: (c) => c.user.actingFor(c.partner),
    status: 403,
    path: () => '/v1/accounts',
    field: 'accounts',
    args: () => '',
    problems: [['permission_denied On-Behalf-Of']],
  },
  {
    title: 'acting for an unknown account',
    speaker: (c) => c.platform.actingFor('account_0'),
    status: 404,
    path: () => '/v1/accounts',
    field: 'accounts',
    args: () => '',
    problems: [['resource_missing On-Behalf-Of']],
  },
  {
    title: 'no valid key',
    speaker: (c) => c.user.using('sk_test_0'),
    status: 401,
    path: () => '/v1/accounts',
    field: 'accounts',
    args: () => '',
    problems: [['api_key_invalid undefined']],
  },
];
