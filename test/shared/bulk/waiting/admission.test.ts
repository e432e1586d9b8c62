import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Admission } from '../../../../shared/bulk/waiting/admission.ts';

const never = new AbortController().signal;
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('admission', () => {
  test('admits below the caps and holds back at them', async () => {
    const admission = new Admission({ maxInFlightEntries: 2, maxInFlightBytes: 1000 });
    await admission.admit(1, never);
    await admission.admit(1, never);
    let isAdmitted = false;
    const third = admission.admit(1, never).then(() => (isAdmitted = true));
    await settle();
    expect(isAdmitted).toBe(false);
    expect(admission.isFull).toBe(true);
    admission.release(1);
    await third;
    expect(admission.entries).toBe(2);
  });

  test('admits an entry above the byte cap alone, and nothing beside it', async () => {
    const admission = new Admission({ maxInFlightEntries: 10, maxInFlightBytes: 100 });
    await admission.admit(5000, never);
    let isAdmitted = false;
    const next = admission.admit(1, never).then(() => (isAdmitted = true));
    await settle();
    expect(isAdmitted).toBe(false);
    admission.release(5000);
    await next;
    expect(admission.bytes).toBe(1);
  });

  test('a waiter that aborts leaves, with its reason, and those behind it are not held up', async () => {
    const admission = new Admission({ maxInFlightEntries: 1, maxInFlightBytes: 100 });
    await admission.admit(1, never);
    const controller = new AbortController();
    const order: string[] = [];
    const aborted = admission
      .admit(1, controller.signal)
      .catch((error: unknown) => order.push((error as Error).message));
    const behind = admission.admit(1, never).then(() => order.push('behind'));
    controller.abort(new Error('time is up'));
    await aborted;
    admission.release(1);
    await behind;
    expect(order).toEqual(['time is up', 'behind']);
  });

  test('a signal that has aborted already admits nothing', async () => {
    const admission = new Admission({ maxInFlightEntries: 1, maxInFlightBytes: 1 });
    await expect(admission.admit(1, AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
    expect(admission.entries).toBe(0);
  });

  test('admits in the order of arrival and ends at zero, under any mix of sizes and releases', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 40 }), async (sizes) => {
        const admission = new Admission({ maxInFlightEntries: 3, maxInFlightBytes: 200 });
        const admitted: number[] = [];
        const held: number[] = [];
        const all = sizes.map((bytes, index) =>
          admission.admit(bytes, never).then(() => {
            admitted.push(index);
            held.push(bytes);
            expect(admission.entries).toBeLessThanOrEqual(3);
          }),
        );
        for (let round = 0; round <= sizes.length; round += 1) {
          await settle();
          const released = held.shift();
          if (released !== undefined) admission.release(released);
        }
        await Promise.all(all);
        expect(admitted).toEqual(sizes.map((_, index) => index));
        expect([admission.entries, admission.bytes]).toEqual([0, 0]);
      }),
      { numRuns: 50 },
    );
  });
});
