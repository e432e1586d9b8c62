import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { DEMO_PIPELINES } from '../../../../../infra/local/demo/bulk/pipelines.ts';
import { expectedOutcome } from '../../../../../infra/local/demo/bulk/truth.ts';
import type { Flight } from '../../../../../infra/local/demo/base/flights.ts';
import { planMessages } from '../../../../../infra/local/demo/bulk/plan.ts';
import { loadConfigFile } from '../../../../../shared/config/load.ts';
import { compileMapping, type CompiledMapping } from '../../../../../shared/mapping/compile-mapping.ts';
import { isSink } from '../../../../../shared/config/resolved.ts';
import type { RowEntry } from '../../../../../shared/model/mutation.ts';
import { flight } from '../flight.ts';
import { recordOf } from '../../../../shared/mapping/records.ts';

const { configFile, form } = DEMO_PIPELINES.mapped;

async function demoMapping(): Promise<CompiledMapping> {
  const { config } = await loadConfigFile(configFile);
  const pipeline = config.pipelines.mapped;
  const serializer = pipeline && isSink(pipeline) ? pipeline.serializer : undefined;
  if (serializer?.kind !== 'mapping') throw new TypeError('the pipeline mapped must have a mapping');
  return compileMapping(serializer.mapping);
}

/** What the mapping of the demo makes of the line that its publisher sends for a flight. */
function entryOf({ prepare }: CompiledMapping, one: Flight): RowEntry | undefined {
  const line = planMessages([one], form)[0]!.records[0]!.line;
  const write = prepare(recordOf(Buffer.from(line)), { publishTimeMicros: 0n })?.write();
  return write?.kind === 'entry' ? write.entry : undefined;
}

test('the mapping makes the rows that are expected, to the byte, and skips a short hop', async () => {
  const mapping = await demoMapping();
  for (const one of [flight(1), flight(5), flight(20, { delay: 171, distance: 100 })]) {
    const [[rowKey, cells]] = [...expectedOutcome(planMessages([one], form), form).rows] as [
      [string, ReadonlyMap<string, string>],
    ];
    const entry = entryOf(mapping, one);
    expect(entry?.rowKey.toString()).toBe(rowKey);
    const written = entry?.mutations.map((mutation) => {
      if (mutation.kind !== 'setCell') throw new TypeError('the demo sets cells only');
      const address = `${mutation.family}:${mutation.qualifier.toString()}@${mutation.timestampMicros}`;
      return [address, mutation.value.toString('hex')] as const;
    });
    expect(new Map(written)).toEqual(cells);
  }
  expect(entryOf(mapping, flight(2, { distance: 99 }))).toBeUndefined();
});

test('the mapping refuses what is broken, but for a time that only the service refuses', async () => {
  const mapping = await demoMapping();
  expect(() => entryOf(mapping, flight(101))).toThrow('flight: must');
  expect(() => entryOf(mapping, flight(202))).toThrow('row key');
  expect(() => entryOf(mapping, flight(404))).toThrow('record: must be JSON');
  const odd = entryOf(mapping, flight(303))?.mutations[0];
  expect(odd?.kind === 'setCell' && odd.timestampMicros % 1000n).toBe(1n);
});

test('the sample record of the folder is a row too', async () => {
  const { prepare } = await demoMapping();
  const sample = await readFile(new URL('record.json', `file://${configFile}`));
  const write = prepare(recordOf(sample), { publishTimeMicros: 0n })?.write();
  expect(write?.kind === 'entry' && write.entry.mutations).toHaveLength(3);
});
