import { rowKeyAttribute } from '../../emission/messages/attributes.ts';
import type { Change } from '../../model/change.ts';
import { type TableName, tablePath } from '../../model/table-name.ts';
import type { Restarted } from '../ledger/partition.ts';
import type { ChangeForm } from './form.ts';

/**
 * The attributes that a change stream sets on its messages. Pure data: the page of the source is held to it. Those that
 * begin with `ce-`, and `content-type`, make the message an event of CloudEvents 1.0 in binary mode.
 */
export const CHANGE_ATTRIBUTES = {
  id: { name: 'id', meaning: 'the id of the change: the same at every repetition, and no other change has it' },
  commitTime: { name: 'commit-time', meaning: 'when it was committed, in nanoseconds since the epoch' },
  type: { name: 'type', meaning: '`USER`, or `GARBAGE_COLLECTION`' },
  sourceCluster: { name: 'source-cluster', meaning: 'the cluster that took the write; a collection has none' },
  lowWatermark: {
    name: 'low-watermark',
    meaning:
      "the service's low watermark of the partition, in nanoseconds since the epoch: an estimate, and no promise",
  },
  restarted: {
    name: 'restarted',
    meaning:
      '`tokenless` or `fallback`, while the partition has started anew without its token: changes may be repeated, or be missing',
  },
  form: { name: 'form', meaning: '`envelope`' },
  version: { name: 'form-version', meaning: 'another one, another shape' },
  contentType: { name: 'content-type', meaning: 'what the data is, `application/json` of an envelope' },
  ceVersion: { name: 'ce-specversion', meaning: '`1.0`' },
  ceId: { name: 'ce-id', meaning: 'the same as `id`' },
  ceSource: { name: 'ce-source', meaning: '`//bigtable.googleapis.com/` and the name of the table' },
  ceType: { name: 'ce-type', meaning: '`bigtable.change.v1`' },
  ceTime: { name: 'ce-time', meaning: 'when it was committed, in RFC 3339 with nanoseconds' },
} as const;

/**
 * The attributes of every message of a source.
 *
 * @param isPacked several changes share a message, which is no event then.
 */
export const sourceAttributes = (
  table: TableName,
  { name, version, contentType }: ChangeForm,
  isPacked: boolean,
): Readonly<Record<string, string>> => ({
  [CHANGE_ATTRIBUTES.form.name]: name,
  [CHANGE_ATTRIBUTES.version.name]: String(version),
  ...(!isPacked && {
    [CHANGE_ATTRIBUTES.contentType.name]: contentType,
    [CHANGE_ATTRIBUTES.ceVersion.name]: '1.0',
    [CHANGE_ATTRIBUTES.ceSource.name]: `//bigtable.googleapis.com/${tablePath(table)}`,
    [CHANGE_ATTRIBUTES.ceType.name]: 'bigtable.change.v1',
  }),
});

/** The attributes of one change, beside those of its source. */
export function changeAttributes(
  { rowKey, type, sourceCluster, commitTime, lowWatermark }: Change,
  id: string,
  restarted: Restarted | undefined,
): Readonly<Record<string, string>> {
  const attributes: Record<string, string> = {
    [CHANGE_ATTRIBUTES.id.name]: id,
    [CHANGE_ATTRIBUTES.commitTime.name]: String(commitTime),
    [CHANGE_ATTRIBUTES.type.name]: type,
    [CHANGE_ATTRIBUTES.lowWatermark.name]: String(lowWatermark),
    [CHANGE_ATTRIBUTES.ceId.name]: id,
    [CHANGE_ATTRIBUTES.ceTime.name]: rfc3339(commitTime),
  };
  if (sourceCluster !== '') attributes[CHANGE_ATTRIBUTES.sourceCluster.name] = sourceCluster;
  if (restarted) attributes[CHANGE_ATTRIBUTES.restarted.name] = restarted.how;
  return Object.assign(attributes, rowKeyAttribute(rowKey));
}

const NANOS_PER_SECOND = 1_000_000_000n;

/** `2026-01-31T00:00:00.000000001Z`. */
function rfc3339(nanos: bigint): string {
  const seconds = nanos / NANOS_PER_SECOND;
  const rest = Number(nanos - seconds * NANOS_PER_SECOND);
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${String(rest).padStart(9, '0')}Z`;
}
