import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadDepartures, type Departure } from '../../../../infra/local/demo/departures.ts';
import { dataOf, effectsOf, planMessages, type StagedMessage } from '../../../../infra/local/demo/staged/plan.ts';
import type { MarkedTable } from '../../../../infra/local/demo/staged/read-back.ts';
import { MARKERS, truthOf } from '../../../../infra/local/demo/staged/truth.ts';
import { judgeStaged, type StagedObserved } from '../../../../infra/local/demo/staged/verdict.ts';
import { loadConfigFile } from '../../../../shared/config/load.ts';
import { compileMapping } from '../../../../shared/mapping/compile-mapping.ts';
import type { RowEntry } from '../../../../shared/model/mutation.ts';
import { recordOf } from '../../../shared/mapping/records.ts';

const flight = (number: number, more: Partial<Departure> = {}): Departure => ({
  ...{ number, origin: 'DTW', destination: 'LAS', day: '2001-01-01', time: '00:47', delay: -6, miles: 1750 },
  ...more,
});

test('the data set holds 20,000 flights, and the first of them is that of the file', async () => {
  const all = await loadDepartures(20_000);
  expect(all[0]).toEqual(flight(0, { delay: 66 }));
  await expect(loadDepartures(20_001)).rejects.toThrow(/20001 flights expected/);
});

test('every flight is in exactly one message, and of ten messages one is published twice under its id and one twice without', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 450 }), (count) => {
      const plan = planMessages(Array.from({ length: count }, (_, number) => flight(number)));
      expect(plan.flatMap(({ flights }) => flights.map(({ number }) => number))).toEqual([...new Array(count).keys()]);
      const kinds = plan.slice(0, 10).map((message) => `${message.copies} ${effectsOf(message)}`);
      expect(kinds).toEqual(
        ['1 1', '1 1', '1 1', '2 1', '1 1', '1 1', '1 1', '2 2', '1 1', '1 1'].slice(0, plan.length),
      );
      const ids = plan.flatMap(({ id }) => id ?? []);
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});

test('the truth is the sum of what counts: a message twice under one id once, twice without an id twice', () => {
  const plan: StagedMessage[] = [
    { flights: [flight(1), flight(2, { delay: 10, miles: 100 })], id: 'a', copies: 2 },
    { flights: [flight(3, { delay: 1, day: '2001-01-02' })], copies: 2 },
  ];
  const { effects, tables } = truthOf(plan);
  expect(effects).toBe(4);
  const first = '978307200000000';
  const second = '978393600000000';
  expect(Object.fromEntries(tables.airports.get('DTW') ?? [])).toEqual({
    [`total:flights@${first}`]: '0000000000000002',
    [`total:miles@${first}`]: '000000000000073a',
    [`total:delay@${first}`]: '0000000000000004',
    [`total:flights@${second}`]: '0000000000000002',
    [`total:miles@${second}`]: '0000000000000dac',
    [`total:delay@${second}`]: '0000000000000002',
    [MARKERS]: '0000000000000004',
  });
  expect([...tables.departures].map(([key, cells]) => [key, cells.get(MARKERS)])).toEqual([
    ['DTW#00001', '0000000000000001'],
    ['DTW#00002', '0000000000000001'],
    ['DTW#00003', '0000000000000002'],
  ]);
});

test.each(['airports', 'flights'] as const)('the mapping of %s makes the cells that are expected', async (name) => {
  const configFile = fileURLToPath(new URL('../../../../infra/local/demo/staged/connector.yaml', import.meta.url));
  const serializer = (await loadConfigFile(configFile)).config.pipelines[name]?.serializer;
  if (serializer?.kind !== 'mapping') throw new TypeError(`the pipeline ${name} must have a mapping`);
  const plan: StagedMessage[] = [{ flights: [flight(7)], copies: 1 }];
  const { prepare } = await compileMapping(serializer.mapping);
  const write = prepare(recordOf(dataOf(plan[0]!)), { publishTimeMicros: 0n })?.write();
  const entry = write?.kind === 'entry' ? write.entry : undefined;
  const table = truthOf(plan).tables[name === 'airports' ? 'airports' : 'departures'];
  const [[rowKey, cells]] = [...table] as [[string, ReadonlyMap<string, string>]];
  expect(entry?.rowKey.toString()).toBe(rowKey);
  const expected = [...cells].filter(([address]) => address !== MARKERS);
  expect(new Map(entry?.mutations.map(addressed))).toEqual(new Map(expected));
});

function addressed(mutation: RowEntry['mutations'][number]): [address: string, hex: string] {
  if (mutation.kind !== 'setCell' && mutation.kind !== 'addToCell')
    throw new TypeError(`${mutation.kind} is unexpected`);
  const address = `${mutation.family}:${mutation.qualifier.toString()}@${mutation.timestampMicros}`;
  if (mutation.kind === 'setCell') return [address, mutation.value.toString('hex')];
  const bytes = Buffer.alloc(8);
  if (mutation.input.kind !== 'int64') throw new TypeError('the demo adds integers only');
  bytes.writeBigInt64BE(mutation.input.value);
  return [address, bytes.toString('hex')];
}

const table: MarkedTable = {
  ...{ rowsExpected: 3, rowsRead: 3, cellsCompared: 9, missingRows: 0, unexpectedRows: 0, differentCells: 0 },
  markers: 4,
};
const right: StagedObserved = {
  ...{ messages: 6, waitingMessages: 0, segments: 0, openCheckpoints: 0, unanswered: 2, deduplicated: 2 },
  ...{ redispatched: 1, held: 2 },
  tables: { airports: table, departures: table },
};
const truth = { effects: 4, tables: { airports: new Map(), departures: new Map() } };
const verdict = (observed: Partial<StagedObserved>): string[] =>
  judgeStaged(truth, 6, { ...right, ...observed }).flatMap(({ what, isRight }) => (isRight ? [] : [what]));

test('what is as it must be is right, and more trouble than there had to be is no fault', () => {
  expect(verdict({})).toEqual([]);
  expect(verdict({ deduplicated: 100, redispatched: 9 })).toEqual([]);
});

test.each<[string, Partial<StagedObserved>, string[]]>([
  ['a segment that is left', { segments: 1 }, ['segments left']],
  ['a checkpoint that is open', { openCheckpoints: 1 }, ['checkpoints not committed']],
  ['a message that was not acknowledged', { waitingMessages: 1 }, ['messages left']],
  ['a publish that is missing', { messages: 5 }, ['messages published, copies counted']],
  [
    'a wrong sum',
    { tables: { airports: { ...table, differentCells: 1 }, departures: table } },
    ['airports: cells different'],
  ],
  ['a marker too few', { tables: { airports: table, departures: { ...table, markers: 3 } } }, ['departures: markers']],
  ['a coordinator that worked beside another', { held: 1 }, ['pipelines that a second coordinator left alone']],
  ['a crash that left no trace', { redispatched: 0 }, ['segments of the killed committer sent out again (at least)']],
  ['effects that were not found', { deduplicated: 1 }, ['effects found applied already (at least)']],
])('%s is wrong', (_case, observed, wrong) => {
  expect(verdict(observed)).toEqual(wrong);
});
