/** A module that fails while it is loaded. */
const required = new Map<string, string>().get('REQUIRED_SETTING');
if (required === undefined) throw new Error('REQUIRED_SETTING is not set');

export default (): null => null;
