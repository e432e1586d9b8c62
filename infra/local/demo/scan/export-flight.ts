import type { Cell } from '../../../../shared/model/row.ts';
import type { RowMessages } from '../../../../shared/scan/forms/module-form.ts';

/**
 * The demo's module, as a user writes one: a row becomes the flight that it holds, in JSON. What it cannot read it throws at:
 * what becomes of such a row is for the configuration to say.
 */
const exportFlight: RowMessages = ({ key, cells }) => {
  const of = (column: string): readonly Cell[] => cells.filter(({ qualifier }) => qualifier.toString() === column);
  const flight = {
    flight: key.toString(),
    delays: of('delay').map((cell) => ({ at: String(cell.timestampMicros), minutes: int64(cell) })),
    distances: of('distance').map((cell) => ({ at: String(cell.timestampMicros), miles: int64(cell) })),
    summaries: of('summary').map((cell) => ({ at: String(cell.timestampMicros), text: cell.value.toString() })),
  };
  return [Buffer.from(JSON.stringify(flight))];
};

export default exportFlight;

function int64({ value, qualifier }: Cell): number {
  if (value.length !== 8) throw new Error(`${qualifier.toString()} must have 8 bytes, has ${value.length}`);
  return Number(value.readBigInt64BE());
}
