import { resolve } from 'node:path';
import type { Clock } from '../../shared/base/clock.ts';
import { startDeadline } from '../../shared/base/deadline.ts';
import { RedeliverError } from '../../shared/base/errors.ts';
import { createLogger, type Logger } from '../../shared/base/logging.ts';
import { createLogExporter, createMetrics, type MetricsRegistry } from '../../shared/base/metrics.ts';
import { installDrain } from '../../shared/base/shutdown.ts';
import { Batcher } from '../../shared/bulk/batcher.ts';
import { RejectionGuard } from '../../shared/bulk/rejection-guard.ts';
import { type BulkSink, writeMessage } from '../../shared/bulk/write-message.ts';
import { loadPipeline } from '../../shared/config/load.ts';
import type { ResolvedAccess, ResolvedBulkSink } from '../../shared/config/resolved.ts';
import { deadLetterPolicy, failPolicy, type FailurePolicy, logAndDropPolicy } from '../../shared/failure/policy.ts';
import { ClientPool } from '../../shared/google/bigtable/clients.ts';
import type { BigtableAccess } from '../../shared/google/bigtable/credentials.ts';
import { createMutateRows } from '../../shared/google/bigtable/mutate-rows.ts';
import { createDeadLetterTopic } from '../../shared/google/pubsub/dead-letter-topic.ts';
import { decodePush } from '../../shared/google/pubsub/push-body.ts';
import { entrySerializer } from '../../shared/mapping/entry-serializer.ts';
import { loadModuleSerializer } from '../../shared/mapping/module-serializer.ts';
import type { PreparingSerializer, Serializer } from '../../shared/mapping/serializer.ts';
import type { Handler } from '../entry-point.ts';
import { answerRedelivery } from './answer.ts';
import { ownProcess, type Surroundings } from './surroundings.ts';
import { tableKeeperOf } from './table-keeper.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Cloud Run's default; the platform tells another one in `CLOUD_RUN_TIMEOUT_SECONDS`. */
const DEFAULT_FUNCTION_TIMEOUT_SECONDS = 60;

/** Cloud Run kills 10 s after SIGTERM; the rest is for the exit itself. */
const DRAIN_LIMIT_MILLIS = 9000;

/** Builds one instance of the bulk sink: configuration, clients, batcher, and the function that answers a push. */
export async function startBulkSink(env: Environment, surroundings: Surroundings = ownProcess): Promise<Handler> {
  const { clock, random, writeLine, signals } = surroundings;
  const { pipeline, name, warnings, baseDirectory } = await loadPipeline(env, 'bulk-sink');
  const logger = createLogger({ pipeline: name }, writeLine);
  const metrics = createMetrics();
  const exporter = createLogExporter(metrics, logger, clock, pipeline.metricsFlushIntervalMillis);
  for (const warning of warnings) logger.log('WARNING', warning);
  logger.log('INFO', 'bulk sink started', { options: withoutSecrets(pipeline) });

  const access = accessOf(pipeline.access, baseDirectory, env);
  const clients = new ClientPool({ ...access, ...pipeline.writer }, clock, metrics);
  const mutateRows = createMutateRows(clients, {
    appProfileId: pipeline.appProfileId ?? '',
    flowControl: pipeline.writer.flowControl,
  });
  const tables = tableKeeperOf(pipeline, access, { clock, random, metrics, logger });
  const batcher = new Batcher(pipeline.writer, {
    mutateRows,
    clock,
    random,
    metrics,
    logger,
    ...(tables && { tables }),
  });
  const policy = failurePolicyOf(pipeline, name, clock, logger, metrics);
  const sink: BulkSink = {
    batcher,
    policy,
    serializer: await serializerOf(pipeline, baseDirectory),
    destination: pipeline.destination,
    framing: pipeline.framing,
    rejections: new RejectionGuard(
      {
        maxConsecutiveRejections: policy.mayDrop ? pipeline.writer.maxConsecutiveRejections : -1,
        cooldownMillis: pipeline.writer.rejectionCooldownMillis,
      },
      { clock, logger, metrics },
    ),
    perDestinationMetrics: pipeline.writer.perDestinationMetrics,
    clock,
    metrics,
    logger,
  };
  const drain = installDrain(signals, {
    clock,
    limitMillis: DRAIN_LIMIT_MILLIS,
    onDrain: () => {
      batcher.drain();
    },
    onIdle: async () => {
      exporter.flush();
      await policy.close();
      clients.close();
    },
  });
  const budgetMillis = invocationMillis(pipeline, env);

  return (body) =>
    drain.track(async () => {
      const startedAt = clock.now();
      const deadline = startDeadline(clock, budgetMillis);
      let messageId: string | undefined;
      try {
        if (drain.isDraining) throw new RedeliverError('draining', 'this instance is shutting down');
        const message = decodePush(body);
        messageId = message.messageId;
        await writeMessage(message, sink, deadline.signal);
        metrics.count('messagesAcknowledged');
        return { status: 204 };
      } catch (error) {
        return answerRedelivery(error, messageId, logger, metrics);
      } finally {
        deadline.end();
        metrics.record('messageLatency', clock.now() - startedAt);
        clients.sweep();
        exporter.flushIfDue();
      }
    });
}

