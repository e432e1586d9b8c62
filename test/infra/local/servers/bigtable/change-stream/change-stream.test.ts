import { expect, test } from 'vitest';
import {
  ChangeStream,
  type ChangeStreamOptions,
  type OpenRead,
  type OpenRequest,
} from '../../../../../../infra/local/servers/bigtable/change-stream/change-stream.ts';
import {
  nanosOf,
  type Nanos,
  type Span,
  spanOf,
  WHOLE,
} from '../../../../../../infra/local/servers/bigtable/change-stream/span.ts';
import type { OfferedToken } from '../../../../../../infra/local/servers/bigtable/change-stream/tokens.ts';

const SECOND = 1_000_000_000n;
const START = 1_000_000n * SECOND;
const LEFT: Span = { start: '', end: 'm' };
const RIGHT: Span = { start: 'm', end: '' };

const streamWith = (more: Partial<ChangeStreamOptions> = {}): ChangeStream =>
  new ChangeStream({ id: 's', createdAt: START, retention: 86_400n * SECOND, bytes: 1 << 20, ...more });

const write = (stream: ChangeStream, rowKey: string, now: Nanos): void => {
  stream.append({ rowKey, type: 'USER', sourceCluster: 'local', mutations: [] }, now);
};

const open = (stream: ChangeStream, span: Span, from: OpenRequest['from'], now: Nanos, endTime?: Nanos): OpenRead =>
  stream.open({ span, from, endTime }, now);

interface Seen {
  /** Rows in the order of their changes, `heartbeat`, and at the end `close`, `wait` or the status of the end. */
  readonly steps: string[];
  readonly tokens: OfferedToken[];
  readonly targets: Span[];
  readonly lowWatermarks: Nanos[];
}

/** Everything that the read has to say at this time. */
function drain(read: OpenRead, now: Nanos): Seen {
  const seen: Seen = { steps: [], tokens: [], targets: [], lowWatermarks: [] };
  for (;;) {
    const step = read.next(now);
    if (step.kind === 'nothing') return { ...seen, steps: [...seen.steps, 'wait'] };
    if (step.kind === 'end') return { ...seen, steps: [...seen.steps, step.status.code] };
    const record = step.response.streamRecord;
    if (record?.$case === 'dataChange') {
      seen.steps.push(record.value.rowKey.toString('latin1'));
      seen.tokens.push({ span: WHOLE, text: record.value.token });
      if (record.value.estimatedLowWatermark) seen.lowWatermarks.push(nanosOf(record.value.estimatedLowWatermark));
    } else if (record?.$case === 'heartbeat') {
      const { continuationToken, estimatedLowWatermark } = record.value;
      seen.steps.push('heartbeat');
      seen.tokens.push({ span: spanOf(continuationToken?.partition)!, text: continuationToken!.token });
      if (estimatedLowWatermark) seen.lowWatermarks.push(nanosOf(estimatedLowWatermark));
    } else if (record?.$case === 'closeStream') {
      seen.steps.push(`close ${record.value.status?.code}`);
      for (const { partition, token } of record.value.continuationTokens) {
        seen.tokens.push({ span: spanOf(partition)!, text: token });
      }
      seen.targets.push(...record.value.newPartitions.map((partition) => spanOf(partition)!));
    }
  }
}

const OUT_OF_RANGE = 11;

test('a split closes a read after all that was committed before it, with a token for each child', () => {
  const stream = streamWith();
  const read = open(stream, WHOLE, { startTime: START }, START);
  write(stream, 'a', START);
  stream.split(['m'], START);
  write(stream, 'z', START);
  const { steps, tokens, targets } = drain(read, START);
  expect(steps).toEqual(['a', `close ${OUT_OF_RANGE}`, 'OK']);
  expect(targets).toEqual([LEFT, RIGHT]);
  expect(drain(open(stream, LEFT, { tokens: [tokens[1]!] }, START), START).steps).toEqual(['wait']);
  expect(drain(open(stream, RIGHT, { tokens: [tokens[2]!] }, START), START).steps).toEqual(['z', 'wait']);
});

test('a merge gives each parent a token of its own range, and the child wants both', () => {
  const stream = streamWith({ boundaries: ['m'] });
  const parents = [LEFT, RIGHT].map((span) => open(stream, span, { startTime: START }, START));
  write(stream, 'a', START);
  write(stream, 'z', START);
  stream.merge('m', START);
  write(stream, 'b', START);
  const [left, right] = parents.map((parent) => drain(parent, START));
  expect([left?.targets, right?.targets]).toEqual([[WHOLE], [WHOLE]]);
  const tokens = [left!.tokens[1]!, right!.tokens[1]!];
  expect(tokens.map(({ span }) => span)).toEqual([LEFT, RIGHT]);
  expect(drain(open(stream, WHOLE, { tokens }, START), START).steps).toEqual(['b', 'wait']);
  expect(drain(open(stream, WHOLE, { tokens: [tokens[0]!] }, START), START).steps).toEqual(['INVALID_ARGUMENT']);
});

