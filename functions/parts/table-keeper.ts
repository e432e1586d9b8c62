import { lazy } from '../../shared/base/lazy.ts';
import type { Runtime } from '../../shared/base/runtime.ts';
import { TableKeeper } from '../../shared/bulk/repair/table-keeper.ts';
import type { ResolvedBulkSink } from '../../shared/config/resolved.ts';
import type { BigtableAccess } from '../../shared/google/bigtable/credentials.ts';

/** Keeps the tables of a create-if-needed pipeline; undefined under create-never. The admin adapter is loaded at its first use. */
export function tableKeeperOf(
  { tableCreateOptions, writer }: ResolvedBulkSink,
  access: BigtableAccess,
  runtime: Runtime,
): TableKeeper | undefined {
  if (!tableCreateOptions) return undefined;
  const opened = lazy(async () => {
    const { openTableAdmin } = await import('../../shared/google/bigtable/table-admin.ts');
    return openTableAdmin(access);
  });
  return new TableKeeper(
    { tableCreateOptions, ...writer },
    {
      runtime,
      admin: {
        ensure: async (...call) => (await opened()).ensure(...call),
        checkTypes: async (...call) => (await opened()).checkTypes(...call),
      },
    },
  );
}
