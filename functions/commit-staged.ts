import { startCommitStaged } from './wiring/commit-staged.ts';
import { entryPoint } from './entry-point.ts';

/**
 * Work of a completed checkpoint → conditional writes. 204 acknowledges: the segments of the message are finished, gone
 * or held by another invocation. Anything else asks for redelivery; the coordinator sends lost work again in any case.
 */
export const commitStaged = entryPoint(() => startCommitStaged(process.env));
