/** What is compared: the stager, and one Firestore document for each envelope. */
export const WAYS = ['messages of 100', 'messages of one', 'a document each'] as const;

export type Way = (typeof WAYS)[number];

export interface StagingArgument {
  readonly way: Way;
  readonly address: string;
  readonly warmUpEnvelopes: number;
  readonly envelopes: number;
}

export interface StagingResult {
  readonly envelopesPerSecond: number;
  readonly cpuMicrosPerEnvelope: number;
}
