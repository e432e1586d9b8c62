import { lazy } from '../shared/base/lazy.ts';
import { createPublisher } from '../shared/google/pubsub/publisher.ts';
import type { RequestSink } from '../shared/single-row/delivery.ts';
import type { WrittenForms } from '../shared/single-row/ports.ts';
import { answerMessage } from '../shared/single-row/request-message.ts';
import { createResultPublisher } from '../shared/single-row/results.ts';
import { entryPoint, type Handler } from './parts/entry-point.ts';
import { failurePolicyOf } from './parts/failure-policies.ts';
import { startInstance } from './parts/instance.ts';
import { letterRightsOf, openLettersOf } from './parts/letters.ts';
import { pushHandler } from './parts/push-handler.ts';
import { requestSerializerOf } from './parts/request-serializer.ts';
import { openRowExecutor, replayProtectionOf } from './parts/row-requests.ts';
import { type Environment, ownProcess, type Surroundings } from './parts/surroundings.ts';

/**
 * Pub/Sub push → one conditional or read-modify-write request for each record. 204 acknowledges: every request of the
 * message is answered and its result published, skipped, or durably handed to the failure policy. Anything else asks
 * Pub/Sub to deliver the message again, and the requests with it.
 */
export const requestSink = entryPoint(() => startRequestSink(process.env));

/** Time for results on their way when the instance ends. Within the drain's own limit. */
const RESULTS_SHUTDOWN_MILLIS = 5000;

/** Builds one instance of the request sink: configuration, clients, executor, and the function that answers a push. */
export async function startRequestSink(env: Environment, surroundings: Surroundings = ownProcess): Promise<Handler> {
  const instance = await startInstance('request-sink', 'request sink', env, surroundings);
  const { pipeline, name, baseDirectory, runtime } = instance;
  const { executor, sweep, close } = openRowExecutor(instance, { countsRecords: true });
  const policy = failurePolicyOf(pipeline.failure, instance);
  const forms = lazy(loadForms);
  const { resultsTopic, replayProtection } = pipeline;
  const topic =
    resultsTopic === undefined
      ? undefined
      : createPublisher({ topic: resultsTopic, shutdownTimeoutMillis: RESULTS_SHUTDOWN_MILLIS }, runtime.clock);
  const serializer = await requestSerializerOf(pipeline, baseDirectory);
  const sink: RequestSink = {
    identities: { pipeline: name, subscription: pipeline.input.subscription, framing: pipeline.input.framing },
    executor,
    policy,
    serializer,
    letters: letterRightsOf(pipeline, serializer),
    destination: pipeline.destination,
    framing: pipeline.input.framing,
    emptyBranchPolicy: pipeline.emptyBranchPolicy,
    ...(replayProtection && { protection: replayProtectionOf(replayProtection.markerFamily, instance) }),
    ...(topic && { results: createResultPublisher(topic, { forms, runtime }) }),
    forms,
    perDestinationMetrics: pipeline.requestOptions.perDestinationMetrics,
    runtime,
  };

  return pushHandler(instance, {
    process: (message, signal) => answerMessage(message, sink, signal),
    openLetter: openLettersOf(name, pipeline),
    // Nothing lingers: a request is out as soon as there is room for it.
    onDrain: () => undefined,
    sweep,
    async close() {
      close();
      await topic?.close();
      await policy.close();
    },
  });
}

async function loadForms(): Promise<WrittenForms> {
  const { decodeRowRequest, encodeRowRequestDocument, encodeRowResult } =
    await import('../shared/single-row/forms/documents.ts');
  return {
    readRequest: (data) => decodeRowRequest(data),
    writeRequest: (document) => encodeRowRequestDocument(document, 'json'),
    writeResult: (result) => encodeRowResult(result, 'json'),
  };
}
