import { RecordError } from '../../base/errors.ts';
import type { ResultCell, RowResult, RowResultOutcome } from '../../model/row-result.ts';
import { formatTableName, parseTableName } from '../../model/table-name.ts';
import { RowResult as ProtoResult } from '../../proto/connector/v1/row_request.ts';
import type { Family } from '../../proto/google/bigtable/v2/data.ts';
import { cellsOf } from '../wire.ts';
import { VERSION } from './rules.ts';

/** Results of row requests as `connector.v1.RowResult`, both ways. Pure. */

export const encodeResultProto = (result: RowResult): Uint8Array =>
  ProtoResult.encode({
    version: VERSION,
    correlationId: result.correlationId,
    table: formatTableName(result.table),
    rowKey: result.rowKey,
    outcome: toProto(result.outcome),
    replayed: result.replayed === true,
    mayBeReplayed: result.mayBeReplayed === true,
  }).finish();

function toProto(outcome: RowResultOutcome): ProtoResult['outcome'] {
  if (outcome.kind === 'readModifyWrite') {
    const { cells, cellsOmitted = 0 } = outcome;
    return { $case: 'readModifyWrite', value: { families: familiesOf(cells), cellsOmitted } };
  }
  const { predicateMatched, selectedBranchHasMutations } = outcome;
  return { $case: 'conditional', value: { predicateMatched, selectedBranchHasMutations } };
}

/** Neighbours of one family, and in it of one column, stand together; the order of the cells stays as it is. */
function familiesOf(cells: readonly ResultCell[]): Family[] {
  const families: Family[] = [];
  for (const { family, qualifier, timestampMicros, value, labels } of cells) {
    let last = families.at(-1);
    if (last?.name !== family) families.push((last = { name: family, columns: [] }));
    let column = last.columns.at(-1);
    if (!column?.qualifier.equals(qualifier)) last.columns.push((column = { qualifier, cells: [] }));
    column.cells.push({ timestampMicros, value, labels: [...labels] });
  }
  return families;
}

/** Reads a result. Throws a {@link RecordError} when the bytes are none of a version that is known. */
export function decodeResultProto(bytes: Buffer): RowResult {
  const { version, correlationId, table: text, rowKey, outcome, replayed, mayBeReplayed } = decoded(bytes);
  const table = parseTableName(text, undefined);
  if (version !== VERSION) throw new RecordError(`version: must be ${VERSION}, got ${version}`);
  if (!table || !outcome) throw new RecordError('result: must have a table and an outcome, got no such result');
  return {
    correlationId,
    table,
    rowKey,
    outcome: fromProto(outcome),
    ...(replayed && { replayed }),
    ...(mayBeReplayed && { mayBeReplayed }),
  };
}

function decoded(bytes: Buffer): ProtoResult {
  try {
    return ProtoResult.decode(bytes);
  } catch (cause) {
    throw new RecordError('result: must be the bytes of a connector.v1.RowResult, got others', { cause });
  }
}

function fromProto(outcome: NonNullable<ProtoResult['outcome']>): RowResultOutcome {
  if (outcome.$case === 'readModifyWrite') {
    const { families, cellsOmitted } = outcome.value;
    if (cellsOmitted < 0) throw new RecordError(`cells_omitted: must not be negative, got ${cellsOmitted}`);
    const cells = cellsOf({ key: Buffer.alloc(0), families });
    return { kind: 'readModifyWrite', cells, ...(cellsOmitted > 0 && { cellsOmitted }) };
  }
  const selectedBranch = outcome.value.predicateMatched ? 'then' : 'otherwise';
  return { kind: 'conditional', ...outcome.value, selectedBranch };
}
