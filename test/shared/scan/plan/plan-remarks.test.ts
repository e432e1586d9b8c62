import { expect, test } from 'vitest';
import { WHOLE_TABLE } from '../../../../shared/model/row-range.ts';
import { planRemarks } from '../../../../shared/scan/plan/plan-remarks.ts';
import { planSplits } from '../../../../shared/scan/plan/plan-splits.ts';
import type { RowKeySample } from '../../../../shared/scan/ports.ts';

const samples: readonly RowKeySample[] = [
  { key: Buffer.from('g'), offsetBytes: 100n },
  { key: Buffer.from('p'), offsetBytes: 350n },
];

test('a plan is told with its sizes, and with how many splits have none', () => {
  expect(planRemarks(planSplits([WHOLE_TABLE], samples), { samples: 2, parallelism: 3 })).toEqual([
    {
      severity: 'INFO',
      message: 'the run is planned',
      fields: { splits: 3, bytes: 350, smallestBytes: 100, largestBytes: 250, splitsOfUnknownSize: 1 },
    },
  ]);
});

test('fewer splits than slots are a warning', () => {
  const remarks = planRemarks(planSplits([WHOLE_TABLE], samples), { samples: 2, parallelism: 4 });
  expect(remarks.map(({ severity }) => severity)).toEqual(['INFO', 'WARNING']);
  expect(remarks[1]).toMatchObject({ fields: { splits: 3, parallelism: 4 } });
  expect(remarks[1]?.message).toContain('few tablets');
});

test('a table without boundaries is told of, and its sizes are not known', () => {
  const remarks = planRemarks(planSplits([WHOLE_TABLE], []), { samples: 0, parallelism: 1 });
  expect(remarks.map(({ severity, fields }) => [severity, fields])).toEqual([
    ['INFO', { splits: 1, splitsOfUnknownSize: 1 }],
    ['INFO', { splits: 1 }],
  ]);
});
