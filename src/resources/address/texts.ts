/** Descriptions of the details of a bank account, which its type and its input share. Spec: Address, `bank_account`. */
export const bankAccountTexts = {
  bankName: 'The name of the bank.',
  domesticCredit: 'The routing code for domestic credits, such as an ACH routing number or an IFSC.',
  domesticDebit: 'The routing code for domestic debits, such as an ACH routing number.',
  domesticFastCredit: 'The routing code for domestic credits that arrive at once.',
  domesticWire: 'The routing code for domestic wire transfers.',
  globalWire: 'The SWIFT/BIC code for international wire transfers, such as `HDFCINBB`.',
  iban: 'The international bank account number (IBAN).',
  number: 'The account number.',
} as const;

/** Descriptions of the states of UPI payments. */
export const upiTexts = {
  onetime: 'Whether the address accepts single payments.',
  recurring: 'Whether the address accepts recurring payments.',
} as const;

/** The description of the one document of an address. */
export const documentText = 'The id of a file that proves that the destination belongs to the account.';
