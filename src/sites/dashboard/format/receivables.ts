/** A receivable, as far as its state is asked for. */
interface Dated {
  status: string;
  invoice: { dueDate: string };
}

/** The status of a receivable, or that it is overdue on a day, which is that of the gateway in the viewer's zone. */
export function stateOf({ status, invoice }: Dated, today: string | undefined): string {
  return status === 'OPEN' && today !== undefined && invoice.dueDate < today ? 'OVERDUE' : status;
}

/** For how many days a receivable is overdue on a day. */
export const daysLate = ({ invoice }: Dated, today: string): number =>
  Math.round((Date.parse(today) - Date.parse(invoice.dueDate)) / 86_400_000);
