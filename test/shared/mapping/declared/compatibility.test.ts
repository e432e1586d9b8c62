import { describe, expect, test } from 'vitest';
import { pipelineProblems, type SinkKind } from '../../../../shared/mapping/declared/compatibility.ts';
import { resolveMapping } from '../../../../shared/mapping/declared/resolve.ts';

const integer = { f: { columns: { n: 'int64' } } };
const conditional = { predicate: { type: 'row-exists' }, then: [{ type: 'delete-row' }] };
const MAPPINGS: Readonly<Record<string, unknown>> = {
  upsert: { families: integer },
  'keep-latest': { families: integer },
  aggregate: { families: { f: { aggregate: 'int64-sum', columns: { n: 'int64' } } } },
  'insert-if-absent': { families: integer },
  'replace-if-newest': { families: integer },
  append: { families: { f: { columns: { s: 'string' } } } },
  increment: { families: integer },
  conditional: { conditional },
};

function problems(
  kind: SinkKind,
  writeMode: string,
  written: Readonly<Record<string, unknown>> = {},
  more: {
    readonly operation?: unknown;
    readonly conditional?: unknown;
    readonly markerFamily?: string;
    readonly isReplayProtected?: boolean;
  } = {},
): readonly string[] {
  const { operation, conditional: other, markerFamily, isReplayProtected = false } = more;
  const options = { rowKey: '${k}', writeMode, ...(MAPPINGS[writeMode] as object), ...(operation !== undefined && { operation }), ...(other !== undefined && { conditional: other }) }; // prettier-ignore
  const { mapping } = resolveMapping(options, 'mapping');
  if (!mapping) throw new Error(`the ${writeMode} mapping of this test must resolve`);
  const pipeline = {
    kind,
    mapping,
    written,
    path: 'pipelines.p',
    isReplayProtected,
    ...(markerFamily !== undefined && { markerFamily }),
  };
  return pipelineProblems(pipeline).map(({ path, rule, got }) => `${path}: ${rule}, got ${got}`);
}

const ENTRY_MODES = ['upsert', 'keep-latest', 'aggregate'];
const REQUEST_MODES = ['insert-if-absent', 'replace-if-newest', 'append', 'increment', 'conditional'];

describe('each kind of pipeline takes its own modes', () => {
  test.each(ENTRY_MODES)('%s writes entries', (mode) => {
    expect(problems('bulk-sink', mode)).toEqual([]);
    expect(problems('staged-sink', mode)).toEqual([]);
    const hint = mode === 'aggregate' ? '; aggregate needs replayProtection' : '';
    expect(problems('request-sink', mode)).toEqual([
      `pipelines.p.mapping.writeMode: must be a mode of request-sink (${REQUEST_MODES.join(', ')}${hint}), got "${mode}"`,
    ]);
  });

  test.each(REQUEST_MODES)('%s sends requests', (mode) => {
    expect(problems('request-sink', mode)).toEqual([]);
    for (const kind of ['bulk-sink', 'staged-sink'] as const) {
      expect(problems(kind, mode)).toEqual([
        `pipelines.p.mapping.writeMode: must be a mode of ${kind} (${ENTRY_MODES.join(', ')}), got "${mode}"`,
      ]);
    }
  });
});

describe('records in binary are one message each', () => {
  const schema = '{"type":"record","name":"R","fields":[{"name":"k","type":"string"},{"name":"n","type":"long"}]}';
  const framed = (encoding: string, framing: string) => {
    const options = { rowKey: '${k}', families: integer, format: { type: 'avro', encoding, schema } };
    const { mapping } = resolveMapping(options, 'mapping');
    if (!mapping) throw new Error('the Avro mapping of this test must resolve');
    return pipelineProblems({ kind: 'bulk-sink', mapping, written: { framing }, path: 'pipelines.p' });
  };
  test.each(['ndjson', 'json-array'])('and refused with %s, whose delimiters they may hold', (framing) => {
    expect(framed('binary', framing)).toEqual([
      {
        path: 'pipelines.p.framing',
        rule: 'must be single with binary avro, whose bytes may hold any delimiter: one record is one message',
        got: `"${framing}"`,
      },
    ]);
  });
  test.each([
    ['binary', 'single'],
    ['json', 'ndjson'],
    ['attribute', 'ndjson'],
  ])('but %s may be %s', (encoding, framing) => {
    expect(framed(encoding, framing)).toEqual([]);
  });
});

const batch = {
  createDisposition: 'create-never',
  tableCreateOptions: {},
  writerOptions: { batchElementCountThreshold: 100, batchRequestByteThreshold: '1MiB', maxInFlightEntries: 1, maxInFlightBytes: '1MiB', maxConsecutiveRejections: 1, recoveryInitialBackoff: '1s', recoveryMaxBackoff: '1s', recoveryMaxAttempts: 1 },
}; // prettier-ignore
const request = {
  emptyBranchPolicy: 'ignore',
  requestOptions: { requestTimeout: '20s', maxInFlightRequests: 100 },
};
const paths = (found: readonly string[]): readonly string[] =>
  found.map((problem) => problem.slice('pipelines.p.'.length, problem.indexOf(':')));

