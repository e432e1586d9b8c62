import { ConnectorError } from '../../../shared/base/errors.ts';
import type { ResolvedScanSource } from '../../../shared/config/resolved.ts';
import { projectionOf } from '../../../shared/mapping/backwards/projection.ts';
import { RowFilter } from '../../../shared/proto/google/bigtable/v2/data.ts';
import { frozenRun, windowOf, writeRunOptions } from '../../../shared/scan/run-options.ts';
import type { ScanProgress } from '../../../shared/scan/runs/ports.ts';
import type { RunOptions } from '../../../shared/scan/runs/run.ts';
import { inTurn, shapeFilter } from '../../../shared/scan/selection.ts';
import { toWireFilter } from '../../../shared/forms/filter-wire.ts';

/** Of an encoded filter, by the service's limits. */
const MAX_FILTER_BYTES = 20_480;

/** The configuration cannot be made a run: no request with its filter would be taken. */
export class FreezeError extends ConnectorError {
  override readonly name = 'FreezeError';
}

/**
 * Everything that a run of this pipeline goes by, whoever starts it. Pure.
 *
 * @param lastDone the last run that is done: where one reads what changed since, its window begins at that start.
 * @throws {FreezeError} where the filter is larger than the service takes.
 */
export function freezeRun(pipeline: ResolvedScanSource, lastDone: ScanProgress['lastDone']): RunOptions {
  const window = windowOf(pipeline.selection, lastDone?.startedAt);
  const { selection, form } = pipeline;
  const shape = shapeFilter(selection, window);
  const filter = inTurn([shape, form.kind === 'mapping' ? projectionOf(form.mapping) : undefined]);
  const encoded = filter && Buffer.from(RowFilter.encode(toWireFilter(filter)).finish());
  if (encoded && encoded.length > MAX_FILTER_BYTES) {
    throw new FreezeError(
      `the filter of families, timestamps and versions must fit into ${MAX_FILTER_BYTES} B, got ${encoded.length} B: name fewer families`,
    );
  }
  return writeRunOptions(frozenRun(pipeline, window, encoded));
}
