import { html } from 'ghtml';
import { amountText } from '../../types/scalars.js';
import type { TransactionRow } from '../../resources/transaction/table.js';
import type { Session } from '../session.js';

const rupees = new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' });
const moment = new Intl.DateTimeFormat('en-IN', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Kolkata' });
export const hour = new Intl.DateTimeFormat('en-IN', { timeStyle: 'short', timeZone: 'Asia/Kolkata' });
export const day = new Intl.DateTimeFormat('en-IN', { dateStyle: 'medium', timeZone: 'UTC' });

/** An amount in Indian notation: ₹1,00,000.00. It formats a text, because a number may lose digits. */
export function money(minor: bigint | string): string {
  return rupees.format(amountText(minor) as `${number}`);
}

/**
 * The amount that the page is about. A long one is smaller on a phone, because a line break would change what is read.
 */
export function hero(minor: bigint): string {
  const text = money(minor);
  const size = text.length > 16 ? 'longest' : text.length > 13 ? 'long' : '';
  return html`<span class="amount ${size}">${text}</span>`;
}

/** A time in Indian time, as HTML with the exact time in its `datetime` attribute. */
export function time(seconds: number, format = moment): string {
  const iso = new Date(seconds * 1000).toISOString();
  return html`<time datetime="${iso}">${format.format(seconds * 1000)} IST</time>`;
}

/** The name by which payers know the payee. */
export function payeeName({ payee }: Session): string {
  return payee.businessDetails.dba || payee.businessDetails.legalName || payee.nickname || 'the payee';
}

/** Whether the reason for a failure is known. Otherwise the attempt's time is over, and money may still arrive. */
export function known({ reasonCode }: TransactionRow): boolean {
  return reasonCode !== null && reasonCode !== 'expired';
}

/** The reason of a failure, for the payer. A payer who may have paid is not invited to pay again. */
export function reason(attempt: TransactionRow): string {
  const { reasonCode, paymentMethod, paymentMethodDetails } = attempt;
  const last4 = paymentMethodDetails?.card?.last4;
  const card = last4 === undefined ? 'card' : `card ending in ${last4}`;
  if (reasonCode === 'insufficient_funds')
    return (
      `There was not enough money in the account${last4 === undefined ? '' : ` of the ${card}`}. You have not ` +
      'been charged.'
    );
  if (reasonCode === 'declined')
    return (
      `${paymentMethod === 'card' ? `The bank declined the ${card}` : 'The payment was declined in the UPI app'}. ` +
      'You have not been charged.'
    );
  return paymentMethodDetails
    ? 'The bank has not answered in time. If money has left your account, do not pay again: this page will show ' +
        'your payment as soon as the bank confirms it.'
    : 'If you have already paid, do not pay again: this page will show your payment as soon as the bank confirms ' +
        'it. Otherwise you can get a new code.';
}

/** The card or UPI address of an attempt, for the payer. */
export function method({ paymentMethodDetails: details, paymentMethod }: TransactionRow): string {
  if (details?.card) return html`card ending in <b>${details.card.last4}</b>`;
  if (details?.upi) return html`UPI ID <b>${details.upi.vpa}</b>`;
  return paymentMethod === 'card' ? 'card' : 'UPI';
}
