/** Where randomness comes from: a number in [0, 1). Injected, so that a seeded test repeats. */
export type Random = () => number;

export const systemRandom: Random = () => Math.random();
