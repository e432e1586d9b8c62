import type { ResolvedFirestore } from '../../shared/config/resolved.ts';
import { createDatabase, type Database } from '../../shared/google/firestore/database.ts';

/** One client for each database, however many pipelines keep their documents in it. */
export class Databases {
  readonly #databases = new Map<string, Database>();

  of({ project, database }: ResolvedFirestore): Database {
    const key = `${project ?? ''}/${database}`;
    let known = this.#databases.get(key);
    if (!known) {
      known = createDatabase({ databaseId: database, ...(project !== undefined && { projectId: project }) });
      this.#databases.set(key, known);
    }
    return known;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#databases.values()].map((database) => database.close()));
  }
}
