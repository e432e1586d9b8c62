import { describe, expect, test } from 'vitest';
import type {
  ChangeStream,
  OpenRead,
} from '../../../../../../infra/local/servers/bigtable/change-stream/change-stream.ts';
import { WHOLE } from '../../../../../../infra/local/servers/bigtable/change-stream/span.ts';
import type { OfferedToken } from '../../../../../../infra/local/servers/bigtable/change-stream/tokens.ts';
import type { ReadChangeStreamResponse } from '../../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import {
  drain,
  gist,
  lastToken,
  localStream,
  SECOND,
  setOf,
  START,
  successors,
  write,
} from '../../../../../support/local-stream.ts';

const NOW = START + SECOND;

const open = (stream: ChangeStream, more: Partial<Parameters<ChangeStream['open']>[0]> = {}): OpenRead =>
  stream.open({ span: WHOLE, from: { startTime: START }, ...more }, NOW);

const offered = (text = ''): OfferedToken => ({ span: WHOLE, text });

const gists = (read: OpenRead, now = NOW): string[] => {
  const { responses, end } = drain(read, now);
  return [...responses.map(gist), ...(end === undefined ? [] : [end])];
};

const lowOf = ({ streamRecord }: ReadChangeStreamResponse): bigint | undefined =>
  streamRecord?.$case === 'heartbeat' ? streamRecord.value.estimatedLowWatermark?.seconds : undefined;

describe('a close', () => {
  test('over moved boundaries pairs each token with the partition that it goes on in', () => {
    const stream = localStream({ boundaries: ['b', 'd'] });
    const read = open(stream, { span: { start: 'b', end: 'd' } });
    stream.rearrange({ start: '', end: '' }, ['c'], NOW);
    const [close] = drain(read, NOW).responses;
    expect(successors(close!)?.map(({ target, token }) => [target, token.span])).toEqual([
      [
        { start: '', end: 'c' },
        { start: 'b', end: 'c' },
      ],
      [
        { start: 'c', end: '' },
        { start: 'c', end: 'd' },
      ],
    ]);
  });

  test('of a move has one token, for the same partition', () => {
    const stream = localStream();
    const read = open(stream);
    stream.move('', NOW);
    const [close] = drain(read, NOW).responses;
    expect(successors(close!)?.map(({ target, token }) => [target, token.span])).toEqual([[WHOLE, WHOLE]]);
  });

  test('comes at once where a partition is opened that was listed and has closed since', () => {
    const stream = localStream();
    stream.split(['m'], NOW);
    expect(gists(stream.open({ span: WHOLE, from: { startTime: NOW } }, NOW + SECOND))).toEqual(['closeStream', 'OK']);
  });
});

describe('the parts of a merged partition', () => {
  test('are read from where each was left, and a token of the whole tells them apart until they are level', () => {
    const stream = localStream({ boundaries: ['m'] });
    write(stream, 'a', NOW);
    write(stream, 'z', NOW);
    stream.merge('m', NOW);
    const tokens = [
      { start: '', end: 'm' },
      { start: 'm', end: '' },
    ].flatMap((span) => successors(drain(open(stream, { span }), NOW).responses.at(-1)!)!.map(({ token }) => token));
    write(stream, 'b', NOW);
    const read = open(stream, { from: { tokens } });
    const { responses } = drain(read, NOW);
    expect(responses.map(gist)).toEqual(['b']);
    expect(gists(open(stream, { from: { tokens: [offered(lastToken(responses))] } }))).toEqual([]);
    expect(gists(open(stream, { from: { tokens: tokens.slice(0, 1) } }))).toEqual(['INVALID_ARGUMENT']);
  });
});

describe('low watermarks', () => {
  test('stall, and records below a watermark that was told still come', () => {
    const stream = localStream();
    const read = open(stream);
    stream.stallWatermark(START + 2n * SECOND);
    const told = [6n, 12n].map((seconds) => lowOf(drain(read, NOW + seconds * SECOND).responses[0]!));
    expect(told).toEqual([START / SECOND + 2n, START / SECOND + 2n]);
    stream.stallWatermark(undefined);
    expect(lowOf(drain(read, NOW + 20n * SECOND).responses[0]!)).toBe(START / SECOND + 21n);
    stream.append({ rowKey: 'late', type: 'USER', sourceCluster: 'far', mutations: [setOf('v')] }, NOW + 21n * SECOND, {
      commitTime: START,
      tieBreaker: 0,
    });
    expect(gists(read, NOW + 21n * SECOND)).toEqual(['late']);
  });
});

