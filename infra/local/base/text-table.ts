const isNumber = (cell: string): boolean => /^-?[\d,]+(\.\d+)?$/.test(cell);

/** Columns as wide as their widest cell, two spaces between them, numbers to the right; ends with an empty line. */
export function textTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = header.map((title, index) => {
    const cells = rows.map((row) => row[index] ?? '');
    const width = Math.max(title.length, ...cells.map((cell) => cell.length));
    const isNumeric = cells.length > 0 && cells.every(isNumber);
    return (cell: string): string => (isNumeric ? cell.padStart(width) : cell.padEnd(width));
  });
  const line = (row: readonly string[]): string =>
    columns
      .map((pad, index) => pad(row[index] ?? ''))
      .join('  ')
      .trimEnd();
  return [line(header), ...rows.map(line), ''].join('\n');
}
