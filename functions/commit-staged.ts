import { ConfigError, RedeliverError } from '../shared/base/errors.ts';
import type { PushedMessage } from '../shared/model/record.ts';
import { CompletedNumber } from '../shared/staged/commit/completed-number.ts';
import { ClusterGuard } from '../shared/staged/commit/cluster-guard.ts';
import type { Committer } from '../shared/staged/commit/committer.ts';
import { drainWork } from '../shared/staged/commit/drain-work.ts';
import type { CommitWork } from '../shared/staged/work-message.ts';
import { decodeWork } from '../shared/staged/work-message.ts';
import { entryPoint, type Handler } from './parts/entry-point.ts';
import { startInstance } from './parts/instance.ts';
import { openMarkedWriting } from './parts/marked-writing.ts';
import { pushHandler } from './parts/push-handler.ts';
import { Databases } from './parts/databases.ts';
import { stagedPoliciesOf } from './parts/failure-policies.ts';
import { type Environment, ownProcess, type Surroundings } from './parts/surroundings.ts';

/**
 * Work of completed checkpoints → conditional writes. 204 acknowledges: the segments of the message are in their rows,
 * gone, or what is refused of them is set apart. Anything else asks for redelivery; the coordinator sends lost work again
 * in any case.
 */
export const commitStaged = entryPoint(() => startCommitStaged(process.env));

/** Builds one instance of the committer: configuration, clients, store, and the function that answers a push of work. */
export async function startCommitStaged(env: Environment, surroundings: Surroundings = ownProcess): Promise<Handler> {
  const instance = await startInstance('staged-sink', 'committer', env, surroundings);
  const { pipeline, name, runtime } = instance;
  const { commit } = pipeline;
  if (commit.when !== 'on-checkpoint') {
    const rule = 'must be on-checkpoint where commitStaged is deployed: nothing else is staged';
    throw new ConfigError('configuration', [
      { path: `pipelines.${name}.commit`, rule, got: JSON.stringify(commit.when) },
    ]);
  }
  const writing = openMarkedWriting(instance);
  const databases = new Databases();
  const { onRejected, close } = stagedPoliciesOf(instance);
  const store = databases.of(commit.firestore).stage(name).committing;
  const completed = new CompletedNumber(store, runtime.logger);
  const targets = new ClusterGuard({ targets: writing.targets, store, confirmed: commit.confirmChange });
  const committer: Committer = { ...writing, targets, store, completed, onRejected, runtime };
  return pushHandler(instance, {
    process: (message, signal) => drainWork(workOf(message, name), committer, signal),
    onDrain: () => undefined,
    sweep: writing.sweep,
    async close() {
      await close();
      writing.close();
      await databases.close();
    },
  });
}

/** Nothing is lost by a message that is not of this function: its work, if it is any, is sent again to where it belongs. */
function workOf({ data }: PushedMessage, pipeline: string): CommitWork {
  const work = decodeWork(data);
  if (work?.pipeline === pipeline) return work;
  throw new RedeliverError(
    'malformed-push',
    work
      ? `this is work of the pipeline ${JSON.stringify(work.pipeline)}, and this function commits for ${pipeline}: push each commit topic to the committer of its own pipeline`
      : `not work for the pipeline ${pipeline}, or work of another version: only its coordinator may publish to its commit topic`,
  );
}
