/**
 * `maxConsecutiveRejections`: a stream in which everything is refused must not become a dead-letter queue in which
 * everything is filed. Counts confirmed rejections of this instance; any applied entry starts the count over. When
 * the bound is reached the instance stops acknowledging for a cool-down and then lets one message through at a time,
 * as a probe, until an entry is applied again. Pure: state and `now` in, state and decision out.
 */
export type RejectionState =
  | { readonly kind: 'closed'; readonly run: number }
  /** Since the bound was reached. `isProbing` while one message is let through. */
  | { readonly kind: 'tripped'; readonly until: number; readonly isProbing: boolean };

export interface RejectionLimit {
  /** −1 for none. */
  readonly maxConsecutiveRejections: number;
  readonly cooldownMillis: number;
}

export const NO_REJECTIONS: RejectionState = { kind: 'closed', run: 0 };

export const afterApplied = (): RejectionState => NO_REJECTIONS;

export function afterRejected(state: RejectionState, limit: RejectionLimit, now: number): RejectionState {
  if (limit.maxConsecutiveRejections === -1) return state;
  // A rejected probe waits for another cool-down.
  if (state.kind === 'tripped') return { ...state, until: now + limit.cooldownMillis };
  const run = state.run + 1;
  if (run < limit.maxConsecutiveRejections) return { kind: 'closed', run };
  return { kind: 'tripped', until: now + limit.cooldownMillis, isProbing: false };
}

/** Whether a message may start: freely, as the probe, or not at all. */
export function admitMessage(
  state: RejectionState,
  now: number,
): { readonly state: RejectionState; readonly admitted: 'freely' | 'as-probe' | 'no' } {
  if (state.kind === 'closed') return { state, admitted: 'freely' };
  if (state.isProbing || now < state.until) return { state, admitted: 'no' };
  return { state: { ...state, isProbing: true }, admitted: 'as-probe' };
}

/** The probe has been answered, whatever came of it. */
export const afterProbe = (state: RejectionState): RejectionState =>
  state.kind === 'tripped' ? { ...state, isProbing: false } : state;
