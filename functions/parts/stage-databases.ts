import type { ResolvedStaging } from '../../shared/config/resolved.ts';
import {
  createStageDatabase,
  type PipelineStores,
  type StageDatabase,
} from '../../shared/google/firestore/stage-database.ts';

/** One client for each database, however many pipelines keep their documents in it. */
export class StageDatabases {
  readonly #databases = new Map<string, StageDatabase>();

  stores({ project, database }: ResolvedStaging['firestore'], pipeline: string): PipelineStores {
    const key = `${project ?? ''}/${database}`;
    let known = this.#databases.get(key);
    if (!known) {
      known = createStageDatabase({ databaseId: database, ...(project !== undefined && { projectId: project }) });
      this.#databases.set(key, known);
    }
    return known.stores(pipeline);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#databases.values()].map((database) => database.close()));
  }
}
