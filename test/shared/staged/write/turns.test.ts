import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Turns } from '../../../../shared/staged/write/turns.ts';

test('places go to those who waited longest, and there are never more than there are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.constantFrom('take' as const, 'giveBack' as const), { maxLength: 60 }),
      async (places, steps) => {
        const turns = new Turns(places);
        const served: number[] = [];
        let asked = 0;
        let held = 0;
        for (const step of steps) {
          if (step === 'take') {
            const number = asked;
            asked += 1;
            Promise.resolve(turns.take()).then(
              () => {
                served.push(number);
                held += 1;
              },
              () => undefined,
            );
          } else if (held > 0) {
            held -= 1;
            turns.giveBack();
          }
          await new Promise<void>((resolve) => setImmediate(resolve));
          expect(held).toBeLessThanOrEqual(places);
          // Nobody waits beside a free place.
          expect(held === places || served.length === asked).toBe(true);
        }
        expect(served).toEqual(served.map((_, index) => index));
      },
    ),
    { seed: 52, numRuns: 200 },
  );
});
