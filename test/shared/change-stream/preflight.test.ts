import { expect, test } from 'vitest';
import { LEAST_RETENTION_MILLIS, preflight } from '../../../shared/change-stream/preflight.ts';
import type { RoutingReading, StreamReading } from '../../../shared/change-stream/reading/ports.ts';
import { tableName } from '../../../shared/model/table-name.ts';

const WEEK = 604_800_000;
const ON: StreamReading = { kind: 'on', retentionMillis: WEEK };
const SINGLE: RoutingReading = { kind: 'single-cluster', cluster: 'c1' };

interface Given {
  readonly stream?: StreamReading;
  readonly routing?: RoutingReading;
  readonly policy?: 'strict' | 'warn';
  readonly appProfileId?: string;
}

const look = ({ stream = ON, routing = SINGLE, policy = 'strict', appProfileId = 'one' }: Given) =>
  preflight(
    { readStream: () => Promise.resolve(stream), readRouting: () => Promise.resolve(routing) },
    { table: tableName('p', 'i', 't'), appProfileId },
    policy,
    new AbortController().signal,
  );

test('a table with a stream and a profile of one cluster have no problem, and the retention is told', async () => {
  expect(await look({})).toEqual({ problems: [], warnings: [], retentionMillis: WEEK });
});

test.each<[Given, string, string]>([
  [
    { stream: { kind: 'off' } },
    'GetTable: p.i.t has no change stream',
    'gcloud bigtable instances tables update t --instance=i --project=p --change-stream-retention-period=7d',
  ],
  [{ stream: { kind: 'missing' } }, 'GetTable: p.i.t is not there', 'create it'],
  [
    { stream: { kind: 'on', retentionMillis: LEAST_RETENTION_MILLIS - 1 } },
    'keeps changes for 119999 ms, and the least is 120000 ms',
    '--change-stream-retention-period=7d',
  ],
  [
    { routing: { kind: 'multi-cluster' } },
    'GetAppProfile: the app profile one of p.i routes to any cluster',
    'gcloud bigtable app-profiles update one --instance=i --project=p --route-to=CLUSTER',
  ],
  [
    { routing: { kind: 'missing' }, appProfileId: '' },
    'GetAppProfile: the app profile default of p.i is not there',
    'gcloud bigtable app-profiles create default --instance=i --project=p',
  ],
])(
  '%j is a problem that names its call and the command, and a warning where that is asked for',
  async (given, words, command) => {
    const { problems, warnings } = await look(given);
    expect(warnings).toEqual([]);
    expect(problems).toEqual([expect.stringContaining(words)]);
    expect(problems[0]).toContain(command);
    expect(await look({ ...given, policy: 'warn' })).toMatchObject({ problems: [], warnings: problems });
  },
);

test('what may not be asked is a warning in any case', async () => {
  const denied = { kind: 'denied', problem: 'answered PERMISSION_DENIED' } as const;
  const { problems, warnings, retentionMillis } = await look({ stream: denied, routing: denied });
  expect(problems).toEqual([]);
  expect(warnings).toEqual([
    'answered PERMISSION_DENIED: whether there is a change stream was not looked at',
    'answered PERMISSION_DENIED: whether it routes to a single cluster was not looked at',
  ]);
  expect(retentionMillis).toBeUndefined();
});

test('a routing that is not known is a warning', async () => {
  expect(await look({ routing: { kind: 'unknown' } })).toMatchObject({
    problems: [],
    warnings: [expect.stringContaining('the app profile one sends calls is not known')],
  });
});

test('every problem is told at once', async () => {
  const { problems } = await look({ stream: { kind: 'off' }, routing: { kind: 'multi-cluster' } });
  expect(problems).toHaveLength(2);
});
