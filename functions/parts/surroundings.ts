import { type Clock, systemClock } from '../../shared/base/clock.ts';
import { type Random, systemRandom } from '../../shared/base/random.ts';
import { type LineSink, stdoutLines } from '../../shared/base/logging.ts';
import type { ProcessSignals } from '../../shared/base/shutdown.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What an instance uses of the process that it runs in, handed in so that several can live in one and be ended alone. */
export interface Surroundings {
  readonly clock: Clock;
  readonly random: Random;
  /** Where log lines go. */
  readonly writeLine: LineSink;
  /** Where SIGTERM comes from, and what to end once the instance has drained. */
  readonly signals: ProcessSignals;
}

/** The process itself. */
export const ownProcess: Surroundings = {
  clock: systemClock,
  random: systemRandom,
  writeLine: stdoutLines,
  signals: process,
};
