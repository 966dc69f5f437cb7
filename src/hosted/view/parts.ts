import { html } from 'ghtml';
import { attemptsMax } from '../../resources/checkout/terms.js';
import type { Session } from '../session.js';
import type { PageOptions } from './options.js';

/** A link that loads the page again without the script. The page never reloads itself, to not interrupt its reader. */
export function look({ path }: PageOptions): string {
  return html`<noscript><p><a href="${path}">Check the payment status</a></p></noscript>`;
}

/** Whether any form could still begin an attempt. */
export function mayPay({ attempts }: Session, { capped, takesMoney }: PageOptions): boolean {
  return takesMoney && !capped && attempts.length < attemptsMax;
}

/** A link to the payee's site with the checkout's id. It has no status: the payee must query the API for that. */
export function leave({ checkout }: Session, text: string, shape: 'link' | 'button' = 'link'): string {
  const url = new URL(checkout.redirectUrl);
  url.searchParams.set('checkout_id', checkout.id);
  return html`<p class="leave"><a class="${shape}" href="${url.href}" data-leave>${text}</a></p>`;
}