/** The smaller of the function's and the subscription's patience, less the margin to answer in. */
function invocationMillis(pipeline: ResolvedBulkSink, env: Environment): number {
  const seconds = Number(env.CLOUD_RUN_TIMEOUT_SECONDS ?? DEFAULT_FUNCTION_TIMEOUT_SECONDS);
  const functionMillis = (Number.isFinite(seconds) && seconds > 0 ? seconds : DEFAULT_FUNCTION_TIMEOUT_SECONDS) * 1000;
  const patience = Math.min(functionMillis, pipeline.ackDeadlineMillis);
  // A function that is given less time than the margin still gets half of it to work in.
  return Math.max(patience - pipeline.deadlineMarginMillis, patience / 2);
}

function accessOf(access: ResolvedAccess, baseDirectory: string, env: Environment): BigtableAccess {
  switch (access.mode) {
    case 'emulator':
      return { emulatorEndpoint: `${access.host}:${access.port}` };
    case 'key-file':
      return { serviceAccountKeyFile: resolve(baseDirectory, access.serviceAccountKeyFile) };
    case 'application-default': {
      // As the official clients do: the variable stands for emulatorEndpoint.
      const emulator = env.BIGTABLE_EMULATOR_HOST;
      return emulator === undefined || emulator === '' ? {} : { emulatorEndpoint: emulator };
    }
    default:
      return access satisfies never;
  }
}

function failurePolicyOf(
  { failure }: ResolvedBulkSink,
  pipeline: string,
  clock: Clock,
  logger: Logger,
  metrics: MetricsRegistry,
): FailurePolicy {
  switch (failure.policy) {
    case 'fail':
      return failPolicy();
    case 'log-and-drop':
      return logAndDropPolicy(logger, metrics);
    case 'dead-letter': {
      const topic = createDeadLetterTopic(failure.deadLetter, clock);
      return deadLetterPolicy(topic, { pipeline, ...failure.deadLetter }, { clock, metrics });
    }
    default:
      return failure satisfies never;
  }
}

async function serializerOf(
  { serializer }: ResolvedBulkSink,
  baseDirectory: string,
): Promise<Serializer | PreparingSerializer> {
  switch (serializer.kind) {
    case 'entry':
      return entrySerializer;
    case 'module':
      return loadModuleSerializer(serializer.module, baseDirectory, serializer.options);
    case 'mapping': {
      // Loaded where it is used: the decoders of Avro and Protobuf are not for every cold start.
      const { loadMappingSerializer } = await import('../../shared/mapping/mapping-serializer.ts');
      return loadMappingSerializer(serializer.mapping);
    }
    default:
      return serializer satisfies never;
  }
}

/** The effective options for the log: everything but where credentials are. */
const withoutSecrets = ({ access, ...rest }: ResolvedBulkSink): object => ({ ...rest, access: access.mode });
