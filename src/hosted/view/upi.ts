import { html } from 'ghtml';
import { generate } from 'lean-qr';
import { toSvgSource } from 'lean-qr/extras/svg';
import { amountText } from '../../types/scalars.js';
import type { TransactionRow } from '../../resources/transaction/table.js';
import type { Session } from '../session.js';
import type { PageOptions } from './options.js';
import { money, time, hour, payeeName } from './text.js';
import { look, mayPay } from './parts.js';
import { sandboxForm } from './forms.js';

/** The code to scan, the link for a phone, and the same link as text. */
export function awaiting(session: Session, { attempt }: { attempt: TransactionRow }, options: PageOptions): string {
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

/**
 * The link that a UPI app reads. Its reference has at most 35 characters, so it is the attempt's id without the prefix.
 */
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
  // UPI apps expect %20 for a space; URLSearchParams writes a plus sign.
  const query = Object.entries(parameters).filter(([, value]) => value !== '');
  return `upi://pay?${query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
}

/** The first 50 characters of a text: an app shows no more, and the code has no room for more. */
function cut(text: string): string {
  return [...text].slice(0, 50).join('');
}
