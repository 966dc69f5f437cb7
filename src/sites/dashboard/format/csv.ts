/**
 * A line of a CSV file. A cell that a spreadsheet would run as a formula begins with an apostrophe, since texts of
 * payments come from anybody; amounts, also negative ones, stay as they are.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(text: string): string {
  const isAmount = /^-?\d+(\.\d+)?$/.test(text);
  const safe = /^[=+\-@\t\r\n]/.test(text) && !isAmount ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
