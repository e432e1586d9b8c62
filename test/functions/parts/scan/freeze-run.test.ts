import { expect, test } from 'vitest';
import { FreezeError, freezeRun } from '../../../../functions/parts/scan/freeze-run.ts';
import { loadConfig, pipelineNamed } from '../../../../shared/config/load.ts';
import type { ResolvedScanSource } from '../../../../shared/config/resolved.ts';
import { cellsPerColumn, chain, familyEquals, timestampRange } from '../../../../shared/model/filter/filter.ts';
import { RowFilter } from '../../../../shared/proto/google/bigtable/v2/data.ts';
import { fromWireFilter } from '../../../../shared/forms/filter-wire.ts';
import { readRunOptions } from '../../../../shared/scan/run-options.ts';
import { shapeFilter } from '../../../../shared/model/filter/shape-filter.ts';

/** A scan of `p.i.t` with these options. */
async function scanOf(options: object = {}): Promise<ResolvedScanSource> {
  const pipeline = { kind: 'scan-source', table: 't', outputTopic: 'rows', ...options };
  const document = { defaults: { project: 'p', instance: 'i' }, pipelines: { exports: pipeline } };
  const { config } = await loadConfig({ CONNECTOR_CONFIG: JSON.stringify(document) });
  return pipelineNamed(config, 'exports') as ResolvedScanSource;
}

test('a run goes by the table, the ranges and the output of its pipeline', async () => {
  const frozen = readRunOptions(freezeRun(await scanOf({ prefixes: ['user#'] }), undefined));
  expect(frozen).toMatchObject({
    table: { project: 'p', instance: 'i', table: 't' },
    ranges: [{ start: { kind: 'closed', key: Buffer.from('user#') } }],
    emission: { topic: 'projects/p/topics/rows' },
    window: {},
  });
  expect(frozen.filter).toBeUndefined();
});

test('a run goes by the filter of its shape, encoded as requests carry it', async () => {
  const pipeline = await scanOf({ families: ['a', 'b'], latestOnly: true });
  const { filter = Buffer.alloc(0) } = readRunOptions(freezeRun(pipeline, undefined));
  const read = fromWireFilter(RowFilter.decode(filter), 'filter', () => undefined);
  expect(read).toEqual(shapeFilter(pipeline.selection, {}));
});

test('a run of the form mapping reads the families of its mapping alone, whatever else the filter is', async () => {
  const mapping = { rowKey: '${id}', families: { cf: { columns: { a: 'string' } } } };
  const filterOf = async (options: object): Promise<unknown> => {
    const pipeline = await scanOf({ form: 'mapping', mapping, ...options });
    const { filter = Buffer.alloc(0) } = readRunOptions(freezeRun(pipeline, undefined));
    return fromWireFilter(RowFilter.decode(filter), 'filter', () => undefined);
  };
  const own = chain(familyEquals('cf'), cellsPerColumn(1));
  expect(await filterOf({})).toEqual(own);
  const window = { until: '1970-01-01T00:00:01Z' };
  expect(await filterOf({ timestampWindow: window })).toEqual(chain(timestampRange(0n, 1_000_000n), own));
});

test('an incremental run begins at the start of the last run that is done, less the overlap', async () => {
  const pipeline = await scanOf({ timestampWindow: { since: 'last-run', overlap: '1m' } });
  const lastDone = { run: 'r1', startedAt: 600_000 };
  expect(readRunOptions(freezeRun(pipeline, lastDone)).window).toEqual({ sinceMicros: 540_000_000n });
  expect(readRunOptions(freezeRun(pipeline, undefined)).window).toEqual({});
});

test('the filter of the pipeline looks at what the shape lets through', async () => {
  const pipeline = await scanOf({ families: ['a'], latestOnly: true, filter: { valueRegex: 'x.*' } });
  const { filter = Buffer.alloc(0) } = readRunOptions(freezeRun(pipeline, undefined));
  const steps = [
    { $case: 'familyNameRegexFilter', value: 'a' },
    { $case: 'cellsPerColumnLimitFilter', value: 1 },
  ].map((step) => ({ filter: step }));
  expect(RowFilter.decode(filter).filter).toEqual({
    $case: 'chain',
    value: {
      filters: [
        { filter: { $case: 'chain', value: { filters: steps } } },
        { filter: { $case: 'valueRegexFilter', value: Buffer.from('x.*') } },
      ],
    },
  });
});

test('a filter that no request would be taken with starts no run, should a configuration hold one', async () => {
  const pipeline = await scanOf();
  const families = Array.from({ length: 2000 }, (_, number) => `a-family-of-a-long-name-${number}`);
  expect(() => freezeRun({ ...pipeline, selection: { ...pipeline.selection, families } }, undefined)).toThrow(
    FreezeError,
  );
});
