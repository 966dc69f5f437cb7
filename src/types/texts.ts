/** Descriptions in the graph that several types share. */
export const texts = {
  created: 'When the object was created.',
  livemode: 'True for an object of live mode, false for one of test mode.',
  metadata: "The client's own keys and values. Null if there are none.",
  metadataOfNew:
    'Your own keys and values, such as `{ "order": "1042" }`. Do not store ' +
    'sensitive data, such as bank account numbers.',
  metadataChanges:
    'The keys to change, with their new values. Keys that are not named stay as they are. Do not store sensitive data.',
  currency: 'The currency of the amounts of the object, such as `USD`.',
  currencyOfAmount: 'The currency of the amount, such as `USD`.',
  edition1: 'Edition 1 only.',
  edition2: 'Edition 2 only.',
} as const;
