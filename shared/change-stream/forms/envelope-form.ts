import type { Change, ChangeEntry, ChangeValue, TimestampRange } from '../../model/change.ts';
import { type TableName, tablePath } from '../../model/table-name.ts';
import type { Restarted } from '../ledger/partition.ts';
import type { ChangeForm } from './form.ts';

/** In every envelope, beside its version. Another member, or another meaning of one, is another version. */
export const ENVELOPE_SCHEMA = 'bigtable-change';
export const ENVELOPE_VERSION = 1;

/**
 * A whole change in JSON (`envelope.schema.json`), one record each, so that a row's entries stay together: made by hand,
 * because it is what every change costs. Pure. Bytes are base64, integers of 64 bits are texts: most readers of JSON lose
 * digits of such a number. Nothing in it needs an escape: families, clusters and tables are made of letters, digits
 * and -_. alone.
 */
export function envelopeForm(table: TableName): ChangeForm {
  const columns = new Columns();
  const start = `{"schema":"${ENVELOPE_SCHEMA}","version":${ENVELOPE_VERSION},"table":"${tablePath(table)}","id":"`;
  return {
    name: 'envelope',
    version: ENVELOPE_VERSION,
    contentType: 'application/json',
    records: (change, id, restarted) => [
      Buffer.from(`${start}${id}",${headerOf(change, restarted)},"entries":[${entriesOf(change, columns)}]}`),
    ],
  };
}

function headerOf(change: Change, restarted: Restarted | undefined): string {
  const { rowKey, type, sourceCluster, commitTime, tieBreaker, lowWatermark } = change;
  const marked = restarted ? `,"restarted":"${restarted.how}"` : '';
  return `"rowKey":"${base64(rowKey)}","type":"${type}","sourceCluster":"${sourceCluster}","commitTimeNanos":"${commitTime}","tieBreaker":${tieBreaker},"lowWatermarkNanos":"${lowWatermark}"${marked}`;
}

function entriesOf({ entries, places }: Change, columns: Columns): string {
  let all = '';
  for (let place = 0; place < entries.length; place += 1) {
    const entry = entries[place] as ChangeEntry;
    const start = place === 0 ? '{' : ',{';
    all += `${start}"index":${places?.[place] ?? place},${membersOf(entry, place, columns)}}`;
  }
  return all;
}

function membersOf(entry: ChangeEntry, place: number, columns: Columns): string {
  const { kind, family } = entry;
  switch (kind) {
    case 'set-cell':
      return `"kind":"set-cell",${columns.membersOf(entry, place)}"timestampMicros":"${columns.micros(entry.timestampMicros)}","value":"${base64(entry.value)}"`;
    case 'delete-cells':
      return `"kind":"delete-cells",${columns.membersOf(entry, place)}"timestampRange":${rangeOf(entry.timestampRange)}`;
    case 'delete-family':
      return `"kind":"delete-family","family":"${family}"`;
    case 'add-to-cell':
    case 'merge-to-cell':
      return `"kind":"${kind}","family":"${family}","qualifier":${valueOf(entry.qualifier)},"timestamp":${valueOf(entry.timestamp)},"input":${valueOf(entry.input)}`;
    default:
      return entry satisfies never;
  }
}

/** Places of a change whose columns are remembered. */
const PLACES = 64;

/** Changes of a table mostly have the same columns at the same places, and entries the time of the one before: as texts. */
class Columns {
  readonly #known: { readonly family: string; readonly qualifier: Buffer; readonly members: string }[] = [];
  #micros = 0n;
  #microsText = '0';

  membersOf({ family, qualifier }: { readonly family: string; readonly qualifier: Buffer }, place: number): string {
    const known = this.#known[place];
    if (known?.family === family && known.qualifier.equals(qualifier)) return known.members;
    const members = `"family":"${family}","qualifier":"${base64(qualifier)}",`;
    if (place < PLACES) this.#known[place] = { family, qualifier, members };
    return members;
  }

  micros(micros: bigint): string {
    if (micros !== this.#micros) {
      this.#micros = micros;
      this.#microsText = String(micros);
    }
    return this.#microsText;
  }
}

function rangeOf({ startMicros, endMicros }: TimestampRange): string {
  const start = startMicros === undefined ? '' : `"startMicros":"${startMicros}"`;
  const end = endMicros === undefined ? '' : `"endMicros":"${endMicros}"`;
  return `{${start}${start !== '' && end !== '' ? ',' : ''}${end}}`;
}

function valueOf(value: ChangeValue): string {
  switch (value.kind) {
    case 'raw-value':
      return `{"kind":"raw-value","value":"${base64(value.value)}"}`;
    case 'raw-timestamp':
      return `{"kind":"raw-timestamp","micros":"${value.micros}"}`;
    case 'int64':
      return `{"kind":"int64","value":"${value.value}"}`;
    default:
      return value satisfies never;
  }
}

const base64 = (bytes: Buffer): string => bytes.toString('base64');
