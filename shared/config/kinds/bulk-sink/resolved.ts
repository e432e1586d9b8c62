import { bareId, parseEmulatorEndpoint, projectOf, qualify } from '../../addresses.ts';
import type {
  ResolvedAccess,
  ResolvedBulkSink,
  ResolvedDestination,
  ResolvedFailure,
  ResolvedGcRule,
  ResolvedSerializer,
  ResolvedTableCreateOptions,
  ResolvedWriterOptions,
} from '../../resolved.ts';
import type { ResolvedMapping } from '../../mapping/resolved.ts';
import type { WrittenGcRule } from '../../options/table-creation.ts';
import type { BulkSinkOptions } from './options.ts';

/** From options that keep every rule to what a function runs by. Pure. */

/** The subscription of a pipeline that names none. */
export const subscriptionId = (name: string, topic: string): string => `${bareId(topic)}-${name}`;

export function resolvedBulkSink(
  name: string,
  options: BulkSinkOptions,
  mapping: ResolvedMapping | undefined,
): ResolvedBulkSink {
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
    serializer: mapping ? { kind: 'mapping', mapping } : serializerOf(options),
    framing: options.framing,
    failure: failureOf(options),
    ...(options.tableCreateOptions && { tableCreateOptions: creationOf(options.tableCreateOptions) }),
    writer: writerOf(options),
    ackDeadlineMillis: options.ackDeadline,
    deadlineMarginMillis: options.deadlineMargin,
    metricsFlushIntervalMillis: options.metricsFlushInterval,
  };
}

function destinationOf({ project, instance, table, destinationAttribute }: BulkSinkOptions): ResolvedDestination {
  const home = project !== undefined && instance !== undefined ? { project, instance } : undefined;
  const whole = typeof table === 'string' ? home && { ...home, table } : table;
  return {
    ...(whole && { table: whole }),
    ...(home && { home }),
    ...(destinationAttribute !== undefined && { attribute: destinationAttribute }),
  };
}

function accessOf({ serviceAccountKeyFile, emulatorEndpoint }: BulkSinkOptions): ResolvedAccess {
  if (serviceAccountKeyFile !== undefined) return { mode: 'key-file', serviceAccountKeyFile };
  const endpoint = emulatorEndpoint === undefined ? undefined : parseEmulatorEndpoint(emulatorEndpoint);
  return endpoint ? { mode: 'emulator', ...endpoint } : { mode: 'application-default' };
}

function serializerOf({ serializer }: BulkSinkOptions): ResolvedSerializer {
  if (serializer === 'entry') return { kind: 'entry' };
  if (!serializer) throw new TypeError('the rules let a pipeline pass that has neither serializer nor mapping');
  const { module, options } = serializer;
  return { kind: 'module', module, ...(options !== undefined && { options }) };
}

function failureOf({ failurePolicy, deadLetter, project }: BulkSinkOptions): ResolvedFailure {
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

const creationOf = ({ families }: NonNullable<BulkSinkOptions['tableCreateOptions']>): ResolvedTableCreateOptions => ({
  families: Object.fromEntries(
    Object.entries(families).map(([name, { type, gcRule }]) => [
      name,
      { type, ...(gcRule && { gcRule: gcRuleOf(gcRule) }) },
    ]),
  ),
});

function gcRuleOf(rule: WrittenGcRule): ResolvedGcRule {
  if ('maxVersions' in rule) return { kind: 'max-versions', maxVersions: rule.maxVersions };
  if ('maxAge' in rule) return { kind: 'max-age', maxAgeMillis: rule.maxAge };
  return 'union' in rule
    ? { kind: 'union', rules: rule.union.map(gcRuleOf) }
    : { kind: 'intersection', rules: rule.intersection.map(gcRuleOf) };
}

const writerOf = ({ writerOptions: writer }: BulkSinkOptions): ResolvedWriterOptions => ({
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
  recoveryInitialBackoffMillis: writer.recoveryInitialBackoff,
  recoveryMaxBackoffMillis: writer.recoveryMaxBackoff,
  recoveryMaxAttempts: writer.recoveryMaxAttempts,
  destinationIdleTimeoutMillis: writer.destinationIdleTimeout,
  maxActiveInstances: writer.maxActiveInstances,
  perDestinationMetrics: writer.perDestinationMetrics,
  flowControl: writer.flowControl,
});
