import { type BusinessType } from '../support/onboarding-profile.js';
import { must, type Speaker } from '../support/world.js';

export const number = 'ABCPE1234F';
export const create = (speaker: Speaker, body: object) => speaker.post('/v1/persons', body);

/** A connected user in draft with this type of business. */
export async function userOf(platform: Speaker, type: BusinessType): Promise<string> {
  const made = await must(
    platform.graph(
      'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }',
      { input: { businessDetails: { type: type.toUpperCase() } } },
    ),
  );
  return made.data.createConnectedUser.account.id;
}
