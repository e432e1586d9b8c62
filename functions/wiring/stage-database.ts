import type { ResolvedFirestore } from '../../shared/config/resolved.ts';
import { createStageDatabase, type StageDatabase } from '../../shared/google/firestore/stage-database.ts';

/** The database of a pipeline's staged work. Connects, and loads its client, at the first call. */
export const stageDatabaseOf = ({ project, database }: ResolvedFirestore): StageDatabase =>
  createStageDatabase({ databaseId: database, ...(project !== undefined && { projectId: project }) });
