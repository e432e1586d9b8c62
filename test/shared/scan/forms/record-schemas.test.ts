import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cellForm, rowForm } from '../../../../shared/scan/forms/json-form.ts';
import { cellRecord, JSON_FORM_VERSION, rowRecord } from '../../../../shared/scan/forms/record-schemas.ts';
import { anyRow, textOf } from './rows.ts';

test.each(['base64', 'utf8'] as const)('whatever the forms row and cell write as %s is of their schemas', (text) => {
  fc.assert(
    fc.property(anyRow, fc.array(fc.string(), { maxLength: 2 }), (row, labels) => {
      const labelled = { ...row, cells: row.cells.map((cell) => ({ ...cell, labels })) };
      for (const [form, schema] of [[rowForm(text), rowRecord] as const, [cellForm(text), cellRecord] as const]) {
        expect(form.version).toBe(JSON_FORM_VERSION);
        for (const record of form.records(labelled)) schema.parse(JSON.parse(textOf(record)));
      }
    }),
  );
});
