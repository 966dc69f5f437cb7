import { registerEnumType } from 'type-graphql';
import type { MessageText } from '../errors/problems.js';

/** Whether a list, a figure or a stream is of an account alone, or also of the accounts below it. Silent: the words. */
export const AccountScope = { SELF: 'self', DESCENDANTS: 'descendants' } as const;
export type AccountScope = (typeof AccountScope)[keyof typeof AccountScope];

registerEnumType(AccountScope, {
  name: 'AccountScope',
  description: 'Whether a list, a figure or a stream is of an account alone, or also of the accounts below it.',
  valuesConfig: {
    SELF: { description: 'Only what belongs to the account itself, or is on its own lists.' },
    DESCENDANTS: {
      description:
        'Also what belongs to the accounts below it: the partners of a user; the users of a platform, their ' +
        'partners and its own.',
    },
  },
});

/** What the argument `scope` of a list does, for clients. */
export const listScopeText =
  'DESCENDANTS lists every object that the caller can see by its id: for a platform, also those of its own partners ' +
  "and of its users' partners. A user's list has those of its partners in any case.";

/** Why a scope is refused where only a platform has accounts below it. */
export const onlyOfPlatforms: MessageText = {
  v1: 'must be self, since only a platform has connected users',
  graph: 'must be SELF, since only a platform has connected users',
};
