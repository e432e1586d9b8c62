export interface Point {
  readonly second: number;
  readonly value: number;
}

const HEIGHT = 8;

/** A curve as text: columns are points, the left edge names the scale. Pure. */
export function chart(points: readonly Point[], unit: string, width = 72): string {
  const columns = squeeze(points, width);
  const top = Math.max(...columns.map(({ value }) => value), 1);
  const rows = Array.from({ length: HEIGHT }, (_, row) => {
    const floor = (top * (HEIGHT - row - 1)) / HEIGHT;
    const label = row === 0 ? `${Math.round(top)} ${unit}` : row === HEIGHT - 1 ? `0` : '';
    return `${label.padStart(10)} │${columns.map(({ value }) => (value > floor ? '█' : ' ')).join('')}`;
  });
  const last = columns.at(-1)?.second ?? 0;
  return [...rows, `${''.padStart(10)} └${'─'.repeat(columns.length)} ${last.toFixed(0)} s`].join('\n');
}

/** At most `width` points: the highest of each stretch. */
function squeeze(points: readonly Point[], width: number): Point[] {
  const size = Math.max(1, Math.ceil(points.length / width));
  const stretches = Array.from({ length: Math.ceil(points.length / size) }, (_, index) =>
    points.slice(index * size, (index + 1) * size),
  );
  return stretches.map((stretch) => stretch.reduce((high, point) => (point.value > high.value ? point : high)));
}
