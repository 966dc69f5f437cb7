/** What an approval does that leaves others to approve, or none. */
export const approvedText = (approvalsLeft: number): string =>
  approvalsLeft > 1 ? 'is your proposal now, and waits for another named operator' : 'is approved';
