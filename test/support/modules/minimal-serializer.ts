import type { Serializer } from '../../../shared/mapping/serializer.ts';

/** A module whose default export has `serialize` and nothing else. */
const serializer: Serializer = { serialize: () => null };

export default serializer;
