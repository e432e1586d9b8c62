import { describe, expect, test } from 'vitest';
import { resolveConfig } from '../../../shared/config/resolve.ts';
import { type DeploymentPlan, planDeployment, subscriptionFor } from '../../../shared/deployment/plan.ts';

const DEFAULTS = { project: 'p', instance: 'i' };
const sinkOptions = { table: 'orders', serializer: 'entry' };
const bulk = { ...sinkOptions, kind: 'bulk-sink', topic: 'orders' };
const staged = { ...sinkOptions, kind: 'staged-sink', topic: 'orders', markerFamily: 'applied' };
const requests = { ...sinkOptions, kind: 'request-sink', topic: 'visits', serializer: 'request' };
const letters = (topic: string): object => ({ failurePolicy: 'dead-letter', deadLetter: { topic } });

const plan = (pipelines: Readonly<Record<string, object>>, defaults: object = DEFAULTS): DeploymentPlan =>
  planDeployment(resolveConfig({ defaults, pipelines }, 'test').config, 'local');
const names = ({ functions }: DeploymentPlan): string[] =>
  functions.map(({ name, entryPoint }) => `${name}: ${entryPoint}`);

describe('the functions of a plan', () => {
  test.each([
    ['a bulk sink is one function', { sink: bulk }, ['sink-sink: bulkSink']],
    [
      'a staged sink is its sink, its committer and the coordinator',
      { ledger: staged },
      ['ledger-sink: stagedSink', 'ledger-commit: commitStaged', 'connector-coordinate: coordinate'],
    ],
    [
      'a staged sink that commits on receipt is one function',
      { ledger: { ...staged, commit: 'on-receipt' } },
      ['ledger-sink: stagedSink'],
    ],
    [
      'a request sink is its sink and the function that answers over HTTP',
      { visits: requests },
      ['visits-sink: requestSink', 'visits-rows: rowRequest'],
    ],
    [
      'two staged sinks share one coordinator',
      { a: staged, b: { ...staged, topic: 'others' } },
      ['a-sink: stagedSink', 'b-sink: stagedSink', 'a-commit: commitStaged', 'b-commit: commitStaged'].concat(
        'connector-coordinate: coordinate',
      ),
    ],
  ])('%s', (_sentence, pipelines, expected) => {
    expect(names(plan(pipelines))).toEqual(expected);
  });

  test('are told their pipeline; the coordinator serves all and is told of none', () => {
    const { functions } = plan({ a: staged, b: bulk });
    expect(functions.map(({ name, pipeline, environment }) => [name, pipeline, environment])).toEqual([
      ['b-sink', 'b', { CONNECTOR_PIPELINE: 'b' }],
      ['a-sink', 'a', { CONNECTOR_PIPELINE: 'a' }],
      ['a-commit', 'a', { CONNECTOR_PIPELINE: 'a' }],
      ['connector-coordinate', undefined, {}],
    ]);
  });

  test('have the figures of their entry point', () => {
    const sizes = plan({ a: staged }).functions.map(({ size }) => size);
    expect(sizes).toEqual([
      { cpu: 1, memory: '512Mi', concurrency: 80, timeoutSeconds: 600 },
      { cpu: 1, memory: '1Gi', concurrency: 8, timeoutSeconds: 600 },
      { cpu: 1, memory: '512Mi', concurrency: 1, timeoutSeconds: 120, maxInstances: 2 },
    ]);
  });

  const grants = (kind: object): string[] =>
    plan({ one: { ...kind } }).functions.flatMap(({ entryPoint, grants: own }) =>
      own.map(({ role, on }) => `${entryPoint}: ${role.replace('roles/', '')} on ${on}`),
    );
  test.each([
    ['a bulk sink writes its table', bulk, ['bulkSink: bigtable.user on the table']],
    [
      'dead letters are published',
      { ...bulk, ...letters('dead') },
      ['bulkSink: bigtable.user on the table', 'bulkSink: pubsub.publisher on the dead-letter topic'],
    ],
    [
      'tables are created',
      { ...bulk, createDisposition: 'create-if-needed', tableCreateOptions: { families: { f: {} } } },
      ['bulkSink: bigtable.user on the table', 'bulkSink: bigtable.admin on the instance'],
    ],
    [
      'a stager reaches Firestore alone, its committer the table too, the coordinator the commit topic',
      { ...staged, onRejected: 'dead-letter', ...letters('dead') },
      [
        'stagedSink: datastore.user on the project',
        'stagedSink: pubsub.publisher on the dead-letter topic',
        'commitStaged: datastore.user on the project',
        'commitStaged: bigtable.user on the instance',
        'commitStaged: pubsub.publisher on the dead-letter topic',
        'coordinate: datastore.user on the project',
        'coordinate: pubsub.publisher on the commit topics',
      ],
    ],
    [
      'on receipt the sink writes, and publishes the letters of both policies under one grant',
      { ...staged, commit: 'on-receipt', onRejected: 'dead-letter', ...letters('dead') },
      ['stagedSink: bigtable.user on the instance', 'stagedSink: pubsub.publisher on the dead-letter topic'],
    ],
    [
      'requests write their table, and publish their results',
      { ...requests, resultsTopic: 'answers' },
      [
        'requestSink: bigtable.user on the table',
        'requestSink: pubsub.publisher on the results topic',
        'rowRequest: bigtable.user on the table',
      ],
    ],
    [
      "requests with replay protection look at app profiles, which are the instance's",
      { ...requests, replayProtection: { markerFamily: 'applied' } },
      ['requestSink: bigtable.user on the instance', 'rowRequest: bigtable.user on the instance'],
    ],
  ])('are granted what they do: %s', (_sentence, kind, expected) => {
    expect(grants(kind)).toEqual(expected);
  });
});

