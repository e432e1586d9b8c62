import { declaredFamilies } from '../../mapping/declared/declared-families.ts';
import { deadLetterHasItsPolicy, failureOf, failureOptions } from '../options/failure.ts';
import { serializerOf, serializerOptions } from '../options/serializer.ts';
import { creationHasItsDisposition, creationOf, creationOptions } from '../options/table-creation.ts';
import { backoffsGrow, inFlightWarnings, writerOf, writerOptions } from '../options/writer.ts';
import { sinkKind } from './sink.ts';

/** Records of a subscription become row mutations, at least once. */
export const bulkSink = sinkKind({
  kind: 'bulk-sink',
  options: { ...serializerOptions, ...failureOptions, ...creationOptions, ...writerOptions },
  shared: ['failurePolicy', 'deadLetter', 'createDisposition', 'tableCreateOptions', 'writerOptions'],
  rules: [deadLetterHasItsPolicy, creationHasItsDisposition, backoffsGrow],
  warnings: inFlightWarnings,
  resolve: (options, name, mapping) => ({
    serializer: serializerOf<'entry'>(options.serializer, mapping),
    failure: failureOf(name, { ...options, policy: options.failurePolicy }),
    ...creationOf(options, mapping ? declaredFamilies(mapping) : {}),
    writer: writerOf(options),
  }),
});
