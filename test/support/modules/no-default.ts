/** A module that exports its function by name only. */
export const serialize = (): null => null;
