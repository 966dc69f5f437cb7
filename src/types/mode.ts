import { registerEnumType } from 'type-graphql';

export const Mode = { TEST: 'test', LIVE: 'live' } as const;
registerEnumType(Mode, {
  name: 'Mode',
  description: 'Whether a request uses test data or real money. The API key decides.',
  valuesConfig: {
    TEST: { description: 'Test mode: no live data and no financial networks.' },
    LIVE: { description: 'Live mode: real money.' },
  },
});
