import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChangeAssembler } from '../../../../shared/change-stream/reading/assemble-change.ts';
import { wireTime } from '../../../../shared/change-stream/reading/wire-rules.ts';
import type { Change, ChangeEntry, ChangeValue } from '../../../../shared/model/change.ts';
import {
  ReadChangeStreamResponse_DataChange_Type as Type,
  type ReadChangeStreamResponse_MutationChunk as Chunk,
} from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Value } from '../../../../shared/proto/google/bigtable/v2/data.ts';
import { chunk, continuedMessage, dataMessage, openEnd, setCell, type Step } from '../../../support/change-messages.ts';
import { anyChange } from '../../../support/changes.ts';

function wireValue(value: ChangeValue): Value {
  switch (value.kind) {
    case 'raw-value':
      return { type: undefined, kind: { $case: 'rawValue', value: value.value } };
    case 'raw-timestamp':
      return { type: undefined, kind: { $case: 'rawTimestampMicros', value: value.micros } };
    case 'int64':
      return { type: undefined, kind: { $case: 'intValue', value: value.value } };
  }
}

function stepOf(entry: ChangeEntry): Step {
  const { family: familyName } = entry;
  switch (entry.kind) {
    case 'set-cell': {
      const { qualifier: columnQualifier, timestampMicros, value } = entry;
      return { $case: 'setCell', value: { familyName, columnQualifier, timestampMicros, value } };
    }
    case 'delete-cells': {
      const { startMicros = 0n, endMicros = 0n } = entry.timestampRange;
      const timeRange = { startTimestampMicros: startMicros, endTimestampMicros: endMicros };
      return { $case: 'deleteFromColumn', value: { familyName, columnQualifier: entry.qualifier, timeRange } };
    }
    case 'delete-family':
      return { $case: 'deleteFromFamily', value: { familyName } };
    case 'add-to-cell':
    case 'merge-to-cell': {
      const [columnQualifier, timestamp, input] = [entry.qualifier, entry.timestamp, entry.input].map(wireValue);
      const $case = entry.kind === 'add-to-cell' ? 'addToCell' : 'mergeToCell';
      return { $case, value: { familyName, columnQualifier, timestamp, input } };
    }
  }
}

/** A whole change in one message, and the same cut wherever `cut` says so: values into pieces, and between messages. */
function messagesOf(change: Change, cut: () => boolean): Buffer[] {
  const groups: Chunk[][] = [[]];
  for (const entry of change.entries) {
    if (entry.kind !== 'set-cell' || entry.value.length < 2 || !cut()) {
      groups.at(-1)?.push(chunk(stepOf(entry)));
    } else {
      const size = entry.value.length;
      for (let at = 0; at < size;) {
        const end = cut() ? at + 1 : size;
        const { family, qualifier, timestampMicros } = entry;
        const value = entry.value.subarray(at, end);
        const step = at === 0 ? setCell(family, '', value, timestampMicros) : setCell('', '', value, 0n);
        if (at === 0 && step.$case === 'setCell') step.value.columnQualifier = qualifier;
        groups.at(-1)?.push({
          chunkInfo: { chunkedValueSize: size, chunkedValueOffset: at, lastChunk: end === size },
          mutation: { mutation: step },
        });
        if (end < size) groups.push([]);
        at = end;
      }
    }
    if (cut()) groups.push([]);
  }
  const filled = groups.filter((group) => group.length > 0);
  return filled.map((chunks, index) => {
    const isLast = index === filled.length - 1;
    const end = isLast
      ? { done: true, token: change.token, estimatedLowWatermark: wireTime(change.lowWatermark) }
      : openEnd;
    if (index > 0) return continuedMessage({ chunks, ...end });
    return dataMessage({
      type: change.type === 'USER' ? Type.USER : Type.GARBAGE_COLLECTION,
      sourceClusterId: change.sourceCluster,
      rowKey: change.rowKey,
      commitTimestamp: wireTime(change.commitTime),
      tiebreaker: change.tieBreaker,
      chunks,
      ...end,
    });
  });
}

/** As the service tells them: with an entry at least, and a cluster where there is a user. */
const told = anyChange
  .filter(({ entries }) => entries.length > 0)
  .map((change) => ({
    ...change,
    sourceCluster: change.type === 'USER' ? `c${change.sourceCluster}` : '',
  }));

function assembled(messages: readonly Buffer[]): Change {
  const assembler = new ChangeAssembler(1 << 20);
  const events = messages.flatMap((message) => assembler.feed(message) ?? []);
  assembler.end();
  const [event] = events;
  if (events.length !== 1 || event?.kind !== 'change') throw new Error(`${events.length} events came`);
  return event.change;
}

test('a change is the same however the service cuts it into messages, and its values into pieces', () => {
  fc.assert(
    fc.property(told, fc.infiniteStream(fc.boolean()), (change, cuts) => {
      const whole = assembled(messagesOf(change, () => false));
      expect({ ...whole, bytes: 1 }).toEqual(change);
      const messages = messagesOf(change, () => cuts.next().value === true);
      expect(assembled(messages)).toEqual(whole);
    }),
  );
});

test('a change of which the last message is missing is told neither whole nor in part', () => {
  fc.assert(
    fc.property(told, fc.infiniteStream(fc.boolean()), (change, cuts) => {
      const messages = messagesOf(change, () => cuts.next().value === true).slice(0, -1);
      const assembler = new ChangeAssembler(1 << 20);
      for (const message of messages) expect(assembler.feed(message)).toBeUndefined();
      expect(assembler.openBytes > 0).toBe(messages.length > 0);
    }),
  );
});

test('bytes that are no message are refused, and never a crash', () => {
  fc.assert(
    fc.property(told, fc.nat(), fc.nat(), (change, at, byte) => {
      const [message = Buffer.alloc(1)] = messagesOf(change, () => false);
      message[at % message.length] = byte % 256;
      try {
        new ChangeAssembler(1 << 20).feed(message);
      } catch (error) {
        expect((error as Error).name).toMatch(/^(StreamProtocolError|ChangeTooLargeError)$/);
      }
    }),
    { numRuns: 1000 },
  );
});
