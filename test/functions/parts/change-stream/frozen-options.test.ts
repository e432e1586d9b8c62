import { expect, test } from 'vitest';
import { freezeOptions, frozenOptions } from '../../../../functions/parts/change-stream/frozen-options.ts';
import { resolvedOf } from '../../../shared/config/documents.ts';

const OPTIONS = {
  kind: 'change-stream-source',
  project: 'p',
  instance: 'i',
  appProfileId: 'cdc',
  table: 't',
  outputTopic: 'changes',
};

test('a source keeps its ordering keys from its start on, whatever is deployed later', () => {
  const started = freezeOptions(resolvedOf('change-stream-source', { ...OPTIONS, orderingKeys: 16 }));
  expect(frozenOptions(started, { project: 'p', instance: 'i', table: 't' }).orderingKeys).toBe(16);
});

test('a source that was started for another table is refused by the names of both', () => {
  const started = freezeOptions(resolvedOf('change-stream-source', OPTIONS));
  expect(() => frozenOptions(started, { project: 'p', instance: 'i', table: 'other' })).toThrow(
    'the source was started for the table p.i.t, and p.i.other is configured: name another pipeline for another table',
  );
});
