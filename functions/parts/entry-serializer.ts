import type { ResolvedSerializer } from '../../shared/config/resolved.ts';
import { entrySerializer } from '../../shared/mapping/entry-serializer.ts';
import { loadModuleSerializer } from '../../shared/mapping/module-serializer.ts';
import type { PreparingSerializer, Serializer } from '../../shared/mapping/serializer.ts';

/** What makes entries of records; a module is relative to the directory of the configuration. */
export async function entrySerializerOf(
  serializer: ResolvedSerializer,
  baseDirectory: string,
): Promise<Serializer | PreparingSerializer> {
  switch (serializer.kind) {
    case 'entry':
      return entrySerializer;
    case 'module':
      return loadModuleSerializer(serializer.module, baseDirectory, serializer.options);
    case 'mapping': {
      // Loaded where it is used: the decoders of Avro and Protobuf are not for every cold start.
      const { loadMappingSerializer } = await import('../../shared/mapping/mapping-serializer.ts');
      return loadMappingSerializer(serializer.mapping);
    }
    default:
      return serializer satisfies never;
  }
}
