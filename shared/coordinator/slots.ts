/** The longest time between two ticks of a pipeline. */
const LONGEST_SLOT_MILLIS = 10_000;

/** How far the slots of a pipeline are apart: ten seconds, or less where its own interval is shorter. Pure. */
export const slotMillisFor = (intervalMillis: number): number => Math.min(intervalMillis, LONGEST_SLOT_MILLIS);

/** The first slot boundary after `now`. Slots begin at multiples of their length since the epoch, in every invocation. Pure. */
export const nextSlot = (now: number, slotMillis: number): number => (Math.floor(now / slotMillis) + 1) * slotMillis;
