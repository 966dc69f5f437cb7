import { type OnboardingProfile } from '../support/onboarding-profile.js';
import { must, Speaker } from '../support/world.js';

export const activate = (speaker: Speaker, id: string) => speaker.post(`/v1/accounts/${id}/activate`);
export const statusOf = async (speaker: Speaker, id: string) => (await must(speaker.get(`/v1/accounts/${id}`))).status;

export const nothing: OnboardingProfile = {
  nickname: false,
  details: {},
  document: null,
  persons: [],
  payoutAddress: false,
};
