import { STATUS_CODES } from '../../../shared/model/status.ts';
import { tablePath } from '../../../shared/model/table-name.ts';
import { BigtableTableAdminDefinition } from '../../../shared/proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import type { ColumnFamily } from '../../../shared/proto/google/bigtable/admin/v2/table.ts';
import { Table, Table_View } from '../../../shared/proto/google/bigtable/admin/v2/table.ts';
import type { Type } from '../../../shared/proto/google/bigtable/admin/v2/types.ts';
import type { FamilyDeclaration, TableDeclaration } from './table-declarations.ts';
import { blank, createdNow, unary } from './unary.ts';
import { connectTo, type ClientOf } from '../servers/rpc/client.ts';

/** Creates the tables, or adds the families that they lack. A family that exists is left as it is. */
export async function ensureTables(host: string, tables: readonly TableDeclaration[]): Promise<void> {
  const admin = connectTo(BigtableTableAdminDefinition, host);
  try {
    for (const declaration of tables) await ensureTable(admin, declaration);
  } finally {
    admin.close();
  }
}

async function ensureTable(
  admin: ClientOf<BigtableTableAdminDefinition>,
  { name, families, splits = [], changeStreamDays }: TableDeclaration,
): Promise<void> {
  const columnFamilies = Object.fromEntries(
    Object.entries(families).map(([id, declaration]) => [id, columnFamily(declaration)]),
  );
  const isNew = await createdNow(
    unary(admin.createTable.bind(admin), {
      parent: `projects/${name.project}/instances/${name.instance}`,
      tableId: name.table,
      table: {
        ...blank(Table),
        columnFamilies,
        ...(changeStreamDays && { changeStreamConfig: keeping(changeStreamDays) }),
      },
      initialSplits: splits.map((key) => ({ key: Buffer.from(key) })),
    }),
    STATUS_CODES.ALREADY_EXISTS,
  );
  if (isNew) return;
  const path = tablePath(name);
  const existing = await unary(admin.getTable.bind(admin), { name: path, view: Table_View.SCHEMA_VIEW });
  const modifications = Object.entries(columnFamilies)
    .filter(([id]) => !(id in existing.columnFamilies))
    .map(([id, value]) => ({ id, mod: { $case: 'create' as const, value }, updateMask: undefined }));
  if (modifications.length === 0) return;
  await unary(admin.modifyColumnFamilies.bind(admin), { name: path, modifications, ignoreWarnings: false });
}

const DAY_SECONDS = 86_400n;

const keeping = (days: number) => ({ retentionPeriod: { seconds: BigInt(days) * DAY_SECONDS, nanos: 0 } });

function columnFamily({ maxVersions, aggregate }: FamilyDeclaration): ColumnFamily {
  return {
    gcRule: maxVersions === undefined ? undefined : { rule: { $case: 'maxNumVersions', value: maxVersions } },
    valueType: aggregate && aggregateType(aggregate),
  };
}

function aggregateType(aggregate: NonNullable<FamilyDeclaration['aggregate']>): Type {
  const int64: Type = {
    kind: {
      $case: 'int64Type',
      value: { encoding: { encoding: { $case: 'bigEndianBytes', value: { bytesType: undefined } } } },
    },
  };
  return {
    kind: {
      $case: 'aggregateType',
      value: { inputType: int64, stateType: undefined, aggregator: { $case: aggregate, value: {} } },
    },
  };
}
