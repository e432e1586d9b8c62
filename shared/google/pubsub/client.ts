import type { PubSub } from '@google-cloud/pubsub';
import { projectOf } from '../../model/pubsub-name.ts';

/**
 * The official client of the project of a topic or subscription, loaded here and not before. Obeys
 * PUBSUB_EMULATOR_HOST. Elsewhere credentials are looked for at once and their absence rejects: left to itself the
 * client (6.3.0) looks for them behind the first request and ends the process with an unhandled rejection.
 */
export async function openPubSub(name: string): Promise<PubSub> {
  const { PubSub } = await import('@google-cloud/pubsub');
  const project = projectOf(name);
  const client = new PubSub(project === undefined ? {} : { projectId: project });
  if (!client.isEmulator) await client.auth.getClient();
  return client;
}
