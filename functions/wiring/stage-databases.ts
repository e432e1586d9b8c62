import type { ResolvedFirestore } from '../../shared/config/resolved.ts';
import type { PipelineStores, StageDatabase } from '../../shared/google/firestore/stage-database.ts';
import { stageDatabaseOf } from './stage-database.ts';

/** One client for each database, however many pipelines keep their documents in it. */
export class StageDatabases {
  readonly #databases = new Map<string, StageDatabase>();

  stores(firestore: ResolvedFirestore, pipeline: string): PipelineStores {
    const key = `${firestore.project ?? ''}/${firestore.database}`;
    let known = this.#databases.get(key);
    if (!known) this.#databases.set(key, (known = stageDatabaseOf(firestore)));
    return known.stores(pipeline);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#databases.values()].map((database) => database.close()));
  }
}
