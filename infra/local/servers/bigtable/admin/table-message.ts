import {
  Table_ClusterState_ReplicationState,
  Table_TimestampGranularity,
  Table_View,
  type Table,
} from '../../../../../shared/proto/google/bigtable/admin/v2/table.ts';
import type { StoredTable } from '../rows/table-store.ts';

/** A table as the admin API shows it in the given view. */
export function tableMessage(table: StoredTable, view: Table_View): Table {
  const showsSchema = view === Table_View.SCHEMA_VIEW || view === Table_View.FULL;
  const showsClusters = view !== Table_View.NAME_ONLY && view !== Table_View.SCHEMA_VIEW;
  const families = [...table.families].map(([name, { wire }]) => [name, wire] as const);
  return {
    name: table.name,
    clusterStates: showsClusters
      ? Object.fromEntries(
          table.clusters.map((id) => [
            id,
            { replicationState: Table_ClusterState_ReplicationState.READY, encryptionInfo: [] },
          ]),
        )
      : {},
    columnFamilies: showsSchema ? Object.fromEntries(families) : {},
    granularity: showsSchema
      ? Table_TimestampGranularity.MILLIS
      : Table_TimestampGranularity.TIMESTAMP_GRANULARITY_UNSPECIFIED,
    restoreInfo: undefined,
    changeStreamConfig: showsSchema ? table.changeStreamConfig : undefined,
    deletionProtection: showsSchema && table.isDeletionProtected,
    automatedBackupConfig: undefined,
    tieredStorageConfig: undefined,
    rowKeySchema: undefined,
  };
}
