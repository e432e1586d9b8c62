import type { Serialize } from '../../../shared/mapping/serializer.ts';

/** A module whose default export is the function itself. Skips empty records. */
const serialize: Serialize = ({ data }, { publishTimeMicros }) =>
  data.length === 0
    ? null
    : {
        rowKey: data,
        mutations: [
          {
            kind: 'setCell',
            family: 'f',
            qualifier: Buffer.from('q'),
            timestampMicros: publishTimeMicros,
            value: Buffer.from('from the function'),
          },
        ],
      };

export default serialize;
