import type { ResolvedRequestSink } from '../../shared/config/resolved.ts';
import { loadModuleSerializer } from '../../shared/mapping/module-serializer.ts';
import { prepareRecord, type PreparingSerializer, type Serializer } from '../../shared/mapping/serializer.ts';
import type { RowRequest, RowRequestDocument } from '../../shared/model/row-request.ts';

/** What makes requests of records; a module is relative to the directory of the configuration. */
export async function requestSerializerOf(
  { serializer, replayProtection }: Pick<ResolvedRequestSink, 'serializer' | 'replayProtection'>,
  baseDirectory: string,
): Promise<PreparingSerializer<RowRequestDocument>> {
  switch (serializer.kind) {
    case 'request': {
      const { decodeRowRequest } = await import('../../shared/single-row/forms/documents.ts');
      return {
        mayNameTables: true,
        prepare({ data, message }) {
          const document = decodeRowRequest(data, message.attributes['content-type']);
          return { ...(document.table !== undefined && { table: document.table }), serialize: () => document };
        },
      };
    }
    case 'module':
      return documents(await loadModuleSerializer<RowRequest>(serializer.module, baseDirectory, serializer.options));
    case 'mapping': {
      // Loaded where it is used: the decoders of Avro and Protobuf are not for every cold start.
      const { loadMappingRequests } = await import('../../shared/mapping/mapping-serializer.ts');
      const isReplayProtected = replayProtection !== undefined;
      return documents(await loadMappingRequests(serializer.mapping, { isReplayProtected }));
    }
    default:
      return serializer satisfies never;
  }
}

/** Requests of which nothing more is said. */
function documents(
  serializer: Serializer<RowRequest> | PreparingSerializer<RowRequest>,
): PreparingSerializer<RowRequestDocument> {
  return {
    mayNameTables: 'resolve' in serializer,
    prepare(record) {
      const prepared = prepareRecord(serializer, record);
      if (!prepared) return null;
      const { table, serialize } = prepared;
      return {
        ...(table !== undefined && { table }),
        serialize() {
          const request = serialize();
          return request && { request };
        },
      };
    },
  };
}
