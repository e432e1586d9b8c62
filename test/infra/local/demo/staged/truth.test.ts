import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { departuresBody, isRefusedTime, remarksBody } from '../../../../../infra/local/demo/staged/bodies.ts';
import type { StagedMessage, StagedPlan } from '../../../../../infra/local/demo/staged/plan.ts';
import { MARKERS, truthOf } from '../../../../../infra/local/demo/staged/truth.ts';
import { loadConfigFile } from '../../../../../shared/config/load.ts';
import { isSink } from '../../../../../shared/config/resolved.ts';
import { compileMapping } from '../../../../../shared/mapping/compile-mapping.ts';
import { entryFromJson } from '../../../../../shared/mapping/rows/entry-json.ts';
import type { RowEntry } from '../../../../../shared/model/mutation.ts';
import { recordOf } from '../../../../shared/mapping/records.ts';
import { departure } from '../departure.ts';

const planOf = (some: Partial<StagedPlan>): StagedPlan => ({
  hub: 'DTW',
  steady: [],
  hot: [],
  early: [],
  late: [],
  ...some,
});

test('the truth is the sum of what counts: a message twice under one id once, twice without an id twice', () => {
  const { airports, departures } = truthOf(
    planOf({
      steady: [
        { flights: [departure(1), departure(2, { delay: 10, miles: 100 })], id: 'a', copies: 2, refused: {} },
        { flights: [departure(3, { delay: 1, day: '2001-01-02' })], copies: 2, refused: {} },
      ],
    }),
  );
  expect(airports.effects).toBe(4);
  const first = '978307200000000';
  const second = '978393600000000';
  expect(Object.fromEntries(airports.rows.get('DTW') ?? [])).toEqual({
    [`total:flights@${first}`]: '0000000000000002',
    [`total:miles@${first}`]: '000000000000073a',
    [`total:delay@${first}`]: '0000000000000004',
    [`total:flights@${second}`]: '0000000000000002',
    [`total:miles@${second}`]: '0000000000000dac',
    [`total:delay@${second}`]: '0000000000000002',
    [MARKERS]: '0000000000000004',
  });
  expect([...departures.rows].map(([key, cells]) => [key, cells.get(MARKERS)])).toEqual([
    ['DTW#00001', '0000000000000001'],
    ['DTW#00002', '0000000000000001'],
    ['DTW#00003', '0000000000000002'],
  ]);
});

test('a record that a table refuses is not in it, and in the other table it is', () => {
  const flights = [departure(1), departure(2)];
  const { airports, departures } = truthOf(
    planOf({
      steady: [{ flights, id: 'a', copies: 1, refused: { flights: 1 } }],
      hot: [{ flights: [departure(3), departure(4)], copies: 2, refused: { airports: 0 } }],
    }),
  );
  expect(airports.effects).toBe(4);
  expect(departures.effects).toBe(5);
  expect([...departures.rows.keys()]).toEqual(['DTW#00001', 'DTW#00003', 'DTW#00004']);
});

test.each(['airports', 'flights'] as const)('the mapping of %s makes the cells that are expected', async (name) => {
  const message: StagedMessage = { flights: [departure(7)], copies: 1, refused: {} };
  const entry = await mapped(name, message);
  const { rows } = truthOf(planOf({ steady: [message] }))[name === 'airports' ? 'airports' : 'departures'];
  expectCells(entry, rows);
});

test.each(['airports', 'flights'] as const)(
  'the time of a record that %s must refuse is one that no other record has',
  async (name) => {
    const entry = await mapped(name, { flights: [departure(7)], copies: 1, refused: { [name]: 0 } });
    const times = entry.mutations.map((mutation) => ('timestampMicros' in mutation ? mutation.timestampMicros : 0n));
    expect(times.map(isRefusedTime)).toEqual([true, true, true]);
    const other = await mapped(name, { flights: [departure(7)], copies: 1, refused: {} });
    expect(other.mutations.some((one) => 'timestampMicros' in one && isRefusedTime(one.timestampMicros))).toBe(false);
  },
);

test.each([{}, { remarks: 0 }])('an entry of remarks, %j refused, is the row that is expected', (refused) => {
  const message: StagedMessage = { flights: [departure(7)], copies: 1, refused };
  const entry = entryFromJson(JSON.parse(remarksBody(message).toString()), { publishTimeMicros: 0n });
  expectCells(entry, truthOf(planOf({ early: [message] })).remarks.rows);
});

async function mapped(name: 'airports' | 'flights', message: StagedMessage): Promise<RowEntry> {
  const configFile = fileURLToPath(new URL('../../../../../infra/local/demo/staged/connector.yaml', import.meta.url));
  const pipeline = (await loadConfigFile(configFile)).config.pipelines[name];
  const serializer = pipeline && isSink(pipeline) ? pipeline.serializer : undefined;
  if (serializer?.kind !== 'mapping') throw new TypeError(`the pipeline ${name} must have a mapping`);
  const { prepare } = await compileMapping(serializer.mapping);
  const write = prepare(recordOf(departuresBody(message)), { publishTimeMicros: 0n })?.write();
  if (write?.kind !== 'entry') throw new TypeError(`the pipeline ${name} must make an entry`);
  return write.entry;
}

function expectCells({ rowKey, mutations }: RowEntry, rows: ReadonlyMap<string, ReadonlyMap<string, string>>): void {
  const [[key, cells]] = [...rows] as [[string, ReadonlyMap<string, string>]];
  expect(rowKey.toString()).toBe(key);
  const expected = [...cells].filter(([address]) => address !== MARKERS);
  expect(new Map(mutations.map(addressed))).toEqual(new Map(expected));
}

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
