import { isUtf8 } from 'node:buffer';
import type * as z from 'zod';
import { RecordError } from '../../base/errors.ts';
import { type JsonBounds, jsonBoundsRule } from '../../base/json-bounds.ts';
import { encodingOf } from '../../mapping/formats/json.ts';
import { JsonMembersError, parseJson } from '../../mapping/formats/json-text.ts';
import { conditionalRequest, readModifyWriteRequest } from '../../model/conditional.ts';
import type { RowRequest, RowRequestDocument } from '../../model/row-request.ts';
import type { RowResult } from '../../model/row-result.ts';
import { formatPath, MAX_TOLD, type RequestProblem, RowRequestError } from './problems.ts';
import { requestDocument, requestJson } from './request-form.ts';
import { decodeRequestProto, encodeRequestProto } from './request-proto.ts';
import { resultDocument, resultJson } from './result-form.ts';
import { decodeResultProto, encodeResultProto } from './result-proto.ts';
import { VERSION } from './rules.ts';

/** Row requests and their results as documents: one reader and one writer for every way in and out. Pure. */
export type DocumentForm = 'json' | 'proto';

export const CONTENT_TYPES: Readonly<Record<DocumentForm, string>> = {
  json: 'application/json',
  proto: 'application/x-protobuf',
};

/** The form that a content type names; JSON unless it says protobuf. A message says it in its attribute `content-type`. */
export const formOf = (contentType: string | undefined): DocumentForm =>
  contentType !== undefined && PROTO.test(contentType.trim()) ? 'proto' : 'json';

const PROTO = /^application\/(?:x-)?protobuf(?:\s*[;,]|$)/i;

/**
 * Reads a row request. Throws a {@link RowRequestError} with every problem at once, each by its path; a version that is
 * not known is the only one, because its rules are not known either.
 */
export function decodeRowRequest(bytes: Buffer, contentType?: string): RowRequestDocument {
  const document = formOf(contentType) === 'proto' ? decodeRequestProto(bytes) : requestOfJson(bytes);
  return { ...document, request: frozen(document.request) };
}

/** Everything was checked at its place; the model checks once more and freezes. */
const frozen = ({ kind, request }: RowRequest): RowRequest =>
  kind === 'conditional'
    ? { kind, request: conditionalRequest(request) }
    : { kind, request: readModifyWriteRequest(request) };

export const encodeRowRequestDocument = (document: RowRequestDocument, form: DocumentForm): Buffer =>
  form === 'proto' ? bufferOf(encodeRequestProto(document)) : Buffer.from(JSON.stringify(requestJson(document)));

export const encodeRowResult = (result: RowResult, form: DocumentForm): Buffer =>
  form === 'proto' ? bufferOf(encodeResultProto(result)) : Buffer.from(JSON.stringify(resultJson(result)));

/** Reads a result. Throws a {@link RecordError}. In proto nothing says which values are counters. */
export const decodeRowResult = (bytes: Buffer, contentType?: string): RowResult =>
  formOf(contentType) === 'proto' ? decodeResultProto(bytes) : read(resultDocument, bytes);

const requestOfJson = (bytes: Buffer): RowRequestDocument => read(requestDocument, bytes);

function read<Document>(schema: z.ZodType<Document>, bytes: Buffer): Document {
  const json = jsonOf(bytes);
  const version = typeof json === 'object' && json !== null && 'version' in json ? json.version : VERSION;
  if (typeof version === 'number' && version !== VERSION) {
    throw new RowRequestError([{ path: 'version', message: `must be ${VERSION}, got ${version}` }]);
  }
  const { data, error } = schema.safeParse(json);
  if (error) {
    const { issues } = error;
    throw new RowRequestError(issues.slice(0, MAX_TOLD).map(problemOf), undefined, issues.length);
  }
  return data;
}

const problemOf = ({ path, message }: z.core.$ZodIssue): RequestProblem => ({ path: formatPath(path), message });

/** Far more than 100,000 mutations take, of the longest kind; the depth is that of every record. */
const BOUNDS: JsonBounds = { maxDepth: 200, maxValues: 1_000_000 };

function jsonOf(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new RowRequestError([{ path: 'request', message: 'is required, got no byte' }]);
  if (!isUtf8(bytes)) throw new RowRequestError([{ path: 'request', message: 'must be UTF-8, got other bytes' }]);
  const text = bytes.toString();
  const rule = jsonBoundsRule(text, BOUNDS);
  if (rule !== undefined) throw new RowRequestError([{ path: 'request', message: rule }]);
  try {
    return parseJson(text);
  } catch (error) {
    throw new RowRequestError([problemOfText(error, encodingOf(bytes))]);
  }
}

/** The parser's own message quotes the record. */
function problemOfText(error: unknown, encoding: string | undefined): RequestProblem {
  if (error instanceof JsonMembersError) return { path: formatPath(error.path), message: JsonMembersError.rule };
  if (error instanceof RecordError) return { path: 'request', message: 'must not be nested deeper than 200' };
  const seen = encoding ?? 'other text';
  return { path: 'request', message: `must be JSON${encoding === undefined ? '' : ' in UTF-8'}, got ${seen}` };
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
