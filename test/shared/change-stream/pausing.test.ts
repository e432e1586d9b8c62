import { beforeEach, describe, expect, test } from 'vitest';
import { pauseOrResume } from '../../../shared/change-stream/pausing.ts';
import type { Source, SourceStatus } from '../../../shared/change-stream/source.ts';
import { MemoryChangeStreamStore } from '../../support/memory-change-stream-store.ts';

const { signal } = new AbortController();

const lease = { owner: 'coordinator', epoch: 4, expiresAt: 5 };

let store: MemoryChangeStreamStore;
beforeEach(() => {
  store = new MemoryChangeStreamStore();
});

async function stored(status: SourceStatus, others: Partial<Source> = { startTime: 7n }): Promise<void> {
  const value = { ...{ commits: 1, status, generation: 1, options: '{}', dead: [], lease }, ...others };
  await store.coordinator.commit({ pipeline: { version: undefined, value } }, signal);
}

const pause = () => pauseOrResume('pause', store.status, signal);
const resume = () => pauseOrResume('resume', store.status, signal);

describe('pause', () => {
  test.each(['reading', 'starting'] as const)(
    'of a source that is %s changes its status and nothing else',
    async (status) => {
      await stored(status);
      const before = store.source;
      expect((await pause()).kind).toBe('changed');
      expect(store.source).toEqual({ ...before, status: 'paused', commits: 2 });
    },
  );

  test('a second time writes nothing', async () => {
    await stored('reading');
    await pause();
    expect((await pause()).kind).toBe('unchanged');
    expect(store.source?.commits).toBe(2);
  });

  test.each(['done', 'stopped'] as const)('of a source that is %s is refused', async (status) => {
    await stored(status);
    expect((await pause()).kind).toBe('refused');
    expect((await resume()).kind).toBe('refused');
    expect(store.source).toMatchObject({ status, commits: 1 });
  });

  test('of a source that nobody started makes none', async () => {
    expect(await pause()).toEqual({ kind: 'unknown' });
    expect(store.source).toBeUndefined();
  });

  test('reads and decides again where a coordinator wrote in between', async () => {
    await stored('reading');
    let conflicts = 3;
    store.fault = ({ method }) => (method === 'write' && conflicts-- > 0 ? 'conflict' : undefined);
    expect((await pause()).kind).toBe('changed');
    expect(store.source?.status).toBe('paused');
  });

  test('gives up where others write before every try', async () => {
    await stored('reading');
    store.fault = ({ method }) => (method === 'write' ? 'conflict' : undefined);
    expect((await pause()).kind).toBe('busy');
    expect(store.source?.status).toBe('reading');
  });
});

describe('resume', () => {
  test.each([
    ['was read before goes on', { startTime: 7n }, 'reading'],
    ['was never started starts', { written: 3 }, 'starting'],
  ] as const)('a paused source that %s', async (_case, others, status) => {
    await stored('paused', others);
    expect((await resume()).kind).toBe('changed');
    expect(store.source).toMatchObject({ ...others, status, commits: 2, lease });
  });

  test('of a source that reads writes nothing', async () => {
    await stored('reading');
    expect((await resume()).kind).toBe('unchanged');
    expect(store.source?.commits).toBe(1);
  });
});
