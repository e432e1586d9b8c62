import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BodyAdmission, BodyRoom, defaultPushedBytes } from '../../../functions/bodies/admission.ts';

const MAX_BODY = 14;

/** A body of so many chunks, told at once or as they come. */
interface Body {
  readonly chunks: readonly number[];
  readonly isAnnounced: boolean;
}

const bodies = fc.array(
  fc.record({ chunks: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 5 }), isAnnounced: fc.boolean() }),
  { minLength: 1, maxLength: 12 },
);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Takes its room step by step, as its bytes come; `true` once it is whole, `false` once it is refused. */
class Arriving {
  readonly #room: BodyRoom;
  readonly #steps: number[];
  /** Bytes that it holds. */
  held = 0;
  ending: boolean | undefined;

  constructor(admission: BodyAdmission, { chunks, isAnnounced }: Body) {
    this.#room = new BodyRoom(admission, MAX_BODY * 2);
    this.#steps = isAnnounced ? [sum(chunks)] : [...chunks];
  }

  step(): void {
    const more = this.#steps.shift();
    if (more === undefined) this.ending = true;
    else if (this.#room.take(more) === undefined) this.held += more;
    else this.end(false);
  }

  end(ending: boolean): void {
    this.#room.release();
    this.held = 0;
    this.ending = ending;
  }
}

describe('the bytes of bodies in an instance', () => {
  test('are at most the cap, or one body, however bodies come and go, and none are held once all have gone', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        bodies,
        fc.array(fc.nat(), { maxLength: 60 }),
        (cap, arriving, order) => {
          const admission = new BodyAdmission(cap);
          const all = arriving.map((body) => new Arriving(admission, body));
          for (const pick of order) {
            const body = all[pick % all.length]!;
            if (body.ending === undefined) body.step();
            else body.end(body.ending);
            expect(admission.held).toBe(sum(all.map(({ held }) => held)));
            if (admission.held > cap) expect(all.filter(({ held }) => held > 0)).toHaveLength(1);
          }
          for (const body of all) body.end(false);
          expect(admission.held).toBe(0);
        },
      ),
    );
  });

  test('let one body at least become whole, of any that come at once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), bodies, (cap, arriving) => {
        const admission = new BodyAdmission(cap);
        const all = arriving.map((body) => new Arriving(admission, body));
        while (all.some(({ ending }) => ending === undefined)) {
          for (const body of all) if (body.ending === undefined) body.step();
        }
        expect(all.some(({ ending }) => ending)).toBe(true);
      }),
    );
  });
});

describe('a body', () => {
  test('above the cap gets in alone, and keeps others out until it is gone', () => {
    const admission = new BodyAdmission(10);
    const large = new BodyRoom(admission, MAX_BODY);
    const small = new BodyRoom(admission, MAX_BODY);
    expect(large.take(14)).toBeUndefined();
    expect(small.take(1)).toBe('no-room');
    large.release();
    expect(small.take(1)).toBeUndefined();
    expect(large.take(14)).toBe('no-room');
  });

  test('that is larger than any that is taken never gets in, even alone', () => {
    const room = new BodyRoom(new BodyAdmission(100), MAX_BODY);
    expect(room.take(MAX_BODY + 1)).toBe('too-large');
    expect(room.take(MAX_BODY)).toBeUndefined();
    expect(room.take(1)).toBe('too-large');
  });

  test('gives its room back once, however often it is told to', () => {
    const admission = new BodyAdmission(10);
    const [one, other] = [new BodyRoom(admission, MAX_BODY), new BodyRoom(admission, MAX_BODY)];
    expect([one.take(4), other.take(6)]).toEqual([undefined, undefined]);
    one.release();
    one.release();
    expect(admission.held).toBe(6);
  });
});

test.each([
  ['a limit of the process', 1024, 4096, 64],
  ['no limit: what functions are deployed with', 0, 2 ** 40, 32 * 1024 * 1024],
  ['nothing known', undefined, 2 ** 40, 32 * 1024 * 1024],
  ['a limit above all there is', 2 ** 64, 2 ** 40, 32 * 1024 * 1024],
  ['a machine that is smaller than that', 0, 160, 10],
])('the cap is a sixteenth of the memory: %s', (_name, constrained, total, cap) => {
  expect(defaultPushedBytes(constrained, total)).toBe(cap);
});
