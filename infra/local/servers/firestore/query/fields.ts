import type { Value } from '../../../../../shared/proto/google/firestore/v1/document.ts';
import type { StructuredQuery_FieldReference as FieldReference } from '../../../../../shared/proto/google/firestore/v1/query.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { fieldAt, type StoredDocument } from '../documents/document.ts';
import { NAME_FIELD, parseFieldPath } from '../documents/field-path.ts';

/** The value of a field of a document, its name included; undefined where it has none. */
export type FieldReader = (document: StoredDocument) => Value | undefined;

/** @throws INVALID_ARGUMENT where no field is named, or not by a path. */
export function fieldReader(field: FieldReference | undefined): FieldReader {
  if (!field) throw new GrpcError('INVALID_ARGUMENT', 'a filter or order must name a field');
  if (field.fieldPath === NAME_FIELD) return nameValue;
  const path = parseFieldPath(field.fieldPath);
  return ({ fields }) => fieldAt(fields, path);
}

const nameValue = ({ name }: StoredDocument): Value => ({ valueType: { $case: 'referenceValue', value: name } });
