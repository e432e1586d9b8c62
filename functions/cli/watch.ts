import { sleep } from '../../shared/base/clock.ts';
import { StoreError } from '../../shared/model/store.ts';
import { EXIT, type ExitCode } from './errors.ts';
import { interruptedExit } from './interruption.ts';
import type { CliContext } from './ports.ts';

/** Seconds between two looks, as `--watch [seconds]` gives them; true: the default. Undefined: one look. */
export type Watch = number | true | undefined;

export const WATCH_SECONDS = 5;

/**
 * One look, or again and again until there is nothing more to see or the command is told to end. A store that is away for
 * a moment ends no watching that has begun.
 *
 * @param look whether another look may show something else.
 */
export async function watching(context: CliContext, watch: Watch, look: () => Promise<boolean>): Promise<ExitCode> {
  for (let looks = 1; ; looks += 1) {
    const isGoingOn = await look().catch((error: unknown) => {
      if (looks === 1 || !(error instanceof StoreError) || !error.isTransient) throw error;
      context.terminal.note(`looking again: ${error.message}`);
      return true;
    });
    if (watch === undefined || !isGoingOn) return EXIT.ok;
    const seconds = watch === true ? WATCH_SECONDS : watch;
    try {
      await sleep(context.clock, seconds * 1000, context.signal);
    } catch {
      return interruptedExit(context.signal);
    }
  }
}
