import { Download } from 'lucide-react';
import { useRef, useState } from 'react';
import { type CombinedError, useClient } from 'urql';
import { csvLine } from '../../format/csv';
import { counted } from '../../format/words';
import { save } from '../../graph/files';
import { pagesOf } from '../../graph/pages';
import { failureOf } from '../../graph/write';
import { Problem } from '../../parts/problem';
import { nameOf } from '../../session';
import { ExportedPaymentsQuery, type Filters, type Payment } from './query';

const head = ['id', 'received', 'from', 'to', 'method', 'status', 'descriptor', 'amount', 'open', 'currency'];

/** A payment as a line of the file. Amounts are as the graph has them. */
function lineOf(payment: Payment): string {
  const { id, created, fromAccount, toAccount, method, status, statementDescriptor: text } = payment;
  const [from, to] = [fromAccount && nameOf(fromAccount), toAccount && nameOf(toAccount)];
  const facts = [id, created, from ?? '', to ?? '', method, status, text];
  return csvLine([...facts, payment.amount, payment.pendingRest, payment.currency]);
}

/** Saves all payments that the filters select as a CSV file, page by page. */
export function Export({ variables }: { variables: Filters }) {
  const client = useClient();
  const [count, setCount] = useState<number | null>(null);
  const [error, setError] = useState<CombinedError>();
  const stopped = useRef(false);
  const run = async () => {
    stopped.current = false;
    setError(undefined);
    setCount(0);
    const lines = [csvLine(head)];
    try {
      for await (const page of pagesOf(client, ExportedPaymentsQuery, variables, ({ deposits }) => deposits)) {
        if (stopped.current) return;
        lines.push(...page.nodes.map(lineOf));
        setCount(lines.length - 1);
      }
      save(new Blob(lines, { type: 'text/csv' }), 'payments.csv');
    } catch (caught) {
      setError(caught as CombinedError);
    } finally {
      setCount(null);
    }
  };
  if (count !== null) {
    return (
      <>
        <span className="hint" role="status">
          {counted(count, 'payment')} …
        </span>
        <button type="button" className="button" onClick={() => (stopped.current = true)}>
          Stop
        </button>
      </>
    );
  }
  return (
    <>
      {error && <Problem error={failureOf(error)} />}
      <button type="button" className="button" onClick={() => void run()}>
        <Download aria-hidden /> Export CSV
      </button>
    </>
  );
}
