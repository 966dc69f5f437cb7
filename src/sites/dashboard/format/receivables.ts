/** A receivable, as far as its state is asked for. */
interface Dated {
  status: string;
  invoice: { dueDate: string };
}

/** The status of a receivable, or that it is overdue, by the day of the gateway. */
export function stateOf({ status, invoice }: Dated, now: string | undefined): string {
  return status === 'OPEN' && now !== undefined && invoice.dueDate < now.slice(0, 10) ? 'OVERDUE' : status;
}

/** For how many days a receivable is overdue, by the day of the gateway. */
export const daysLate = ({ invoice }: Dated, now: string): number =>
  Math.round((Date.parse(now.slice(0, 10)) - Date.parse(invoice.dueDate)) / 86_400_000);
