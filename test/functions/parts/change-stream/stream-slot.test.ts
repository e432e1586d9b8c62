import { describe, expect, test } from 'vitest';
import { freezeOptions } from '../../../../functions/parts/change-stream/frozen-options.ts';
import { streamWork } from '../../../../functions/parts/change-stream/stream-slot.ts';
import type { Source } from '../../../../shared/change-stream/source.ts';
import type { Change } from '../../../../shared/model/change.ts';
import { type Options, resolvedOf } from '../../../shared/config/documents.ts';
import { changeOf, setCellOf } from '../../../support/changes.ts';
import { testRuntime } from '../../../support/runtime.ts';

const MINIMAL: Options = {
  kind: 'change-stream-source',
  project: 'p',
  instance: 'i',
  appProfileId: 'cdc',
  table: 't',
  outputTopic: 'changes',
};

const pipelineOf = (options: Options) => resolvedOf('change-stream-source', { ...MINIMAL, ...options });

/** The work of a source that was started before it had any filter. */
function workOf(options: Options) {
  const source: Source = {
    ...{ commits: 1, status: 'reading', generation: 1, dead: [] },
    options: freezeOptions(pipelineOf({})),
  };
  const open = () => {
    throw new Error('nothing is opened here');
  };
  return streamWork(pipelineOf(options), open, source, testRuntime().logger);
}

describe('the filters of a source', () => {
  const change = changeOf({ entries: [setCellOf('log', 'q', '1'), setCellOf('order', 'q', '2')] });

  test('are none where no option asks for one', async () => {
    expect((await workOf({ skipMessagesWithoutChange: true })).filter).toBeUndefined();
  });

  test('leave every entry its place in the change of the service', async () => {
    const { filter, messagesOf } = await workOf({ familyExcludeList: ['log'] });
    const [message] = messagesOf(filter?.(change) as Change, undefined);
    expect(JSON.parse(String(message?.data))).toMatchObject({ entries: [{ index: 1, family: 'order' }] });
  });

  test('hold for a source that was started without them, because they are not kept with it', async () => {
    const { filter } = await workOf({
      familyIncludeList: ['none'],
      skipMessagesWithoutChange: true,
      sourceClusters: ['c1'],
    });
    expect(filter?.(change)).toBe('without-change');
    expect(filter?.({ ...change, sourceCluster: 'c2' })).toBe('unwanted');
  });
});
