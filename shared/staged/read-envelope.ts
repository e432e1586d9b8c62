import { BinaryReader } from '@bufbuild/protobuf/wire';
import { toError } from '../base/errors.ts';
import { isIdentity } from '../model/identity.ts';
import { tableName, type TableName } from '../model/table-name.ts';
import { Mutation } from '../proto/google/bigtable/v2/data.ts';
import { StoredBytesError } from './errors.ts';
import { encodeMarkerPredicate } from './marker.ts';

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
const FALSE_MUTATIONS = 0x2a;

// Tags of Mutation, the kinds that an envelope may hold: setCell, deleteFromColumn, deleteFromFamily, addToCell, mergeToCell.
const ALLOWED_KINDS: ReadonlySet<number> = new Set([0x0a, 0x12, 0x1a, 0x2a, 0x32]);
/** In each of them the family's name is field 1, and the first that is written. */
const FAMILY_NAME = 0x0a;

const TABLE_PATH = /^projects\/([^/]+)\/instances\/([^/]+)\/tables\/([^/]+)$/;

/**
 * Reads an envelope's bytes again, every byte of its marker's structure included, without decoding the record's own
 * mutations. Pure. Throws a {@link StoredBytesError} for anything that `createEnvelope` does not make: sent, it could
 * count twice.
 */
export function readEnvelope(request: Buffer, source: EnvelopeSource): Envelope {
  try {
    return { ...parse(request), request, source };
  } catch (error) {
    if (error instanceof StoredBytesError) throw error;
    throw new StoredBytesError(`an envelope cannot be read: ${toError(error).message}`, { cause: error });
  }
}

function parse(request: Buffer): Omit<Envelope, 'request' | 'source'> {
  const fields = new Fields(request);
  const table = parseTable(fields.required(TABLE_NAME, 'table').toString());
  const appProfileId = fields.optional(APP_PROFILE_ID)?.toString() ?? '';
  const rowKey = fields.required(ROW_KEY, 'row key');
  const predicateStart = fields.position;
  fields.required(PREDICATE_FILTER, 'predicate');
  const mutationsStart = fields.position;

  let mutations = 0;
  let markerStart = mutationsStart;
  let family: Buffer | undefined;
  let lastAdded: Buffer | undefined;
  const dataFamilies = new Set<string>();
  while (fields.hasMore) {
    // The mutation before this one was not the last, so it is the record's.
    if (family && !lastAdded?.equals(family)) {
      dataFamilies.add(family.toString());
      lastAdded = family;
    }
    markerStart = fields.position;
    family = fields.mutationFamily();
    mutations += 1;
  }
  if (mutations < 2) throw new StoredBytesError('an envelope must hold a mutation and its marker');

  const marker = parseMarker(request.subarray(markerStart));
  if (dataFamilies.has(marker.family)) {
    throw new StoredBytesError('an envelope must not hold a mutation of its marker family');
  }
  if (!asksFor(marker, request.subarray(predicateStart, mutationsStart))) {
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
    predicateStart,
    mutationsStart,
  };
}

function parseTable(path: string): TableName {
  const [, project, instance, table] = TABLE_PATH.exec(path) ?? [];
  if (project === undefined || instance === undefined || table === undefined) {
    throw new StoredBytesError('the table of an envelope must be projects/{p}/instances/{i}/tables/{t}');
  }
  return tableName(project, instance, table);
}

/** The last mutation with its field's tag and length: exactly the cell that a marker is. */
function parseMarker(field: Buffer): { family: string; identity: string; timestampMicros: bigint } {
  const reader = new BinaryReader(field);
  reader.uint32();
  const { mutation } = Mutation.decode(reader, reader.uint32());
  if (mutation?.$case === 'setCell') {
    const { familyName, columnQualifier, timestampMicros, value } = mutation.value;
    const identity = columnQualifier.toString('latin1');
    if (isIdentity(identity) && timestampMicros >= 0n && value.length === 1 && value[0] === MARKER_BYTE) {
      return { family: familyName, identity, timestampMicros };
    }
  }
  throw new StoredBytesError('the last mutation of an envelope must be its marker');
}

const MARKER_BYTE = 0x31;

/** Digits of an identity: the last bytes of the predicate for it. */
const IDENTITY_BYTES = 32;

/** Predicates are equal but for their family and identity, and a segment is of few families: the last one's is kept. */
let known: { readonly family: string; readonly bytes: Buffer } | undefined;

/** Whether a predicate asks for this marker and for nothing else. */
function asksFor({ family, identity }: { family: string; identity: string }, predicate: Buffer): boolean {
  if (known?.family !== family) {
    known = { family, bytes: encodeMarkerPredicate(family, [identity]).subarray(0, -IDENTITY_BYTES) };
  }
  const { bytes } = known;
  return (
    predicate.length === bytes.length + IDENTITY_BYTES &&
    predicate.compare(bytes, 0, bytes.length, 0, bytes.length) === 0 &&
    predicate.toString('latin1', bytes.length) === identity
  );
}

/** Length-delimited fields that must come in one order. */
class Fields {
  readonly #bytes: Buffer;
  readonly #reader: BinaryReader;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#reader = new BinaryReader(bytes);
  }

  get position(): number {
    return this.#reader.pos;
  }

  get hasMore(): boolean {
    return this.#reader.pos < this.#reader.len;
  }

  optional(tag: number): Buffer | undefined {
    if (this.#bytes[this.#reader.pos] !== tag) return undefined;
    this.#reader.pos += 1;
    return this.#bytesField();
  }

  required(tag: number, name: string): Buffer {
    const field = this.optional(tag);
    if (!field) throw new StoredBytesError(`an envelope must hold its ${name} in its place`);
    return field;
  }

  /** Steps over one mutation of the false branch and gives its family. */
  mutationFamily(): Buffer {
    const reader = this.#reader;
    if (reader.uint32() !== FALSE_MUTATIONS) throw new StoredBytesError('an envelope must end with its mutations');
    const end = reader.uint32() + reader.pos;
    if (!ALLOWED_KINDS.has(reader.uint32())) {
      throw new StoredBytesError('an envelope must hold only mutations of cells, columns and families');
    }
    const innerEnd = reader.uint32() + reader.pos;
    if (reader.uint32() !== FAMILY_NAME) throw new StoredBytesError('a mutation of an envelope must name its family');
    const family = this.#bytesField();
    if (innerEnd !== end || reader.pos > end || end > reader.len) {
      throw new StoredBytesError('a mutation of an envelope must be as long as it says');
    }
    reader.pos = end;
    return family;
  }

  #bytesField(): Buffer {
    const length = this.#reader.uint32();
    const start = this.#reader.pos;
    if (start + length > this.#reader.len)
      throw new StoredBytesError('a field of an envelope must be as long as it says');
    this.#reader.pos = start + length;
    return this.#bytes.subarray(start, start + length);
  }
}
