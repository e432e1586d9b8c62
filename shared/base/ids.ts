import { randomBytes } from 'node:crypto';

/** Where randomness comes from: a number in [0, 1). Injected, so that a seeded test repeats. */
export type Random = () => number;

export const systemRandom: Random = () => Math.random();

/** 128 random bits as 32 lowercase hex digits. */
export const randomId = (): string => randomBytes(16).toString('hex');
