import { hash } from 'node:crypto';
import type { Change } from '../../model/change.ts';
import { type TableName, tablePath } from '../../model/table-name.ts';

/** Rooms for the fields of a fixed size: two lengths, commit time, tie breaker. */
const FIXED_BYTES = 4 + 8 + 4 + 4;

/** More than a row key (4 KiB), the name of a table and that of a cluster have. */
const SCRATCH_BYTES = 8192;

/**
 * What a change is known by: a hash of table, row, commit time, tie breaker and cluster, of 128 bits as 32 lowercase
 * hexadecimal digits. Pure. The same at every reading of the change, from whichever partition, and of no other one: every
 * field of an open length is preceded by it. The token is no part of it: that is a position.
 */
export function changeIds(table: TableName): (change: Change) => string {
  const name = Buffer.from(`change ${tablePath(table)}\n`);
  let scratch = Buffer.alloc(SCRATCH_BYTES);
  name.copy(scratch);
  return ({ rowKey, commitTime, tieBreaker, sourceCluster }) => {
    const most = name.length + FIXED_BYTES + rowKey.length + 3 * sourceCluster.length;
    if (most > scratch.length) {
      scratch = Buffer.alloc(most);
      name.copy(scratch);
    }
    let at = scratch.writeUInt32BE(rowKey.length, name.length);
    at += rowKey.copy(scratch, at);
    at = scratch.writeBigInt64BE(commitTime, at);
    at = scratch.writeInt32BE(tieBreaker, at);
    const cluster = scratch.write(sourceCluster, at + 4);
    at = scratch.writeUInt32BE(cluster, at) + cluster;
    return hash('sha256', scratch.subarray(0, at), 'hex').slice(0, 32);
  };
}
