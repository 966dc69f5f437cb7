import { held, namesOf } from './statement.js';

/** The keys of an object of the specification, in its order; a key with `:1` or `:2` belongs to one edition. */
export interface ObjectKeys {
  name: string;
  keys: string[];
  tests: string[];
}

const equal = held('equality', 'every object of GET $path is the same through both APIs');
const object = (name: string, keys: string, ...tests: string[]): ObjectKeys => ({
  name,
  keys: namesOf(keys),
  tests: [equal, ...tests],
});

const place = 'line1 line2 city state postal_code country';
const money = 'amount currency';
const kinds = 'connected_user connected_user_partner partner platform user';

/** Spec: Resources and their fields. */
export const objects: ObjectKeys[] = [
  object(
    'Account',
    `id object created livemode type sub_type status nickname address
     business_details {
       legal_name dba email website date_of_incorporation type ids { business tax tax_deduction tax_gst tax_trade }
       physical_address { ${place} } merchant_category_code merchant_size product_category product_description
       estimated_monthly_volume:1 { ${money} }
     }
     capability { multicurrency_exports_v1:1 } logo_id metadata parent_account_id
     supporting_documentation { id_document ownership_structure_document:1 physical_address_document:2 }
     tos_acceptance { ip time user_agent } link`,
    held('account', 'returns the account with exactly the keys of the specification, in its order, in Edition 1'),
    held('connected-user', 'shows exactly the keys of Edition %i, in the specification’s order, at every depth'),
  ),
  object(
    'AccountSetting',
    `id object account_id created livemode metadata address { ${kinds} } address_currency { ${kinds} } live_fx
     payouts { enabled interval monthly_anchor weekly_anchor reason_code_not_enabled }`,
    held('account-setting', 'has exactly the keys of the specification, in its order, in both editions'),
  ),
  object(
    'Address',
    `id object created livemode category type status currency name is_reusable linked_object linked_id
     bank_account {
       bank_name domestic_credit domestic_debit domestic_fast_credit domestic_wire global_wire iban last4 number type
     }
     billing_details { ${place} } supporting_documentation vpa wallet metadata`,
    held('address', 'returns the address, activated at once, Edition %i'),
  ),
  object(
    'Balance',
    `object account_id livemode available { ${money} } pending { ${money} } processing { ${money} }
     payout_processing { ${money} } fee_advance { ${money} }`,
    held('balance', 'has its five compartments at zero in the currency of Edition %i'),
  ),
  object(
    'BalanceTransaction',
    'id object amount currency category created livemode payment_id',
    held('balance', 'have exactly the keys of the specification, with created as a string'),
  ),
  object(
    'Deposit',
    `id object created livemode amount currency from { account_id address_id } to { account_id address_id }
     payment_method payment_method_details reason_code statement_descriptor status metadata`,
    held('deposit', 'shows the keys of a deposit in the order of the specification'),
  ),
  object(
    'Checkout',
    `id object type created expires_at livemode amount gross_amount currency from { account_id } to { account_id }
     payment_methods receivables { id } redirect_url status effective_transaction { id status } metadata`,
    held('checkout-creation', 'returns the complete object, emits its event, and reserves nothing'),
  ),
  object(
    'Receivable',
    `id object created livemode account_id currency amount_locked amount_maximum_reconcilable amount_reconcilable
     amount_settled_payouts deposit_ids_amount_locked description
     invoice { amount creation_date currency document due_date reference_number }
     purpose_code purpose_code_description transaction_type status system_message metadata`,
    held('receivable', 'shows the keys of a receivable in the order of the specification'),
  ),
];

/** Keys that have no field in the graph, and why. */
export const keysWithoutField: Record<string, string> = {
  'Account.parent_account_id': '(null in every account)',
  'Account.link': '(null in every account)',
};

/** The values of a key in the specification; those of one edition alone end in `:1` or `:2`. */
export interface Values {
  /** Keys of objects on /v1, and parameters of routes, that take the values. */
  of: string[];
  graph: string;
  values: string[];
  /** Values that the specification leaves open, and this project has added. */
  added?: string[];
  tests: string[];
}

