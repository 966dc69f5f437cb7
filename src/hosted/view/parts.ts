import { html } from 'ghtml';
import { attemptsMax } from '../../resources/checkout/terms.js';
import type { Session } from '../session.js';
import type { PageOptions } from './options.js';

/** A page that its reader did not ask for would come while it is read, so without the script it comes by a link. */
export function look({ path }: PageOptions): string {
  return html`<noscript><p><a href="${path}">Check the payment status</a></p></noscript>`;
}

/** Whether any form could still begin an attempt. */
export function mayPay({ attempts }: Session, { capped, takesMoney }: PageOptions): boolean {
  return takesMoney && !capped && attempts.length < attemptsMax;
}

/** Back to where the payer came from, with the checkout's id; what became of it, the payee asks us and not the payer. */
export function leave({ checkout }: Session, text: string, primary = false): string {
  const url = new URL(checkout.redirectUrl);
  url.searchParams.set('checkout_id', checkout.id);
  return html`<p class="leave"><a !${primary ? 'class="primary"' : ''} href="${url.href}" data-leave>${text}</a></p>`;
}
