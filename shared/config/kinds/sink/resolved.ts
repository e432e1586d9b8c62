import { bareId, parseEmulatorEndpoint, projectOf, qualify } from '../../addresses.ts';
import type { ResolvedMapping } from '../../../mapping/declared/resolved.ts';
import type {
  DeadLetterPayload,
  ResolvedAccess,
  ResolvedDeadLetter,
  ResolvedDestination,
  ResolvedFailure,
  ResolvedRequestOptions,
  ResolvedSerializer,
  ResolvedSink,
} from '../../resolved.ts';
import type { SinkOptions, WrittenDeadLetter, WrittenModule } from './options.ts';

/** From options that keep every rule to what any sink runs by. Pure. */

/** The subscription of a pipeline that names none. */
export const subscriptionId = (name: string, topic: string): string => `${bareId(topic)}-${name}`;

export function resolvedSink(name: string, options: SinkOptions): ResolvedSink {
  const { project, topic } = options;
  return {
    input: {
      topic: qualify(topic, 'topics', project),
      subscription: qualify(
        options.subscription ?? subscriptionId(name, topic),
        'subscriptions',
        project ?? projectOf(topic),
      ),
      ordering: options.ordering,
      framing: options.framing,
      ackDeadlineMillis: options.ackDeadline,
      deadlineMarginMillis: options.deadlineMargin,
    },
    destination: destinationOf(options),
    ...(options.appProfileId !== undefined && { appProfileId: options.appProfileId }),
    access: accessOf(options),
    metricsFlushIntervalMillis: options.metricsFlushInterval,
  };
}

function destinationOf({ project, instance, table, destinationAttribute }: SinkOptions): ResolvedDestination {
  const home = project !== undefined && instance !== undefined ? { project, instance } : undefined;
  const whole = typeof table === 'string' ? home && { ...home, table } : table;
  return {
    ...(whole && { table: whole }),
    ...(home && { home }),
    ...(destinationAttribute !== undefined && { attribute: destinationAttribute }),
  };
}

function accessOf({ serviceAccountKeyFile, emulatorEndpoint }: SinkOptions): ResolvedAccess {
  if (serviceAccountKeyFile !== undefined) return { mode: 'key-file', serviceAccountKeyFile };
  const endpoint = emulatorEndpoint === undefined ? undefined : parseEmulatorEndpoint(emulatorEndpoint);
  return endpoint ? { mode: 'emulator', ...endpoint } : { mode: 'application-default' };
}

export function serializerOf<Form extends 'entry' | 'request'>(
  serializer: Form | WrittenModule | undefined,
  mapping: ResolvedMapping | undefined,
): ResolvedSerializer<Form> {
  if (mapping) return { kind: 'mapping', mapping };
  if (!serializer) throw new TypeError('the rules let a pipeline pass that has neither serializer nor mapping');
  if (typeof serializer === 'string') return { kind: serializer };
  const { module, options } = serializer;
  return { kind: 'module', module, ...(options !== undefined && { options }) };
}

interface FailureOptions<Policy extends string, Payload extends DeadLetterPayload> {
  readonly policy: Policy;
  readonly deadLetter: WrittenDeadLetter<Payload> | undefined;
  /** Of topics that are named by their bare id. */
  readonly project: string | undefined;
}

export function failureOf<Policy extends 'fail' | 'log-and-drop' | 'dead-letter', Payload extends DeadLetterPayload>({
  policy,
  deadLetter,
  project,
}: FailureOptions<Policy, Payload>): Extract<ResolvedFailure<Payload>, { readonly policy: Policy }> {
  type Failure = Extract<ResolvedFailure<Payload>, { readonly policy: Policy }>;
  if (policy !== 'dead-letter') return { policy } as Failure;
  if (!deadLetter) throw new TypeError('the rules let a dead-letter policy pass without its section');
  return { policy, deadLetter: deadLetterOf(deadLetter, project) } as Failure;
}

const deadLetterOf = <Payload extends DeadLetterPayload>(
  { topic, payload, maxOutstandingMessages, flushTimeout, shutdownTimeout }: WrittenDeadLetter<Payload>,
  project: string | undefined,
): ResolvedDeadLetter<Payload> => ({
  topic: qualify(topic, 'topics', project),
  payload,
  maxOutstandingMessages,
  flushTimeoutMillis: flushTimeout,
  shutdownTimeoutMillis: shutdownTimeout,
});

interface WrittenRequestOptions {
  readonly requestTimeout: number;
  readonly maxInFlightRequests: number;
  readonly destinationIdleTimeout: number;
  readonly maxActiveInstances: number;
  readonly perDestinationMetrics: boolean;
}

export const requestOptionsOf = (options: WrittenRequestOptions): ResolvedRequestOptions => ({
  requestTimeoutMillis: options.requestTimeout,
  maxInFlightRequests: options.maxInFlightRequests,
  destinationIdleTimeoutMillis: options.destinationIdleTimeout,
  maxActiveInstances: options.maxActiveInstances,
  perDestinationMetrics: options.perDestinationMetrics,
});
