import { html } from 'ghtml';
import type { TransactionRow } from '../../resources/transaction/table.js';
import { type Session, type State, stateKey } from '../session.js';
import { money, payeeName, known, time, reason, method } from './text.js';
import { awaiting } from './upi.js';
import type { PageOptions } from './options.js';
import { forms } from './forms.js';
import { icon } from './icons.js';
import { layout } from './layout.js';
import { leave, look } from './parts.js';
import { paid } from './receipt.js';
import { payee, summary } from './summary.js';

type AttemptState = Extract<State, { attempt: TransactionRow }>;
type PlainState = Exclude<State, AttemptState>;
/** What a page says in a state. */
interface View<S> {
  title: (session: Session, state: S) => string;
  /** The heading of the sheet, unless the amount or the receipt has the heading. */
  heading?: (session: Session, state: S) => string;
  body: (session: Session, state: S, options: PageOptions) => string;
}

/** The states in which there is nothing left to pay: the page has one sheet, and no total. */
const single = new Set<State['name']>(['paid', 'expired', 'cancelled']);

/** The page of a checkout. */
export function checkoutPage(session: Session, state: State, options: PageOptions): string {
  const { checkout } = session;
  const { title, heading, body } =
    'attempt' in state
      ? rendered(attemptViews[state.name], session, state, options)
      : rendered(plainViews[state.name], session, state, options);
  const forms = state.name === 'summary' || state.name === 'declined';
  const failed =
    ((options.card || options.cardFieldsError) && forms) || (options.vpaError && state.name === 'awaiting');
  const alone = single.has(state.name);
  return layout({
    title: `${failed ? 'Error: ' : ''}${title}`,
    assets: options.assets,
    banner: checkout.livemode ? undefined : 'Test mode: no money moves.',
    main: html`<main class="${alone ? 'single' : 'split'}" data-state="${stateKey(state)}" data-path="${options.path}">
      !${alone ? payee(session, options) : summary(session, state, options)}
      <div class="pay">
        !${heading === undefined ? '' : html`<h1 tabindex="-1">${heading}</h1>`}
        !${body}
      </div>
    </main>`,
  });
}

function rendered<S>({ title, heading, body }: View<S>, session: Session, state: S, options: PageOptions) {
  return { title: title(session, state), heading: heading?.(session, state), body: body(session, state, options) };
}

/** The states without an attempt. */
const plainViews: Record<PlainState['name'], View<PlainState>> = {
  summary: {
    title: (s) => `Pay ${money(s.checkout.grossAmount)} to ${payeeName(s)}`,
    body: (session, state, options) =>
      html`!${forms(session, state, options)}!${leave(session, 'Return without paying')}`,
  },
  expired: ended(
    'clock',
    'This payment link has expired',
    (session) =>
      html`It was valid until !${time(session.checkout.expiresAt)}. Please ask ${payeeName(session)} for a new link.`,
  ),
  cancelled: ended(
    'cross',
    'This payment request was cancelled',
    (session) => html`${payeeName(session)} cancelled it, so there is nothing to pay here.`,
  ),
};

/** A state in which the checkout has ended unpaid: one sentence and one button. */
function ended(sign: 'clock' | 'cross', words: string, sentence: (session: Session) => string): View<PlainState> {
  return {
    title: () => words,
    body: (session) => html`<div class="result">
      <div class="tick none">!${icon(sign)}</div>
      <h1 tabindex="-1">${words}</h1>
      <p>!${sentence(session)}</p>
      <p class="hint">${justPaid}</p>
    </div>
    !${leave(session, `Return to ${payeeName(session)}`, 'button')}`,
  };
}

/** A heading that is also the title of its page. */
function titled(words: AttemptView['title']): Pick<AttemptView, 'title' | 'heading'> {
  return { title: words, heading: words };
}

type AttemptView = View<AttemptState>;

/** The states with an attempt. */
const attemptViews: Record<AttemptState['name'], AttemptView> = {
  awaiting: {
    title: (s) => `Pay ${money(s.checkout.grossAmount)} with your UPI app`,
    heading: () => 'Pay with your UPI app',
    body: awaiting,
  },
  confirming: {
    title: () => confirming,
    body: (_, state, options) => html`<div class="result">
      <div class="busy" aria-hidden="true"></div>
      <h1 tabindex="-1">${confirming}</h1>
      <p>We are waiting for the bank to confirm your payment with the !${method(state.attempt)}. Please do not pay
      again.</p>
      !${look(options)}
      <p class="hint">You can close this page and open the same link later to see the result.</p>
    </div>`,
  },
  declined: {
    // When the time of an attempt is over, it is not certain yet that the attempt has failed.
    ...titled((_, { attempt }) => {
      if (known(attempt)) return 'Your payment did not go through';
      return attempt.paymentMethodDetails ? 'We could not confirm your payment' : 'This UPI code has expired';
    }),
    // Nothing was refused where the outcome is not known, or where no payment came in time.
    body: (session, state, options) => html`
    <div class="notice ${known(state.attempt) ? 'bad' : 'wait'}"
    role="alert">!${icon('alert')}<p>${reason(state.attempt)}</p></div>
    !${forms(session, state, options)}!${leave(session, 'Return without paying')}`,
  },
  paid: { title: () => 'Payment received', body: paid },
};

const confirming = 'Confirming your payment';
const justPaid =
  'If you have just paid, your payment is not lost: this page will show it as soon as the bank confirms it.';
