import type { ConfigProblem } from '../../base/errors.ts';
import { createReport, memberPath, type Report } from '../declared/problems.ts';
import type { ResolvedMapping } from '../declared/resolved.ts';
import { factsOf, modesThat, type WriteMode } from '../declared/write-modes.ts';
import { isSamePath, isWithin, keyFields, pathOf, type ProducedField, producedFields } from './produced.ts';

/** Modes whose cells hold a record's fields as they are, so that the same record writes the same cells. */
const isReadable = (mode: WriteMode): boolean => {
  const { makes, isAggregate = false, carries } = factsOf(mode);
  return makes !== 'read-modify-write' && !isAggregate && carries !== 'conditional';
};

/**
 * Why a mapping cannot be read backwards: every reason at once, each by its path. Empty: a row that it wrote becomes a
 * record of which it writes the same row. Pure.
 */
export function backwardsProblems(mapping: ResolvedMapping, path: string): readonly ConfigProblem[] {
  const report = createReport();
  const { format, write, destination } = mapping;
  const { mode } = write;
  if (!isReadable(mode)) {
    const rule = `must be a mode that sets cells (${modesThat((facts) => facts.carries !== 'families')
      .filter(isReadable)
      .join(', ')}) to be read backwards`;
    report.add(memberPath(path, 'writeMode'), rule, mode);
    return report.problems;
  }
  if (format.type !== 'json') {
    report.add(memberPath(path, 'format'), 'must be json to be read backwards', format.type);
  }
  if (destination) {
    report.add(
      memberPath(path, 'destination'),
      'must not be set to be read backwards: a scan reads one table',
      undefined,
    );
  }
  const produced = producedFields(mapping);
  addFieldProblems(produced, mapping, path, report);
  addKeyProblems(produced, mapping, path, report);
  addWriteProblems(produced, mapping, path, report);
  return report.problems;
}

/** Every field has a place of its own in the record. */
function addFieldProblems(
  produced: readonly ProducedField[],
  { write }: ResolvedMapping,
  path: string,
  report: Report,
): void {
  for (const [at, { field, source, option }] of produced.entries()) {
    const where = memberPath(path, ...option);
    if (field.from !== 'payload') {
      const mayBeMissing =
        source.kind === 'timestamp' &&
        'timestamp' in write &&
        write.timestamp.from === 'field' &&
        write.timestamp.onNull === 'publish-time';
      if (!mayBeMissing) report.add(where, 'must be a field of the record to be read backwards', field.label);
      continue;
    }
    for (const other of produced.slice(0, at)) {
      if (other.field.from !== 'payload') continue;
      const isSame = isSamePath(field.path, other.field.path);
      // A column says more of a field than the key or the timestamp does.
      if (isSame && (other.source.kind === 'key' || source.kind === 'timestamp')) continue;
      if (isSame || isWithin(field.path, other.field.path) || isWithin(other.field.path, field.path)) {
        const rule = `must be a field that nothing else is written from to be read backwards; ${memberPath('', ...other.option)} is written from ${other.field.label}`;
        report.add(where, rule, field.label);
      }
    }
  }
}

/** Every field of the key comes from the key or from a column; and the key can be taken apart. */
function addKeyProblems(
  produced: readonly ProducedField[],
  mapping: ResolvedMapping,
  path: string,
  report: Report,
): void {
  const where = memberPath(path, 'rowKey');
  for (const { field, isGiven, lossy } of keyFields(mapping)) {
    if (isGiven) continue;
    const own = pathOf(field);
    const isThere = own !== undefined && produced.some((each) => isSamePath(pathOf(each.field) ?? [], own));
    if (isThere) continue;
    const rule = `must hold ${field.label} in a form that can be read backwards, or a column must: the modifier ${lossy ?? ''} cannot`;
    report.add(where, rule, field.label);
  }
  const { rowKey } = mapping;
  if (rowKey.kind !== 'template' || rowKey.template.policy.onDelimiter !== 'allow') return;
  const open = rowKey.template.parts.find((part) => part.kind === 'field' && part.delimiter !== undefined);
  if (open) {
    const rule = 'must be reject or escape to be read backwards: nobody can tell where a field ends';
    report.add(memberPath(where, 'onDelimiter'), rule, 'allow');
  }
}

/** The record is written when it is read again: nothing that it lacks has it skipped or refused. */
function addWriteProblems(
  produced: readonly ProducedField[],
  { skipWhen, write }: ResolvedMapping,
  path: string,
  report: Report,
): void {
  const has = (field: ProducedField['field']): boolean => {
    const own = pathOf(field);
    if (!own) return false;
    return produced.some(({ field: other }) => {
      const path = pathOf(other);
      return path !== undefined && (isWithin(path, own) || isWithin(own, path));
    });
  };
  for (const [index, { field, test }] of skipWhen.entries()) {
    const holdsWithout = test.kind === 'not-in' || (test.kind === 'is' && test.state === 'missing');
    if (!holdsWithout || has(field)) continue;
    const rule = 'must not skip a record that lacks the field to be read backwards, since no column gives it';
    report.add(memberPath(path, 'skipWhen', index), rule, field.label);
  }
  const operation = 'operation' in write ? write.operation : undefined;
  if (operation?.onMissing === 'reject' && !has(operation.field)) {
    const rule = 'must be write to be read backwards, since no column gives the field of the operation';
    report.add(memberPath(path, 'operation', 'onMissing'), rule, operation.onMissing);
  }
}
