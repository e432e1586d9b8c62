import type { OutgoingMessage } from '../model/publishing.ts';
import type { Run } from './runs/run.ts';
import { SCAN_ATTRIBUTES } from './forms/attributes.ts';

/** The `kind` of the message that tells the end of a run: no message of rows has the attribute. */
export const RUN_COMPLETED = 'run-completed';

/**
 * The message that a run is done, published behind the last of its rows, once at least: its totals in JSON, and attributes
 * to know it by. Pure.
 */
export function completedMessage(pipeline: string, { id, startedAt, endedAt, totals }: Run): OutgoingMessage {
  const told = {
    kind: RUN_COMPLETED,
    version: 1,
    pipeline,
    run: id,
    startedAt: new Date(startedAt).toISOString(),
    ...(endedAt !== undefined && { endedAt: new Date(endedAt).toISOString() }),
    ...(totals && { totals }),
  };
  return {
    data: Buffer.from(JSON.stringify(told)),
    attributes: {
      [SCAN_ATTRIBUTES.kind.name]: RUN_COMPLETED,
      [SCAN_ATTRIBUTES.run.name]: id,
      [SCAN_ATTRIBUTES.pipeline.name]: pipeline,
    },
  };
}

/** Whether a message is such a one: a sink that reads the output of a scan finds no record in it. */
export const tellsRunCompleted = (attributes: Readonly<Record<string, string>>): boolean =>
  attributes[SCAN_ATTRIBUTES.kind.name] === RUN_COMPLETED &&
  attributes[SCAN_ATTRIBUTES.run.name] !== undefined &&
  attributes[SCAN_ATTRIBUTES.pipeline.name] !== undefined;
