import * as z from 'zod';
import type { ConfigProblem } from '../../base/errors.ts';
import { bareId, parseEmulatorEndpoint, projectOf, pubSubNamePattern, qualify } from '../addresses.ts';
import { declare, optional, ruled } from '../option.ts';
import { deliveryOptions, placeOptions, attributeName, pubSubName, tablePart } from '../options/shared.ts';
import { failureOptions } from '../options/failure.ts';
import { serializerOptions } from '../options/serializer.ts';
import { IN_FLIGHT_WARNINGS, writerOptions } from '../options/writer.ts';
import { formatPath, problem, type Path } from '../problems.ts';
import { readSection, type Readable } from '../read.ts';
import type {
  ResolvedAccess,
  ResolvedBulkSink,
  ResolvedDestination,
  ResolvedFailure,
  ResolvedSerializer,
  ResolvedWriterOptions,
} from '../resolved.ts';
import type { Kind, Resolution } from './kind.ts';

/** Records of a subscription become row mutations, at least once. */

const tableSection = z.strictObject({
  project: tablePart('Project of the table.'),
  instance: tablePart('Instance of the table.'),
  table: tablePart('Id of the table.'),
});

const section = z.strictObject({
  kind: declare(z.literal('bulk-sink'), 'What the pipeline does.', {
    type: 'choice',
    bounds: '"bulk-sink"',
    isRequired: true,
  }),
  topic: pubSubName('Topic that records are published to.', 'topics'),
  subscription: optional(
    pubSubName(
      'Push subscription that delivers the records; without it the topic id, a hyphen and the name of the pipeline. It must have no dead-letter policy of its own.',
      'subscriptions',
    ),
  ),
  ...placeOptions,
  table: declare(
    optional(
      z.union(
        [tablePart('Id of the table.'), tableSection],
        ruled('must be a table id or a section with project, instance and table'),
      ),
    ),
    'Table that rows go to: its id, which needs project and instance, or its whole address. A record may name another one by destinationAttribute or a module serializer.',
    { type: 'text or section', bounds: 'a table id or {project, instance, table}' },
  ),
  destinationAttribute: optional(
    attributeName(
      'Message attribute that names the table of each record, as project.instance.table or as a bare table id. A message without it goes to table, and without that it is refused.',
    ),
  ),
  ...serializerOptions,
  ...failureOptions,
  ...writerOptions,
  ...deliveryOptions,
});

type Options = z.output<typeof section>;

export const bulkSink: Kind = {
  section,
  shared: [
    ...Object.keys(placeOptions),
    ...Object.keys(failureOptions),
    ...Object.keys(writerOptions),
    ...Object.keys(deliveryOptions),
  ],
  resolve: (name, value, path): Resolution => {
    const { partial, complete, problems } = readSection(section, value, path);
    const broken = brokenRules(name, partial, value, path, problems);
    const isRight = complete !== undefined && broken.length === 0;
    return {
      pipeline: isRight ? resolved(name, complete) : undefined,
      problems: [...problems, ...broken],
      warnings: inFlightWarnings(partial, path),
    };
  },
};

/** Rules between options. An option that has a problem of its own breaks none of them. */
function brokenRules(
  name: string,
  options: Readable<Options>,
  value: unknown,
  path: Path,
  problems: readonly ConfigProblem[],
): ConfigProblem[] {
  const broken: ConfigProblem[] = [];
  const isWrong = (key: string): boolean =>
    problems.some(
      ({ path: at }) => at === formatPath([...path, key]) || at.startsWith(`${formatPath([...path, key])}.`),
    );
  const isSet = (key: string): boolean => typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  const check = (holds: boolean, at: Path, rule: string, got: unknown): void => {
    if (!holds) broken.push(problem([...path, ...at], rule, got));
  };
  const { table, writerOptions: writer, deadLetter } = options;

  const isModule = typeof options.serializer === 'object';
  if (!isSet('table') && !isSet('destinationAttribute') && !isWrong('serializer')) {
    check(isModule, ['table'], 'is required unless destinationAttribute or a module serializer names it', undefined);
  }
  if (typeof table === 'string') {
    for (const key of ['project', 'instance'] as const) {
      check(isSet(key) || isWrong(key), [key], 'is required because table is a bare table id', undefined);
    }
  }
  if (isSet('serviceAccountKeyFile') && isSet('emulatorEndpoint')) {
    const rule = 'must not be set beside serviceAccountKeyFile: an emulator takes no credentials';
    check(isWrong('emulatorEndpoint'), ['emulatorEndpoint'], rule, options.emulatorEndpoint);
  }
  if (options.failurePolicy === 'dead-letter') {
    check(isSet('deadLetter'), ['deadLetter'], 'is required by the failurePolicy dead-letter', undefined);
  } else if (options.failurePolicy !== undefined && isSet('deadLetter')) {
    check(false, ['failurePolicy'], 'must be "dead-letter" where deadLetter is set', options.failurePolicy);
  }
  if (options.topic !== undefined && deadLetter?.topic !== undefined) {
    const [topic, deadLetterTopic] = [options.topic, deadLetter.topic].map((id) =>
      qualify(id, 'topics', options.project),
    );
    const rule = 'must not be the topic of the pipeline: its dead letters would come back';
    check(topic !== deadLetterTopic, ['deadLetter', 'topic'], rule, deadLetter.topic);
  }
  if (options.topic !== undefined && !isSet('subscription')) {
    const subscription = subscriptionId(name, options.topic);
    const rule = 'is required because the default, topic id and pipeline name, is longer than 255 characters';
    check(pubSubNamePattern('subscriptions').test(subscription), ['subscription'], rule, undefined);
  }
  if (writer?.retryInitialBackoff !== undefined && writer.retryMaxBackoff !== undefined) {
    const holds = writer.retryInitialBackoff <= writer.retryMaxBackoff;
    const at = ['writerOptions', 'retryMaxBackoff'];
    check(
      holds,
      at,
      `must be at least retryInitialBackoff (${writer.retryInitialBackoff}ms)`,
      `${writer.retryMaxBackoff}ms`,
    );
  }
  if (options.deadlineMargin !== undefined && options.ackDeadline !== undefined) {
    const holds = options.deadlineMargin < options.ackDeadline;
    check(
      holds,
      ['deadlineMargin'],
      `must be below ackDeadline (${options.ackDeadline}ms)`,
      `${options.deadlineMargin}ms`,
    );
  }
  return broken;
}

