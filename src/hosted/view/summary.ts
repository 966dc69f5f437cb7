import { html } from 'ghtml';
import type { ReceivableRow } from '../../resources/receivable/table.js';
import type { Session, State } from '../session.js';
import type { PageOptions } from './options.js';
import { mayPay } from './parts.js';
import { day, hero, money, payeeName, time } from './text.js';

/** The number of invoices that the page lists before it folds the others. */
const linesMax = 3;

/** The payee's logo, or the first letter of its name. */
function mark(session: Session, { path }: PageOptions): string {
  return session.logo
    ? html`<img src="${path}/logo" alt="" width="40" height="40">`
    : html`<span class="initial" aria-hidden="true">${[...payeeName(session)][0] ?? ''}</span>`;
}

/** The payee alone, where there is nothing to pay. */
export function payee(session: Session, options: PageOptions): string {
  return html`<header>!${mark(session, options)}<p class="payee">${payeeName(session)}</p></header>`;
}

/** The payee, the amount, and the invoices that the amount pays. A phone shows the invoices on demand. */
export function summary(session: Session, state: State, options: PageOptions): string {
  const { checkout } = session;
  const words = html`<span class="to">Pay <span class="payee">${payeeName(session)}</span></span>
      !${hero(checkout.grossAmount)}`;
  // While a payment is in progress, the page must not hurry the payer into another one.
  const due = (state.name === 'summary' || state.name === 'declined') && mayPay(session, options);
  return html`<section class="summary" aria-label="Summary">
    <header>
      !${mark(session, options)}
      !${
        state.name === 'summary'
          ? html`<h1 class="hero" tabindex="-1">!${words}</h1>`
          : html`<p
        class="hero">!${words}</p>`
      }
    </header>
    <details class="fold">
      <summary>Invoices and total</summary>
      <div class="lines">!${lines(session)}</div>
    </details>
    !${
      due
        ? html`<p class="left">Pay by !${time(checkout.expiresAt)} <span class="whole"
      data-left="${checkout.expiresAt - checkout.now}"></span></p>`
        : ''
    }
  </section>`;
}

/** The invoices with what each receives, the fee, and the total. */
export function lines(session: Session): string {
  const { checkout, receivables, payee } = session;
  const fee = checkout.grossAmount - checkout.amount;
  const legal = payee.businessDetails.legalName;
  const invoiced = receivables.reduce((sum, { invoice }) => sum + BigInt(invoice.amount), 0n);
  const all = receivables.map((receivable) => {
    const receives = session.receives.get(receivable.id) ?? 0n;
    // This payment is paid of the receivable, too, once it is credited.
    return line(receivable, receives, paidOf(receivable) - (checkout.depositId === null ? 0n : receives));
  });
  const [shown, folded] = all.length > linesMax ? [all.slice(0, linesMax - 1), all.slice(linesMax - 1)] : [all, []];
  const received = [...session.receives.values()].reduce((sum, amount) => sum + amount, 0n);
  const rest = checkout.amount - received;
  const paid = receivables.reduce((sum, receivable) => sum + paidOf(receivable), 0n);
  const isRest = paid + (checkout.depositId === null ? received : 0n) >= invoiced;
  return html`<h2>${receivables.length === 1 ? 'Invoice' : 'Invoices'}</h2>
    <ul>!${shown}</ul>
    !${
      folded.length === 0
        ? ''
        : html`<details class="more"><summary>${folded.length} more
      invoices</summary><ul>!${folded}</ul></details>`
    }
    !${rest > 0n ? html`<p class="part">${money(rest)} on account of ${payeeName(session)}</p>` : ''}
    !${
      !isRest && checkout.amount < invoiced
        ? html`<p class="part">Part payment: ${money(checkout.amount)} of ${money(invoiced)}</p>`
        : ''
    }
    <dl>
      !${legal && legal !== payeeName(session) ? html`<div><dt>To</dt><dd>${legal}</dd></div>` : ''}
      !${
        fee > 0n
          ? html`<div><dt>Amount</dt><dd>${money(checkout.amount)}</dd></div>
          <div><dt>Fee</dt><dd>${money(fee)}</dd></div>`
          : ''
      }
      <div class="total"><dt>Total</dt><dd>${money(checkout.grossAmount)}</dd></div>
    </dl>`;
}

/** What is paid of a receivable. */
const paidOf = ({ amountLocked, amountSettledPayouts }: ReceivableRow) => amountLocked + amountSettledPayouts;

/** An invoice with what it receives; with what was paid before where it receives the rest. */
function line({ invoice }: ReceivableRow, receives: bigint, before: bigint): string {
  const amount = BigInt(invoice.amount);
  const paid = before > 0n && before + receives >= amount ? `, ${money(before)} already paid` : '';
  return html`<li>
    <span class="reference">${invoice.referenceNumber}</span>
    <span class="sum">${money(receives)}</span>
    <span class="due">Due ${day.format(new Date(invoice.dueDate))}</span>
    !${receives === amount ? '' : html`<span class="of">of ${money(amount)}${paid}</span>`}
  </li>`;
}
