import { expect, test } from 'vitest';
import { readSetApart } from '../../../../../infra/local/demo/staged/rests.ts';
import { encodeSegment } from '../../../../../shared/staged/envelope/segment.ts';
import { segmentId } from '../../../../../shared/staged/segment-id.ts';
import { cell, envelopeOf, rowEntry } from '../../../../support/envelopes.ts';

test('what is set apart names the checkpoint of its segment and the records that are open, as the connector wrote them', () => {
  const envelopes = [0, 300].map((recordIndex) =>
    envelopeOf(recordIndex, rowEntry('r', cell()), {
      source: { messageId: `m${recordIndex}`, recordIndex, publishTimeMicros: 2n ** 53n },
    }),
  );
  expect(readSetApart(segmentId(3, 17, 'f'.repeat(16)), encodeSegment(envelopes))).toEqual({
    checkpoint: 17,
    records: [
      { messageId: 'm0', recordIndex: 0 },
      { messageId: 'm300', recordIndex: 300 },
    ],
  });
});
