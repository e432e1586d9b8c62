/** A module whose `open` is not a function. */
export default { serialize: (): null => null, open: 'yes' };
