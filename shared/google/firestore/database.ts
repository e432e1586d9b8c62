import { abortable } from '../../base/abort.ts';
import { abortReason } from '../../base/clock.ts';
import { lazy } from '../../base/lazy.ts';
import type {
  ChangeStreamCoordinatorStore,
  ChangeStreamStatusStore,
  ChangeStreamStore,
} from '../../change-stream/ports.ts';
import type { RunsStore, ScanCoordinatorStore, ScanStore } from '../../scan/runs/ports.ts';
import type { CommittingStore, CoordinatorStore, StagingStore, StatusStore } from '../../staged/ports.ts';
import { type DatabaseName, type FirestoreClient, openFirestore } from './client.ts';
import { ChangeStreamPaths, type OpenChangeStream } from './change-stream-paths.ts';
import {
  createChangeStreamCoordinatorStore,
  createChangeStreamStatusStore,
  createChangeStreamStore,
} from './change-stream-store.ts';
import { createCommittingStore } from './committing-store.ts';
import { createCoordinatorStore } from './coordinator-store.ts';
import { type OpenDocuments, PipelineDocuments } from './pipeline-documents.ts';
import { type OpenScan, ScanPaths } from './scan-paths.ts';
import { createRunsStore, createScanCoordinatorStore, createScanStore } from './scan-store.ts';
import { createStagingStore } from './staging-store.ts';
import { createStatusStore } from './status-store.ts';

/** The views of one staged pipeline's documents, one for each function and one for people. */
export interface StageViews {
  readonly staging: StagingStore;
  readonly coordinator: CoordinatorStore;
  readonly committing: CommittingStore;
  readonly status: StatusStore;
}

/** The views of one scanned pipeline's documents: a slot's, the coordinator's, and that of whoever starts runs. */
export interface ScanViews {
  readonly slots: ScanStore;
  readonly coordinator: ScanCoordinatorStore;
  readonly runs: RunsStore;
}

/** The views of one change stream's documents: a slot's, the coordinator's, and that of people. */
export interface ChangeStreamViews {
  readonly slots: ChangeStreamStore;
  readonly coordinator: ChangeStreamCoordinatorStore;
  readonly status: ChangeStreamStatusStore;
}

/** One Firestore database with the documents of any number of pipelines; each capability has views of its own. */
export interface Database {
  stage(pipeline: string): StageViews;
  scan(pipeline: string): ScanViews;
  changeStream(pipeline: string): ChangeStreamViews;
  /** Closes the connections; what is on its way may still happen. */
  close(): Promise<void>;
}

/** Over the official client, which is loaded at the first call of any store. */
export function createDatabase(name: DatabaseName): Database {
  let opening: Promise<FirestoreClient> | undefined;
  const opened = lazy(() => (opening = openFirestore(name)));
  const open = async (signal: AbortSignal): Promise<FirestoreClient> => {
    if (signal.aborted) throw abortReason(signal);
    return abortable(opened(), signal);
  };
  return {
    stage(pipeline) {
      const documents: OpenDocuments = async (signal) => new PipelineDocuments(await open(signal), pipeline);
      return {
        staging: createStagingStore(documents),
        coordinator: createCoordinatorStore(documents),
        committing: createCommittingStore(documents),
        status: createStatusStore(documents),
      };
    },
    scan(pipeline) {
      const paths: OpenScan = async (signal) => new ScanPaths(await open(signal), pipeline);
      return {
        slots: createScanStore(paths),
        coordinator: createScanCoordinatorStore(paths),
        runs: createRunsStore(paths),
      };
    },
    changeStream(pipeline) {
      const paths: OpenChangeStream = async (signal) => new ChangeStreamPaths(await open(signal), pipeline);
      return {
        slots: createChangeStreamStore(paths),
        coordinator: createChangeStreamCoordinatorStore(paths),
        status: createChangeStreamStatusStore(paths),
      };
    },
    async close() {
      // What could not be opened was told to whoever needed it.
      const client = await opening?.catch(() => undefined);
      await client?.db.terminate();
    },
  };
}
