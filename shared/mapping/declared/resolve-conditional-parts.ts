import { GRANULARITY_MICROS } from '../../model/mutation.ts';
import { parseBase64 } from '../codecs/bytes.ts';
import { resolveCellFormat } from './cell-format.ts';
import { memberPath, type Report } from './problems.ts';
import type { ResolvedColumnName, ResolvedOperand, ResolvedTime } from './resolved.ts';
import type { MappingInput } from './schema/mapping.ts';

type ConditionalInput = NonNullable<MappingInput['conditional']>;
type OperandInput = NonNullable<ConditionalInput['predicate']['value']>;
type TimeInput = NonNullable<NonNullable<ConditionalInput['then']>[number]['timestamp']>;

interface ColumnNameInput {
  readonly family?: string | undefined;
  readonly qualifier?: string | undefined;
  readonly qualifierBase64?: string | undefined;
}

const MAX_INT64 = 2n ** 63n - 1n;

/** Resolves the family of a mutation. A family holds no colon. */
export function resolveFamilyName(family: string | undefined, path: string, report: Report): string | undefined {
  if (family !== undefined && !family.includes(':')) return family;
  report.add(memberPath(path, 'family'), 'must be the name of a family', family);
  return undefined;
}

/** Resolves the column of a predicate or mutation: a family, and the qualifier in one of its two spellings. */
export function resolveColumnName(
  input: ColumnNameInput,
  path: string,
  report: Report,
): ResolvedColumnName | undefined {
  const family = resolveFamilyName(input.family, path, report);
  const { qualifier, qualifierBase64 } = input;
  if ((qualifier === undefined) === (qualifierBase64 === undefined)) {
    report.add(path, 'must have exactly one of qualifier and qualifierBase64', input);
    return undefined;
  }
  const base64 =
    qualifier === undefined
      ? canonicalBase64(qualifierBase64 ?? '', memberPath(path, 'qualifierBase64'), report)
      : Buffer.from(qualifier, 'utf8').toString('base64');
  return family !== undefined && base64 !== undefined ? { family, qualifier: { base64 } } : undefined;
}

/** Resolves a value: a field with its type, or a constant. */
export function resolveOperand(
  input: OperandInput | undefined,
  path: string,
  report: Report,
): ResolvedOperand | undefined {
  const sources = [input?.field, input?.utf8, input?.base64, input?.int64].filter((source) => source !== undefined);
  if (!input || sources.length !== 1) {
    report.add(path, 'must have exactly one of field, utf8, base64, int64', input);
    return undefined;
  }
  if (input.field !== undefined) return fieldOperand(input, input.field, path, report);
  for (const name of ['type', 'encoding', 'unit'] as const) {
    if (input[name] !== undefined) report.add(memberPath(path, name), 'applies to a field only', input[name]);
  }
  if (input.int64 !== undefined) {
    const digits = int64Digits(input.int64, -MAX_INT64 - 1n, memberPath(path, 'int64'), report);
    return digits === undefined ? undefined : { kind: 'int64', digits };
  }
  const base64 =
    input.utf8 === undefined
      ? canonicalBase64(input.base64 ?? '', memberPath(path, 'base64'), report)
      : Buffer.from(input.utf8, 'utf8').toString('base64');
  return base64 === undefined ? undefined : { kind: 'bytes', bytes: { base64 } };
}

function fieldOperand(input: OperandInput, text: string, path: string, report: Report): ResolvedOperand | undefined {
  const field = report.field(memberPath(path, 'field'), text);
  const { type, encoding, unit } = input;
  if (type === undefined) {
    report.add(memberPath(path, 'type'), 'is needed for a field', undefined);
    return undefined;
  }
  const format = resolveCellFormat({ type, encoding, unit }, { path, nullString: '' }, report);
  return field && format && { kind: 'field', field, format };
}

/** Far enough for what is booked ahead, and far below a count in a unit too small by a thousand. */
const MAX_FUTURE = '3650d';

/** The bound of a time, where it has one. */
export const futureBound = (maxFuture: string = MAX_FUTURE): { readonly maxFutureDays?: number } =>
  maxFuture === 'none' ? {} : { maxFutureDays: Number.parseInt(maxFuture, 10) };

/**
 * Resolves a time: a constant of at least `least` microseconds, or a field with its unit. Absent stays absent. That of a
 * cell is bounded by the publish time, that of a deletion is not.
 */
export function resolveTime(
  input: TimeInput | undefined,
  { path, least, isOfCell = false }: { readonly path: string; readonly least: bigint; readonly isOfCell?: boolean },
  report: Report,
): ResolvedTime | undefined {
  if (input === undefined) return undefined;
  const { micros, field: text, unit, maxFuture } = input;
  if ((micros === undefined) === (text === undefined)) {
    report.add(path, 'must have exactly one of micros and field', input);
    return undefined;
  }
  if (micros !== undefined) {
    if (unit !== undefined) report.add(memberPath(path, 'unit'), 'applies to a field only', unit);
    if (maxFuture !== undefined) report.add(memberPath(path, 'maxFuture'), 'applies to a field only', maxFuture);
    const digits = int64Digits(micros, least, memberPath(path, 'micros'), report);
    if (digits === undefined) return undefined;
    // −1 asks for the service's clock.
    if (digits !== '-1' && BigInt(digits) % GRANULARITY_MICROS !== 0n) {
      report.add(
        memberPath(path, 'micros'),
        `must be whole milliseconds (a multiple of ${GRANULARITY_MICROS})`,
        micros,
      );
    }
    return { kind: 'micros', digits };
  }
  const field = report.field(memberPath(path, 'field'), text ?? '');
  if (unit === undefined) report.add(memberPath(path, 'unit'), 'is needed for a field', undefined);
  return field && unit && { kind: 'field', field, unit, ...(isOfCell && futureBound(maxFuture)) };
}

/** Constant bounds are compared here; those that a field gives are compared in every record. */
export function checkRange(
  start: ResolvedTime | undefined,
  end: ResolvedTime | undefined,
  path: string,
  report: Report,
): void {
  if (start?.kind !== 'micros' || end?.kind !== 'micros' || BigInt(start.digits) < BigInt(end.digits)) return;
  report.add(memberPath(path, 'end'), `must be above the start ${start.digits}`, end.digits);
}

function int64Digits(value: number | string, least: bigint, path: string, report: Report): string | undefined {
  const text = String(value);
  const integer = /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
  if (integer !== undefined && integer >= least && integer <= MAX_INT64) return integer.toString();
  report.add(path, `must be an integer from ${least} to ${MAX_INT64}`, value);
  return undefined;
}

function canonicalBase64(text: string, path: string, report: Report): string | undefined {
  if (parseBase64(text)) return text;
  report.add(path, 'must be canonical padded Base64', text);
  return undefined;
}
