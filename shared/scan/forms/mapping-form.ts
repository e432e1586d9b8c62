import { compileReadRow } from '../../mapping/backwards/read-row.ts';
import type { ResolvedMapping } from '../../mapping/declared/resolved.ts';
import type { BareForm } from './form.ts';

/** A mapping read backwards: one record a row, in JSON, of which a sink with the same mapping writes the same row. */
export function mappingForm(mapping: ResolvedMapping, trailingBytes: 'ignore' | 'reject'): BareForm {
  const read = compileReadRow(mapping, trailingBytes);
  return { name: 'mapping', version: 1, records: (row) => [Buffer.from(read(row))] };
}
