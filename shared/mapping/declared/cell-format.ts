import type { CellEncoding, CellFormat } from '../codecs/cell-codec.ts';
import { CELL_TYPE_RULE, parseCellType } from '../codecs/cell-types.ts';
import type { TimeUnit } from '../values/time.ts';
import { memberPath, type Report } from './problems.ts';

interface TypedInput {
  readonly type: string;
  readonly encoding?: CellEncoding | undefined;
  readonly unit?: TimeUnit | undefined;
  readonly truncateToMillis?: boolean | undefined;
}

/** Resolves type, encoding and unit of one value. Undefined after a problem. */
export function resolveCellFormat(
  input: TypedInput,
  { path, typePath = memberPath(path, 'type'), nullString }: { path: string; typePath?: string; nullString: string },
  report: Report,
): CellFormat | undefined {
  const { type: text, encoding, unit, truncateToMillis } = input;
  const type = parseCellType(text, { unit: unit ?? 'rfc3339', truncateToMillis: truncateToMillis ?? false });
  if (type === undefined || typeof type === 'string') {
    report.add(typePath, type ?? CELL_TYPE_RULE, text);
    return undefined;
  }
  if (type.kind !== 'timestamp') {
    const onlyTimestamps = 'applies to the type timestamp only';
    if (unit !== undefined) report.add(memberPath(path, 'unit'), onlyTimestamps, unit);
    if (truncateToMillis !== undefined) {
      report.add(memberPath(path, 'truncateToMillis'), onlyTimestamps, truncateToMillis);
    }
  }
  if (encoding !== undefined && (type.kind === 'raw' || type.kind === 'json')) {
    report.add(memberPath(path, 'encoding'), `does not apply to the type ${type.kind}`, encoding);
  }
  return { type, encoding: encoding ?? 'binary', nullString };
}
