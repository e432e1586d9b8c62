import { entryPoint } from './entry-point.ts';
import { startCoordinate } from './wiring/coordinate.ts';

/**
 * Cloud Scheduler, every minute → 55 s of ticks for every staged pipeline of the configuration: checkpoints are
 * completed, their work is sent out, lost work is sent again. 200 says in JSON what was done, or that another
 * invocation is at it.
 */
export const coordinate = entryPoint(() => startCoordinate(process.env));