test('a token from before a close reads to the close and is given the close again', () => {
  const stream = streamWith();
  write(stream, 'a', START);
  const token = drain(open(stream, WHOLE, { startTime: START }, START), START).tokens[0]!;
  write(stream, 'b', START);
  stream.move('a', START);
  for (const attempt of [1, 2]) {
    const { steps } = drain(open(stream, WHOLE, { tokens: [token] }, START), START);
    expect({ attempt, steps }).toEqual({ attempt, steps: ['b', `close ${OUT_OF_RANGE}`, 'OK'] });
  }
});

test('a close that is lost ends the read without it, and who reopens gets it', () => {
  const stream = streamWith();
  stream.troubles.add({ trouble: { kind: 'lose-close', status: { code: 'UNAVAILABLE', message: 'lost' } } });
  const read = open(stream, WHOLE, { startTime: START }, START);
  write(stream, 'a', START);
  stream.split(['m'], START);
  const lost = drain(read, START);
  expect(lost.steps).toEqual(['a', 'UNAVAILABLE']);
  const again = drain(open(stream, WHOLE, { tokens: [lost.tokens[0]!] }, START), START);
  expect(again.steps).toEqual([`close ${OUT_OF_RANGE}`, 'OK']);
});

test('a read may end with OK and no close, or with a close that names no successors', () => {
  const stream = streamWith();
  stream.troubles.add({ trouble: { kind: 'end' } });
  expect(drain(open(stream, WHOLE, undefined, START), START).steps).toEqual(['OK']);
  stream.troubles.add({ trouble: { kind: 'close-without-successors' } });
  const { steps, targets, tokens } = drain(open(stream, WHOLE, undefined, START), START);
  expect({ steps, targets, tokens }).toEqual({ steps: ['close 0', 'OK'], targets: [], tokens: [] });
});

test('a silent read says nothing, not even a heartbeat, and another read of the partition does', () => {
  const stream = streamWith();
  stream.troubles.add({ trouble: { kind: 'silence' } });
  const silent = open(stream, WHOLE, { startTime: START }, START);
  write(stream, 'a', START);
  expect(drain(silent, START).steps).toEqual(['wait']);
  expect(drain(silent, START + 60n * SECOND).steps).toEqual(['wait']);
  expect(drain(open(stream, WHOLE, { startTime: START }, START), START).steps).toEqual(['a', 'wait']);
});

test('a heartbeat comes every 5 s, and its token goes on behind what was read', () => {
  const stream = streamWith();
  const read = open(stream, WHOLE, { startTime: START }, START);
  expect(drain(read, START + 5n * SECOND - 1n).steps).toEqual(['wait']);
  const { steps, tokens } = drain(read, START + 5n * SECOND);
  expect(steps).toEqual(['heartbeat', 'wait']);
  write(stream, 'a', START + 6n * SECOND);
  const now = START + 6n * SECOND;
  expect(drain(open(stream, WHOLE, { tokens }, now), now).steps).toEqual(['a', 'wait']);
});

test('a low watermark that is stalled stands still while changes go on above it', () => {
  const stream = streamWith();
  const stalledAt = START + SECOND;
  stream.stallWatermark(stalledAt);
  const read = open(stream, WHOLE, { startTime: START }, START);
  write(stream, 'a', START + 2n * SECOND);
  write(stream, 'b', START + 3n * SECOND);
  const { steps, lowWatermarks } = drain(read, START + 3n * SECOND);
  expect({ steps, lowWatermarks }).toEqual({ steps: ['a', 'b', 'wait'], lowWatermarks: [stalledAt, stalledAt] });
});

test('an end time is inclusive, and then the stream is closed with OK', () => {
  const stream = streamWith();
  const read = open(stream, WHOLE, { startTime: START }, START, START + SECOND);
  write(stream, 'a', START + SECOND);
  write(stream, 'b', START + 2n * SECOND);
  expect(drain(read, START + 2n * SECOND).steps).toEqual(['a', 'close 0', 'OK']);
});

test('changes of one commit time are told apart by their tie breakers, also when the clock goes back', () => {
  const stream = streamWith();
  for (const now of [START, START, START - SECOND, START + 1n]) write(stream, 'a', now);
  const stamps = stream.log.records().map(({ commitTime, tieBreaker }) => [commitTime - START, tieBreaker]);
  expect(stamps).toEqual([
    [0n, 0],
    [0n, 1],
    [0n, 2],
    [1n, 0],
  ]);
});

