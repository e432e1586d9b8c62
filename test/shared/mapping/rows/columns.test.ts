import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../../shared/base/errors.ts';
import { mapRecord } from '../mappings.ts';
import { jsonRecord } from '../records.ts';

const valueOf = async (field: string, text: string): Promise<unknown> => {
  const families = { f: { columns: { v: { type: 'string', field, onMissing: 'null' } } } };
  const write = await mapRecord({ rowKey: '${@messageId}', families }, jsonRecord(text));
  const [mutation] = write?.kind === 'entry' ? write.entry.mutations : [];
  return mutation?.kind === 'setCell' ? mutation.value.toString() : undefined;
};

describe('with onMissing: null', () => {
  test.each([
    ['a.b', '{}'],
    ['a.b', '{"a":null}'],
    ['a.b', '{"a":{}}'],
    ['a.0.b', '{"a":[]}'],
  ])('%s of %s is missing, and null', async (field, text) => {
    expect(await valueOf(field, text)).toBe('null');
  });

  test.each([
    ['a.b', '{"a":"x"}', 'a text'],
    ['a.b', '{"a":1.5}', 'a number'],
    ['a.b.c', '{"a":{"b":false}}', 'a boolean'],
    ['a.b', '{"a":[{"b":"x"}]}', 'a list'],
    ['a', '5', 'a number'],
  ])('%s of %s stands behind a value that has no members: refused', async (field, text, kind) => {
    await expect(valueOf(field, text)).rejects.toThrow(RecordError);
    await expect(valueOf(field, text)).rejects.toThrow(`${field}: must be a member of an object, got ${kind}`);
  });
});
