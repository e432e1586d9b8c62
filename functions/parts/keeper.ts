import type { StagedSink } from '../../shared/staged/stage/stage-message.ts';

/** Where an instance keeps its envelopes: what of a {@link StagedSink} depends on the commit. */
export interface Keeper extends Pick<StagedSink, 'admit' | 'keep'> {
  readonly sweep: () => void;
  readonly close: () => Promise<void>;
}
