import { styleText } from 'node:util';
import Table from 'cli-table3';
import { snake } from '../../errors/problems.js';
import { onOneLine } from './visible.js';

export { Table };

/** The terminal that a text is for. */
export interface Terminal {
  /** Its columns. Longer rows are cut. */
  width: number;
  /** Whether it shows colours. */
  colour: boolean;
  /** The time now, in seconds since the epoch: times are shown as ages. */
  now: number;
}

const gap = '  ';
/** Shorter columns, of figures and words, are not cut. */
const wholeMax = 20;
/** No column is cut to less. */
const cutMin = 14;
const none = '';
/** A table without rules. */
export const plain = {
  chars: {
    ...{ top: none, 'top-mid': none, 'top-left': none, 'top-right': none },
    ...{ bottom: none, 'bottom-mid': none, 'bottom-left': none, 'bottom-right': none },
    ...{ left: none, 'left-mid': none, mid: none, 'mid-mid': none, right: none, 'right-mid': none, middle: gap },
  },
};
export const noColours = { head: [], border: [], 'padding-left': 0, 'padding-right': 0 };

/** The lines of a table, without the blanks at their ends. */
export const lines = (text: string): string =>
  `${text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')}\n`;

/**
 * Rows under the names of their columns, with each amount beside its currency. On a terminal a row fits: first ids of
 * related objects are left out, then long texts are cut, then the last columns are left out. An id or a figure is shown
 * whole or not at all.
 */
export function tableOf(list: Record<string, unknown>[], names: readonly string[], terminal?: Terminal): string {
  const isMoney = names.includes('amount') && names.includes('currency');
  let head = names.filter((name) => !isMoney || name !== 'currency');
  const textOf = (row: Record<string, unknown>, name: string) =>
    onOneLine(String(row[name] ?? '')) + (isMoney && name === 'amount' ? ` ${String(row.currency)}` : '');
  const drawn = (colour = false, colWidths?: number[]) => {
    const table = new Table({ ...plain, ...(colWidths && { colWidths }), head: head.map(titleOf), style: noColours });
    for (const row of list)
      table.push(head.map((name) => (colour ? coloured(name, textOf(row, name)) : textOf(row, name))));
    return { text: lines(table.toString()), widths: table.options.colWidths as number[] };
  };
  for (;;) {
    const { text, widths } = drawn();
    if (!terminal) return text;
    const related = head.filter((name, i) => i > 0 && /_id$|^tenant$|^subject$/.test(name));
    const isText = (i: number) => i > 0 && widths[i]! > wholeMax && !related.includes(head[i]!);
    const cut = fitting(widths, isText, terminal.width);
    if (cut || head.length === 1) return drawn(terminal.colour, cut).text;
    head = related.length > 0 ? head.filter((name) => !related.includes(name)) : head.slice(0, -1);
  }
}

const titleOf = (name: string) => snake(name).replaceAll('_', ' ').toUpperCase();

/** The widths with which a row fits when its texts are cut; none if it does not. */
function fitting(natural: readonly number[], isText: (i: number) => boolean, width: number): number[] | undefined {
  const widths = [...natural];
  for (;;) {
    const excess = widths.reduce((sum, each) => sum + each, gap.length * (widths.length - 1)) - width;
    if (excess <= 0) return widths;
    const cuttable = natural.flatMap((_, i) => (isText(i) ? [i] : []));
    const longest = Math.max(0, ...cuttable.map((i) => widths[i]!));
    if (longest <= cutMin) return undefined;
    const most = cuttable.filter((i) => widths[i] === longest);
    const next = cuttable.map((i) => widths[i]!).filter((each) => each < longest);
    const target = Math.max(cutMin, ...next, longest - Math.ceil(excess / most.length));
    for (const i of most) widths[i] = target;
  }
}

const statusColumns = ['status', 'state', 'outcome', 'level'];
const colours = {
  green: ['activated', 'completed', 'succeeded', 'won', 'booked', 'sent', 'ok'],
  yellow: ['pending', 'processing', 'verifying', 'proposed', 'needs_response', 'matched', 'look'],
  red: ['failed', 'returned', 'reversed', 'refused', 'rejected', 'hold', 'lost', 'unmatched', 'now'],
} as const;

function coloured(column: string, text: string): string {
  if (!statusColumns.includes(column)) return text;
  const [colour] = Object.entries(colours).find(([, words]) => (words as readonly string[]).includes(text)) ?? [];
  return colour === undefined ? text : styleText(colour as keyof typeof colours, text, { validateStream: false });
}
