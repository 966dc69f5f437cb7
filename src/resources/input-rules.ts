import { accountProblems } from './account/creation.js';
import { settingProblems } from './account-setting/resolver.js';
import { addressProblems } from './address/resolver.js';
import { checkoutProblems } from './checkout/resolver.js';
import { clockProblems } from './clock/resolver.js';
import { depositProblems } from './deposit/resolver.js';
import { apiKeyProblems } from './key/resolver.js';
import { personProblems, personUpdateProblems } from './person/resolver.js';
import type { Problem } from '../request/problems.js';
import { receivableProblems } from './receivable/resolver.js';

/**
 * What is wrong with an operation's parameters by themselves, beyond what their types tell: asked before anything
 * is looked up, and told together with whatever else is wrong. Parameters that are wrong already are absent.
 */
export const checks: Record<string, (input: object) => Problem[]> = {
  createAccount: accountProblems,
  createConnectedUser: accountProblems,
  updateAccount: accountProblems,
  updateAccountSetting: settingProblems,
  createPerson: personProblems,
  updatePerson: personUpdateProblems,
  createAddress: addressProblems,
  createApiKey: apiKeyProblems,
  rotateApiKey: apiKeyProblems,
  createDeposit: depositProblems,
  reconcileDeposit: depositProblems,
  disputeTestDeposit: depositProblems,
  createCheckout: checkoutProblems,
  createReceivable: receivableProblems,
  advanceTestClock: clockProblems,
};
