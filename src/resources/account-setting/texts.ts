/** Descriptions of the kinds of accounts that are offered receiving addresses. Spec: AccountSetting, `address`. */
export const offerTexts = {
  connectedUser: "Whether a platform's connected users are offered receiving addresses.",
  connectedUserPartner: 'Whether the partners of connected users are offered receiving addresses.',
  partner: "Whether the account's own partners are offered receiving addresses.",
  platform: 'Whether the platform itself is offered receiving addresses.',
  user: 'Whether the user itself is offered receiving addresses.',
} as const;

/** Descriptions of the currencies per kind of account. Spec: AccountSetting, `address_currency`. */
export const offerCurrencyTexts = {
  connectedUser: "The currencies in which a platform's connected users get receiving addresses, such as `[USD]`.",
  connectedUserPartner: 'The currencies in which the partners of connected users get receiving addresses.',
  partner: "The currencies in which the account's own partners get receiving addresses.",
  platform: 'The currencies in which the platform itself gets receiving addresses.',
  user: 'The currencies in which the user itself gets receiving addresses.',
} as const;

/** Descriptions of the members of a setting, which its input shares. */
export const settingTexts = {
  address: 'Which kinds of accounts are offered receiving addresses.',
  addressCurrency: 'The currencies of the receiving addresses, by kind of account.',
  interval: 'How often the account is paid out.',
  autoReconcile:
    'Whether a deposit is reconciled by itself, as soon as it is completed, with the receivable that is its one ' +
    '`exact` match: of the matches of `Deposit.receivableMatches` the one with both the reference and the amount. ' +
    'Nothing happens where there are two of these or none. Off until it is switched on, which also looks at the ' +
    'deposits that wait then. A receivable that is created later is not looked for.',
} as const;
