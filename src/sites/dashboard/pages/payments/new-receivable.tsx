import { Link } from 'wouter';

interface NewReceivableProps {
  paymentId: string;
  /** Whether it leads back to the list of what is to be reconciled. */
  fromList?: boolean;
  className?: string;
}

/** The way to a receivable that is filled in from a payment, and chosen for it when it is made. */
export function NewReceivable({ paymentId, fromList = false, className }: NewReceivableProps) {
  const from = { payment: paymentId, ...(fromList && { from: 'list' }) };
  return (
    <Link href={`/receivables/new?${new URLSearchParams(from)}`} className={className}>
      New receivable
    </Link>
  );
}
