import { harmless } from '../../../types/csv-cell.js';

/**
 * A line of a CSV file. What a spreadsheet would run as a formula begins with an apostrophe, as in the gateway's
 * exports, since texts of payments come from anybody; amounts, also negative ones, stay as they are.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(text: string): string {
  const safe = harmless(text);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
