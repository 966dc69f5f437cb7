import { held, namesOf } from './statement.js';

/** An endpoint of the specification with its parameters: `!` marks a required one, `:1` or `:2` that of one edition. */
export interface Endpoint {
  route: string;
  parameters: string[];
  tests: string[];
}

const called = held('permission', 'can call every operation through each of its APIs, Edition ${edition}');
const sameWrite = held('equality', '%s creates the same object from the same input through both APIs');
const sameObject = held('equality', 'every object of GET $path is the same through both APIs');
const sameList = held('equality', 'the list of GET $path is the same through both APIs');
const endpoint = (route: string, parameters: string, ...tests: string[]): Endpoint => ({
  ...{ route, parameters: namesOf(parameters) },
  tests: [called, ...(tests.length > 0 ? tests : [sameObject])],
});

const settingFilters = `account_id address.connected_user address.connected_user_partner address.partner
  address.platform address.user payouts.enabled payouts.reason_code_not_enabled`;
const listOf = (file: string, title: string) => [sameList, held(file, title)];

/** Spec: Endpoint table, and the sections on each call below it. */
export const endpoints: Endpoint[] = [
  endpoint(
    'POST /v1/accounts',
    'type! business_details! nickname!1 metadata',
    sameWrite,
    held('account', 'names every missing parameter in one response, by edition'),
  ),
  endpoint('GET /v1/accounts/:id', ''),
  endpoint(
    'POST /v1/accounts/:id',
    'business_details logo_id metadata nickname supporting_documentation tos_acceptance:1',
    sameWrite,
    held('connected-user-update', 'returns the complete account with the new values'),
    held('connected-user-update', 'is in Edition 2 one of the acceptance of the terms'),
  ),
  endpoint(
    'GET /v1/accounts',
    'address status type capability.multicurrency_exports_v1:1',
    ...listOf('list-filter', '%s'),
    held('edition', 'is refused with the edition that it belongs to, through both APIs'),
  ),
  endpoint('POST /v1/accounts/:id/activate', '', held('account-status', 'takes no parameters, like activating')),
  endpoint('POST /v1/accounts/:id/deactivate', '', held('account-status', 'takes no parameters, like activating')),
  endpoint('GET /v1/account_settings/:id', ''),
  endpoint(
    'POST /v1/account_settings/:id',
    'address address_currency metadata payouts:1',
    sameWrite,
    held('account-setting', 'merges objects: members that are not sent stay'),
    held('account-setting-payout', 'are not a parameter in Edition 2, for any setting, in either API'),
  ),
  endpoint(
    'GET /v1/account_settings',
    settingFilters,
    ...listOf(
      'account-setting',
      'filters by every switch, which is null for most settings and then matches neither true nor false',
    ),
    held('account-setting', 'filters by whether payouts are on, and why not'),
    held('account-setting', 'filters by several visible accounts at once'),
  ),
  endpoint(
    'GET /v1/account_settings/connected',
    settingFilters,
    ...listOf('account-setting', 'shows a platform only those of its connected users, with the same filters'),
  ),
  endpoint(
    'POST /v1/addresses',
    `category! type! currency! linked_id! linked_object! name! bank_account! billing_details! supporting_documentation
     metadata`,
    sameWrite,
    held('address', 'names every missing parameter in one response, Edition %i'),
    held('address', 'accepts a visible document whose purpose is a proof'),
  ),
  endpoint('GET /v1/addresses/:id', ''),
  endpoint('POST /v1/addresses/:id', 'metadata', held('address-list', 'changes only its metadata, Edition %i')),
  endpoint(
    'GET /v1/addresses',
    'category currency is_reusable linked_id status type wallet.provider vpa.upi.onetime:2 vpa.upi.recurring:2',
    ...listOf('address-list', 'shows those of the acting account, and filters by every field'),
    held('address-list', 'filters by wallet provider and by what a vpa can do'),
  ),
  endpoint('GET /v1/balance', 'account_id'),
  endpoint('GET /v1/balance/aggregate', 'account_id'),
  endpoint('GET /v1/balance_transactions/:id', ''),
  endpoint('GET /v1/balance_transactions', 'category currency payment_id', ...listOf('balance', 'are filtered by %s')),
  endpoint(
    'POST /v1/deposits',
    'amount! currency! from to!2 payment_method!2 statement_descriptor metadata',
    held(
      'deposit',
      'requires only an amount and a currency in Edition 1; goes to the acting account by domestic credit',
    ),
    held('deposit', 'also requires a destination and a method in Edition 2, which accepts INR'),
  ),
  endpoint(
    'POST /v1/checkouts',
    'amount! currency! from! payment_methods! receivables! redirect_url! metadata',
    held('checkout-creation', 'names every missing parameter'),
    held('checkout-creation', 'returns the complete object, emits its event, and reserves nothing'),
  ),
  endpoint('GET /v1/receivables/:id', ''),
  endpoint(
    'POST /v1/receivables/:id',
    'amount_maximum_reconcilable customer_id description metadata',
    held('receivable-change', 'returns the complete receivable, with only the sent fields changed'),
  ),
];

const paged = held(
  'list',
  'of %s continues the previous page, of every size, forward and backward, and equally through both APIs',
);

/** Spec: Shared list parameters: each with the arguments of the graph and its tests. */
export const listParameters: [name: string, graph: string[], ...tests: string[]][] = [
  [
    'limit',
    ['first:', 'last:'],
    held('list', 'of %s has a limit from 1 to 10'),
    held('list', 'of %s has ten objects when no limit is given'),
  ],
  ['starting_after', ['after:'], paged],
  ['ending_before', ['before:'], paged],
  ...['eq', 'gt', 'gte', 'lt', 'lte'].map((bound): [string, string[], string] => [
    `created.${bound}`,
    ['created:'],
    held('list', 'of %s accepts every bound of created, alone and combined'),
  ]),
];

/** Parameters of the specification's lists that it does not have: extensions. */
export const addedParameters = ['scope', 'order_by', 'search', 'metadata.key', 'metadata.value'];
/** Parameters that the service adds to one operation, by its route. */
export const addedTo: Record<string, string[]> = {
  'GET /v1/accounts': ['order_currency'],
  'POST /v1/checkouts': ['expires_in_seconds'],
};