describe('the subscriptions of a plan', () => {
  test('are the reader of dead letters, which are given back at once, and the pushes of the records and of the letters that come back', () => {
    const sink = { ...bulk, ...letters('projects/q/topics/dead'), ordering: 'row', ackDeadline: '60s' };
    expect(plan({ sink }).subscriptions).toEqual([
      {
        name: 'projects/q/subscriptions/dead-reader',
        topic: 'projects/q/topics/dead',
        purpose: 'dead-letters',
        pipelines: ['sink'],
        isOrdered: false,
        ackDeadlineSeconds: 60,
        retentionSeconds: 604_800,
      },
      {
        name: 'projects/p/subscriptions/orders-sink',
        topic: 'projects/p/topics/orders',
        purpose: 'records',
        pipelines: ['sink'],
        push: { function: 'sink-sink', path: '/' },
        isOrdered: true,
        ackDeadlineSeconds: 60,
        retentionSeconds: 604_800,
        backoff: { minSeconds: 10, maxSeconds: 600 },
      },
      {
        name: 'projects/p/subscriptions/dead-sink-replay',
        topic: 'projects/q/topics/dead-sink-replay',
        purpose: 'letters',
        pipelines: ['sink'],
        push: { function: 'sink-sink', path: '/letters' },
        isOrdered: false,
        ackDeadlineSeconds: 60,
        retentionSeconds: 604_800,
        backoff: { minSeconds: 10, maxSeconds: 600 },
      },
    ]);
  });

  test('push the work of a staged sink to its committer', () => {
    const work = subscriptionFor(plan({ ledger: staged }), 'work', 'ledger');
    expect(work).toMatchObject({
      name: 'projects/p/subscriptions/orders-ledger-commit',
      topic: 'projects/p/topics/orders-ledger-commit',
      push: { function: 'ledger-commit', path: '/' },
      isOrdered: false,
    });
  });

  test('hold the results of requests where they are published', () => {
    expect(
      subscriptionFor(plan({ visits: { ...requests, resultsTopic: 'answers' } }), 'results', 'visits'),
    ).toMatchObject({ topic: 'projects/p/topics/answers', name: 'projects/p/subscriptions/answers-reader' });
    expect(subscriptionFor(plan({ visits: requests }), 'results', 'visits')).toBeUndefined();
  });

  test('read a dead-letter topic of several pipelines once, before anything is pushed', () => {
    const { subscriptions } = plan({ a: { ...bulk, ...letters('dead') }, b: { ...bulk, ...letters('dead') } });
    expect(subscriptions.map(({ purpose, pipelines }) => [purpose, ...pipelines])).toEqual([
      ['dead-letters', 'a', 'b'],
      ['records', 'a'],
      ['letters', 'a'],
      ['records', 'b'],
      ['letters', 'b'],
    ]);
  });

  test('read the dead letters of both policies of a staged sink in one place', () => {
    const { subscriptions } = plan({ ledger: { ...staged, ...letters('dead'), onRejected: 'dead-letter' } });
    expect(subscriptions.map(({ purpose }) => purpose)).toEqual(['dead-letters', 'work', 'records', 'letters']);
  });

  test('take the project that is given where the configuration names none', () => {
    const own = { ...bulk, ...letters('dead'), table: { project: 'p', instance: 'i', table: 'orders' } };
    const { subscriptions } = plan({ sink: own }, {});
    expect(subscriptions.map(({ name, topic }) => [name, topic])).toEqual([
      ['projects/local/subscriptions/dead-reader', 'projects/local/topics/dead'],
      ['projects/local/subscriptions/orders-sink', 'projects/local/topics/orders'],
      ['projects/local/subscriptions/dead-sink-replay', 'projects/local/topics/dead-sink-replay'],
    ]);
  });
});

