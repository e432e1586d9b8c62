import type { ModifyColumnFamiliesRequest_Modification } from '../../../../../shared/proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import type { ColumnFamily } from '../../../../../shared/proto/google/bigtable/admin/v2/table.ts';
import { Type } from '../../../../../shared/proto/google/bigtable/admin/v2/types.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { parseFamily, type Family } from '../rows/schema.ts';
import type { Families } from '../rows/validate.ts';

/** The families that a table is created with. */
export const parseFamilies = (wire: Readonly<Record<string, ColumnFamily>>): Map<string, Family> =>
  new Map(Object.entries(wire).map(([name, family]) => [name, parseFamily(name, family)]));

/**
 * The families after all modifications, in order; a failure throws and leaves the schema as it was, because the
 * argument is not changed. Creating what exists is ALREADY_EXISTS; updating or dropping what does not is NOT_FOUND.
 */
export function modifyFamilies(
  families: Families,
  modifications: readonly ModifyColumnFamiliesRequest_Modification[],
  table: string,
): Map<string, Family> {
  if (modifications.length === 0) throw new GrpcError('INVALID_ARGUMENT', 'No modifications provided');
  const changed = new Map(families);
  for (const { id, mod, updateMask } of modifications) {
    const existing = changed.get(id);
    switch (mod?.$case) {
      case 'create':
        if (existing) throw new GrpcError('ALREADY_EXISTS', `Column family already exists: ${id} in ${table}`);
        changed.set(id, parseFamily(id, mod.value));
        break;
      case 'update':
        changed.set(id, updated(existing ?? missing(id, table), mod.value, updateMask ?? []));
        break;
      case 'drop':
        if (!existing) missing(id, table);
        if (!mod.value) throw new GrpcError('INVALID_ARGUMENT', `drop of column family '${id}' must be true`);
        changed.delete(id);
        break;
      case undefined:
        throw new GrpcError('INVALID_ARGUMENT', `Modification of column family '${id}' is not set`);
    }
  }
  return changed;
}

function missing(id: string, table: string): never {
  throw new GrpcError('NOT_FOUND', `Column family not found: ${id} in ${table}`);
}

/** An update without a mask changes the garbage collection rule. The value type never changes once it is set. */
function updated(existing: Family, update: ColumnFamily, mask: readonly string[]): Family {
  const names = new Set(mask.length === 0 ? ['gc_rule'] : mask);
  const { gcRule, valueType } = existing.wire;
  if (names.has('value_type') && !isSameType(valueType, update.valueType)) {
    throw new GrpcError('INVALID_ARGUMENT', `value_type of column family '${existing.name}' is immutable`);
  }
  return parseFamily(existing.name, { gcRule: names.has('gc_rule') ? update.gcRule : gcRule, valueType });
}

/** The state type is filled in by the service, so a caller need not know it. */
function isSameType(left: Type | undefined, right: Type | undefined): boolean {
  const bytes = (type: Type | undefined): Buffer =>
    Buffer.from(
      Type.encode(
        type?.kind?.$case === 'aggregateType'
          ? { kind: { ...type.kind, value: { ...type.kind.value, stateType: undefined } } }
          : (type ?? { kind: undefined }),
      ).finish(),
    );
  return bytes(left).equals(bytes(right));
}
