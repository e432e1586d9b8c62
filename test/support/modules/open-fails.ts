import type { Serializer } from '../../../shared/mapping/serializer.ts';

/** A module that does not take its options. */
const serializer: Serializer = {
  serialize: () => null,
  open: () => Promise.reject(new Error('options.table is missing')),
};

export default serializer;
