import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ReadRowsResponse, ReadRowsResponse_CellChunk } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { ChunkReader, COMMIT, ProtocolError, RESET } from '../../../../shared/scan/reading/chunk-wire.ts';
import { encodedMessage } from '../../../support/row-chunks.ts';

/** What the reader says of a message, in the form of the generated decoder. */
function read(message: Buffer): { chunks: ReadRowsResponse_CellChunk[]; lastScannedRowKey: Buffer } {
  const reader = new ChunkReader();
  reader.start(message);
  const chunks: ReadRowsResponse_CellChunk[] = [];
  while (reader.next()) {
    const { timestampMicros, labels, valueSize, rowStatus } = reader;
    chunks.push({
      rowKey: message.subarray(reader.keyStart, reader.keyEnd),
      familyName: reader.familyStart < 0 ? undefined : message.toString('utf8', reader.familyStart, reader.familyEnd),
      qualifier: reader.qualifierStart < 0 ? undefined : message.subarray(reader.qualifierStart, reader.qualifierEnd),
      timestampMicros: BigInt(timestampMicros),
      labels: [...labels],
      value: message.subarray(reader.valueStart, reader.valueEnd),
      valueSize,
      rowStatus:
        rowStatus === RESET
          ? { $case: 'resetRow', value: true }
          : rowStatus === COMMIT
            ? { $case: 'commitRow', value: true }
            : undefined,
    });
  }
  return { chunks, lastScannedRowKey: message.subarray(reader.lastScannedStart, reader.lastScannedEnd) };
}

/** A status that is false says nothing. */
function generated(message: Buffer): { chunks: ReadRowsResponse_CellChunk[]; lastScannedRowKey: Buffer } {
  const { chunks, lastScannedRowKey } = ReadRowsResponse.decode(message);
  const said = chunks.map((chunk) => ({ ...chunk, rowStatus: chunk.rowStatus?.value ? chunk.rowStatus : undefined }));
  return { chunks: said, lastScannedRowKey };
}

const bytes = fc
  .oneof(
    { weight: 20, arbitrary: fc.uint8Array({ maxLength: 12 }) },
    { weight: 1, arbitrary: fc.constantFrom(127, 128, 16_383, 16_384).map((length) => new Uint8Array(length).fill(7)) },
  )
  .map((some) => Buffer.from(some));
const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.integer({ min: 0, max: 62 }).chain((bits) => fc.constantFrom(2n ** BigInt(bits), 2n ** BigInt(bits) - 1n)),
  fc.constant(0n),
);
const chunk: fc.Arbitrary<ReadRowsResponse_CellChunk> = fc.record({
  rowKey: bytes,
  familyName: fc.option(fc.string({ maxLength: 5, unit: 'grapheme' }), { nil: undefined }),
  qualifier: fc.option(bytes, { nil: undefined }),
  timestampMicros: int64,
  labels: fc.array(fc.string({ maxLength: 4, unit: 'grapheme' }), { maxLength: 3 }),
  value: bytes,
  valueSize: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  rowStatus: fc.oneof(
    fc.constant(undefined),
    fc.record({ $case: fc.constantFrom('resetRow' as const, 'commitRow' as const), value: fc.boolean() }),
  ),
});

test('chunks are read as the generated decoder reads them', () => {
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 6 }), bytes, (chunks, lastScanned) => {
      const message = encodedMessage(chunks, lastScanned);
      expect(read(message)).toEqual(generated(message));
    }),
    { numRuns: 1000 },
  );
});

/** A field that no version of the message has, of a type that may be passed over. */
const strangeField = fc.record({
  number: fc.integer({ min: 20, max: 5000 }),
  type: fc.constantFrom(0, 1, 2, 5),
  value: bytes,
});

