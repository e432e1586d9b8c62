import { expect, test } from 'vitest';
import exportFlight from '../../../../../infra/local/demo/scan/export-flight.ts';
import type { Cell } from '../../../../../shared/model/row.ts';

const cell = (qualifier: string, timestampMicros: bigint, value: Buffer): Cell => ({
  ...{ family: 'flight', qualifier: Buffer.from(qualifier), timestampMicros, value, labels: [] },
});
const int64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
};

test('a row becomes the flight that it holds, every version of a column with its time', () => {
  const cells = [
    cell('delay', 2n, int64(-5n)),
    cell('delay', 1n, int64(0n)),
    cell('distance', 2n, int64(300n)),
    cell('summary', 2n, Buffer.from('300 miles')),
  ];
  const [message] = exportFlight({ key: Buffer.from('00#1'), cells, bytes: 0 });
  expect(JSON.parse((message as Buffer).toString())).toEqual({
    flight: '00#1',
    delays: [
      { at: '2', minutes: -5 },
      { at: '1', minutes: 0 },
    ],
    distances: [{ at: '2', miles: 300 }],
    summaries: [{ at: '2', text: '300 miles' }],
  });
});

test('a distance that is no number is thrown at', () => {
  const cells = [cell('distance', 1n, Buffer.from('far'))];
  expect(() => exportFlight({ key: Buffer.from('k'), cells, bytes: 0 })).toThrow('distance must have 8 bytes, has 3');
});
