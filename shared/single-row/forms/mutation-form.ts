import * as z from 'zod';
import type { AggregateValue, Mutation } from '../../model/mutation.ts';
import { rangeRule } from '../../model/mutation-rules.ts';
import { bytes, family, int64, qualifier, rangeEnd, rangeStart } from '../../forms/leaves.ts';
import { body, oneOf } from '../../forms/shapes.ts';
import { bytesJson } from '../../forms/bytes-json.ts';
import { aggregateTime, cellTime } from './leaves.ts';

/** Mutations in JSON, in the words of the model: `{"setCell": {"family": "f", …}}`. */

const aggregateInput = oneOf<AggregateValue>({
  int64: int64.transform((value): AggregateValue => ({ kind: 'int64', value })),
  bytes: bytes.transform((value): AggregateValue => ({ kind: 'bytes', value })),
  raw: bytes.transform((value): AggregateValue => ({ kind: 'raw', value })),
});

const aggregateBody = body({ family, qualifier, timestampMicros: aggregateTime, input: aggregateInput });

export const mutation = oneOf<Mutation>(
  {
    setCell: body({ family, qualifier, timestampMicros: cellTime, value: bytes }).transform((value): Mutation => ({
      kind: 'setCell',
      ...value,
    })),
    addToCell: aggregateBody.transform((value): Mutation => ({ kind: 'addToCell', ...value })),
    mergeToCell: aggregateBody.transform((value): Mutation => ({ kind: 'mergeToCell', ...value })),
    deleteFromColumn: body({
      family,
      qualifier,
      startTimestampMicros: z.exactOptional(rangeStart),
      endTimestampMicros: z.exactOptional(rangeEnd),
    })
      .check(({ value, issues }) => {
        const message = rangeRule(value.startTimestampMicros, value.endTimestampMicros);
        if (message !== undefined) issues.push({ code: 'custom', message, path: ['endTimestampMicros'], input: value });
      })
      .transform((value): Mutation => ({ kind: 'deleteFromColumn', ...value })),
    deleteFromFamily: body({ family }).transform((value): Mutation => ({ kind: 'deleteFromFamily', ...value })),
    deleteFromRow: body({}).transform((): Mutation => ({ kind: 'deleteFromRow' })),
  },
  'mutation',
);

/** A mutation as {@link mutation} reads it. */
export function mutationJson(change: Mutation): object {
  switch (change.kind) {
    case 'deleteFromRow':
      return { deleteFromRow: {} };
    case 'deleteFromFamily':
      return { deleteFromFamily: { family: change.family } };
    case 'deleteFromColumn': {
      const { family: name, qualifier, startTimestampMicros: start, endTimestampMicros: end } = change;
      return {
        deleteFromColumn: {
          family: name,
          qualifier: bytesJson(qualifier),
          ...(start !== undefined && { startTimestampMicros: String(start) }),
          ...(end !== undefined && { endTimestampMicros: String(end) }),
        },
      };
    }
    case 'setCell':
      return { setCell: { ...cellJson(change), value: bytesJson(change.value) } };
    case 'addToCell':
    case 'mergeToCell':
      return { [change.kind]: { ...cellJson(change), input: inputJson(change.input) } };
    default:
      return change satisfies never;
  }
}

interface Cell {
  readonly family: string;
  readonly qualifier: Buffer;
  readonly timestampMicros: bigint;
}

const cellJson = (cell: Cell): object => ({
  family: cell.family,
  qualifier: bytesJson(cell.qualifier),
  timestampMicros: String(cell.timestampMicros),
});

const inputJson = (input: AggregateValue): object => ({
  [input.kind]: input.kind === 'int64' ? String(input.value) : bytesJson(input.value),
});
