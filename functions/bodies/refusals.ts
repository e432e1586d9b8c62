/** Why a body is not taken, and what its sender is told. No text holds anything of the request. */

export type Refusal = 'method' | 'coding' | 'too-large' | 'no-room' | 'stalled' | 'incomplete' | 'not-gzip';

interface RefusalFacts {
  readonly status: number;
  readonly text: string;
  /** Another attempt meets the same: somebody must act. The others are transient failures. */
  readonly needsSomebody: boolean;
}

export const REFUSALS: Readonly<Record<Refusal, RefusalFacts>> = {
  method: { status: 405, text: 'must be POST, got another method', needsSomebody: true },
  coding: {
    status: 415,
    text: 'must have no content-encoding that is not taken here, got another',
    needsSomebody: true,
  },
  'too-large': {
    status: 413,
    text: 'the body must not be larger than what is taken here, got more',
    needsSomebody: true,
  },
  'no-room': {
    status: 429,
    text: 'no room for the body: this instance holds maxPushedBytes of others; send it again',
    needsSomebody: false,
  },
  stalled: { status: 408, text: 'the body stalled before it was whole; send it again', needsSomebody: false },
  incomplete: { status: 400, text: 'the body ended before it was whole', needsSomebody: false },
  'not-gzip': { status: 400, text: 'the body must be one whole gzip member, got other bytes', needsSomebody: true },
};
