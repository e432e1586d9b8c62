import type { BenchCase, CaseReport } from './case.ts';
import { formatNumber } from './rounds.ts';
import { spreadOf, type Ratio } from './statistics.ts';

/** The text of one case: a table of medians with their spread, then every ratio with its target. */
export function renderCase({ title }: Pick<BenchCase, 'title'>, report: CaseReport): string {
  const heading = `\n${title}\n${'─'.repeat(title.length)}`;
  if (report.kind === 'skipped') return `${heading}\nskipped: ${report.reason}`;
  const rows = report.series.map(({ subject, quantity, values }) => {
    const { median, min, max } = spreadOf(values);
    return [subject, quantity, formatNumber(median), `${formatNumber(min)} – ${formatNumber(max)}`];
  });
  const ratios = report.ratios.map(renderRatio);
  return [heading, table(['', 'quantity', 'median', 'min – max'], rows), ...ratios, ...report.notes].join('\n');
}

export function renderRatio({ name, value, min, max, target, isMet }: Ratio): string {
  const wanted = 'atLeast' in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`;
  const spread = `${min.toFixed(2)} – ${max.toFixed(2)} over the rounds`;
  return `${isMet ? 'PASS' : 'FAIL'}  ${name}: ${value.toFixed(2)}× (target ${wanted}×; ${spread})`;
}

/** Columns as wide as they must be; the first two to the left, numbers to the right. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(head), ...rows.map(line)].join('\n');
}