describe('options that a mode has no use for are refused, even at their default', () => {
  test.each(ENTRY_MODES)('%s refuses those of requests', (mode) => {
    expect(problems('bulk-sink', mode, batch)).toEqual([]);
    expect(paths(problems('bulk-sink', mode, request))).toEqual([
      'emptyBranchPolicy',
      'requestOptions.requestTimeout',
      'requestOptions.maxInFlightRequests',
    ]);
  });

  test.each(REQUEST_MODES)('%s refuses those of batches', (mode) => {
    expect(paths(problems('request-sink', mode, batch))).toHaveLength(10);
    const hasBranches = mode !== 'append' && mode !== 'increment';
    expect(paths(problems('request-sink', mode, request))).toEqual(hasBranches ? [] : ['emptyBranchPolicy']);
  });

  test('a staged pipeline refuses those of batches too, but not those of table creation', () => {
    expect(paths(problems('staged-sink', 'upsert', batch))).toEqual(
      Object.keys(batch.writerOptions).map((name) => `writerOptions.${name}`),
    );
  });
});

test('a mode of another kind is the only problem: the options may fit once it is fixed', () => {
  expect(paths(problems('bulk-sink', 'increment', batch))).toEqual(['mapping.writeMode']);
});

describe('a staged pipeline protects its markers', () => {
  const operation = { field: 'op', values: { d: 'delete-row' } };

  test('whole rows are not deleted', () => {
    expect(paths(problems('staged-sink', 'upsert', {}, { operation }))).toEqual(['mapping.operation.rowDelete']);
    const families = { ...operation, rowDelete: 'declared-families' };
    expect(problems('staged-sink', 'upsert', {}, { operation: families })).toEqual([]);
    expect(problems('bulk-sink', 'upsert', {}, { operation })).toEqual([]);
  });

  test('a mapping without deletes needs no statement about them', () => {
    expect(problems('staged-sink', 'upsert')).toEqual([]);
  });

  test('the options of its requests are its own', () => {
    expect(problems('staged-sink', 'upsert', { requestOptions: request.requestOptions })).toEqual([]);
    expect(paths(problems('staged-sink', 'upsert', request))).toEqual(['emptyBranchPolicy']);
  });

  test('their family is not written', () => {
    expect(problems('staged-sink', 'upsert', {}, { markerFamily: 'f' })).toEqual([
      'pipelines.p.mapping.families.f: must not be the family of the markers, got "f"',
    ]);
  });
});

describe('a request sink with markers', () => {
  const markers = { markerFamily: 'm', isReplayProtected: true };

  test.each(['insert-if-absent', 'replace-if-newest', 'aggregate'])('takes the mode %s', (mode) => {
    expect(problems('request-sink', mode, { emptyBranchPolicy: 'ignore' }, markers)).toEqual([]);
  });

  test.each(['append', 'increment'])('refuses %s and names what counts exactly', (mode) => {
    const [line, ...others] = problems('request-sink', mode, {}, markers);
    expect(others).toEqual([]);
    expect(line).toMatch(/writeMode: cannot be protected from replays: .*aggregate type with the mode aggregate/);
  });

  test.each(['upsert', 'keep-latest'])('refuses %s, which a staged sink writes exactly once', (mode) => {
    expect(problems('request-sink', mode, {}, markers)).toEqual([
      expect.stringMatching(/or the pipeline a staged-sink/),
    ]);
  });

  test('takes a conditional whose then is empty, and no other', () => {
    const set = { type: 'set-cell', family: 'f', qualifier: 'q', value: { utf8: 'v' } };
    const once = { predicate: { type: 'row-exists' }, otherwise: [set] };
    expect(problems('request-sink', 'conditional', {}, { ...markers, conditional: once })).toEqual([]);
    expect(problems('request-sink', 'conditional', {}, { ...markers, conditional: { ...once, then: [set] } })).toEqual([
      expect.stringMatching(/^pipelines\.p\.mapping\.conditional\.then: must be empty with replayProtection/),
    ]);
  });

  test('keeps its markers to itself: their family is not written, and their row not deleted', () => {
    const otherwise = [
      { type: 'set-cell', family: 'm', qualifier: 'q', value: { utf8: 'v' } },
      { type: 'delete-family', family: 'm' },
      { type: 'delete-row' },
      { type: 'delete-family', family: 'f' },
    ];
    const conditional = { predicate: { type: 'row-exists' }, otherwise };
    expect(problems('request-sink', 'conditional', {}, { ...markers, conditional })).toEqual([
      'pipelines.p.mapping.conditional.otherwise[0]: must not be the family of the markers, got "m"',
      'pipelines.p.mapping.conditional.otherwise[1]: must not be the family of the markers, got "m"',
      expect.stringMatching(/otherwise\[2\]: must not delete the row with replayProtection/),
    ]);
    expect(problems('request-sink', 'aggregate', {}, { ...markers, markerFamily: 'f' })).toEqual([
      'pipelines.p.mapping.families.f: must not be the family of the markers, got "f"',
    ]);
  });
});
