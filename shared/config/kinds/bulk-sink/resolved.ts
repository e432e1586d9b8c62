import type { ResolvedMapping } from '../../../mapping/declared/resolved.ts';
import type {
  ResolvedBulkSink,
  ResolvedGcRule,
  ResolvedTableCreateOptions,
  ResolvedWriterOptions,
} from '../../resolved.ts';
import type { WrittenGcRule } from '../../options/table-creation.ts';
import { failureOf, resolvedSink, serializerOf } from '../sink/resolved.ts';
import type { BulkSinkOptions } from './options.ts';

/** From options that keep every rule to what a function runs by. Pure. */
export function resolvedBulkSink(
  name: string,
  options: BulkSinkOptions,
  mapping: ResolvedMapping | undefined,
): ResolvedBulkSink {
  const { failurePolicy: policy, deadLetter, project } = options;
  return {
    kind: 'bulk-sink',
    ...resolvedSink(name, options),
    serializer: serializerOf<'entry'>(options.serializer, mapping),
    failure: failureOf({ policy, deadLetter, project }),
    ...(options.tableCreateOptions && { tableCreateOptions: creationOf(options.tableCreateOptions) }),
    writer: writerOf(options),
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
