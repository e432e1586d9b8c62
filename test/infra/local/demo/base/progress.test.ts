import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { showProgress } from '../../../../../infra/local/demo/base/progress.ts';

describe('progress', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const watch = (
    isTTY: boolean,
  ): { readonly written: string[]; readonly progress: ReturnType<typeof showProgress> } => {
    const written: string[] = [];
    let state = 0;
    const out = { isTTY, write: (text: string): boolean => written.push(text) > 0 };
    return { written, progress: showProgress(out, () => `state ${(state += 1)}`) };
  };

  test('is a line every three seconds where there is no terminal, and the last state at the end', () => {
    const { written, progress } = watch(false);
    vi.advanceTimersByTime(6500);
    progress.say('a sentence');
    progress.stop();
    progress.stop();
    expect(written).toEqual(['state 1\n', 'state 2\n', 'a sentence\n', 'state 3\n']);
  });

  test('is one line that changes on a terminal', () => {
    const { written, progress } = watch(true);
    vi.advanceTimersByTime(400);
    progress.stop();
    expect(written).toEqual(['\r\u001b[2Kstate 1', '\r\u001b[2Kstate 2', '\r\u001b[2Kstate 3', '\n']);
  });
});
