import { registerEnumType } from 'type-graphql';

/** How urgent something is. Silent: the words. */
export const AttentionSeverity = { CRITICAL: 'critical', WARNING: 'warning', INFO: 'info' } as const;
export type AttentionSeverity = (typeof AttentionSeverity)[keyof typeof AttentionSeverity];

registerEnumType(AttentionSeverity, {
  name: 'AttentionSeverity',
  description: 'How urgent something is that needs attention.',
  valuesConfig: {
    CRITICAL: { description: 'Money does not move, or is being lost.' },
    WARNING: { description: 'Something waits for the account.' },
    INFO: { description: 'Worth knowing: it waits for somebody else, or nothing is lost by it.' },
  },
});

/** What needs attention. Silent: the words. */
export const AttentionKind = {
  ACCOUNT_DEACTIVATED: 'account_deactivated',
  ACCOUNT_INCOMPLETE: 'account_incomplete',
  ACCOUNT_ON_HOLD: 'account_on_hold',
  ACCOUNT_VERIFYING: 'account_verifying',
  CHECKOUT_EXPIRED: 'checkout_expired',
  DEPOSIT_UNRECONCILED: 'deposit_unreconciled',
  DISPUTE_OPEN: 'dispute_open',
  PAYOUT_FAILED: 'payout_failed',
  PAYOUTS_BLOCKED: 'payouts_blocked',
  RECEIVABLE_OVERDUE: 'receivable_overdue',
  WEBHOOK_FAILING: 'webhook_failing',
} as const;
export type AttentionKind = (typeof AttentionKind)[keyof typeof AttentionKind];

registerEnumType(AttentionKind, {
  name: 'AttentionKind',
  description: 'What needs attention.',
  valuesConfig: {
    ACCOUNT_DEACTIVATED: {
      description:
        'The account that was asked about is deactivated. Accounts below it do not count: they may be closed.',
    },
    ACCOUNT_INCOMPLETE: {
      description: 'A platform or user is a draft. Its `requirements` say what is missing before its activation.',
    },
    ACCOUNT_ON_HOLD: { description: 'A platform or user is on hold: nothing is paid out.' },
    ACCOUNT_VERIFYING: { description: 'A platform or user is being verified.' },
    CHECKOUT_EXPIRED: {
      description:
        'A checkout expired without payment within the last seven days, an invoice of it is open, and no later ' +
        'checkout has that invoice. Edition 2 only.',
    },
    DEPOSIT_UNRECONCILED: { description: 'A deposit has a `pendingRest`, which counts towards no receivable yet.' },
    DISPUTE_OPEN: { description: 'A dispute waits for a response, and its time is not over.' },
    PAYOUT_FAILED: {
      description: 'A payout failed or was returned, and no later payout has taken its money out again.',
    },
    PAYOUTS_BLOCKED: {
      description:
        'Available money of an activated account is not paid out: it was due, and there is no payout address, no ' +
        'rate, a debt or more than the largest payout; or the payouts of the account are disabled. Its ' +
        '`payoutsBlockedBy` says what it is. Of accounts with disabled payouts, 100 are looked at.',
    },
    RECEIVABLE_OVERDUE: { description: 'A receivable is open after its due date; a day ends at midnight in UTC.' },
    WEBHOOK_FAILING: { description: 'Deliveries to a webhook endpoint fail, or it was disabled because they did.' },
  },
});

/** What is to be done. Silent: the words. */
export const AttentionAction = {
  CHECK_PAYOUT_ADDRESS: 'check_payout_address',
  COMPLETE_ACCOUNT: 'complete_account',
  CONTACT_OPERATOR: 'contact_operator',
  FIX_WEBHOOK_ENDPOINT: 'fix_webhook_endpoint',
  RECONCILE: 'reconcile',
  REMIND_CUSTOMER: 'remind_customer',
  RESPOND_TO_DISPUTE: 'respond_to_dispute',
  SEND_NEW_CHECKOUT: 'send_new_checkout',
  UNBLOCK_PAYOUTS: 'unblock_payouts',
  WAIT: 'wait',
} as const;
export type AttentionAction = (typeof AttentionAction)[keyof typeof AttentionAction];

registerEnumType(AttentionAction, {
  name: 'AttentionAction',
  description: 'What is to be done about something that needs attention.',
  valuesConfig: {
    CHECK_PAYOUT_ADDRESS: { description: 'Check the payout address, and replace it if it is wrong.' },
    COMPLETE_ACCOUNT: { description: 'Meet the `requirements` of the account, and activate it.' },
    CONTACT_OPERATOR: { description: "Contact the operator's operations team." },
    FIX_WEBHOOK_ENDPOINT: { description: 'Fix the receiver, and enable the endpoint again if it is disabled.' },
    RECONCILE: { description: 'Reconcile the deposit with receivables: `reconcileDeposit`.' },
    REMIND_CUSTOMER: { description: 'Remind the customer of the invoice.' },
    RESPOND_TO_DISPUTE: { description: 'Submit evidence or accept the dispute.' },
    SEND_NEW_CHECKOUT: { description: 'Create another checkout for the invoice.' },
    UNBLOCK_PAYOUTS: { description: 'Remove what blocks the payouts: `payoutsBlockedBy` of the account names it.' },
    WAIT: { description: 'Nothing: the operator is at work.' },
  },
});

/** How urgent each kind is, and what is to be done about it. */
export const kinds: Readonly<Record<AttentionKind, { severity: AttentionSeverity; nextAction: AttentionAction }>> = {
  account_deactivated: { severity: 'critical', nextAction: 'contact_operator' },
  account_incomplete: { severity: 'warning', nextAction: 'complete_account' },
  account_on_hold: { severity: 'critical', nextAction: 'contact_operator' },
  account_verifying: { severity: 'info', nextAction: 'wait' },
  checkout_expired: { severity: 'info', nextAction: 'send_new_checkout' },
  deposit_unreconciled: { severity: 'warning', nextAction: 'reconcile' },
  dispute_open: { severity: 'critical', nextAction: 'respond_to_dispute' },
  payout_failed: { severity: 'critical', nextAction: 'check_payout_address' },
  payouts_blocked: { severity: 'critical', nextAction: 'unblock_payouts' },
  receivable_overdue: { severity: 'warning', nextAction: 'remind_customer' },
  webhook_failing: { severity: 'warning', nextAction: 'fix_webhook_endpoint' },
};
