import type { WriteStream } from 'node:tty';

export interface Progress {
  /** Stops, and leaves the last state on the screen. */
  stop(): void;
}

const TERMINAL_MILLIS = 200;
const LINE_MILLIS = 3000;

/** Shows what `read` says while something runs: one line that changes on a terminal, a line every 3 s elsewhere. */
export function showProgress(out: Pick<WriteStream, 'write' | 'isTTY'>, read: () => string): Progress {
  const isTerminal = out.isTTY;
  const show = (): void => {
    out.write(isTerminal ? `\r\u001b[2K${read()}` : `${read()}\n`);
  };
  const timer = setInterval(show, isTerminal ? TERMINAL_MILLIS : LINE_MILLIS);
  return {
    stop() {
      clearInterval(timer);
      show();
      if (isTerminal) out.write('\n');
    },
  };
}
