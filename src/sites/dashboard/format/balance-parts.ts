/** The parts of a balance as pages call them, by their fields in the graph. */
export const balanceParts = {
  pending: 'Not reconciled',
  available: 'Available',
  processing: 'Processing',
  payoutProcessing: 'In payout',
  feeAdvance: 'Advance for fees',
} as const;
