import { held, type Statement } from './statement.js';

const rule = (about: string, graph: string, v1: string, ...tests: string[]): Statement => ({
  about,
  graph: graph.split(', '),
  v1: v1.split(', '),
  tests,
});
const everywhere = ['(every operation)', '(every route)'] as const;
const pairs = held('equality', 'every object of GET $path is the same through both APIs');
const lists = held('equality', 'the list of GET $path is the same through both APIs');
const scope = held('list-filter', '%s');
const statuses = held('permission', 'gets 401 from every route and from the graph, before anything is parsed: ${name}');
const keysOf = held(
  'connected-user',
  'shows exactly the keys of Edition %i, in the specification’s order, at every depth',
);
const limits = held('metadata', 'accepts 10 keys of 40 and values of 500 code points');

/** What the service does; the conventions, metadata and lists; authentication, errors, limits and versions. */
export const generalRules: Statement[] = [
  rule(
    'Service: a REST interface with JSON bodies and the usual verbs and statuses',
    ...everywhere,
    held('contract', 'has exactly the routes of /v1 that the gateway serves'),
    held('attack', 'get no fault of the service, and only answers that the contract describes'),
  ),
  rule(
    'Service: every path begins with /v1',
    '(one path: /graphql)',
    '(every route)',
    held('permission', 'include every route that the server has under /v1, each once'),
  ),
  rule(
    'Service: accounts that receive funds, and addresses that receive or send them',
    'Account, Address',
    'Account, Address',
    pairs,
  ),
  rule(
    'Service: deposits, balances, balance transactions and hosted checkouts; receivables link invoices to funds',
    'Deposit, Balance, BalanceTransaction, Checkout, Receivable.allocations',
    'Deposit, Balance, BalanceTransaction, Checkout, Receivable.deposit_ids_amount_locked',
    held('story', 'goes from a partner to a payout and a dispute, with correct balances and ledger at every step'),
  ),
  rule(
    'Service: the operator creates platforms',
    'AccountType.PLATFORM',
    'Account.type',
    held('cli', 'creates %s in both modes, with a key for each that works at once'),
  ),
  rule(
    'Service: a platform creates its own users and partners',
    'Mutation.createConnectedUser, Mutation.createAccount',
    'POST /v1/accounts/connected, POST /v1/accounts',
    held('connected-user', 'creates the same connected user as the mutation'),
    held('connected-user', 'a platform creates partners that belong to the user, Edition %i'),
  ),
  rule(
    'Service: a user is direct, or connected to the platform that created it',
    'Account.owner',
    'Account.type',
    held(
      'connected-user-update',
      'end where the visibility ends: a connected user finds neither its owner nor other users',
    ),
  ),
  rule(
    'Service: a partner is the counterparty that pays',
    'AccountType.PARTNER, Deposit.fromAccount',
    'POST /v1/checkouts from.account_id',
    held('checkout-creation', 'refuses every payer except a partner of the user that is paid'),
  ),
  rule(
    'Service: an aggregator of Edition 2 is in the flow of the funds',
    'AccountSubType.AGGREGATOR',
    'Account.sub_type',
    held('payout-obstacle', "gets its users' money at once, and its payout settles their locks"),
  ),
  rule(
    'Service: the key decides the mode, and test mode touches no live data',
    'Viewer.mode',
    'Account.livemode',
    held('isolation', 'does not exist in the other mode of the same platform, Edition ${edition}'),
    held('list-filter', 'has one mode: the other mode shows its own objects of the same root'),
  ),
  rule(
    'Service: a list shows what belongs to the context of the caller',
    'Viewer.account',
    '(every list)',
    scope,
    held(
      'isolation',
      'show what the accounts of the acting one own, and nothing else, in each mode, Edition ${edition}',
    ),
  ),
  rule(
    'Conventions: an id has the prefix of its type',
    'Node.id',
    'Account.id, Deposit.id, BalanceTransaction.id',
    pairs,
  ),
  rule('Conventions: `object` names the type', '(__typename)', 'Account.object, Balance.object, Error.object', pairs),
  rule(
    'Conventions: times are whole seconds since 1970',
    'Account.created, Checkout.expiresAt, TosAcceptance.time',
    'Account.created, Checkout.expires_at, Account.tos_acceptance.time',
    pairs,
  ),
  rule(
    'Conventions: amounts are strings with two decimals, next to a currency',
    'Deposit.amount, Deposit.currency',
    'Deposit.amount, Deposit.currency',
    held('money', 'handles the largest amount to the cent in every operation'),
    held('money', "refuses invalid amounts with the parameter's name, and posts nothing"),
  ),
  rule(
    'Conventions: livemode, null for a direct user and a platform',
    'Account.livemode, Deposit.livemode',
    'Account.livemode, Deposit.livemode',
    held('isolation', 'is one account in both modes, with a separate status in each: ${kind}, Edition ${edition}'),
  ),
  rule(
    'Conventions: the dates of an invoice are calendar dates',
    'Invoice.creationDate, Invoice.dueDate',
    'Receivable.invoice.creation_date, Receivable.invoice.due_date',
    held('receivable', 'refuses an invalid %s, and names it'),
  ),
  rule('Conventions: what does not apply is present as null', '(every object)', '(every object)', keysOf, pairs),
  rule(
    'Metadata: accounts, settings, addresses, deposits, checkouts, files and receivables have a map of strings',
    'Account.metadata, AccountSetting.metadata, Address.metadata, Deposit.metadata, Checkout.metadata, ' +
      'File.metadata, Receivable.metadata',
    'Account.metadata, AccountSetting.metadata, Address.metadata, Deposit.metadata, Checkout.metadata, ' +
      'File.metadata, Receivable.metadata',
    held('metadata', 'stores the strings that it gets, and no key with an empty value'),
  ),
  rule(
    'Metadata, Limits: 10 keys of 40 characters, values of 500',
    'Metadata',
    'POST /v1/accounts metadata',
    limits,
    held('metadata', 'refuses more, and names each key'),
  ),
  rule(
    'Metadata: the service makes no decision by them',
    'Metadata',
    'POST /v1/accounts metadata',
    held('metadata', 'stores keys that have a meaning elsewhere, and changes nothing else'),
  ),
  rule(
    'Metadata: no sensitive data belong there',
    'UpdateAddressInput.metadata',
    'POST /v1/addresses/:id metadata',
    held('coverage', 'warns where metadata are sent that they are not for sensitive data'),
  ),
  rule(
    'Metadata: an empty value unsets its key',
    'Metadata',
    'POST /v1/accounts/:id metadata',
    held('metadata', 'allows ten keys in the result, and is refused completely beyond that'),
    held('account-setting', 'has metadata like every object: merged by key, unset by an empty value, at most ten'),
  ),
  rule(
    'List envelope: object, data and has_next, which is false at the end',
    'PageInfo.hasNextPage, AccountConnection.nodes',
    'AccountList.object, AccountList.data, AccountList.has_next',
    lists,
    held('list', 'of %s at the end of the list says so, also when it is empty'),
  ),
  rule('Endpoints: each request has Authorization', ...everywhere, statuses),
  rule(
    'Endpoints: bodies are JSON with that content type',
    '(every operation)',
    '(every POST)',
    held('bad-input', 'is refused and leaves no trace if the body is not a JSON object'),
  ),
  rule(
    'Endpoints: an update is a POST on the path of the object',
    'Mutation.updateAccount',
    'POST /v1/accounts/:id',
    held('permission', 'can call every operation through each of its APIs, Edition ${edition}'),
  ),
  rule(
    'Endpoints: parameters of type array take several values',
    'Query.accounts(status:)',
    'GET /v1/accounts status',
    scope,
  ),
  rule(
    'Endpoints: the update of a receivable answers the whole object',
    'UpdateReceivablePayload.receivable',
    'POST /v1/receivables/:id',
    held('receivable-change', 'returns the complete receivable, with only the sent fields changed'),
  ),
  rule(
    'Endpoints: a successful call is 200',
    ...everywhere,
    held('permission', 'can call every operation through each of its APIs, Edition ${edition}'),
  ),
  rule(
    'Lists are sorted by created, newest first',
    '(every list)',
    '(every list)',
    held(
      'list',
      'of %s continues the previous page, of every size, forward and backward, and equally through both APIs',
    ),
  ),
  rule(
    'Authentication 1: keys begin with sk_test_ or sk_live_, which decides the mode',
    'ApiKey.prefix',
    '(every route)',
    held('key', 'contains its mode, its tenant, randomness and a checksum: ${mode}, Edition ${edition}'),
  ),
  rule(
    'Authentication 2 and 3: HTTP Basic with the key as username, or Bearer',
    ...everywhere,
    held('key', 'is accepted as Bearer and as the username of HTTP Basic, in any case of the scheme'),
  ),
  rule(
    'Authentication 4: HTTPS alone',
    ...everywhere,
    held('process-serving', 'refuses a plain request before it reads the key or the body'),
  ),
  rule(
    'Authentication 5: 401 without a valid key, 403 without the permission',
    ...everywhere,
    statuses,
    held(
      'permission',
      'with permission or role read gets 403 on each write, valid or not: no change, Edition ${edition}',
    ),
  ),
  rule(
    'Authentication 6: keys are secrets, and are managed',
    'Mutation.createApiKey, Mutation.rotateApiKey, Mutation.revokeApiKey',
    '(the graph alone)',
    held('key', 'is nowhere in the database, in any form that the database alone could derive'),
    held('key', 'is shown with its fields, and its secret once'),
  ),
  rule(
    'Authentication 7: the account rules decide who may do what',
    ...everywhere,
    held('permission', 'equal the specification, through ${transport}, Edition ${edition}'),
  ),
  rule(
    'Errors: object, http_status_code and errors with code, message and metadata.field_name',
    '(errors[].extensions.error)',
    'Error.object, Error.http_status_code, Error.errors',
    held('equality', '%s, in %s: the items that /v1 returns'),
    held('attack', 'get no fault of the service, and only answers that the contract describes'),
  ),
  rule(
    'Errors: 400 for what is not acceptable',
    ...everywhere,
    held('equality', '%s, in %s: the items that /v1 returns'),
  ),
  rule(
    'Errors: 401 and 403',
    ...everywhere,
    statuses,
    held('permission', 'may call what the matrix allows, through both APIs: ${kind}, ${mode}, Edition ${edition}'),
  ),
  rule(
    'Errors: 402 for valid parameters whose request failed',
    'Mutation.createDeposit, Mutation.createCheckout',
    'POST /v1/deposits, POST /v1/checkouts',
    held('deposit', 'returns 402 without a usable receiving address, however it is named'),
    held('checkout-creation', 'returns 402 above the amount of the receivables that is not locked by others'),
  ),
  rule(
    'Errors: 404 for what does not exist',
    ...everywhere,
    held('isolation', 'cover every argument that takes an id, on every type'),
  ),
  rule(
    'Errors: 409 for a conflict with another request',
    ...everywhere,
    held(
      'checkout-creation',
      'returns the same response for the same Idempotency-Key, and refuses another request with it',
    ),
  ),
  rule(
    'Errors: 5xx for a fault of the service',
    ...everywhere,
    held('graph-problem', 'is 500 on /v1 and reveals nothing about its cause, in %s'),
    held('graph-problem', 'is masked in the graph, in %s'),
  ),
  rule(
    'Errors: parameter_invalid_empty names the parameter that is empty',
    ...everywhere,
    held('equality', '%s, in %s: the path in the arguments of the GraphQL client'),
  ),
  rule(
    'Limits: a page has 1 to 10 objects, 10 by default',
    'Query.accounts(first:)',
    'GET /v1/accounts limit',
    held('list', 'of %s has a limit from 1 to 10'),
    held('list', 'of %s has ten objects when no limit is given'),
  ),
  rule(
    'Versioning: the version is in the path',
    '(none)',
    '(every route)',
    held('permission', 'include every route that the server has under /v1, each once'),
  ),
  rule(
    'Versioning: two editions, whose differences are marked',
    'Account.edition',
    '(x-edition in the contract)',
    held('edition', 'is refused with the edition that it belongs to, through both APIs'),
    held(
      'conventions',
      'are tables with the same keys in the same order, so that their diff is the list of differences',
    ),
  ),
];
