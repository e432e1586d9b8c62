import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Line } from '../../../shared/base/line.ts';

test('a line serves those who stayed, in the order they came, whoever leaves meanwhile', () => {
  const step = fc.oneof(
    fc.constantFrom('join' as const, 'take' as const),
    fc.record({ leaves: fc.integer({ min: 0, max: 100 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const line = new Line<number>();
      let model: { readonly number: number; readonly leave: () => void }[] = [];
      for (const [number, kind] of steps.entries()) {
        if (kind === 'join') {
          model.push({ number, leave: line.join(number) });
        } else if (kind === 'take') {
          expect(line.take()).toBe(model.shift()?.number);
        } else {
          const leaver = model[kind.leaves % Math.max(1, model.length)];
          leaver?.leave();
          model = model.filter((one) => one !== leaver);
        }
        expect(line.length).toBe(model.length);
        expect(line.head).toBe(model[0]?.number);
      }
      for (const { number } of model) expect(line.take()).toBe(number);
      expect(line.take()).toBeUndefined();
    }),
    { seed: 12, numRuns: 300 },
  );
});