test('heartbeats come as often as they are asked for, and not while there are changes', () => {
  const stream = localStream();
  const read = open(stream, { heartbeat: 2n * SECOND });
  expect(read.next(NOW)).toEqual({ kind: 'nothing', dueAt: NOW + 2n * SECOND });
  write(stream, 'a', NOW + 3n * SECOND);
  expect(gists(read, NOW + 3n * SECOND)).toEqual(['a', 'heartbeat']);
  expect(gists(read, NOW + 4n * SECOND)).toEqual([]);
});

describe('what retention has overtaken is refused with one status', () => {
  test.each(['by time', 'by bytes'])('%s', (how) => {
    const stream = localStream(how === 'by bytes' ? { bytes: 1000 } : { retention: 10n * SECOND });
    write(stream, 'a', NOW);
    const read = open(stream);
    const token = lastToken([(read.next(NOW) as { response: ReadChangeStreamResponse }).response]);
    for (let at = 0; at < 10; at += 1) write(stream, 'b', NOW + 20n * SECOND);
    const from = { tokens: [offered(token)] };
    expect(gists(stream.open({ span: WHOLE, from }, NOW + 20n * SECOND))).toEqual(['OUT_OF_RANGE']);
    if (how === 'by bytes') expect(stream.log.bytes).toBeLessThanOrEqual(1000);
    else
      expect(gists(stream.open({ span: WHOLE, from: { startTime: START } }, NOW + 20n * SECOND))).toEqual([
        'OUT_OF_RANGE',
      ]);
  });
});

describe('on request a read', () => {
  const troubled = (
    trouble: Parameters<ChangeStream['troubles']['add']>[0],
  ): { stream: ChangeStream; read: OpenRead } => {
    const stream = localStream();
    stream.troubles.add(trouble);
    stream.append({ rowKey: 'a', type: 'USER', sourceCluster: 'c', mutations: [setOf('1', 'p'), setOf('2')] }, NOW);
    return { stream, read: open(stream) };
  };

  test('ends with a status at any point', () => {
    const { read } = troubled({ trouble: { kind: 'end', status: { code: 'INTERNAL', message: 'x' } } });
    expect(gists(read)).toEqual(['INTERNAL']);
  });

  test('is cut inside a change, which the next one gives whole', () => {
    const { read, stream } = troubled({ trouble: { kind: 'cut', status: { code: 'UNAVAILABLE', message: 'x' } } });
    const { responses, end } = drain(read, NOW);
    expect(responses).toHaveLength(1);
    expect(lastToken(responses)).toBeUndefined();
    expect(end).toBe('UNAVAILABLE');
    expect(lastToken(drain(open(stream), NOW).responses)).toBeDefined();
  });

  test('is silent for a time, without heartbeats, and goes on', () => {
    const { read } = troubled({ trouble: { kind: 'silence', duration: 60n * SECOND } });
    expect(read.next(NOW)).toEqual({ kind: 'nothing', dueAt: NOW + 60n * SECOND });
    expect(gists(read, NOW + 59n * SECOND)).toEqual([]);
    expect(gists(read, NOW + 60n * SECOND)).toEqual(['a', 'heartbeat']);
  });

  test('finds its partition vanished, until that is listed again', () => {
    const stream = localStream({ boundaries: ['m'] });
    const span = stream.vanish('a');
    expect(stream.partitions()).toEqual([{ start: 'm', end: '' }]);
    expect(gists(open(stream, { span }))).toEqual(['closeStream', 'OK']);
    stream.reappear('a');
    expect(stream.partitions()).toHaveLength(2);
    write(stream, 'b', NOW);
    expect(gists(open(stream, { span }))).toEqual(['b']);
  });
});
