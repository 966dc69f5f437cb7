import { html } from 'ghtml';

/** Icons of 20 × 20 that take the colour of their text. */
const paths = {
  check: 'M4.5 10.5l3.5 3.5 7.5-8',
  alert: 'M10 6.2v4.6M10 13.6v.1M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15z',
  copy: 'M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3',
  print: 'M6 8V3.5h8V8M6 14.5H3.5V8h13v6.5H14M6 12h8v4.5H6z',
  clock: 'M10 5.8v4.4l2.8 1.8M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15z',
  cross: 'M6 6l8 8M14 6l-8 8',
  lock: 'M5 9h10v7.5H5zM7 9V6.5a3 3 0 0 1 6 0V9',
} as const;

/** An icon of a line. Screen readers skip it. */
export function icon(name: keyof typeof paths): string {
  return html`<svg class="icon" viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor"
    stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path
    d="${paths[name]}"/></svg>`;
}

const words = (text: string, color: string, size: number) =>
  `<text x="17" y="15.5" text-anchor="middle" font-size="${size}" font-weight="800" font-style="italic" ` +
  `fill="${color}">${text}</text>`;

/** Simple marks of the card brands, drawn here, by the name that a card's details have. */
const brands: Record<string, string> = {
  visa: words('VISA', '#1a3a8f', 11.5),
  mastercard:
    '<circle cx="13.5" cy="11" r="6.2" fill="#e2231a"/><circle cx="20.5" ' +
    'cy="11" r="6.2" fill="#f5a31b" fill-opacity="0.85"/>',
  rupay: words('RuPay', '#0f6b3c', 9.5),
  'american-express': words('AMEX', '#0a6bb3', 9.5),
};

/** The marks of all brands. The script shows only that of the number that the payer types. */
export function brandMarks(): string {
  const marks = Object.entries(brands).map(
    ([name, inside]) =>
      html`<svg class="${name}" viewBox="0 0 34 22" width="34" height="22"><rect x="0.5" y="0.5" width="33" height="21"
        rx="3" fill="#fff" stroke="#cdd5da"/>!${inside}</svg>`,
  );
  return html`<span class="brands" aria-hidden="true">!${marks}</span>`;
}
