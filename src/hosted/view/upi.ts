import { html } from 'ghtml';
import { generate } from 'lean-qr';
import { toSvgSource } from 'lean-qr/extras/svg';
import { amountText } from '../../types/scalars.js';
import type { TransactionRow } from '../../resources/transaction/table.js';
import type { Session } from '../session.js';
import type { PageOptions } from './options.js';
import { money, time, hour, payeeName } from './text.js';
import { icon } from './icons.js';
import { look, mayPay } from './parts.js';
import { apps, noUpi, sandboxForm } from './forms.js';

/** The code to scan on a desk, the links to apps on a phone, and the time that is left. */
export function awaiting(session: Session, { attempt }: { attempt: TransactionRow }, options: PageOptions): string {
  const { checkout, address } = session;
  if (!address.vpa) return html`<p class="hint" role="note">${noUpi}</p>!${another(session, options)}`;
  const query = upiQuery(session, attempt);
  const code = toSvgSource(generate(`upi://pay?${query}`), { on: '#000', off: '#fff', padX: 2, padY: 2 });
  const vpa = address.vpa.id;
  const [name = '', host = ''] = vpa.split('@');
  return html`<div class="upi">
    <div class="apps phone">
      <a class="primary app" href="upi://pay?${query}">Open your UPI app</a>
      <p class="others">!${apps.map(
        ({ app, link }) => html`<a class="app" data-app="${app}" href="${link}?${query}">${app}</a>`,
      )}</p>
      <p class="hint">Or scan this code with another phone.</p>
    </div>
    <div class="qr" role="img" aria-label="UPI code: pay ${money(checkout.grossAmount)} to ${vpa}">!${code}</div>
    <div class="how">
      <ol>
        <li class="desk">Scan the code with any UPI app.</li>
        <li class="phone">Open your UPI app.</li>
        <li>Check the amount and the UPI ID, and approve the payment.</li>
        <li>Come back to this page to see the result.</li>
      </ol>
      <dl class="check">
        <div><dt>UPI ID</dt><dd>${name}<wbr>@${host} <button type="button" class="quiet small" data-copy="${vpa}"
        hidden>!${icon('copy')}<span>Copy</span><span class="unseen"> the UPI ID</span></button></dd></div>
      </dl>
      !${countdown(attempt, checkout.now)}
      !${look(options)}
    </div>
  </div>
  !${options.sandbox ? sandboxForm(attempt, options) : ''}
  !${another(session, options)}`;
}

/** The way to the other forms, while an attempt may begin. */
function another(session: Session, options: PageOptions): string {
  if (!mayPay(session, options)) return '';
  return html`<p class="leave"><a class="link" href="${options.path}?pay=again">Pay another way</a></p>`;
}

/** The time until a code expires, as a ring that the script empties and as text. */
function countdown({ created, expiresAt }: TransactionRow, now: number): string {
  const [left, all] = [Math.max(0, expiresAt - now), Math.max(1, expiresAt - created)];
  return html`<div class="time">
    <svg class="ring" viewBox="0 0 40 40" width="40" height="40" aria-hidden="true"><circle cx="20" cy="20" r="17"
    pathLength="100"/><circle data-ring="${all}" cx="20" cy="20" r="17" pathLength="100"
    stroke-dasharray="${Math.round((100 * left) / all)} 100"/></svg>
    <p class="left">Valid until !${time(expiresAt, hour)} <span class="whole" data-left="${left}"
    data-warn="This code expires in 30 seconds. You can get a new one then."></span></p>
  </div>`;
}

/**
 * The query of the link that a UPI app reads. Its reference has at most 35 characters, so it is the attempt's id
 * without the prefix.
 */
function upiQuery(session: Session, attempt: TransactionRow): string {
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
  // UPI apps expect %20 for a space; URLSearchParams writes a plus sign.
  const query = Object.entries(parameters).filter(([, value]) => value !== '');
  return query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
}

/** The first 50 characters of a text: an app shows no more, and the code has no room for more. */
function cut(text: string): string {
  return [...text].slice(0, 50).join('');
}
