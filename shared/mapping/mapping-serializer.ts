import { RecordError } from '../base/errors.ts';
import type { ResolvedMapping } from './declared/resolved.ts';
import { conditionalRequest } from '../model/conditional.ts';
import { noCell } from '../model/filter/filter.ts';
import type { RowEntry } from '../model/mutation.ts';
import type { RowRequest } from '../model/row-request.ts';
import { compileMapping } from './compile-mapping.ts';
import type { MappedWrite } from './modes/write.ts';
import type { PreparingSerializer } from './serializer.ts';

/** A declared mapping as the serializer of a sink that writes entries. Compiled once; reads every record once. */
export const loadMappingSerializer = (mapping: ResolvedMapping): Promise<PreparingSerializer> =>
  load(mapping, (written): RowEntry => {
    if (written.kind === 'entry') return written.entry;
    // The configuration refuses such a mode for a sink of entries; a resolved document may be written by hand.
    throw new RecordError(`mapping: the mode makes a ${written.kind} request, which this sink cannot send`);
  });

/**
 * A declared mapping as the serializer of a sink that sends requests. An entry becomes a request that always applies it,
 * which is of use where requests carry markers: then it applies once.
 */
export const loadMappingRequests = (
  mapping: ResolvedMapping,
  { isReplayProtected }: { readonly isReplayProtected: boolean },
): Promise<PreparingSerializer<RowRequest>> =>
  load(mapping, (written): RowRequest => {
    if (written.kind !== 'entry') return written;
    if (!isReplayProtected) {
      throw new RecordError('mapping: the mode makes an entry, which a request sink sends with replayProtection alone');
    }
    const { rowKey, mutations } = written.entry;
    const request = conditionalRequest({ rowKey, predicate: noCell(), then: [], otherwise: mutations });
    return { kind: 'conditional', request };
  });

async function load<Write>(
  mapping: ResolvedMapping,
  writeOf: (written: MappedWrite) => Write,
): Promise<PreparingSerializer<Write>> {
  const { prepare } = await compileMapping(mapping);
  return {
    prepare(record, context) {
      const prepared = prepare(record, context);
      if (!prepared) return null;
      const { table, write } = prepared;
      return { ...(table !== undefined && { table: { table } }), serialize: () => writeOf(write()) };
    },
  };
}
