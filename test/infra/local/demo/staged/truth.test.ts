import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { dataOf, type StagedMessage } from '../../../../../infra/local/demo/staged/plan.ts';
import { MARKERS, truthOf } from '../../../../../infra/local/demo/staged/truth.ts';
import { loadConfigFile } from '../../../../../shared/config/load.ts';
import { compileMapping } from '../../../../../shared/mapping/compile-mapping.ts';
import type { RowEntry } from '../../../../../shared/model/mutation.ts';
import { recordOf } from '../../../../shared/mapping/records.ts';
import { departure } from '../departure.ts';

test('the truth is the sum of what counts: a message twice under one id once, twice without an id twice', () => {
  const plan: StagedMessage[] = [
    { flights: [departure(1), departure(2, { delay: 10, miles: 100 })], id: 'a', copies: 2 },
    { flights: [departure(3, { delay: 1, day: '2001-01-02' })], copies: 2 },
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
  const configFile = fileURLToPath(new URL('../../../../../infra/local/demo/staged/connector.yaml', import.meta.url));
  const serializer = (await loadConfigFile(configFile)).config.pipelines[name]?.serializer;
  if (serializer?.kind !== 'mapping') throw new TypeError(`the pipeline ${name} must have a mapping`);
  const plan: StagedMessage[] = [{ flights: [departure(7)], copies: 1 }];
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