test('the coordinator is called every minute, and may take two', () => {
  expect(plan({ a: staged, b: { ...staged, topic: 'others' } }).schedules).toEqual([
    {
      name: 'connector-coordinate',
      function: 'connector-coordinate',
      cron: '* * * * *',
      attemptDeadlineSeconds: 120,
    },
  ]);
  expect(plan({ a: bulk }).schedules).toEqual([]);
});

describe('a scan', () => {
  const scan = { kind: 'scan-source', project: 'p', instance: 'i', table: 't', outputTopic: 'rows' };

  test('has a function of its own, called every minute for each slot, and a coordinator', () => {
    const { functions, schedules } = plan({ export: { ...scan, parallelism: 2 } });
    expect(functions.map(({ name, entryPoint }) => [name, entryPoint])).toEqual([
      ['export-read', 'readScan'],
      ['connector-coordinate', 'coordinate'],
    ]);
    const job = { function: 'export-read', cron: '* * * * *', attemptDeadlineSeconds: 1800 };
    expect(schedules.filter((one) => one.function === 'export-read')).toEqual([
      { ...job, name: 'export-read-0', body: { slot: 0 }, slot: 0 },
      { ...job, name: 'export-read-1', body: { slot: 1 }, slot: 1 },
    ]);
  });

  test('with a schedule has a job more, which starts its runs', () => {
    const { schedules } = plan({ export: { ...scan, schedule: '0 3 * * *' } });
    expect(schedules.filter(({ slot, name }) => slot === undefined && name.startsWith('export'))).toEqual([
      {
        name: 'export-read-start',
        function: 'export-read',
        cron: '0 3 * * *',
        attemptDeadlineSeconds: 60,
        body: { start: {} },
      },
    ]);
  });

  test('reads with the role of a reader, and its coordinator asks with it', () => {
    const { functions } = plan({ export: scan });
    expect(functions.map(({ grants }) => grants.map(({ role, on }) => `${role} on ${on}`))).toEqual([
      [
        'roles/datastore.user on the project',
        'roles/bigtable.reader on the table',
        'roles/pubsub.publisher on the output topic',
      ],
      [
        'roles/datastore.user on the project',
        'roles/bigtable.reader on the table',
        'roles/pubsub.publisher on the output topic',
      ],
    ]);
  });
});
