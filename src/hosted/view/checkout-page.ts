import { html } from 'ghtml';
import type { TransactionRow } from '../../resources/transaction/table.js';
import { type Session, type State, stateKey } from '../session.js';
import { money, payeeName, known, day, time, reason, method } from './text.js';
import { awaiting } from './upi.js';
import type { PageOptions } from './options.js';
import { forms } from './forms.js';
import { layout } from './layout.js';
import { mayPay, leave, look } from './parts.js';

type AttemptState = Extract<State, { attempt: TransactionRow }>;
type PlainState = Exclude<State, AttemptState>;
/** What a page says in a state. */
interface View<S> {
  heading: (session: Session, state: S) => string;
  body: (session: Session, state: S, options: PageOptions) => string;
}

/** The page of a checkout. */
export function checkoutPage(session: Session, state: State, options: PageOptions): string {
  const { checkout } = session;
  const { heading, body } =
    'attempt' in state
      ? rendered(attemptViews[state.name], session, state, options)
      : rendered(plainViews[state.name], session, state, options);
  const forms = state.name === 'summary' || state.name === 'declined';
  const failed = (options.card && forms) || (options.vpaError && state.name === 'awaiting');
  return layout({
    title: `${failed ? 'Error: ' : ''}${heading}`,
    assets: options.assets,
    banner: checkout.livemode ? undefined : 'Test mode: no money moves.',
    header: header(session, options),
    main: html`<main data-state="${stateKey(state)}" data-path="${options.path}">
      <div class="pay">
        <h1 tabindex="-1">${heading}</h1>
        !${body}
      </div>
      !${summary(session, state, options)}
    </main>`,
  });
}

function rendered<S>({ heading, body }: View<S>, session: Session, state: S, options: PageOptions) {
  return { heading: heading(session, state), body: body(session, state, options) };
}

function header(session: Session, { path }: PageOptions): string {
  const name = payeeName(session);
  const logo = session.logo
    ? html`<img src="${path}/logo" alt="" width="48" height="48">`
    : html`<span class="initial" aria-hidden="true">${[...name][0] ?? ''}</span>`;
  return html`<header>!${logo}<p class="payee">${name}</p></header>`;
}

/** The summary of the amount and the invoices that it pays. */
function summary(session: Session, state: State, options: PageOptions): string {
  const { checkout, receivables, payee } = session;
  const fee = checkout.grossAmount - checkout.amount;
  const legal = payee.businessDetails.legalName;
  const invoiced = receivables.reduce((sum, { invoice }) => sum + BigInt(invoice.amount), 0n);
  // While a payment is in progress, the page must not hurry the payer into another one.
  const due = (state.name === 'summary' || state.name === 'declined') && mayPay(session, options);
  return html`<section class="summary" aria-labelledby="summary">
    <h2 id="summary">Summary</h2>
    <dl>
      !${legal ? html`<div><dt>To</dt><dd>${legal}</dd></div>` : ''}
      !${fee > 0n ? html`<div><dt>Amount</dt><dd>${money(checkout.amount)}</dd></div><div><dt>Fee</dt><dd>${money(fee)}</dd></div>` : ''}
      <div class="total"><dt>Total</dt><dd>${money(checkout.grossAmount)}</dd></div>
    </dl>
    <h3>${receivables.length === 1 ? 'Invoice' : 'Invoices'}</h3>
    <ul>
      !${receivables.map(
        ({ invoice }) => html`<li>
          <span class="reference">${invoice.referenceNumber}</span>
          <span class="sum">${money(invoice.amount)}</span>
          <span class="due">Due ${day.format(new Date(invoice.dueDate))}</span>
        </li>`,
      )}
    </ul>
    !${checkout.amount < invoiced ? html`<p class="part">Part payment: ${money(checkout.amount)} of ${money(invoiced)}</p>` : ''}
    !${due ? html`<p class="left">Pay by !${time(checkout.expiresAt)}<span data-left="${checkout.expiresAt - checkout.now}"></span></p>` : ''}
  </section>`;
}

/** The states without an attempt. */
const plainViews: Record<PlainState['name'], View<PlainState>> = {
  summary: {
    heading: (s) => `Pay ${money(s.checkout.grossAmount)} to ${payeeName(s)}`,
    body: (session, _, options) => html`!${forms(session, options)}!${leave(session, 'Return without paying')}`,
  },
  expired: {
    heading: () => 'This payment link has expired',
    body: (session) => html`
    <p>It was valid until !${time(session.checkout.expiresAt)}. Please ask ${payeeName(session)} for a new link.</p>
    <p class="hint">${justPaid}</p>
    !${leave(session, 'Return')}`,
  },
  cancelled: {
    heading: () => 'This payment request was cancelled',
    body: (session) => html`
    <p>${payeeName(session)} cancelled it, so there is nothing to pay here.</p>
    <p class="hint">${justPaid}</p>
    !${leave(session, 'Return')}`,
  },
};

/** The states with an attempt. */
const attemptViews: Record<AttemptState['name'], View<AttemptState>> = {
  awaiting: { heading: (s) => `Pay ${money(s.checkout.grossAmount)} with your UPI app`, body: awaiting },
  confirming: {
    heading: () => 'Confirming your payment',
    body: (_, state, options) => html`
    <div class="busy" aria-hidden="true"></div>
    <p>We are waiting for the bank to confirm your payment with the !${method(state.attempt)}. Please do not pay again.</p>
    !${look(options)}
    <p class="hint">You can close this page and open the same link later to see the result.</p>`,
  },
  declined: {
    // When the time of an attempt is over, it is not certain yet that the attempt has failed.
    heading: (_, { attempt }) => {
      if (known(attempt)) return 'Your payment did not go through';
      return attempt.paymentMethodDetails ? 'We could not confirm your payment' : 'This UPI code has expired';
    },
    body: (session, state, options) => html`
    <div class="notice bad" role="alert"><p>${reason(state.attempt)}</p></div>
    !${forms(session, options)}!${leave(session, 'Return without paying')}`,
  },
  paid: { heading: () => 'Payment received', body: paid },
};

const justPaid =
  'If you have just paid, your payment is not lost: this page will show it as soon as the bank confirms it.';

function paid(session: Session, { attempt }: { attempt: TransactionRow }): string {
  const { checkout, paidAt } = session;
  const twice = session.attempts.some((t) => t.reasonCode === 'duplicate');
  const late = { expired: 'the link had expired', cancelled: 'the request was cancelled' } as Record<string, string>;
  const after = late[checkout.status];
  return html`<div class="tick" aria-hidden="true"></div>
    <p>You paid <b>${money(checkout.grossAmount)}</b> to ${payeeName(session)}.</p>
    !${after ? html`<p class="notice">Your payment arrived after ${after}. ${payeeName(session)} has received it all the same.</p>` : ''}
    !${twice ? html`<p class="notice">We received a second payment for this request. It will be refunded to you.</p>` : ''}
    <dl class="receipt">
      !${paidAt === null ? '' : html`<div><dt>Date</dt><dd>!${time(paidAt)}</dd></div>`}
      <div><dt>Paid with</dt><dd>!${method(attempt)}</dd></div>
      <div><dt>Reference</dt><dd>${attempt.id}</dd></div>
    </dl>
    <p class="return" data-return="30"></p>
    !${leave(session, `Return to ${payeeName(session)}`, true)}`;
}
