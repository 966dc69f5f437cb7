import { InputType, Field, ID, Int } from 'type-graphql';
import { SessionRole } from './table.js';

export const secondsDefault = 15 * 60;
export const secondsMax = 12 * 3600;
export const originsMax = 20;

@InputType({ description: 'Creates a session.' })
export class CreateSessionInput {
  @Field(() => ID, {
    nullable: true,
    description: 'The account that the session acts as: the acting account by default, or a connected user.',
  })
  accountId?: string | null;
  @Field(() => SessionRole, { description: 'What the session may do.' })
  role: SessionRole;
  @Field(() => Int, {
    nullable: true,
    description:
      `Seconds until it expires: ${secondsDefault} by default, ${secondsMax} at most, and never later than the ` +
      'API key.',
  })
  expiresInSeconds?: number | null;
  @Field(() => [String], {
    nullable: true,
    description:
      'The origins whose pages may use the session, such as `https://app.example.com`. By default every origin ' +
      'that the gateway admits, and clients that are no browser.',
  })
  allowedOrigins?: string[] | null;
}

@InputType({ description: 'Names the session to be revoked.' })
export class RevokeSessionInput {
  @Field(() => ID, { description: 'The id of the session.' })
  id: string;
}
