import { describe, expect, test } from 'vitest';
import { startCommitStaged } from '../../../functions/commit-staged.ts';
import { isLettersPath, letterRightsOf } from '../../../functions/parts/letters.ts';
import { requestSerializerOf } from '../../../functions/parts/request-serializer.ts';
import { systemClock } from '../../../shared/base/clock.ts';
import { systemRandom } from '../../../shared/base/random.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { numberedEntry } from '../../support/simulated-bigtable.ts';
import { takenPush } from '../../support/push-body.ts';
import { InstanceSignals } from '../../support/sink-harness.ts';

test.each([
  ['/letters', true],
  ['/letters/', true],
  ['/', false],
  ['', false],
  ['/letters/more', false],
  ['/Letters', false],
  [undefined, false],
])('the path of letters is one of its own: %j', (path, isIt) => {
  expect(isLettersPath(path)).toBe(isIt);
});

test('a committer takes no letters, and says which function does', async () => {
  const signals = new InstanceSignals();
  const pipeline = {
    kind: 'staged-sink',
    topic: 'records',
    project: 'p',
    instance: 'i',
    table: 't',
    serializer: 'entry',
    markerFamily: 'markers',
  };
  const handler = await startCommitStaged(
    { CONNECTOR_CONFIG: JSON.stringify({ pipelines: { orders: pipeline } }) },
    { clock: systemClock, random: systemRandom, signals, writeLine: () => undefined },
  );
  const { status, text } = await handler(takenPush({ data: '{}' }), '/letters');
  expect(status).toBe(500);
  expect(text).toContain('push the topic for replays to the path /letters of the sink of the pipeline');
  await signals.terminate();
});

describe('a letter may write to any table', () => {
  const destination = { table: tableName('p', 'i', 't'), home: { project: 'p', instance: 'i' } };
  const other = tableName('q', 'j', 'u');
  const serialize = () => numberedEntry('k', 1);

  test('where a module names tables, and not where it names none', () => {
    const module = { destination, serializer: { kind: 'module', module: './m.ts' } } as const;
    expect(letterRightsOf(module, { serialize }).mayWriteTo(other)).toBe(false);
    expect(letterRightsOf(module, { serialize, resolve: () => undefined }).mayWriteTo(other)).toBe(true);
  });

  test('where records are requests, which may name theirs', async () => {
    const serializer = { kind: 'request' } as const;
    const loaded = await requestSerializerOf({ serializer }, '.');
    expect(letterRightsOf({ destination, serializer }, loaded).mayWriteTo(other)).toBe(true);
  });
});
