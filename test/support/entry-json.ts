import type { AggregateValue, Mutation, RowEntry } from '../../shared/model/mutation.ts';

/** How proto JSON may be written: both spellings of names and both alphabets of base64 are valid. */
export interface JsonSpelling {
  readonly names: 'camelCase' | 'snake_case';
  readonly alphabet: 'base64' | 'base64url';
}

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/**
 * The proto JSON text of an entry, made from the rules of proto JSON
 * (https://protobuf.dev/programming-guides/json/) and not from the reader: int64 are strings, bytes are base64, fields
 * at their default are left out, except in a oneof.
 */
export function entryJsonText(entry: RowEntry, { names, alphabet }: JsonSpelling): string {
  const bytes = (value: Buffer): string => value.toString(alphabet);
  const json = {
    rowKey: bytes(entry.rowKey),
    mutations: entry.mutations.map((mutation) => mutationJson(mutation, bytes)),
  };
  return JSON.stringify(names === 'camelCase' ? json : snakeCased(json));
}

function mutationJson(mutation: Mutation, bytes: (value: Buffer) => string): Json {
  switch (mutation.kind) {
    case 'setCell':
      return {
        setCell: {
          ...(mutation.family !== '' && { familyName: mutation.family }),
          ...(mutation.qualifier.length > 0 && { columnQualifier: bytes(mutation.qualifier) }),
          ...(mutation.timestampMicros !== 0n && { timestampMicros: String(mutation.timestampMicros) }),
          ...(mutation.value.length > 0 && { value: bytes(mutation.value) }),
        },
      };
    case 'addToCell':
    case 'mergeToCell':
      return {
        [mutation.kind]: {
          familyName: mutation.family,
          columnQualifier: { rawValue: bytes(mutation.qualifier) },
          timestamp: { rawTimestampMicros: String(mutation.timestampMicros) },
          input: inputJson(mutation.input, bytes),
        },
      };
    case 'deleteFromColumn': {
      const { startTimestampMicros: start, endTimestampMicros: end } = mutation;
      return {
        deleteFromColumn: {
          familyName: mutation.family,
          columnQualifier: bytes(mutation.qualifier),
          ...((start !== undefined || end !== undefined) && {
            timeRange: {
              ...(start !== undefined && { startTimestampMicros: String(start) }),
              ...(end !== undefined && { endTimestampMicros: String(end) }),
            },
          }),
        },
      };
    }
    case 'deleteFromFamily':
      return { deleteFromFamily: { familyName: mutation.family } };
    case 'deleteFromRow':
      return { deleteFromRow: {} };
    default:
      return mutation satisfies never;
  }
}

function inputJson(input: AggregateValue, bytes: (value: Buffer) => string): Json {
  switch (input.kind) {
    case 'int64':
      return { intValue: String(input.value) };
    case 'bytes':
      return { bytesValue: bytes(input.value) };
    case 'raw':
      return { rawValue: bytes(input.value) };
    default:
      return input satisfies never;
  }
}

function snakeCased(json: Json): Json {
  if (isList(json)) return json.map(snakeCased);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snakeCased(value),
    ]),
  );
}

const isList = (json: Json): json is readonly Json[] => Array.isArray(json);
