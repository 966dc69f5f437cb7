import { registerEnumType } from 'type-graphql';

export const Mode = { TEST: 'test', LIVE: 'live' } as const;
registerEnumType(Mode, { name: 'Mode', description: 'Test mode uses neither live data nor financial networks.' });
