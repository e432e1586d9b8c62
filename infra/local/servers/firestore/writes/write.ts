import type { Precondition } from '../../../../../shared/proto/google/firestore/v1/common.ts';
import type { Value } from '../../../../../shared/proto/google/firestore/v1/document.ts';
import type { Write, WriteResult } from '../../../../../shared/proto/google/firestore/v1/write.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { microsOfTimestamp, timestampOfMicros } from '../../rpc/proto-time.ts';
import { requireDocumentSize } from '../documents/document-size.ts';
import { fieldAt, withFieldAt, type Fields, type StoredDocument } from '../documents/document.ts';
import { NAME_FIELD, parseFieldPath } from '../documents/field-path.ts';
import { identicalFields } from '../documents/identical-values.ts';
import { storedFields } from '../documents/stored-value.ts';
import { transformField } from './transforms.ts';

/** What one write makes of its document; undefined for one that is not there afterwards. */
export interface WriteOutcome {
  readonly document: StoredDocument | undefined;
  readonly result: WriteResult;
}

/** The document that a write is about. @throws INVALID_ARGUMENT */
export function writtenDocument({ operation }: Write): string {
  switch (operation?.$case) {
    case 'update':
      return operation.value.name;
    case 'delete':
      return operation.value;
    case 'transform':
      return operation.value.document;
    case undefined:
      throw new GrpcError('INVALID_ARGUMENT', 'a write must update, delete or transform a document');
  }
}

/**
 * Applies a write to the document that is there. Pure. A write that changes nothing keeps the update time.
 * @throws NOT_FOUND, ALREADY_EXISTS or FAILED_PRECONDITION as its precondition says; INVALID_ARGUMENT
 */
export function applyWrite(write: Write, current: StoredDocument | undefined, nowMicros: bigint): WriteOutcome {
  const name = writtenDocument(write);
  requirePrecondition(write.currentDocument, name, current);
  if (write.operation?.$case === 'delete') {
    return { document: undefined, result: { updateTime: timestampOfMicros(nowMicros), transformResults: [] } };
  }
  const transforms =
    write.operation?.$case === 'transform' ? write.operation.value.fieldTransforms : write.updateTransforms;
  let fields = updatedFields(write, current?.fields);
  const transformResults: Value[] = [];
  for (const transform of transforms) {
    const path = parseFieldPath(transform.fieldPath);
    const { value, result } = transformField(transform, fieldAt(fields, path), nowMicros);
    fields = withFieldAt(fields, path, value);
    transformResults.push(result);
  }
  const document = nextVersion(name, storedFields(fields), current, nowMicros);
  return { document, result: { updateTime: timestampOfMicros(document.updateTimeMicros), transformResults } };
}

function updatedFields({ operation, updateMask }: Write, current: Fields | undefined): Fields {
  if (operation?.$case !== 'update') return current ?? {};
  const { fields } = operation.value;
  if (!updateMask) return fields;
  return updateMask.fieldPaths.reduce<Fields>((updated, text) => {
    if (text === NAME_FIELD) throw new GrpcError('INVALID_ARGUMENT', `a mask must not name ${NAME_FIELD}`);
    const path = parseFieldPath(text);
    return withFieldAt(updated, path, fieldAt(fields, path));
  }, current ?? {});
}

function nextVersion(
  name: string,
  fields: Fields,
  current: StoredDocument | undefined,
  nowMicros: bigint,
): StoredDocument {
  if (current && identicalFields(current.fields, fields)) return current;
  const document = {
    name,
    fields,
    createTimeMicros: current?.createTimeMicros ?? nowMicros,
    updateTimeMicros: nowMicros,
  };
  requireDocumentSize(document);
  return document;
}

function requirePrecondition(
  precondition: Precondition | undefined,
  name: string,
  current: StoredDocument | undefined,
): void {
  const condition = precondition?.conditionType;
  if (condition?.$case === 'exists') {
    if (condition.value && !current) throw new GrpcError('NOT_FOUND', `No document to update: ${name}`);
    if (!condition.value && current) throw new GrpcError('ALREADY_EXISTS', `Document already exists: ${name}`);
  }
  if (condition?.$case === 'updateTime') {
    const stored = current?.updateTimeMicros ?? 0n;
    const required = microsOfTimestamp(condition.value);
    if (stored !== required) {
      throw new GrpcError(
        'FAILED_PRECONDITION',
        `the stored version (${stored}) does not match the required base version (${required}): ${name}`,
      );
    }
  }
}
