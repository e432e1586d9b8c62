/** A module in JavaScript. */
export default () => null;