function writeStrange(
  writer: BinaryWriter,
  { number, type, value }: { number: number; type: number; value: Buffer },
): void {
  writer.uint32(number * 8 + type);
  if (type === 0) writer.uint64(BigInt(value.length) << 40n);
  else if (type === 1) writer.fixed64(BigInt(value.length));
  else if (type === 5) writer.fixed32(value.length);
  else writer.bytes(value);
}

test('fields in any order, more than once, among fields that are not known, are read as the generated decoder reads them', () => {
  const field = fc.oneof(
    fc.record({ kind: fc.constant('bytes' as const), number: fc.constantFrom(1, 6), value: bytes }),
    fc.record({ kind: fc.constant('label' as const), number: fc.constant(5), value: fc.string({ maxLength: 4 }) }),
    fc.record({ kind: fc.constant('int64' as const), number: fc.constant(4), value: int64 }),
    fc.record({ kind: fc.constant('bool' as const), number: fc.constantFrom(8, 9), value: fc.boolean() }),
    fc.record({
      kind: fc.constant('wrapped' as const),
      number: fc.constantFrom(2, 3),
      value: fc.array(fc.oneof(fc.constant('v'), fc.constant('another'), strangeField), { maxLength: 3 }),
    }),
    strangeField.map((value) => ({ kind: 'strange' as const, value })),
  );
  type Field = typeof field extends fc.Arbitrary<infer Value> ? Value : never;
  const write = (writer: BinaryWriter, some: Field): void => {
    switch (some.kind) {
      case 'bytes':
        writer.tag(some.number, WireType.LengthDelimited).bytes(some.value);
        return;
      case 'label':
        writer.tag(some.number, WireType.LengthDelimited).string(some.value);
        return;
      case 'int64':
        writer.tag(some.number, WireType.Varint).int64(some.value);
        return;
      case 'bool':
        writer.tag(some.number, WireType.Varint).bool(some.value);
        return;
      case 'strange':
        writeStrange(writer, some.value);
        return;
      case 'wrapped':
        writer.tag(some.number, WireType.LengthDelimited).fork();
        for (const part of some.value) {
          if (typeof part === 'string') writer.tag(1, WireType.LengthDelimited).string(part);
          else writeStrange(writer, part);
        }
        writer.join();
    }
  };
  const part = fc.oneof(
    fc.array(field, { maxLength: 8 }).map((fields) => ({ kind: 'chunk' as const, fields })),
    bytes.map((key) => ({ kind: 'scanned' as const, key })),
    strangeField.map((value) => ({ kind: 'strange' as const, value })),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const writer = new BinaryWriter();
      for (const each of parts) {
        if (each.kind === 'scanned') writer.tag(2, WireType.LengthDelimited).bytes(each.key);
        else if (each.kind === 'strange') writeStrange(writer, each.value);
        else {
          writer.tag(1, WireType.LengthDelimited).fork();
          for (const some of each.fields) write(writer, some);
          writer.join();
        }
      }
      const message = Buffer.from(writer.finish());
      expect(read(message)).toEqual(generated(message));
    }),
    { numRuns: 1000 },
  );
});

test('a message that was cut or spoilt is refused or read, and nothing else happens', () => {
  fc.assert(
    fc.property(
      fc.array(chunk, { minLength: 1, maxLength: 3 }),
      fc.nat(),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }),
      (chunks, length, spoilt) => {
        const whole = encodedMessage(chunks);
        const message = Buffer.from(whole.subarray(0, length % (whole.length + 1)));
        for (const [place, byte] of spoilt) if (message.length > 0) message[place % message.length] = byte;
        try {
          read(message);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      },
    ),
    { numRuns: 5000 },
  );
});

test('a message that was cut inside a chunk is refused', () => {
  const message = encodedMessage([
    { ...ReadRowsResponse_CellChunk.decode(Buffer.alloc(0)), rowKey: Buffer.from('key'), value: Buffer.from('value') },
  ]);
  for (let length = 1; length < message.length; length += 1) {
    expect(() => read(message.subarray(0, length)), `${length} bytes`).toThrow(ProtocolError);
  }
});
