const applied = (rows: number, ...entries: readonly string[]) => ({
  verdict: entries.map((status, index) => [index, status]),
  rows,
});

/**
 * What Google's emulator (Cloud SDK 528) answers instead of what the service does, by the name of the case. It applies
 * the good entries of a request that the service refuses whole, has most limits not at all, and knows INTERNAL and
 * UNKNOWN where the service says what is wrong.
 */
export const DIFFERENCES: Readonly<Record<string, unknown>> = {
  'a timestamp that is not a multiple of 1000 µs refuses the whole request': applied(1, 'OK', 'INTERNAL'),
  'a negative timestamp other than −1 refuses the whole request': applied(1, 'OK', 'INTERNAL'),
  'an aggregate takes no server time': applied(1, 'OK', 'INTERNAL'),
  'an empty row key refuses the whole request': applied(1, 'OK', 'INTERNAL'),
  'a row key over 4 KiB refuses the whole request': applied(2, 'OK', 'OK'),
  'a qualifier over 16 KiB refuses the whole request': applied(2, 'OK', 'OK'),
  'an entry without mutations refuses the whole request': applied(1, 'OK', 'OK'),
  'more than 100,000 mutations refuse the whole request': applied(1, 'OK', 'OK'),
  'SetCell in an aggregate family refuses the whole request': applied(2, 'OK', 'OK'),
  'AddToCell in a family of raw bytes refuses the whole request': applied(1, 'OK', 'INTERNAL'),
  'MergeToCell with a raw value refuses the whole request': applied(2, 'OK', 'OK'),
  'an unknown family in one entry is NOT_FOUND for every entry': applied(1, 'OK', 'INTERNAL'),
  'a missing app profile is NOT_FOUND': 'OK',
  'a range of timestamps to delete must be of whole milliseconds': applied(1, 'OK', 'OK'),
  // Only the sum is one; a state that is merged changes nothing.
  'Int64 aggregates keep the sum, the minimum and the maximum': [6n, 6n, 19n],
  'MutateRow names an unknown family with NOT_FOUND': 'UNKNOWN',
  'CheckAndMutateRow without mutations is INVALID_ARGUMENT': 'OK',
  'an increment of a cell that is not 8 bytes long is INVALID_ARGUMENT and changes nothing': [
    'UNKNOWN',
    'f:other',
    'f:q',
  ],
  'ReadModifyWriteRow refuses an empty row key': 'OK',
  'a reversed scan runs from the end, limit included': 'refused',
  'a range that is open at its own end key is INVALID_ARGUMENT': 'OK',
  'a filter that names a family which the table lacks is NOT_FOUND': 'OK',
  'SampleRowKeys gives the boundaries of the tablets and an empty last key': { boundaries: [], last: '' },
  'a filter over 20,480 bytes is INVALID_ARGUMENT': 'OK',
  'a ReadRows request above 512 KiB is INVALID_ARGUMENT': 'OK',
  'a family with a maximum of versions shows no more of them': [{ key: 'a', cells: ['f:q@2000=2', 'f:q@1000=1'] }],
  'filter: a sink goes past its parents': {},
  'refused filter: a sink in a condition': 'OK',
  'refused filter: two labels in a chain': 'OK',
  'refused filter: a timestamp range of parts of milliseconds': 'OK',
  'refused filter: nothing': 'OK',
  'dropping a missing family is NOT_FOUND, and none of the request is done': {
    status: 'UNKNOWN',
    families: ['f', 'g'],
  },
  'updating a missing family is NOT_FOUND': { status: 'UNKNOWN', families: ['f'] },
};
