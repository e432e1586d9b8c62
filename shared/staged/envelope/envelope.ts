import { toError } from '../../base/errors.ts';
import { isIdentity } from '../../model/identity.ts';
import { tableName, type TableName } from '../../model/table-name.ts';
import { Fields, LastRead, StoredBytesError, asText } from './envelope-fields.ts';
import { encodeMarkerPredicate, MARKER_VALUE } from '../../markers/marker.ts';

/**
 * One record's effect, frozen: the request that applies it exactly once, however often it is sent. Everything else
 * here is read from the request's bytes, which are what is stored.
 */
export interface Envelope {
  readonly identity: string;
  readonly table: TableName;
  /** Empty is the instance's default profile. */
  readonly appProfileId: string;
  readonly rowKey: Buffer;
  readonly markerFamily: string;
  readonly markerTimestampMicros: bigint;
  /** Families that its mutations name, the marker's own left out; each once. */
  readonly dataFamilies: readonly string[];
  /** Mutations of the request, the marker included. */
  readonly mutations: number;
  /**
   * A serialized `google.bigtable.v2.CheckAndMutateRowRequest`: where the row has the marker nothing is done, otherwise
   * the record's mutations are applied in order and the marker last. Its fields stand in one order (table, profile,
   * row key, predicate, mutations), so that requests of one row are joined without reading their mutations.
   */
  readonly request: Buffer;
  /** Where the predicate begins in the request, and where the mutations do. */
  readonly predicateStart: number;
  readonly mutationsStart: number;
  readonly source: EnvelopeSource;
}

/** The record that an envelope is of: what a dead letter and a log line name. */
export interface EnvelopeSource {
  /** Of the message that first carried the record. */
  readonly messageId: string;
  readonly recordIndex: number;
  readonly publishTimeMicros: bigint;
}

// Tags of CheckAndMutateRowRequest: (field number << 3) | wire type.
const TABLE_NAME = 0x0a;
const APP_PROFILE_ID = 0x3a;
const ROW_KEY = 0x12;
const PREDICATE_FILTER = 0x32;

// Tags of SetCell after the family.
const QUALIFIER = 0x12;
const TIMESTAMP = 0x18;
const VALUE = 0x22;

const TABLE_PATH = /^projects\/([^/]+)\/instances\/([^/]+)\/tables\/([^/]+)$/;

/**
 * Reads an envelope's bytes again, every byte of its marker's structure included, without decoding the record's own
 * mutations. Pure. Throws a {@link StoredBytesError} for anything that `createEnvelope` does not make: sent, it could
 * count twice.
 */
export function readEnvelope(request: Buffer, source: EnvelopeSource): Envelope {
  try {
    return parse(request, source);
  } catch (error) {
    if (error instanceof StoredBytesError) throw error;
    throw new StoredBytesError(`an envelope cannot be read: ${toError(error).message}`, { cause: error });
  }
}

function parse(request: Buffer, source: EnvelopeSource): Envelope {
  const fields = new Fields(request);
  const table = fields.optional(TABLE_NAME, tables);
  if (!table) throw new StoredBytesError('an envelope must hold its table in its place');
  const appProfileId = fields.optional(APP_PROFILE_ID, profiles) ?? '';
  const rowKey = fields.bytes(ROW_KEY, 'row key');
  const predicateStart = fields.position;
  fields.bytes(PREDICATE_FILTER, 'predicate');
  const mutationsStart = fields.position;

  let mutations = 0;
  let markerStart = mutationsStart;
  let family: string | undefined;
  const dataFamilies = new Set<string>();
  while (fields.hasMore) {
    // The mutation before this one was not the last, so it is the record's.
    if (family !== undefined) dataFamilies.add(family);
    markerStart = fields.position;
    family = fields.mutationFamily();
    mutations += 1;
  }
  if (mutations < 2) throw new StoredBytesError('an envelope must hold a mutation and its marker');

  fields.goTo(markerStart);
  const marker = readMarker(fields);
  if (dataFamilies.has(marker.family)) {
    throw new StoredBytesError('an envelope must not hold a mutation of its marker family');
  }
  if (!asksFor(marker, request, predicateStart, mutationsStart)) {
    throw new StoredBytesError(
      'the predicate of an envelope must ask for the marker that it writes, and for nothing else',
    );
  }
  return {
    identity: marker.identity,
    table,
    appProfileId,
    rowKey,
    markerFamily: marker.family,
    markerTimestampMicros: marker.timestampMicros,
    dataFamilies: [...dataFamilies],
    mutations,
    request,
    predicateStart,
    mutationsStart,
    source,
  };
}

function parseTable(path: string): TableName {
  const [, project, instance, table] = TABLE_PATH.exec(path) ?? [];
  if (project === undefined || instance === undefined || table === undefined) {
    throw new StoredBytesError('the table of an envelope must be projects/{p}/instances/{i}/tables/{t}');
  }
  return tableName(project, instance, table);
}

const tables = new LastRead(parseTable);
const profiles = new LastRead(asText);

interface Marker {
  readonly family: string;
  readonly identity: string;
  readonly timestampMicros: bigint;
}

/** The last mutation: exactly the cell that a marker is, with the fields in their order and no other. */
function readMarker(fields: Fields): Marker {
  const family = fields.setCellFamily();
  if (family !== undefined) {
    const identity = fields.bytes(QUALIFIER, "marker's qualifier").toString('latin1');
    const timestampMicros = fields.int64(TIMESTAMP) ?? 0n;
    const value = fields.bytes(VALUE, "marker's value");
    const isMarker = value.length === 1 && value[0] === MARKER_BYTE && !fields.hasMore;
    if (isMarker && isIdentity(identity) && timestampMicros >= 0n) return { family, identity, timestampMicros };
  }
  throw new StoredBytesError('the last mutation of an envelope must be its marker');
}

const [MARKER_BYTE] = MARKER_VALUE;

/** Digits of an identity: the last bytes of the predicate for it. */
const IDENTITY_BYTES = 32;

/** Predicates are equal but for their family and identity, and a segment is of few families: the last one's is kept. */
let known: { readonly family: string; readonly bytes: Buffer } | undefined;

/** Whether the predicate, which stands from `start` to `end`, asks for this marker and for nothing else. */
function asksFor({ family, identity }: Marker, request: Buffer, start: number, end: number): boolean {
  if (known?.family !== family) {
    known = { family, bytes: encodeMarkerPredicate(family, [identity]).subarray(0, -IDENTITY_BYTES) };
  }
  const { bytes } = known;
  const identityStart = start + bytes.length;
  return (
    end - identityStart === IDENTITY_BYTES &&
    request.compare(bytes, 0, bytes.length, start, identityStart) === 0 &&
    request.toString('latin1', identityStart, end) === identity
  );
}
