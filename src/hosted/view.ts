import { html } from 'ghtml';
import { generate } from 'lean-qr';
import { toSvgSource } from 'lean-qr/extras/svg';
import { amountText } from '../types/scalars.js';
import type { TransactionRow } from '../resources/transaction/table.js';
import { testCards, testVpas } from './acquirer.js';
import type { CardErrors, CardField } from './card.js';
import { attemptsMax } from '../resources/checkout/terms.js';
import { type Session, type State, stateKey } from './session.js';

/** What a page is made with besides its session. */
export interface PageOptions {
  /** The path of the page. */
  path: string;
  /** The addresses of style and script, which change with their content. */
  assets: { css: string; js: string };
  /** A new name for the attempt that a form of this page begins. */
  attemptKey: string;
  /** Whether anybody takes money in this mode. */
  takesMoney: boolean;
  /** What was wrong with a form that was sent, and what of it may be shown again. */
  card?: { errors: CardErrors; expiry: string; name: string };
  vpaError?: string;
  /** Whether there were so many attempts that no other can begin. */
  capped?: boolean;
}

const rupees = new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' });
const moment = new Intl.DateTimeFormat('en-IN', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Kolkata' });
const hour = new Intl.DateTimeFormat('en-IN', { timeStyle: 'short', timeZone: 'Asia/Kolkata' });
const day = new Intl.DateTimeFormat('en-IN', { dateStyle: 'medium', timeZone: 'UTC' });

/** An amount as it is written in India: ₹1,00,000.00. The text has every digit, which a number may not. */
function money(minor: bigint | string): string {
  return rupees.format(amountText(minor) as never);
}

function time(seconds: number, format = moment): string {
  const iso = new Date(seconds * 1000).toISOString();
  return html`<time datetime="${iso}">${format.format(seconds * 1000)} IST</time>`;
}

/** The name that payers know the payee by. */
function payeeName({ payee }: Session): string {
  return payee.businessDetails.dba || payee.businessDetails.legalName || payee.nickname || 'the payee';
}

const headings: Record<State['name'], (session: Session, state: never) => string> = {
  summary: (s) => `Pay ${money(s.checkout.grossAmount)} to ${payeeName(s)}`,
  awaiting: (s) => `Pay ${money(s.checkout.grossAmount)} with your UPI app`,
  confirming: () => 'Confirming your payment',
  // Of an attempt whose time is over nobody knows yet that it has failed.
  declined: (_, { attempt }: { attempt: TransactionRow }) => {
    if (known(attempt)) return 'Your payment did not go through';
    return attempt.paymentMethodDetails ? 'We could not confirm your payment' : 'This UPI code has expired';
  },
  paid: () => 'Payment received',
  expired: () => 'This payment link has expired',
  cancelled: () => 'This payment request was cancelled',
};

/** Whether somebody has said why an attempt failed; otherwise its time is over, and money may come yet. */
function known({ reasonCode }: TransactionRow): boolean {
  return reasonCode !== null && reasonCode !== 'expired';
}

/** The page of a checkout. */
export function checkoutPage(session: Session, state: State, options: PageOptions): string {
  const { checkout } = session;
  const heading = headings[state.name](session, state as never);
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
        !${bodies[state.name](session, state as never, options)}
      </div>
      !${summary(session, state, options)}
    </main>`,
  });
}

/** What a page of one message says, and where it leads. */
export interface Message {
  title: string;
  text: string;
  /** The page of the checkout that it is about, which the script keeps an eye on, and the words of the link there. */
  way?: { path: string; words: string };
}

/** A page without a checkout: an address that is wrong, or a fault. */
export function messagePage(assets: PageOptions['assets'], { title, text, way }: Message): string {
  return layout({
    title,
    assets,
    header: '',
    main: html`<main !${way ? html`data-state="message" data-path="${way.path}"` : ''}>
      <div class="pay">
        <h1 tabindex="-1">${title}</h1>
        <p>${text}</p>
        !${way ? html`<p><a class="primary" href="${way.path}">${way.words}</a></p>` : ''}
      </div>
    </main>`,
  });
}

interface Layout {
  title: string;
  assets: PageOptions['assets'];
  banner?: string | undefined;
  header: string;
  main: string;
}

function layout({ title, assets, banner, header, main }: Layout): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets.css}">
<script src="${assets.js}" type="module"></script>
</head>
<body>
!${banner ? html`<aside class="banner" aria-label="Mode"><p>${banner}</p></aside>` : ''}
!${header}
!${main}
<div id="live" class="unseen" role="status"></div>
<footer><p>Secure payment page by Tidegate. Card numbers are never stored.</p></footer>
</body>
</html>`;
}

function header(session: Session, { path }: PageOptions): string {
  const name = payeeName(session);
  const logo = session.logo
    ? html`<img src="${path}/logo" alt="" width="48" height="48">`
    : html`<span class="initial" aria-hidden="true">${[...name][0] ?? ''}</span>`;
  return html`<header>!${logo}<p class="payee">${name}</p></header>`;
}

/** What is paid, and for what. */
function summary(session: Session, state: State, options: PageOptions): string {
  const { checkout, receivables, payee } = session;
  const fee = checkout.grossAmount - checkout.amount;
  const legal = payee.businessDetails.legalName;
  const invoiced = receivables.reduce((sum, { invoice }) => sum + BigInt(invoice.amount), 0n);
  // While a payment is under way nobody is to be hurried into another.
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

type Body<S> = (session: Session, state: S, options: PageOptions) => string;

const bodies: Record<State['name'], Body<never>> = {
  summary: (session: Session, _: unknown, options: PageOptions) =>
    html`!${forms(session, options)}!${leave(session, 'Return without paying')}`,
  declined: (session: Session, state: { attempt: TransactionRow }, options: PageOptions) => html`
    <div class="notice bad" role="alert"><p>${reason(state.attempt)}</p></div>
    !${forms(session, options)}!${leave(session, 'Return without paying')}`,
  awaiting,
  confirming: (_: Session, state: { attempt: TransactionRow }, options: PageOptions) => html`
    <div class="busy" aria-hidden="true"></div>
    <p>We are waiting for the bank to confirm your payment with the !${method(state.attempt)}. Please do not pay again.</p>
    !${look(options)}
    <p class="hint">You can close this page and open the same link later to see the result.</p>`,
  paid,
  expired: (session: Session) => html`
    <p>It was valid until !${time(session.checkout.expiresAt)}. Please ask ${payeeName(session)} for a new link.</p>
    <p class="hint">${justPaid}</p>
    !${leave(session, 'Return')}`,
  cancelled: (session: Session) => html`
    <p>${payeeName(session)} cancelled it, so there is nothing to pay here.</p>
    <p class="hint">${justPaid}</p>
    !${leave(session, 'Return')}`,
};

const justPaid =
  'If you have just paid, your payment is not lost: this page will show it as soon as the bank confirms it.';

/** Why an attempt failed, for the payer. Who may have paid is not asked to pay again. */
function reason(attempt: TransactionRow): string {
  const { reasonCode, paymentMethod, paymentMethodDetails } = attempt;
  if (reasonCode === 'insufficient_funds')
    return 'There was not enough money in the account. You have not been charged.';
  if (reasonCode === 'declined')
    return `${paymentMethod === 'card' ? 'The bank declined the card' : 'The payment was declined in the UPI app'}. You have not been charged.`;
  return paymentMethodDetails
    ? 'The bank has not answered in time. If money has left your account, do not pay again: this page will show your payment as soon as the bank confirms it.'
    : 'If you have already paid, do not pay again: this page will show your payment as soon as the bank confirms it. Otherwise you can get a new code.';
}

/** What an attempt pays with, for the payer. */
function method({ paymentMethodDetails: details, paymentMethod }: TransactionRow): string {
  if (details?.card) return html`card ending in <b>${details.card.last4}</b>`;
  if (details?.upi) return html`UPI ID <b>${details.upi.vpa}</b>`;
  return paymentMethod === 'card' ? 'card' : 'UPI';
}

/** A page that its reader did not ask for would come while it is read, so without the script it comes by a link. */
function look({ path }: PageOptions): string {
  return html`<noscript><p><a href="${path}">Check the payment status</a></p></noscript>`;
}

/** Whether any form could still begin an attempt. */
function mayPay({ attempts }: Session, { capped, takesMoney }: PageOptions): boolean {
  return takesMoney && !capped && attempts.length < attemptsMax;
}

/** The ways to pay, or why there are none. */
function forms(session: Session, options: PageOptions): string {
  const { paymentMethods } = session.checkout;
  const name = payeeName(session);
  if (!options.takesMoney)
    return html`<div class="notice" role="note">
      <p>${name} cannot accept payments on this page yet. You have not been charged. Please ask ${name} for another way to pay.</p>
    </div>`;
  if (!mayPay(session, options))
    return html`<div class="notice" role="note">
      <p>This link has had too many payment attempts and cannot be used any more. Please ask ${name} for a new link.</p>
    </div>`;
  const ways = paymentMethods.map((way) => (way === 'upi' ? upiForm(options) : cardForm(session, options)));
  return html`!${ways.join(html`<p class="or"><span>or</span></p>`)}`;
}

function upiForm({ path, attemptKey }: PageOptions): string {
  return html`<form method="post" action="${path}/upi">
    <h2>UPI</h2>
    <p class="hint desk">Scan a QR code with any UPI app on your phone.</p>
    <p class="hint phone">Pay with a UPI app on this phone.</p>
    <input type="hidden" name="attempt" value="${attemptKey}-upi">
    <button class="primary">Pay with UPI</button>
  </form>`;
}

interface FieldOptions {
  name: CardField;
  label: string;
  hint?: string;
  autocomplete: string;
  numeric?: boolean;
  value?: string;
  maxlength: number;
  error: string | undefined;
  focus: boolean;
}

function field({ name, label, hint, autocomplete, numeric, value, maxlength, error, focus }: FieldOptions): string {
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  return html`<div class="field">
    <label for="${name}">${label}</label>
    !${hint ? html`<span class="hint" id="${name}-hint">${hint}</span>` : ''}
    !${error ? html`<span class="error" id="${name}-error"><span class="unseen">Error: </span>${error}</span>` : ''}
    <input id="${name}" name="${name}" type="text" autocomplete="${autocomplete}" maxlength="${maxlength}" value="${value ?? ''}" required
      !${numeric ? 'inputmode="numeric"' : 'autocapitalize="words"'} !${described ? html`aria-describedby="${described}"` : ''}
      !${error ? 'aria-invalid="true"' : ''} !${focus ? 'autofocus' : ''} spellcheck="false">
  </div>`;
}

function cardForm({ checkout }: Session, { path, attemptKey, card }: PageOptions): string {
  const errors = card?.errors ?? {};
  const [first] = Object.keys(errors);
  const of = (name: CardField) => ({ name, error: errors[name], focus: first === name });
  return html`<form method="post" action="${path}/card" novalidate>
    <h2>Card</h2>
    !${first ? html`<div class="notice bad" role="alert"><p>Please check the fields marked below. You have not been charged.</p></div>` : ''}
    <input type="hidden" name="attempt" value="${attemptKey}-card">
    !${field({ ...of('number'), label: 'Card number', autocomplete: 'cc-number', numeric: true, maxlength: 23 })}
    <div class="pair">
      !${field({ ...of('expiry'), label: 'Expiry date', hint: 'MM/YY', autocomplete: 'cc-exp', numeric: true, maxlength: 9, value: card?.expiry ?? '' })}
      !${field({ ...of('code'), label: 'Security code', hint: '3 or 4 digits', autocomplete: 'cc-csc', numeric: true, maxlength: 4 })}
    </div>
    !${field({ ...of('name'), label: 'Name on the card', autocomplete: 'cc-name', maxlength: 100, value: card?.name ?? '' })}
    <button class="primary">Pay ${money(checkout.grossAmount)}</button>
    !${checkout.livemode ? '' : testCardsHint()}
  </form>`;
}

function testCardsHint(): string {
  const outcomes = Object.entries(testCards).map(([number, decision]) => {
    const outcome = decision.afterExpiry
      ? 'succeeds late'
      : (decision.reasonCode?.replaceAll('_', ' ') ?? decision.status);
    return html`<li><code>${number.replaceAll(/(\d{4})(?=\d)/g, '$1 ')}</code> ${outcome}</li>`;
  });
  return html`<details class="test"><summary>Test cards</summary><p>With any date to come, any code and any name:</p><ul>!${outcomes}</ul></details>`;
}

/** The code to be scanned, the link for a phone, and the same in words. */
function awaiting(session: Session, { attempt }: { attempt: TransactionRow }, options: PageOptions): string {
  const { checkout, address } = session;
  const link = upiLink(session, attempt);
  const code = toSvgSource(generate(link), { on: '#000', off: '#fff', padX: 2, padY: 2 });
  const left = attempt.expiresAt - checkout.now;
  const [name = '', host = ''] = (address.vpa?.id ?? '').split('@');
  return html`<div class="upi">
    <a class="primary app" href="${link}">Open your UPI app</a>
    <p class="phone hint">Or scan this code with another phone.</p>
    <div class="qr" role="img" aria-label="UPI code: pay ${money(checkout.grossAmount)} to ${address.vpa?.id ?? ''}">!${code}</div>
    <div>
      <ol>
        <li class="desk">Scan the code with any UPI app.</li>
        <li class="phone">Open your UPI app.</li>
        <li>Check the amount and the UPI ID, and approve the payment.</li>
        <li>Come back to this page to see the result.</li>
      </ol>
      <dl class="check">
        <div><dt>Amount</dt><dd>${money(checkout.grossAmount)}</dd></div>
        <div><dt>UPI ID</dt><dd>${name}<wbr>@${host}</dd></div>
      </dl>
      <p class="left">Valid until !${time(attempt.expiresAt, hour)}<span data-left="${left}" data-warn="This code expires in 30 seconds. You can get a new one then."></span></p>
      !${look(options)}
      <details><summary>Show as a link</summary><p><code class="link">${link}</code></p></details>
    </div>
  </div>
  !${checkout.livemode ? '' : sandboxForm(attempt, options)}
  !${mayPay(session, options) ? html`<p><a href="${options.path}?pay=again">Pay another way</a></p>` : ''}`;
}

/** In test mode no bank reads the code: this form stands for the payer's app. */
function sandboxForm(attempt: TransactionRow, { path, vpaError }: PageOptions): string {
  return html`<form class="test" method="post" action="${path}/upi/${attempt.id}" novalidate>
    <h2>Test mode: act as the UPI app</h2>
    <div class="field">
      <label for="vpa">UPI ID</label>
      <span class="hint" id="vpa-hint">${Object.keys(testVpas).join(', ')}</span>
      !${vpaError ? html`<span class="error" id="vpa-error"><span class="unseen">Error: </span>${vpaError}</span>` : ''}
      <input id="vpa" name="vpa" type="text" value="success@test" autocomplete="off" inputmode="email" spellcheck="false" maxlength="100" required
        aria-describedby="vpa-hint${vpaError ? ' vpa-error' : ''}" !${vpaError ? 'aria-invalid="true" autofocus' : ''}>
    </div>
    <button>Pay this code</button>
  </form>`;
}

/** What a UPI app is told. Its reference has at most 35 characters, so it is the attempt's id without the prefix. */
function upiLink(session: Session, attempt: TransactionRow): string {
  const { address, payee, receivables } = session;
  const parameters = {
    pa: address.vpa?.id ?? '',
    pn: cut(payeeName(session)),
    mc: /^\d{4}$/.exec(payee.businessDetails.merchantCategoryCode ?? '')?.[0] ?? '',
    tr: attempt.id.slice(attempt.id.lastIndexOf('_') + 1),
    am: amountText(attempt.amount),
    cu: attempt.currency,
    tn: cut(receivables.map(({ invoice }) => invoice.referenceNumber).join(' ')),
  };
  // Apps want %20 for a space, where a form's encoding has a plus sign.
  const query = Object.entries(parameters).filter(([, value]) => value !== '');
  return `upi://pay?${query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
}

/** As much of a text as an app shows and a code has room for, in whole characters. */
function cut(text: string): string {
  return [...text].slice(0, 50).join('');
}

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

/** Back to where the payer came from, with the checkout's id; what became of it, the payee asks us and not the payer. */
function leave({ checkout }: Session, text: string, primary = false): string {
  const url = new URL(checkout.redirectUrl);
  url.searchParams.set('checkout_id', checkout.id);
  return html`<p class="leave"><a !${primary ? 'class="primary"' : ''} href="${url.href}" data-leave>${text}</a></p>`;
}
