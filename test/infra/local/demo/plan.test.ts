import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TableComparison } from '../../../../infra/local/demo/comparison.ts';
import { expectedOutcome } from '../../../../infra/local/demo/expectation.ts';
import { fateOf, type Fate } from '../../../../infra/local/demo/fates.ts';
import serializeFlight from '../../../../infra/local/demo/flight-serializer.ts';
import { loadFlights, type Flight } from '../../../../infra/local/demo/flights.ts';
import { codedForm } from '../../../../infra/local/demo/forms/coded.ts';
import { departureMicros } from '../../../../infra/local/demo/forms/form.ts';
import { messageData, planMessages, type PlannedRecord } from '../../../../infra/local/demo/plan.ts';

const { rowKeyOf } = codedForm;

const flight = (number: number, more: Partial<Flight> = {}): Flight => ({
  number,
  delay: -12,
  distance: 500,
  time: 0.5,
  ...more,
});
const flights = (count: number): Flight[] => Array.from({ length: count }, (_, number) => flight(number));
const recordOf = (planned: PlannedRecord): Record<string, string> => JSON.parse(planned.line) as Record<string, string>;
const planOne = (planned: Flight): PlannedRecord => planMessages([planned])[0]!.records[0]!;

describe('the data set', () => {
  test('holds 200,000 flights, and the first of them are those of the file', async () => {
    const all = await loadFlights(200_000);
    expect(all.slice(0, 2)).toEqual([
      { number: 0, delay: 0, distance: 1452, time: 0 },
      { number: 1, delay: 171, distance: 2227, time: 0 },
    ]);
    expect(all.at(-1)?.number).toBe(199_999);
    await expect(loadFlights(200_001)).rejects.toThrow(/200001 flights expected/);
  });
});

describe('the plan', () => {
  test('publishes every flight in exactly one message, in order where they travel together', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3000 }), (count) => {
        const planned = planMessages(flights(count)).flatMap(({ records }) => records.map((record) => record.flight));
        expect(planned.map(({ number }) => number).toSorted((left, right) => left - right)).toEqual(
          flights(count).map(({ number }) => number),
        );
      }),
      { seed: 7, numRuns: 40 },
    );
  });

  test('packs a hundred records a message, sends every twentieth flight alone and some messages twice', () => {
    const plan = planMessages(flights(6000));
    const sizes = plan.map(({ records }) => records.length);
    expect(sizes.filter((size) => size === 100)).toHaveLength(56);
    expect(sizes.filter((size) => size === 1)).toHaveLength(301);
    expect(plan.filter(({ copies }) => copies === 2).length).toBe(Math.ceil((plan.length - 3) / 20));
    expect(
      messageData(plan.find(({ records }) => records.length === 100)!)
        .toString()
        .split('\n'),
    ).toHaveLength(100);
  });

  test('gives each kind of trouble its share, and a short hop no other', () => {
    const fates = flights(6000).map(fateOf);
    const count = (fate: Fate): number => fates.filter((given) => given === fate).length;
    const broken = ['empty-row-key', 'long-row-key', 'odd-timestamp', 'not-json'] as const;
    expect(broken.map(count)).toEqual([6, 6, 6, 6]);
    expect(count('unknown-family')).toBe(1);
    expect(fateOf(flight(101, { distance: 99 }))).toBe('short-hop');
  });

  test('breaks a record in the way its fate says', () => {
    expect(recordOf(planOne(flight(101))).key).toBe('');
    expect(Buffer.byteLength(recordOf(planOne(flight(202))).key!)).toBe(4097);
    expect(BigInt(recordOf(planOne(flight(303))).departureMicros!) % 1000n).toBe(1n);
    expect(() => recordOf(planOne(flight(404)))).toThrow(SyntaxError);
    expect(recordOf(planOne(flight(5))).family).toBe('review');
  });

  test('row keys are unique and departures are whole minutes', () => {
    const some = flights(20_000);
    expect(new Set(some.map(rowKeyOf)).size).toBe(some.length);
    expect(departureMicros(flight(0, { time: 23.983333333333334 })) % 60_000_000n).toBe(0n);
  });
});

