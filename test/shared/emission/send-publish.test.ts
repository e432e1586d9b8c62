import { systemClock } from '../../../shared/base/clock.ts';
import { createPublishCalls } from '../../../shared/google/pubsub/publish-calls.ts';
import { startPubSubServer } from '../../../infra/local/servers/pubsub/server.ts';
import { FakeTopic } from '../../support/fake-topic.ts';
import { createPulledTopic } from '../../support/pulled-topic.ts';
import { sendPublishContract } from '../../support/send-publish-contract.ts';

sendPublishContract('the fake topic', () => {
  const topic = new FakeTopic(systemClock);
  return Promise.resolve({
    send: topic.send,
    next: (effect) => {
      topic.next(effect);
    },
    published: () => Promise.resolve(topic.published.splice(0).map(({ text }) => text)),
    close: () => Promise.resolve(),
  });
});

sendPublishContract('over gRPC to the embedded server', async () => {
  const server = await startPubSubServer();
  const topic = await createPulledTopic(server.address, 'projects/p/topics/out');
  const calls = createPublishCalls({ emulatorEndpoint: server.address });
  return {
    send: calls.send,
    next: (effect) => {
      const happens = effect.kind === 'silence' ? ({ kind: 'never-answer', isApplied: false } as const) : effect;
      server.faults.add({ method: 'Publish', effect: happens });
    },
    published: async () => (await topic.pull()).map(({ data }) => data.toString()),
    close: async () => {
      calls.close();
      topic.close();
      await server.close();
    },
  };
});
