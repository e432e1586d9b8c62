import { describe, expect, test } from 'vitest';
import { defaultsShape } from '../../../shared/config/defaults.ts';
import { KINDS } from '../../../shared/config/kinds.ts';
import { resolveConfig } from '../../../shared/config/resolve.ts';
import { isSink } from '../../../shared/config/resolved.ts';
import { MINIMAL, documentOf, problemsOf, resolvedSink, type Options } from './documents.ts';

const BARE = { kind: 'bulk-sink', topic: 'orders', table: 't', serializer: 'entry' };
const PLACE = { project: 'p', instance: 'i' };

test('a pipeline takes from the defaults what it does not set', () => {
  const { destination, input } = resolvedSink({ ...BARE, instance: 'own' }, { ...PLACE, framing: 'ndjson' });
  expect(destination.table).toEqual({ project: 'p', instance: 'own', table: 't' });
  expect(input.framing).toBe('ndjson');
});

test('of a section it takes option by option', () => {
  const { writer } = resolvedSink(
    { ...MINIMAL, writerOptions: { linger: '5ms' } },
    { writerOptions: { linger: '1s', maxInFlightEntries: 7 } },
  );
  expect(writer).toMatchObject({ lingerMillis: 5, maxInFlightEntries: 7, maxConcurrentBatches: 4 });
});

test('a dead letter topic may be shared, and its other options set by the pipeline', () => {
  const { failure } = resolvedSink(
    { ...MINIMAL, deadLetter: { payload: 'record' } },
    { failurePolicy: 'dead-letter', deadLetter: { topic: 'dlq' } },
  );
  expect(failure).toMatchObject({ deadLetter: { topic: 'projects/p/topics/dlq', payload: 'record' } });
});

test.each([{ failurePolicy: 'fail' }, { failurePolicy: 'log-and-drop' }, {}])(
  'a pipeline whose policy is not dead-letter does not inherit the section: %j',
  (policy) => {
    const { failure } = resolvedSink({ ...MINIMAL, ...policy }, { deadLetter: { topic: 'dlq' } });
    expect(failure.policy).not.toBe('dead-letter');
  },
);

test('a pipeline that chooses one way of access does not inherit the other', () => {
  const key = { serviceAccountKeyFile: 'key.json' };
  const emulator = { emulatorEndpoint: 'localhost:8086' };
  expect(resolvedSink({ ...MINIMAL, ...emulator }, key).access.mode).toBe('emulator');
  expect(resolvedSink({ ...MINIMAL, ...key }, emulator).access.mode).toBe('key-file');
});

test('a problem of the defaults is reported once, not by every pipeline', () => {
  const document = {
    defaults: { ...PLACE, ackDeadline: '1s', writerOptions: { linger: 3, maxInFlightEntries: 7 } },
    pipelines: { a: BARE, b: BARE },
  };
  expect(problemsOf(document).map(({ path }) => path)).toEqual([
    'defaults.writerOptions.linger',
    'defaults.ackDeadline',
  ]);
});

test('what a pipeline lacks because the defaults have it wrong is not reported again', () => {
  const defaults = { ...PLACE, instance: ' ', failurePolicy: 'dead-letter', deadLetter: { topic: '?' } };
  expect(problemsOf(documentOf(BARE, defaults)).map(({ path }) => path)).toEqual([
    'defaults.instance',
    'defaults.deadLetter.topic',
  ]);
});

test('a warning is given where the value takes effect', () => {
  const defaults = { writerOptions: { maxInFlightEntries: 20_001 } };
  expect(resolveConfig(documentOf(MINIMAL, defaults), 'test').warnings).toEqual([
    expect.stringContaining('pipelines.orders.writerOptions.maxInFlightEntries'),
  ]);
});

describe('pipelines of several kinds', () => {
  const staged = { kind: 'staged-sink', topic: 'orders', table: 't', serializer: 'entry', markerFamily: 'm' };
  const request = { kind: 'request-sink', topic: 'orders', table: 't', serializer: 'request' };
  const pipelinesWith = (defaults: Options) =>
    resolveConfig({ defaults: { ...PLACE, ...defaults }, pipelines: { bulk: BARE, staged, request } }, 'test').config
      .pipelines;

  test('take what they have a use for', () => {
    const {
      bulk,
      staged: second,
      request: third,
    } = pipelinesWith({
      createDisposition: 'create-if-needed',
      tableCreateOptions: { families: { f: {} } },
      requestOptions: { requestTimeout: '3s' },
      firestoreDatabase: 'sink',
    });
    expect(bulk).toMatchObject({ tableCreateOptions: { families: { f: { type: 'raw' } } } });
    expect(second).toMatchObject({
      requestOptions: { requestTimeoutMillis: 3_000 },
      commit: { firestore: { database: 'sink' } },
    });
    expect(third).toMatchObject({ requestOptions: { requestTimeoutMillis: 3_000 } });
  });

  test.each([
    ['record', 'record', 'record'],
    ['entry', 'entry', 'request'],
    ['request', 'entry', 'request'],
  ])('take the payload %s of dead letters where they can make it', (payload, ofEntries, ofRequests) => {
    const deadLetter = { topic: 'dlq', payload };
    const pipelines = pipelinesWith({ failurePolicy: 'dead-letter', deadLetter });
    const payloads = Object.values(pipelines).map(
      (pipeline) =>
        isSink(pipeline) && pipeline.failure.policy === 'dead-letter' && pipeline.failure.deadLetter.payload,
    );
    expect(payloads).toEqual([ofEntries, ofEntries, ofRequests]);
  });

  test('share the declaration of every option that the defaults hold, but for the payload and the default of slots', () => {
    const differing = Object.keys(defaultsShape).filter((name) => {
      const kinds = Object.values(KINDS).filter(({ shared }) => shared.includes(name));
      return new Set(kinds.map(({ section }) => section.shape[name] as unknown)).size > 1;
    });
    expect(differing).toEqual(['deadLetter', 'parallelism']);
  });
});
