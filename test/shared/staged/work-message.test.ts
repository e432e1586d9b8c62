import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeWork, encodeWork } from '../../../shared/staged/work-message.ts';

const ids = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 });

test('work is read as it was written', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), ids, (pipeline, checkpoint, segments) => {
      const work = { pipeline, checkpoint, segments };
      expect(decodeWork(encodeWork(work))).toEqual(work);
    }),
  );
});

test.each([
  ['no JSON', 'segments'],
  ['no object', '[]'],
  ['null', 'null'],
  ['another version', '{"version":2,"pipeline":"p","checkpoint":1,"segments":["a"]}'],
  ['no segments', '{"version":1,"pipeline":"p","checkpoint":1,"segments":[]}'],
  ['a segment without an id', '{"version":1,"pipeline":"p","checkpoint":1,"segments":[""]}'],
  ['no checkpoint', '{"version":1,"pipeline":"p","segments":["a"]}'],
  ['no pipeline', '{"version":1,"checkpoint":1,"segments":["a"]}'],
])('%s is no work', (_case, text) => {
  expect(decodeWork(Buffer.from(text))).toBeUndefined();
});
