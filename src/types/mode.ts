import { registerEnumType } from 'type-graphql';
import type { Mode as InText } from '../request/mode.js';

export type Mode = InText;
export const Mode = { TEST: 'test', LIVE: 'live' } as const satisfies Record<string, Mode>;
registerEnumType(Mode, {
  name: 'Mode',
  description: 'Whether a request uses test data or real money. The API key decides.',
  valuesConfig: {
    TEST: { description: 'Test mode: no live data and no financial networks.' },
    LIVE: { description: 'Live mode: real money.' },
  },
});
