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
/** No column is cut to less. */
const cutMin = 8;
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

/** Rows under the names of their columns. On a terminal the longest columns but the first are cut until a row fits. */
export function tableOf(list: Record<string, unknown>[], head: readonly string[], terminal?: Terminal): string {
  const drawn = (cells: string[][], more: { colWidths?: number[] } = {}) => {
    const table = new Table({ ...plain, ...more, head: head.map(titleOf), style: noColours });
    table.push(...cells);
    return { text: lines(table.toString()), widths: table.options.colWidths as number[] };
  };
  const cells = list.map((row) => head.map((name) => onOneLine(String(row[name] ?? ''))));
  const { text, widths } = drawn(cells);
  if (!terminal) return text;
  const colours = terminal.colour ? cells.map((row) => row.map((cell, i) => coloured(head[i]!, cell))) : cells;
  return drawn(colours, { colWidths: fitting(widths, terminal.width) }).text;
}

const titleOf = (name: string) => snake(name).replaceAll('_', ' ').toUpperCase();

/** The widths of columns with which a row fits, as far as the first and short ones let it. */
function fitting(natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  const over = () => widths.reduce((sum, each) => sum + each, gap.length * (widths.length - 1)) - width;
  for (;;) {
    const longest = Math.max(...widths.slice(1));
    const excess = over();
    if (excess <= 0 || longest <= cutMin) return widths;
    const others = widths.slice(1).filter((each) => each < longest);
    const many = widths.length - 1 - others.length;
    const target = Math.max(cutMin, ...others, longest - Math.ceil(excess / many));
    for (let i = 1; i < widths.length; i++) if (widths[i] === longest) widths[i] = target;
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
