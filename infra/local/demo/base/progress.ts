export interface Progress {
  /** Leaves a sentence on the screen, above what changes. */
  say(sentence: string): void;
  /** Ends it, with the last state on the screen. Any further call does nothing. */
  stop(): void;
}

const TERMINAL_MILLIS = 200;
const LINE_MILLIS = 3000;

/** Shows what `read` says while something runs: one line that changes on a terminal, a line every 3 s elsewhere. */
export function showProgress(out: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>, read: () => string): Progress {
  const isTerminal = out.isTTY;
  const clear = isTerminal ? '\r\u001b[2K' : '';
  const show = (): void => {
    out.write(isTerminal ? `${clear}${read()}` : `${read()}\n`);
  };
  const timer = setInterval(show, isTerminal ? TERMINAL_MILLIS : LINE_MILLIS);
  let isStopped = false;
  return {
    say(sentence) {
      out.write(`${clear}${sentence}\n`);
    },
    stop() {
      if (isStopped) return;
      isStopped = true;
      clearInterval(timer);
      show();
      if (isTerminal) out.write('\n');
    },
  };
}
