import { ConnectorError } from '../../../shared/base/errors.ts';
import type { ResolvedScanSource } from '../../../shared/config/resolved.ts';
import { projectionOf } from '../../../shared/mapping/backwards/projection.ts';
import { MAX_FILTER_BYTES } from '../../../shared/model/filter/scan-filter.ts';
import { shapeFilter } from '../../../shared/model/filter/shape-filter.ts';
import { frozenRun, windowOf, writeRunOptions } from '../../../shared/scan/run-options.ts';
import type { ScanProgress } from '../../../shared/scan/runs/ports.ts';
import type { RunOptions } from '../../../shared/scan/runs/run.ts';
import { encodeInTurn } from '../../../shared/forms/filter-wire.ts';

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
  // A filter may look at columns that the mapping does not read.
  const encoded = encodeInTurn([
    shapeFilter(selection, window),
    selection.filter === undefined ? undefined : Buffer.from(selection.filter, 'base64'),
    form.kind === 'mapping' ? projectionOf(form.mapping) : undefined,
  ]);
  if (encoded && encoded.length > MAX_FILTER_BYTES) {
    throw new FreezeError(
      `the filter with families, timestamps and versions must fit into ${MAX_FILTER_BYTES} B, got ${encoded.length} B: name fewer families, or a smaller filter`,
    );
  }
  return writeRunOptions(frozenRun(pipeline, window, encoded));
}