test('a token or a start time that is older than the retention is refused, with the status of an expired position', () => {
  const stream = streamWith({ retention: 10n * SECOND });
  write(stream, 'a', START);
  const { tokens } = drain(open(stream, WHOLE, { startTime: START }, START), START);
  const now = START + 11n * SECOND;
  expect(drain(open(stream, WHOLE, { tokens }, now), now).steps).toEqual(['OUT_OF_RANGE']);
  expect(drain(open(stream, WHOLE, { startTime: START }, now), now).steps).toEqual(['OUT_OF_RANGE']);
});

test('a token is bound to its partition and its stream', () => {
  const stream = streamWith({ boundaries: ['m'] });
  const read = open(stream, LEFT, { startTime: START }, START);
  const token = drain(read, START + 5n * SECOND).tokens[0]!;
  const now = START + 5n * SECOND;
  const stepsOf = (of: ChangeStream, span: Span, tokens: OfferedToken[]): string[] =>
    drain(open(of, span, { tokens }, now), now).steps;
  expect(stepsOf(stream, LEFT, [token])).toEqual(['wait']);
  expect(stepsOf(stream, RIGHT, [token])).toEqual(['INVALID_ARGUMENT']);
  expect(stepsOf(stream, RIGHT, [{ ...token, span: RIGHT }])).toEqual(['INVALID_ARGUMENT']);
  expect(stepsOf(streamWith({ id: 'other' }), LEFT, [token])).toEqual(['INVALID_ARGUMENT']);
});

test('boundaries that move split and merge at once: each parent has a token for each part that goes on elsewhere', () => {
  const stream = streamWith({ boundaries: ['m'] });
  const parents = [LEFT, RIGHT].map((span) => open(stream, span, { startTime: START }, START));
  stream.rearrange(WHOLE, ['f', 't'], START);
  const [left, right] = parents.map((parent) => drain(parent, START));
  const middle = { start: 'f', end: 't' };
  expect(left?.tokens.map(({ span }) => span)).toEqual([
    { start: '', end: 'f' },
    { start: 'f', end: 'm' },
  ]);
  expect(left?.targets).toEqual([{ start: '', end: 'f' }, middle]);
  write(stream, 'p', START);
  const tokens = [left!.tokens[1]!, right!.tokens[0]!];
  expect(drain(open(stream, middle, { tokens }, START), START).steps).toEqual(['p', 'wait']);
});

test('a partition that vanished is not listed, its reads close without successors, and its tokens stay good', () => {
  const stream = streamWith({ boundaries: ['m'] });
  write(stream, 'z', START);
  const seen = drain(open(stream, RIGHT, { startTime: START }, START), START);
  stream.vanish('z');
  expect(stream.partitions()).toEqual([LEFT]);
  const tokens = [{ ...seen.tokens[0]!, span: RIGHT }];
  expect(drain(open(stream, RIGHT, { tokens }, START), START).steps).toEqual(['close 0', 'OK']);
  stream.reappear('z');
  expect(stream.partitions()).toEqual([LEFT, RIGHT]);
  expect(drain(open(stream, RIGHT, { tokens }, START), START).steps).toEqual(['wait']);
});

test('a read that is cut inside a change gives the change whole to who reopens from the token before', () => {
  const stream = streamWith();
  write(stream, 'a', START);
  const { tokens } = drain(open(stream, WHOLE, { startTime: START }, START), START);
  const value = { familyName: 'f', columnQualifier: Buffer.from('q'), timestampMicros: 0n, value: Buffer.from('abcd') };
  const mutations = [{ mutation: { $case: 'setCell', value } as const }];
  stream.append({ rowKey: 'b', type: 'USER', sourceCluster: 'local', mutations }, START);
  stream.troubles.add({ trouble: { kind: 'cut', status: { code: 'UNAVAILABLE', message: 'cut' } } });
  const cut = drain(open(stream, WHOLE, { tokens }, START), START);
  expect(cut.steps).toEqual(['b', 'UNAVAILABLE']);
  expect(cut.tokens.map(({ text }) => text)).toEqual(['']);
  expect(drain(open(stream, WHOLE, { tokens }, START), START).steps).toEqual(['b', 'wait']);
});

test('a change of another cluster may come below a low watermark that was told', () => {
  const stream = streamWith();
  const read = open(stream, WHOLE, { startTime: START }, START);
  const now = START + 5n * SECOND;
  const [told] = drain(read, now).lowWatermarks;
  const late = { rowKey: 'a', type: 'USER', sourceCluster: 'far', mutations: [] } as const;
  const { commitTime } = stream.append(late, now, { commitTime: START + SECOND, tieBreaker: 0 });
  expect(commitTime < told!).toBe(true);
  expect(drain(read, now).steps).toEqual(['a', 'wait']);
});