const reached = held('states', 'is among those of the schema, and none is missing');
const values = (graph: string, of: string[], text: string, tests: string[], added = ''): Values => ({
  ...{ graph, of, values: text.split(' '), tests },
  ...(added && { added: added.split(' ') }),
});

/** Spec: the enumerations of the tables of fields, and States. */
export const enumerations: Values[] = [
  values('AccountType', ['Account.type', 'GET /v1/accounts type'], 'platform user partner', [
    held('cli', 'creates a connected user in one mode, in draft, with one key'),
    reached,
  ]),
  values('AccountSubType', ['Account.sub_type'], 'aggregator:2', [
    held('cli', 'creates %s in both modes, with a key for each that works at once'),
  ]),
  values('AccountStatus', ['Account.status', 'GET /v1/accounts status'], 'draft verifying activated deactivated hold', [
    reached,
    held('account-status', '$from, $move: $to'),
  ]),
  values(
    'AccountAddressState',
    ['Account.address', 'GET /v1/accounts address'],
    'deactivated requested processing activated',
    [reached],
  ),
  values(
    'CapabilityStatus',
    ['Account.capability.multicurrency_exports_v1', 'GET /v1/accounts capability.multicurrency_exports_v1'],
    'pending verifying activated hold',
    [held('account-status', 'follows the status %s in Edition 1')],
  ),
  values(
    'BusinessType',
    ['Account.business_details.type'],
    'company limited_liability_partnership sole_proprietor individual partnership business',
    [held('person-rule', 'of a %s'), held('activation', '$title')],
  ),
  values(
    'PayoutsDisabledReason',
    ['AccountSetting.payouts.reason_code_not_enabled', 'GET /v1/account_settings payouts.reason_code_not_enabled'],
    'account_not_activated platform_hold service_hold',
    [
      held(
        'account-setting-payout',
        'show one reason why they are off: the service’s hold, then no activation, then the platform’s hold',
      ),
    ],
  ),
  values('PayoutInterval', ['AccountSetting.payouts.interval'], 'daily monthly', [reached], 'weekly'),
  values(
    'AddressCategory',
    ['Address.category', 'GET /v1/addresses category'],
    'service_receive user_payout partner_payment service_checkout service_fee_advance',
    [reached],
  ),
  values('AddressType', ['Address.type', 'GET /v1/addresses type'], 'bank_account wallet vpa:2', [reached]),
  values(
    'AddressStatus',
    ['Address.status', 'GET /v1/addresses status'],
    'activated deactivated expired pending_deactivation',
    [reached],
  ),
  values(
    'WalletProvider',
    ['Address.wallet.provider', 'GET /v1/addresses wallet.provider'],
    'affirm afterpay klarna paypal_external',
    [
      held(
        'address-list',
        'finds a wallet of each provider, which a test helper creates for a partner and no other account',
      ),
    ],
  ),
  values(
    'Compartment',
    ['BalanceTransaction.category', 'GET /v1/balance_transactions category'],
    'available fee_advance payout_processing pending processing',
    [reached],
  ),
  values(
    'DepositPaymentMethod',
    ['Deposit.payment_method', 'POST /v1/deposits payment_method'],
    `affirm:1 afterpay:1 check:1 domestic_credit:1 domestic_debit:1 domestic_fast_credit:1 domestic_wire global_wire:1
     klarna:1 card:2 upi:2`.replaceAll(/\s+/g, ' '),
    [held('deposit', 'payment_method %s, of this edition or not')],
  ),
  values(
    'DepositReasonCode',
    ['Deposit.reason_code'],
    'cancelled duplicate general high_risk incorrect_amount poor_image_quality unmatched_details',
    [reached],
  ),
  values('DepositStatus', ['Deposit.status'], 'initialized processing completed cancelled failed reversed', [reached]),
  values('CheckoutPaymentMethod', ['Checkout.payment_methods', 'POST /v1/checkouts payment_methods'], 'cards upi', [
    held('checkout-creation', 'accepts "10" as "10.00", one method, and an empty map as no metadata'),
  ]),
  values(
    'CheckoutStatus',
    ['Checkout.status'],
    'initialized',
    [held('states', 'is among those of the schema, and none is missing')],
    'completed expired cancelled',
  ),
];
