import { expect } from 'vitest';
import { must, type Speaker } from '../support/world.js';

/** The setting of an account, as /v1 shows it to this client. */
export async function settingOf(speaker: Speaker, accountId: string) {
  const list = await must(speaker.get(`/v1/account_settings?account_id=${accountId}`));
  expect(list.data).toHaveLength(1);
  return list.data[0];
}
export const update = (speaker: Speaker, id: string, body: object) => speaker.post(`/v1/account_settings/${id}`, body);
