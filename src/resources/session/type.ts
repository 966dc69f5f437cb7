import { registerEnumType, Field, ID, ObjectType } from 'type-graphql';
import { SessionRole } from './table.js';
import { Node } from '../../types/relay-node.js';
import { DateTime } from '../../types/scalars.js';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';

registerEnumType(SessionRole, {
  name: 'SessionRole',
  description: 'What a session may do. No session manages API keys, sessions, addresses or account settings.',
  valuesConfig: { READ: { description: 'May only read.' }, OPERATE: { description: 'May read and write.' } },
});

/** A session, without its token. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'A session: a short-lived token for a browser. Its token is shown once, when the session is created.',
})
export class Session extends Node {
  @Field(() => DateTime, { description: 'When the session was created.' })
  created: number;
  @Field(() => Boolean, { description: 'Whether the session is of live mode: that of the API key that made it.' })
  livemode: boolean;
  @Field(() => ID, { description: 'The account that the session acts as.' })
  accountId: string;
  @Field(() => ID, { description: 'The API key that made the session. The session ends when this key does.' })
  apiKeyId: string;
  @Field(() => SessionRole, { description: 'What the session may do.' })
  role: SessionRole;
  @Field(() => [String], {
    description: 'The origins whose pages may use the session; empty when every origin that the gateway admits may.',
  })
  allowedOrigins: string[];
  @Field(() => DateTime, { description: 'When the session expires, at the latest.' })
  expiresAt: number;
  @Field(() => DateTime, { nullable: true, description: 'When the session was revoked; null when it was not.' })
  revokedAt: number | null;
}

export const SessionConnection = connectionOf('Session', () => Session);

@ObjectType({ simpleResolvers: true, description: 'The new session with its token, which is shown only once.' })
export class CreateSessionPayload {
  @Field(() => Session, { description: 'The new session.' })
  session: Session;
  @Field(() => String, {
    nullable: true,
    description: 'The token itself, shown only once. Null when the response is a replay.',
  })
  token?: string | null;
}

export const RevokeSessionPayload = payloadOf('RevokeSession', 'session', Session);
