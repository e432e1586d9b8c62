/**
 * Bounds of one slot, so that its document stays below 1 MiB and a take-over, which writes every unit's own document, within
 * one commit: below 500 writes and 10 MiB (4 MiB on Google's emulator).
 */

/** Units of a slot. */
export const MAX_UNITS = 400;

/**
 * Their size in the slot's document when they are taken. A third of the document is left for positions: a key, of 4 KiB at
 * most, grows with the position of a unit that is read, and of those a slot has 64 at most.
 */
export const MAX_UNIT_BYTES = 600 * 1024;

/** Own documents of units that one commit writes beside a slot's. What is more goes into the next commit. */
export const MAX_CHANGES = 400;
