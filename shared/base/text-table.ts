export interface TextTableOptions {
  /** Sets columns to the right whose cells, below the first row, are all numbers. Default false: all to the left. */
  readonly numbersToTheRight?: boolean;
}

const isNumber = (cell: string): boolean => /^-?[\d,]+(\.\d+)?$/.test(cell);

/** Columns as wide as their widest cell, two spaces between them, no space at the end of a line. */
export function textTable(
  rows: readonly (readonly string[])[],
  { numbersToTheRight = false }: TextTableOptions = {},
): string {
  const columnCount = Math.max(0, ...rows.map((row) => row.length));
  const pads = Array.from({ length: columnCount }, (_, column) => {
    const cells = rows.map((row) => row[column] ?? '');
    const width = Math.max(...cells.map((cell) => cell.length));
    const isNumeric = numbersToTheRight && cells.length > 1 && cells.slice(1).every(isNumber);
    return (cell: string): string => (isNumeric ? cell.padStart(width) : cell.padEnd(width));
  });
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => pads[column]?.(cell) ?? cell)
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}
