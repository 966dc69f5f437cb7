import { html } from 'ghtml';
import type { TransactionRow } from '../../resources/transaction/table.js';
import type { Session } from '../session.js';
import { icon } from './icons.js';
import { leave } from './parts.js';
import { lines } from './summary.js';
import { hero, method, payeeName, time } from './text.js';

/** How long the page shows the receipt before it returns to the payee. The payer can stay. */
const returnSeconds = 5;
/** The characters of a reference that the page shows; the copied and the printed reference are complete. */
const referenceLength = 10;

/** The result: a receipt to print, and the way back to the payee. */
export function paid(session: Session, { attempt }: { attempt: TransactionRow }): string {
  const { checkout, paidAt } = session;
  const twice = session.attempts.some((t) => t.reasonCode === 'duplicate');
  const late = { expired: 'the link had expired', cancelled: 'the request was cancelled' } as Record<string, string>;
  const after = late[checkout.status];
  return html`<div class="result">
      <div class="tick">!${icon('check')}</div>
      <h1 tabindex="-1">Payment received</h1>
      <p>!${hero(checkout.grossAmount)}</p>
    </div>
    !${
      after
        ? html`<p class="notice">Your payment arrived after ${after}. ${payeeName(session)} has received it all the
          same.</p>`
        : ''
    }
    !${
      twice
        ? html`<p class="notice">We received a second payment for this request. It will be refunded to you.</p>`
        : ''
    }
    <dl class="receipt">
      !${paidAt === null ? '' : html`<div><dt>Date</dt><dd>!${time(paidAt)}</dd></div>`}
      <div><dt>Paid with</dt><dd><span>!${method(attempt)}</span></dd></div>
      <div><dt>Reference</dt><dd>!${reference(attempt.id)}</dd></div>
    </dl>
    <details class="more receipt-lines"><summary>Invoices and total</summary><div
    class="lines">!${lines(session)}</div></details>
    <p class="actions"><button type="button" class="quiet" data-print hidden>!${icon('print')}Print receipt</button></p>
    !${leave(session, `Return to ${payeeName(session)}`, 'button')}
    <p class="return hint" data-return="${returnSeconds}"></p>`;
}

/** The end of a reference with a button that copies it; without a script, and on paper, the whole reference. */
function reference(id: string): string {
  return html`<span class="short" title="${id}">…${id.slice(-referenceLength)}</span><span class="full">${id}</span>
    <button type="button" class="quiet small" data-copy="${id}" hidden>!${icon('copy')}<span>Copy</span><span
    class="unseen"> the reference</span></button>`;
}
