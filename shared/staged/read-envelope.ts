import { BinaryReader } from '@bufbuild/protobuf/wire';
import { toError } from '../base/errors.ts';
import { isIdentity } from '../model/identity.ts';
import { tableName, type TableName } from '../model/table-name.ts';
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

// Tags of a marker: Mutation.set_cell, and those of SetCell after the family.
const SET_CELL = 0x0a;
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

const MARKER_BYTE = 0x31;

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

/**
 * What the bytes of a name were last read as. The envelopes of a segment are of few tables and families: reading each
 * of their names again would cost more than all else here.
 */
class LastRead<Value> {
  readonly #read: (text: string) => Value;
  #last: { readonly bytes: Buffer; readonly value: Value } | undefined;

  constructor(read: (text: string) => Value) {
    this.#read = read;
  }

  of(source: Buffer, start: number, end: number): Value {
    const last = this.#last;
    if (last?.bytes.length === end - start && source.compare(last.bytes, 0, last.bytes.length, start, end) === 0) {
      return last.value;
    }
    const value = this.#read(source.toString('utf8', start, end));
    // A copy: the source is a part of a segment, which would be kept with it.
    this.#last = { bytes: Buffer.from(source.subarray(start, end)), value };
    return value;
  }
}

const asText = (text: string): string => text;
const tables = new LastRead(parseTable);
const profiles = new LastRead(asText);
/** The families of a record and of its marker take turns. */
const dataFamilyNames = new LastRead(asText);
const markerFamilyNames = new LastRead(asText);

/** Fields that must come in one order. */
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

  goTo(position: number): void {
    this.#reader.pos = position;
  }

  /** The name that the field holds; undefined when it is not the next one. */
  optional<Value>(tag: number, names: LastRead<Value>): Value | undefined {
    if (!this.#takeTag(tag)) return undefined;
    const end = this.#end();
    const value = names.of(this.#bytes, this.#reader.pos, end);
    this.#reader.pos = end;
    return value;
  }

  bytes(tag: number, name: string): Buffer {
    if (!this.#takeTag(tag)) throw new StoredBytesError(`an envelope must hold its ${name} in its place`);
    const end = this.#end();
    const bytes = this.#bytes.subarray(this.#reader.pos, end);
    this.#reader.pos = end;
    return bytes;
  }

  int64(tag: number): bigint | undefined {
    return this.#takeTag(tag) ? BigInt(this.#reader.int64()) : undefined;
  }

  /** Steps over one mutation of the false branch and gives its family. */
  mutationFamily(): string {
    const reader = this.#reader;
    const end = this.#mutationEnd();
    if (!ALLOWED_KINDS.has(reader.uint32())) {
      throw new StoredBytesError('an envelope must hold only mutations of cells, columns and families');
    }
    if (this.#end() !== end) throw new StoredBytesError('a mutation of an envelope must be as long as it says');
    // The last of them is the marker, whose family is another one.
    const family = this.#familyOf(end, end === reader.len ? markerFamilyNames : dataFamilyNames);
    reader.pos = end;
    return family;
  }

  /** Steps into one mutation of the false branch, up to what follows its family; undefined when it sets no cell. */
  setCellFamily(): string | undefined {
    const end = this.#mutationEnd();
    if (!this.#takeTag(SET_CELL)) return undefined;
    return this.#end() === end ? this.#familyOf(end, markerFamilyNames) : undefined;
  }

  #familyOf(mutationEnd: number, names: LastRead<string>): string {
    const family = this.optional(FAMILY_NAME, names);
    if (family === undefined) throw new StoredBytesError('a mutation of an envelope must name its family');
    if (this.#reader.pos > mutationEnd) throw new StoredBytesError('a family must not be longer than its mutation');
    return family;
  }

  #mutationEnd(): number {
    if (!this.#takeTag(FALSE_MUTATIONS)) throw new StoredBytesError('an envelope must end with its mutations');
    return this.#end();
  }

  #takeTag(tag: number): boolean {
    if (this.#bytes[this.#reader.pos] !== tag) return false;
    this.#reader.pos += 1;
    return true;
  }

  /** Reads a length, and gives where what is so long ends. */
  #end(): number {
    const length = this.#reader.uint32();
    const end = this.#reader.pos + length;
    if (end > this.#reader.len) throw new StoredBytesError('a field of an envelope must be as long as it says');
    return end;
  }
}
