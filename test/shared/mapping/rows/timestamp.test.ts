import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../../shared/base/errors.ts';
import { mapRecord, problemsOf } from '../mappings.ts';
import { PUBLISH_TIME_MICROS, recordOf } from '../records.ts';

const MICROS_PER_DAY = 86_400_000_000n;
/** What a table leaves out of the publish time. */
const WITHIN_MILLI = PUBLISH_TIME_MICROS % 1000n;
const families = { f: { columns: { v: { type: 'string', field: '@messageId' } } } };
const mapping = (options: object): object => ({
  rowKey: '${@messageId}',
  timestamp: { field: 't', unit: 'micros', ...options },
  families,
});
const conditional = (options: object): object => ({
  rowKey: '${@messageId}',
  writeMode: 'conditional',
  conditional: {
    predicate: { type: 'row-exists' },
    otherwise: [{ type: 'set-cell', family: 'f', qualifier: 'q', value: { utf8: 'v' }, timestamp: { field: 't', unit: 'micros', ...options } }],
  },
}); // prettier-ignore

describe.each([
  ['the timestamp of a record', mapping],
  ['the timestamp of a mutation', conditional],
])('%s', (_name, mappingOf) => {
  const at = async (micros: bigint, options: object = {}): Promise<unknown> =>
    mapRecord(mappingOf(options), recordOf({ t: String(micros) }));

  test('may lie 3,650 days after the publish time and no millisecond more', async () => {
    const last = PUBLISH_TIME_MICROS + 3650n * MICROS_PER_DAY - WITHIN_MILLI;
    await expect(at(last)).resolves.toBeTruthy();
    await expect(at(last + 1000n)).rejects.toThrow(RecordError);
    await expect(at(last + 1000n)).rejects.toThrow('t: must not be more than 3650 days after the publish time (maxFuture), got a time of the year 2035'); // prettier-ignore
  }); // prettier-ignore

  test('is bounded by maxFuture where that is set', async () => {
    await expect(at(PUBLISH_TIME_MICROS + MICROS_PER_DAY - WITHIN_MILLI, { maxFuture: '1d' })).resolves.toBeTruthy();
    await expect(at(PUBLISH_TIME_MICROS + MICROS_PER_DAY + 1000n - WITHIN_MILLI, { maxFuture: '1d' })).rejects.toThrow('more than 1 days');
    await expect(at(50_000_000_000_000_000n, { maxFuture: '999999d' })).resolves.toBeTruthy();
    await expect(at(2n ** 63n - 808n, { maxFuture: 'none' })).resolves.toBeTruthy();
  }); // prettier-ignore

  test('in microseconds that are read as milliseconds is a bad record', async () => {
    const record = recordOf({ t: 1_767_225_600_000_000 });
    await expect(mapRecord(mappingOf({ unit: 'millis' }), record)).rejects.toThrow('got a time of the year 57971');
  });

  test.each(['1', '0d', '1h', '1000000d', '-1d'])('takes no bound of %j', (maxFuture) => {
    expect(problemsOf(mappingOf({ maxFuture })).join()).toContain('must be a number of days, as in 3650d, up to 999999d, or none');
  }); // prettier-ignore
});

test('the time from which on cells are deleted may lie in any future', async () => {
  const { conditional: parts, ...rest } = conditional({}) as { conditional: object };
  const deletion = { type: 'delete-cells', family: 'f', qualifier: 'q', start: { field: 't', unit: 'micros' } };
  const options = { ...rest, conditional: { ...parts, otherwise: [deletion] } };
  await expect(mapRecord(options, recordOf({ t: '9000000000000000000' }))).resolves.toBeTruthy();
});

test('a constant takes no maxFuture', () => {
  const { conditional: parts, ...rest } = conditional({}) as { conditional: object };
  const timestamp = { micros: 1000, maxFuture: '1d' };
  const mutation = { type: 'set-cell', family: 'f', qualifier: 'q', value: { utf8: 'v' }, timestamp };
  expect(problemsOf({ ...rest, conditional: { ...parts, otherwise: [mutation] } })).toEqual([
    'mapping.conditional.otherwise[0].timestamp.maxFuture: applies to a field only, got "1d"',
  ]);
});
