import type { Value } from '../../../../../shared/proto/google/firestore/v1/document.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { LIMITS } from '../limits.ts';
import type { Fields, StoredDocument } from './document.ts';

/** What a document counts (firebase.google.com/docs/firestore/storage-size): its name, its fields and 32 bytes. Pure. */
export const documentBytes = ({ name, fields }: Pick<StoredDocument, 'name' | 'fields'>): number =>
  nameBytes(name) + fieldsBytes(fields) + 32;

/** @throws INVALID_ARGUMENT for a document over 1 MiB. */
export function requireDocumentSize(document: StoredDocument): void {
  const bytes = documentBytes(document);
  if (bytes <= LIMITS.documentBytes) return;
  throw new GrpcError(
    'INVALID_ARGUMENT',
    `document "${document.name}": its size of ${bytes} bytes is over the maximum of ${LIMITS.documentBytes} bytes`,
  );
}

/** Each id and one byte, and 16 bytes for the whole; the database's own part does not count. */
function nameBytes(name: string): number {
  const ids = name.split('/').slice(5);
  return ids.reduce((sum, id) => sum + textBytes(id), 16);
}

function fieldsBytes(fields: Fields): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(fields)) bytes += textBytes(name) + valueBytes(value);
  return bytes;
}

function valueBytes({ valueType }: Value): number {
  switch (valueType?.$case) {
    case 'integerValue':
    case 'doubleValue':
    case 'timestampValue':
      return 8;
    case 'geoPointValue':
      return 16;
    case 'stringValue':
      return textBytes(valueType.value);
    case 'bytesValue':
      return valueType.value.length;
    case 'referenceValue':
      return nameBytes(valueType.value);
    case 'arrayValue':
      return valueType.value.values.reduce((sum, element) => sum + valueBytes(element), 0);
    case 'mapValue':
      return fieldsBytes(valueType.value.fields);
    default:
      return 1;
  }
}

const textBytes = (text: string): number => Buffer.byteLength(text) + 1;
