import type { WriteStream } from 'node:tty';
import type { Terminal } from './ports.ts';

/** At most this often the status line is drawn. */
const MIN_REDRAW_MILLIS = 100;

const CLEAR_LINE = '\r\u001b[K';

/** Writes to two streams; the status line is drawn only where standard error is a terminal that people watch. */
export function createTerminal(
  out: Pick<WriteStream, 'write'>,
  err: Pick<WriteStream, 'write' | 'isTTY'>,
  now: () => number = Date.now,
): Terminal {
  let isDrawn = false;
  let drawnAt = Number.NEGATIVE_INFINITY;
  const clear = (): void => {
    if (isDrawn) err.write(CLEAR_LINE);
    isDrawn = false;
  };
  return {
    print(text) {
      clear();
      out.write(`${text}\n`);
    },
    note(text) {
      clear();
      err.write(`${text}\n`);
    },
    status(line) {
      if (!err.isTTY) return;
      if (line === '') {
        clear();
      } else if (now() - drawnAt >= MIN_REDRAW_MILLIS) {
        err.write(`${CLEAR_LINE}${typeof line === 'string' ? line : line()}`);
        isDrawn = true;
        drawnAt = now();
      }
    },
  };
}
