import type { Serialize } from '../../../shared/mapping/serializer.ts';

const serialize: Serialize = ({ data }) => {
  if (data.toString() === 'skip') return null;
  throw new RangeError('not this one');
};

export default serialize;