describe('the expectation', () => {
  const small = [
    ...[flight(1), flight(2, { distance: 99 }), flight(5), flight(20)],
    ...[flight(101), flight(202), flight(303), flight(404)],
  ];

  test('counts what must become of each record, each copy for itself', () => {
    const plan = planMessages(small).map((message) => ({ ...message, copies: 2 as const }));
    const outcome = expectedOutcome(plan);
    expect(outcome).toMatchObject({
      messages: 6,
      records: 16,
      applied: 4,
      skipped: 2,
      held: 2,
      deadLettered: { 'empty-row-key': 2, 'long-row-key': 2, 'odd-timestamp': 2, 'not-json': 2 },
    });
    expect([...outcome.rows.keys()]).toEqual([rowKeyOf(flight(5)), rowKeyOf(flight(20)), rowKeyOf(flight(1))]);
    expect([...outcome.heldRows]).toEqual([rowKeyOf(flight(5))]);
  });

  test('knows the cells of a row to the byte', () => {
    const { rows } = expectedOutcome(planMessages([flight(1)]));
    expect([...rows.get('25#000001')!]).toEqual([
      ['flight:delay@978309000000000', 'fffffffffffffff4'],
      ['flight:distance@978309000000000', '00000000000001f4'],
      ['flight:summary@978309000000000', Buffer.from('500 miles, -12 minutes late').toString('hex')],
    ]);
  });

  test('accounts for every record that is published', () => {
    const outcome = expectedOutcome(planMessages(flights(12_345)));
    const { applied, skipped, held, deadLettered } = outcome;
    const dead = Object.values(deadLettered).reduce((sum, count) => sum + count, 0);
    expect(applied + skipped + held + dead).toBe(outcome.records);
  });
});

describe('the serializer of the demo', () => {
  const message = {
    ...{ messageId: '1', publishTimeMicros: 0n, data: Buffer.alloc(0), attributes: {} },
    ...{ orderingKey: '', subscription: '' },
  };
  const serialize = (planned: PlannedRecord): ReturnType<typeof serializeFlight> =>
    serializeFlight({ message, index: 0, data: Buffer.from(planned.line) }, { publishTimeMicros: 0n });

  test('writes three cells at the departure, skips a short hop, and throws at what is not JSON', () => {
    const entry = serialize(planOne(flight(1)));
    expect(entry?.rowKey.toString()).toBe('25#000001');
    expect(entry?.mutations.map((mutation) => mutation.kind)).toEqual(['setCell', 'setCell', 'setCell']);
    expect(serialize(planOne(flight(2, { distance: 99 })))).toBeNull();
    expect(() => serialize(planOne(flight(404)))).toThrow(SyntaxError);
  });
});

describe('the comparison of the table with what it should hold', () => {
  const row = new Map([
    ['f:a@1', '01'],
    ['f:b@1', '02'],
  ]);
  const expected = new Map([
    ['one', row],
    ['two', row],
  ]);
  const compare = (actual: readonly (readonly [string, ReadonlyMap<string, string>])[]): Record<string, number> => {
    const comparison = new TableComparison(expected);
    for (const [key, cells] of actual) comparison.add(key, cells);
    const { missingRows, unexpectedRows, differentCells } = comparison.result();
    return { missingRows, unexpectedRows, differentCells };
  };
  const clean = { missingRows: 0, unexpectedRows: 0, differentCells: 0 };

  test.each([
    [
      'the same, in any order',
      [
        ['two', row],
        ['one', row],
      ],
      clean,
    ],
    ['a row missing', [['one', row]], { ...clean, missingRows: 1 }],
    [
      'a row too many',
      [
        ['one', row],
        ['two', row],
        ['three', row],
      ],
      { ...clean, unexpectedRows: 1 },
    ],
    [
      'a row read twice',
      [
        ['one', row],
        ['two', row],
        ['two', row],
      ],
      { ...clean, unexpectedRows: 1 },
    ],
    [
      'another value',
      [
        ['one', row],
        ['two', new Map([...row, ['f:b@1', '03']])],
      ],
      { ...clean, differentCells: 1 },
    ],
    [
      'a second version',
      [
        ['one', row],
        ['two', new Map([...row, ['f:b@2', '02']])],
      ],
      { ...clean, differentCells: 1 },
    ],
    [
      'a cell missing',
      [
        ['one', row],
        ['two', new Map([['f:a@1', '01']])],
      ],
      { ...clean, differentCells: 1 },
    ],
  ] as const)('%s', (_case, actual, difference) => {
    expect(compare(actual)).toEqual(difference);
  });
});
