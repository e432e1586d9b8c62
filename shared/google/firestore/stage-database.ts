import { abortable } from '../../base/abort.ts';
import { abortReason } from '../../base/clock.ts';
import { lazy } from '../../base/lazy.ts';
import type { CommittingStore, CoordinatorStore, StagingStore, StatusStore } from '../../staged/ports.ts';
import { type DatabaseName, type FirestoreClient, openFirestore } from './client.ts';
import { createCommittingStore } from './committing-store.ts';
import { createCoordinatorStore } from './coordinator-store.ts';
import { type OpenDocuments, PipelineDocuments } from './pipeline-documents.ts';
import { createStagingStore } from './staging-store.ts';
import { createStatusStore } from './status-store.ts';

/** The views of one pipeline's documents, one for each function and one for people. */
export interface PipelineStores {
  readonly staging: StagingStore;
  readonly coordinator: CoordinatorStore;
  readonly committing: CommittingStore;
  readonly status: StatusStore;
}

/** One Firestore database with the documents of any number of pipelines. */
export interface StageDatabase {
  stores(pipeline: string): PipelineStores;
  /** Closes the connections; what is on its way may still happen. */
  close(): Promise<void>;
}

/** Over the official client, which is loaded at the first call of any store. */
export function createStageDatabase(name: DatabaseName): StageDatabase {
  let opening: Promise<FirestoreClient> | undefined;
  const opened = lazy(() => (opening = openFirestore(name)));
  return {
    stores(pipeline) {
      const open: OpenDocuments = async (signal) => {
        if (signal.aborted) throw abortReason(signal);
        return new PipelineDocuments(await abortable(opened(), signal), pipeline);
      };
      return {
        staging: createStagingStore(open),
        coordinator: createCoordinatorStore(open),
        committing: createCommittingStore(open),
        status: createStatusStore(open),
      };
    },
    async close() {
      // What could not be opened was told to whoever needed it.
      const client = await opening?.catch(() => undefined);
      await client?.db.terminate();
    },
  };
}
