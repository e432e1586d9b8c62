import { RecordError } from '../base/errors.ts';
import type { ResolvedMapping } from '../config/mapping/resolved.ts';
import { compileMapping } from './compile-mapping.ts';
import type { PreparingSerializer } from './serializer.ts';

/** A declared mapping as the serializer of a sink that writes entries. Compiled once; reads every record once. */
export async function loadMappingSerializer(mapping: ResolvedMapping): Promise<PreparingSerializer> {
  const { prepare } = await compileMapping(mapping);
  return {
    prepare(record, context) {
      const prepared = prepare(record, context);
      if (!prepared) return null;
      const { table, write } = prepared;
      return {
        ...(table !== undefined && { table }),
        serialize: () => {
          const written = write();
          if (written.kind === 'entry') return written.entry;
          // The configuration refuses such a mode for a sink of entries; a resolved document may be written by hand.
          throw new RecordError(`mapping: the mode makes a ${written.kind} request, which this sink cannot send`);
        },
      };
    },
  };
}
