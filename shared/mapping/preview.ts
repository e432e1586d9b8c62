import { RecordError, RedeliverError } from '../base/errors.ts';
import { printableBytes } from '../model/bytes.ts';
import type { ConditionalRequest, ReadModifyWriteRequest, ReadModifyWriteRule } from '../model/conditional.ts';
import type { RowFilter } from '../model/filter/filter.ts';
import type { Mutation } from '../model/mutation.ts';
import type { InputRecord } from '../model/record.ts';
import type { CompiledMapping } from './compile-mapping.ts';
import type { MappedWrite } from './modes/write.ts';
import { contextOf } from './serializer.ts';

/** Lines of one write that are shown; a record may become 100,000 mutations. */
const MAX_LINES = 200;

/**
 * What a mapping makes of a sample record, in words for a person at a terminal: the table, the row key, every mutation,
 * or why the record is refused, or waits until the configuration is fixed. Shows row data, so it is for that person alone and no log.
 */
export interface MappingPreview {
  readonly outcome: 'write' | 'skipped' | 'refused';
  readonly lines: readonly string[];
}

/** Runs a compiled mapping on a sample. Pure; touches no network. */
export function previewRecord(mapping: CompiledMapping, record: InputRecord): MappingPreview {
  try {
    const prepared = mapping.prepare(record, contextOf(record));
    if (!prepared) return { outcome: 'skipped', lines: ['skipped: acknowledged, and nothing is written'] };
    const table = prepared.table === undefined ? [] : [`table    ${prepared.table}`];
    return { outcome: 'write', lines: [...table, ...shortened(writeLines(prepared.write()))] };
  } catch (error) {
    if (error instanceof RecordError) return { outcome: 'refused', lines: [`refused  ${error.message}`] };
    if (!(error instanceof RedeliverError)) throw error;
    return { outcome: 'refused', lines: [`waits    ${error.message}`] };
  }
}

function shortened(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), `… and ${lines.length - MAX_LINES} more`];
}

function writeLines(write: MappedWrite): readonly string[] {
  switch (write.kind) {
    case 'entry':
      return [keyLine(write.entry.rowKey), ...write.entry.mutations.map(mutationLine)];
    case 'conditional':
      return conditionalLines(write.request);
    case 'readModifyWrite':
      return ruleLines(write.request);
  }
}

const shown = (bytes: Buffer): string => `"${printableBytes(bytes)}"`;
const keyLine = (rowKey: Buffer): string => `row key  ${shown(rowKey)}`;
const column = ({ family, qualifier }: { family: string; qualifier: Buffer }): string =>
  `${family}:${printableBytes(qualifier)}`;
const time = (micros: bigint): string => (micros === -1n ? 'server time' : `${micros} µs`);

function mutationLine(mutation: Mutation): string {
  switch (mutation.kind) {
    case 'setCell':
      return `set      ${column(mutation)} = ${shown(mutation.value)} @ ${time(mutation.timestampMicros)}`;
    case 'addToCell':
    case 'mergeToCell': {
      const { input } = mutation;
      const value = input.kind === 'int64' ? input.value.toString() : shown(input.value);
      const verb = mutation.kind === 'addToCell' ? 'add     ' : 'merge   ';
      return `${verb} ${column(mutation)} + ${value} @ ${time(mutation.timestampMicros)}`;
    }
    case 'deleteFromColumn': {
      const { startTimestampMicros: start, endTimestampMicros: end } = mutation;
      const range = [start !== undefined && `from ${time(start)}`, end !== undefined && `before ${time(end)}`];
      return ['delete  ', column(mutation), ...range.filter((part) => part !== false)].join(' ');
    }
    case 'deleteFromFamily':
      return `delete   family ${mutation.family}`;
    case 'deleteFromRow':
      return 'delete   row';
  }
}

function conditionalLines({ rowKey, predicate, then, otherwise }: ConditionalRequest): readonly string[] {
  const branch = (name: string, mutations: readonly Mutation[]): string[] => [
    name,
    ...(mutations.length === 0 ? ['  nothing'] : mutations.map((mutation) => `  ${mutationLine(mutation)}`)),
  ];
  return [
    keyLine(rowKey),
    `if       ${predicate ? filterText(predicate) : 'the row holds any cell'}`,
    ...branch('then', then),
    ...branch('otherwise', otherwise),
  ];
}

function filterText(filter: RowFilter): string {
  switch (filter.kind) {
    case 'none':
      return 'never';
    case 'family':
      return `family ${filter.family}`;
    case 'otherFamilies':
      return `every family but ${filter.family}`;
    case 'qualifier':
      return `qualifier ${shown(filter.qualifier)}`;
    case 'value':
      return `value ${shown(filter.value)}`;
    case 'timestampRange': {
      const end = filter.endMicros === undefined ? '' : ` before ${time(filter.endMicros)}`;
      return `timestamp from ${time(filter.startMicros)}${end}`;
    }
    case 'cellsPerColumn':
      return `newest ${filter.count} per column`;
    case 'cellsPerRow':
      return `first ${filter.count} of the row`;
    case 'chain':
      return filter.filters.map(filterText).join(' → ');
    case 'interleave':
      return `(${filter.filters.map(filterText).join(' or ')})`;
  }
}

const ruleLines = ({ rowKey, rules }: ReadModifyWriteRequest): readonly string[] => [
  keyLine(rowKey),
  ...rules.map(ruleLine),
];

const ruleLine = (rule: ReadModifyWriteRule): string =>
  rule.kind === 'append'
    ? `append   ${column(rule)} + ${shown(rule.value)}`
    : `increment ${column(rule)} + ${rule.amount}`;
