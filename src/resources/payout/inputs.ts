import { idInputOf } from '../../types/input.js';

export const SettleTestPayoutInput = idInputOf('SettleTestPayout', 'payout');
export const FailTestPayoutInput = idInputOf('FailTestPayout', 'payout');
