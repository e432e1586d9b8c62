import { RecordError } from '../../base/errors.ts';
import type { ResolvedRowKey } from '../declared/resolved.ts';
import { rowKeyProblem } from '../../model/mutation-rules.ts';
import { cellCodec } from '../codecs/cell-codec.ts';
import { compileField, type DecodedRecord, type Settle } from '../values/fields.ts';
import { refuseValue } from '../values/field-value.ts';
import { compileTemplate } from './template.ts';

/** Compiles the row key. The key is never null or empty, and at most 4096 bytes. */
export function compileRowKey(rowKey: ResolvedRowKey, settle: Settle): (record: DecodedRecord) => Buffer {
  const make = rowKey.kind === 'template' ? fromTemplate(rowKey, settle) : fromField(rowKey, settle);
  return (record) => {
    const key = make(record);
    const problem = rowKeyProblem(key);
    if (problem !== undefined) throw new RecordError(problem);
    return key;
  };
}

function fromTemplate(
  { template }: Extract<ResolvedRowKey, { kind: 'template' }>,
  settle: Settle,
): (record: DecodedRecord) => Buffer {
  const render = compileTemplate(template, settle);
  return (record) => Buffer.from(render(record), 'utf8');
}

function fromField(
  { field, format }: Extract<ResolvedRowKey, { kind: 'typed' }>,
  settle: Settle,
): (record: DecodedRecord) => Buffer {
  const read = compileField(field, settle);
  const codec = cellCodec(format);
  return (record) => {
    const value = read(record);
    if (value === undefined || value === null) return refuseValue(field.label, 'must be there and not null', value);
    return codec.encode(value, field.label);
  };
}