function inFlightWarnings({ writerOptions: writer }: Readable<Options>, path: Path): string[] {
  return Object.entries(IN_FLIGHT_WARNINGS).flatMap(([key, limit]) => {
    const value = writer?.[key as keyof typeof IN_FLIGHT_WARNINGS];
    return value === undefined || value <= limit
      ? []
      : [
          `${formatPath([...path, 'writerOptions', key])}: ${value} is above ${limit}, what official clients keep in flight; the memory of the instance, not this option, may be what bounds the sink`,
        ];
  });
}

const subscriptionId = (name: string, topic: string): string => `${bareId(topic)}-${name}`;

function resolved(name: string, options: Options): ResolvedBulkSink {
  const { project, topic } = options;
  return {
    kind: 'bulk-sink',
    source: {
      topic: qualify(topic, 'topics', project),
      subscription: qualify(
        options.subscription ?? subscriptionId(name, topic),
        'subscriptions',
        project ?? projectOf(topic),
      ),
      ordering: options.ordering,
    },
    destination: destinationOf(options),
    ...(options.appProfileId !== undefined && { appProfileId: options.appProfileId }),
    access: accessOf(options),
    serializer: serializerOf(options),
    framing: options.framing,
    failure: failureOf(options),
    writer: writerOf(options),
    ackDeadlineMillis: options.ackDeadline,
    deadlineMarginMillis: options.deadlineMargin,
    metricsFlushIntervalMillis: options.metricsFlushInterval,
  };
}

function destinationOf({ project, instance, table, destinationAttribute }: Options): ResolvedDestination {
  const home = project !== undefined && instance !== undefined ? { project, instance } : undefined;
  const whole = typeof table === 'string' ? home && { ...home, table } : table;
  return {
    ...(whole && { table: whole }),
    ...(home && { home }),
    ...(destinationAttribute !== undefined && { attribute: destinationAttribute }),
  };
}

function accessOf({ serviceAccountKeyFile, emulatorEndpoint }: Options): ResolvedAccess {
  if (serviceAccountKeyFile !== undefined) return { mode: 'key-file', serviceAccountKeyFile };
  const endpoint = emulatorEndpoint === undefined ? undefined : parseEmulatorEndpoint(emulatorEndpoint);
  return endpoint ? { mode: 'emulator', ...endpoint } : { mode: 'application-default' };
}

const serializerOf = ({ serializer }: Options): ResolvedSerializer =>
  serializer === 'entry'
    ? { kind: 'entry' }
    : {
        kind: 'module',
        module: serializer.module,
        ...(serializer.options !== undefined && { options: serializer.options }),
      };

function failureOf({ failurePolicy, deadLetter, project }: Options): ResolvedFailure {
  if (failurePolicy !== 'dead-letter') return { policy: failurePolicy };
  if (!deadLetter) throw new TypeError('the rules let a dead-letter policy pass without its section');
  return {
    policy: failurePolicy,
    deadLetter: {
      topic: qualify(deadLetter.topic, 'topics', project),
      payload: deadLetter.payload,
      maxOutstandingMessages: deadLetter.maxOutstandingMessages,
      flushTimeoutMillis: deadLetter.flushTimeout,
      shutdownTimeoutMillis: deadLetter.shutdownTimeout,
    },
  };
}

const writerOf = ({ writerOptions: writer }: Options): ResolvedWriterOptions => ({
  batchElementCountThreshold: writer.batchElementCountThreshold,
  batchRequestByteThreshold: writer.batchRequestByteThreshold,
  maxInFlightEntries: writer.maxInFlightEntries,
  maxInFlightBytes: writer.maxInFlightBytes,
  maxConcurrentBatches: writer.maxConcurrentBatches,
  lingerMillis: writer.linger,
  maxConsecutiveRejections: writer.maxConsecutiveRejections,
  rejectionCooldownMillis: writer.rejectionCooldown,
  requestTimeoutMillis: writer.requestTimeout,
  retryInitialBackoffMillis: writer.retryInitialBackoff,
  retryMaxBackoffMillis: writer.retryMaxBackoff,
  destinationIdleTimeoutMillis: writer.destinationIdleTimeout,
  maxActiveInstances: writer.maxActiveInstances,
  perDestinationMetrics: writer.perDestinationMetrics,
  flowControl: writer.flowControl,
});
